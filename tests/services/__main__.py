"""Runs a command on a PostgreSQL that is there for it alone: python -m tests.services COMMAND ..."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.services.postgres import Postgres


def main() -> int:
    postgres = Postgres()
    try:
        postgres.start()
        return subprocess.run(
            sys.argv[1:], env={**os.environ, "PEV_DATABASE_URL": postgres.url}, check=False
        ).returncode
    finally:
        postgres.stop()


if __name__ == "__main__":
    sys.exit(main())
