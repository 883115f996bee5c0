"""Commands come at once, since they import what is slow only when it is needed. Figures would depend on the machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pevsite.client.commands import COMMANDS
from tests.installation import ROOT, Installation, environ

CLIENT = {"anthropic", "httpx2"}
SERVER = {"daphne", "twisted"}
_PROGRAM = """
import os
import sys
import django
from django.core.management import call_command

def tell(*arguments):
    print("imported:", *sorted({name.partition(".")[0] for name in sys.modules}), flush=True)
    os._exit(0)

django.setup()
if sys.argv[1] == "serve":
    from runs.management.commands import serve
    serve.Command._greet = tell
commands = [sys.argv[1:]]
if "--help" in sys.argv:
    commands = [[name, "--help"] for name in sys.argv[1:] if name != "--help"]
for command in commands:
    try:
        call_command(*command)
    except SystemExit:
        pass
tell()
"""


def imported(data: Path, *arguments: str) -> set[str]:
    """The packages that a command has imported when it ends, or `serve` when it prints its link."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments],
        cwd=ROOT,
        env=environ(data),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("imported:")[2].split())


@pytest.mark.slow
@pytest.mark.exhaustive
def test_help_imports_neither_client_nor_server(tmp_path: Path) -> None:
    """Of four commands, one after the other in one process."""
    packages = imported(tmp_path, *("run", "--help", "serve", "--help", "people", "--help", "check_models", "--help"))
    assert {"runs", "argparse"} <= packages
    assert packages & (CLIENT | SERVER) == set()


@pytest.mark.slow
@pytest.mark.exhaustive
def test_the_link_waits_for_the_server_and_not_for_the_client(tmp_path: Path, installation: Installation) -> None:
    packages = imported(installation.copy(tmp_path / "data"), "serve", "--port", "0")
    assert packages & ({"anthropic"} | SERVER) == SERVER


@pytest.mark.slow
def test_no_page_imports_the_client_of_models(tmp_path: Path) -> None:
    """Every command that checks the site imports them all."""
    assert "anthropic" not in imported(tmp_path, "check")


def test_help_of_a_run_needs_no_tables(tmp_path: Path) -> None:
    arguments = [sys.executable, "-X", "importtime", "manage.py", "run", "--help"]
    environ = {**os.environ, "PEV_DATA_DIR": str(tmp_path / "none")}
    done = subprocess.run(arguments, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout.startswith("usage: manage.py run ")
    assert "--approve-all" in done.stdout
    assert "runs.management.commands.run" in done.stderr
    assert "runs.models" not in done.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "absent"), [(["submit", "--help"], {"httpx2", "rich", "pydantic"}), (["watch", "7"], {"rich"})]
)
def test_a_command_against_a_server_needs_no_django(tmp_path: Path, arguments: list[str], absent: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "manage.py", *arguments],
        cwd=ROOT,
        env={"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    packages = set(re.findall(r"\| +(\w+)", done.stderr))
    assert "argparse" in packages
    assert packages & {"django", "anthropic", *absent} == set()
    assert done.stdout.startswith("usage: manage.py submit ") or "There is no server yet." in done.stderr


def printed(tmp_path: Path, *arguments: str) -> str:
    """What a command prints that needs no installation."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "PEV_DATA_DIR": str(tmp_path / "none")},
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert not (tmp_path / "none").exists()
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"]])
def test_help_says_what_each_command_does(tmp_path: Path, arguments: list[str]) -> None:
    server, installation, django = printed(tmp_path, *arguments).split("\n\n")[1:]
    assert [line.split()[0] for line in server.splitlines()[1:]] == list(COMMANDS)
    own = sorted(file.stem for file in (ROOT / "runs/management/commands").glob("[a-z]*.py"))
    assert [line.split()[0] for line in installation.splitlines()[1:]] == own
    assert [line for part in (server, installation) for line in part.splitlines()[1:] if len(line.split()) < 3] == []
    assert {"createsuperuser", "dbshell"} <= set(django.replace(",", " ").split())


def test_help_about_a_command_against_a_server(tmp_path: Path) -> None:
    said = printed(tmp_path, "help", "delegate")
    assert said.startswith("usage: manage.py delegate [-h]")
    assert "\nLeave a question to the AI.\n" in said


@pytest.mark.slow
def test_a_setting_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=ROOT,
        env=environ(tmp_path, PEV_WORKERS="many"),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 1
    said = "PEV_WORKERS is “many”: it must be a whole number from 1 to 1,000."
    assert done.stderr == f"{said}\n"
