"""A database that is lost while a command is about to begin: one sentence, no traceback, no half of a site."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.installation import ROOT, Installation, environ

pytestmark = [pytest.mark.slow, pytest.mark.services]

_PROGRAM = """
import sys
from django.db import OperationalError
from pevsite import command_line

def lose(*arguments, **named):
    raise OperationalError("server closed the connection unexpectedly\\n\\tThis probably means something.")

where = sys.argv.pop(1)
import django
django.setup()
if where == "link":
    from runs.management.commands import serve
    serve.Command._greet = lose
elif where == "engine":
    from runs.engine import probes
    probes.load = lose
else:
    from runs.management.commands import people
    people.Command.handle = lose
command_line.main()
"""


@pytest.mark.parametrize("where", ["link", "engine", "command"])
@pytest.mark.exhaustive
def test_it_is_one_sentence(tmp_path: Path, installation: Installation, where: str) -> None:
    command = ["people", "list"] if where == "command" else ["serve", "--port", "0"]
    data = installation.copy(tmp_path / "data")
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, where, *command],
        cwd=ROOT,
        env=environ(data, DJANGO_SETTINGS_MODULE="pevsite.settings"),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    sentence = "The connection to the database was lost: server closed the connection unexpectedly. No data is lost."
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
    assert done.stderr.startswith(sentence)
