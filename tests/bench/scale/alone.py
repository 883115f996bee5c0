"""What a step costs beside its models when nothing else happens: on PostgreSQL, and on SQLite, by the same command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from tests.bench.figures import Figure, ShapeBroken
from tests.bench.scale.models import STEPS
from tests.installation import ROOT
from tests.services.cluster import Cluster


def measure(folder: Path, cluster: Cluster, connected: Mapping[str, str], *, short: bool) -> list[Figure]:
    times = 2 if short else 9
    with cluster.resting():  # else its workers would take the work
        there = _ms(folder / "one", cluster.environ | {"PEV_BLOBS": ""}, times)
    ours = {name: value for name, value in cluster.environ.items() if not name.startswith(("PEV_", "AWS_"))}
    here = _ms(folder / "two", ours | dict(connected), times)
    return [
        Figure("a step on SQLite", here, "ms"),
        Figure("a step on PostgreSQL", there, "ms"),
        Figure("PostgreSQL to SQLite", there / here, ""),
    ]


def _ms(data: Path, environ: Mapping[str, str], times: int) -> float:
    """By step, of runs of four with plan and answer. What models say comes at once, over HTTP."""
    data.mkdir()
    command = [sys.executable, "-m", "tests.bench.scale.one_run", str(times)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**environ, "PEV_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "pevsite.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ShapeBroken(done.stderr[-2_000:])
    return median(float(line) for line in done.stdout.split()) / STEPS * 1_000
