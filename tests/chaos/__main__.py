"""Does to an installation what happens to installations, and looks whether anything was lost or done twice.

    uv run python -m tests.chaos [--short] [--engine embedded|celery] [--sqlite] [--kills N] [--runs N] [--seed N]
        [SCENE ...]

redis-server has to be installed and, without --sqlite, PostgreSQL. All else it starts itself, on ports of its own: two
processes that serve, three that work, and a service that speaks the Messages API. The exit status is 1 when something
does not hold.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.chaos.service import Service
from tests.services.cluster import Cluster
from tests.services.s3 import BUCKET, S3

SCENES = ("kills", "redis", "database", "model", "model-away", "disk", "files")
ENGINES = ("embedded", "celery")
LEASE_SECONDS = 2
WORKERS = 4
"""Threads of one process, and so the most answers that are lost with it."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__.partition("\n")[0])
    parser.add_argument("scenes", nargs="*", help=f"{', '.join(SCENES)} (as root, on a file system of its own); all")
    parser.add_argument("--short", action="store_true", help="8 kills over both engines, and nothing else")
    parser.add_argument("--engine", choices=ENGINES, help="with this one alone")
    parser.add_argument("--sqlite", action="store_true", help="on SQLite, with the embedded engine alone")
    parser.add_argument("--kills", type=int, default=500, help="with each engine")
    parser.add_argument("--runs", type=int, default=50, help="that are under way at all times")
    parser.add_argument("--seed", type=int, default=1, help="of the dice")
    options = parser.parse_args()
    if unknown := set(options.scenes) - set(SCENES):
        parser.error(f"there is no scene {', '.join(sorted(unknown))}")
    if options.sqlite:
        if options.engine == "celery" or "database" in options.scenes:
            parser.error("on SQLite there is neither Celery nor a database that can be away")
        options.engine = "embedded"
    if options.short:
        options.scenes, options.kills, options.runs = ["kills"], 4, 4
    elif not options.scenes:
        left_out = {"database"} if options.sqlite else set()
        if os.geteuid() != 0:
            left_out.add("disk")
        options.scenes = [name for name in SCENES if name not in left_out]
    failed = False
    for engine in [options.engine] if options.engine else ENGINES:
        for scenes in (
            [one for one in options.scenes if one != "files"],
            [one for one in options.scenes if one == "files"],
        ):
            failed |= bool(scenes) and _with_engine(engine, scenes, options)
    return int(failed)


def _with_engine(engine: str, scenes: Sequence[str], options: argparse.Namespace) -> bool:
    """In a process of its own, since Django has one database in its life."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    status = 1
    try:
        with tempfile.TemporaryDirectory(prefix="pevsite-chaos-") as folder, Service(options.seed) as service:
            status = _play(engine, scenes, options, Path(folder), service)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def _play(engine: str, scenes: Sequence[str], options: argparse.Namespace, folder: Path, service: Service) -> int:
    bucket = S3() if "files" in scenes else None
    if bucket:
        bucket.start()
    cluster = Cluster(
        folder,
        {
            "PEV_ENGINE": engine,
            "PEV_WORKERS": str(WORKERS),
            "PEV_LEASE_SECONDS": str(LEASE_SECONDS),
            "PEV_MIN_FREE_MB": "1",
            "ANTHROPIC_BASE_URL": service.url,
            "ANTHROPIC_API_KEY": "test-key-of-nobody",
            **({"PEV_BLOBS": f"s3://{BUCKET}", **bucket.variables} if bucket else {}),
        },
        on_sqlite=options.sqlite,
    )
    os.environ.update(cluster.settings)
    data = folder / "data"
    data.mkdir()
    small = os.geteuid() == 0 and "disk" in scenes  # who is not root cannot have a file system of their own
    if small:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(data)], check=True)
    try:
        cluster.start()
        # the settings, and with them the database, are known only now
        import django

        django.setup()
        # models can be imported only when Django is set up
        from tests.chaos.scenes import play

        options.scenes, options.threads = scenes, WORKERS
        return play(cluster, service, bucket, engine, options)
    finally:
        cluster.stop()
        if small:
            subprocess.run(["umount", "--lazy", str(data)], check=True)


if __name__ == "__main__":
    sys.exit(main())
