"""Measures an installation of several processes, all of which it starts itself, on ports of its own.

    uv run python -m tests.bench.scale [--short] [--sqlite] [--folder] [--json FILE]
        [alone] [load] [sockets] [crowds] [programs]

redis-server has to be installed and, without --sqlite, PostgreSQL. The exit status is 1 when a shape is broken: a run
that does not succeed, a browser that does not hear. Goals are for people to read, on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.figures import Figure, check_shape, table, write_json
from tests.bench.scale.models import Models
from tests.services.cluster import Cluster
from tests.services.s3 import BUCKET, S3

WORKERS = 70
"""Threads of each of three: a step of each of 200 runs may be under way at the same time."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scale", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="which of alone, load, sockets, crowds, programs; all")
    parser.add_argument("--short", action="store_true", help="small sizes: is the shape right?")
    parser.add_argument("--folder", action="store_true", help="keep files in a folder that all share, not in a bucket")
    parser.add_argument("--sqlite", action="store_true", help="on SQLite instead of PostgreSQL")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    options = parser.parse_args()
    if options.sqlite and "alone" in options.names:
        parser.error("alone compares PostgreSQL with SQLite already")
    with tempfile.TemporaryDirectory(prefix="pevsite-scale-") as folder, Models() as models:
        figures = _measured(Path(folder), models, options)
    for found in figures.values():
        check_shape(found)
    if options.json:
        write_json(options.json, figures, short=options.short)
    sys.stdout.flush()
    os._exit(0)  # what Twisted or a pool may have left would be waited for


def _measured(folder: Path, models: Models, options: argparse.Namespace) -> dict[str, list[Figure]]:
    short: bool = options.short
    bucket = S3()
    bucket.start()
    connected = {"ANTHROPIC_BASE_URL": models.url, "ANTHROPIC_API_KEY": "test-key-of-nobody"}
    files = {} if options.folder else {"PEV_BLOBS": f"s3://{BUCKET}/files", **bucket.variables}
    variables = {"PEV_WORKERS": str(WORKERS), "PEV_CONNECTIONS": "2000", **files, **connected}
    cluster = Cluster(folder, variables, on_sqlite=options.sqlite)
    os.environ.update(cluster.settings)
    (folder / "data").mkdir()
    try:
        cluster.start()
        # the settings, and with them the database, are known only now
        import django

        django.setup()
        logging.getLogger().setLevel(logging.ERROR)
        # models can be imported only when Django is set up
        from tests.bench.scale import alone, crowds, load, programs, sockets

        figures = {}
        measures: dict[str, Callable[[], list[Figure]]] = {
            "alone": lambda: alone.measure(folder, cluster, connected, short=short),
            "load": lambda: load.measure(models, short=short),
            "sockets": lambda: sockets.measure(cluster, short=short),
            "crowds": lambda: crowds.measure(cluster, short=short),
            "programs": lambda: programs.measure(cluster, short=short),
            "memory": lambda: load.memory(cluster),
        }
        if options.sqlite:
            del measures["alone"]
        for name, measure in measures.items():
            if options.names and name not in {*options.names, "memory"}:
                continue
            print(f"\n{name}", flush=True)
            figures[name] = measure()
            print(table(figures[name]), flush=True)
        return figures
    finally:
        cluster.stop()
        bucket.stop()


if __name__ == "__main__":
    sys.exit(main())
