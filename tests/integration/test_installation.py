"""Which commands make an installation, and that it is fit for a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def manage(data: Path, *arguments: str, **environ: str) -> str:
    """What `manage.py` prints on this data folder."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "pevsite.settings", "PEV_DATA_DIR": str(data), **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_with_tls_the_site_passes_djangos_deployment_checks_and_a_check_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    told = manage(folder, "check", "--deploy", "--fail-level", "WARNING", PEV_TLS="on")
    assert told.startswith("System check identified no issues")
    assert not folder.exists()


def test_migrating_makes_the_installation(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    manage(folder, "migrate", "--help")
    assert not folder.exists()
    manage(folder, "migrate", "--verbosity", "0")
    assert {"pevsite.sqlite3", "secret.key"} <= {path.name for path in folder.iterdir()}
