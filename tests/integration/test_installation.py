"""Which commands make an installation, and that it is fit for a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import databases
from tests.installation import ROOT, Installation
from tests.installation import environ as environment


def manage(data: Path, *arguments: str, **environ: str) -> str:
    """What `manage.py` prints on this data folder."""
    done = called(data, *arguments, **environ)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def called(data: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**environment(data), "PEV_DATABASE_URL": "", **environ},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.slow
def test_with_tls_the_site_passes_djangos_deployment_checks_and_a_check_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    told = manage(folder, "check", "--deploy", "--fail-level", "WARNING", PEV_TLS="on")
    assert told.startswith("System check identified no issues")
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.exhaustive
def test_help_makes_no_installation(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    manage(folder, "migrate", "--help")
    assert not folder.exists()


@pytest.mark.slow
def test_migrating_makes_an_installation_that_is_for_nobody_else(tmp_path: Path, installation: Installation) -> None:
    """Also in a folder that was there before, and that others could read."""
    folder = installation.copy(tmp_path / "data")
    database = set() if databases.GIVEN else {"pevsite.sqlite3", "pevsite.sqlite3-migrating"}
    assert {path.name: path.stat().st_mode & 0o077 for path in [folder, *folder.iterdir()]} == dict.fromkeys(
        {"data", "secret.key", *database}, 0
    )


@pytest.mark.slow
def test_a_folder_that_cannot_be_closed_is_one_sentence_and_no_start(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "letters").write_text("mine")
    folder.chmod(0o755)
    done = called(folder, "serve", "--port", "0")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"The data folder {folder} is open to other users and holds other things than an installation. Name a folder "
        "of its own with --data-dir or PEV_DATA_DIR, or close this one (chmod 700).\n"
    )
