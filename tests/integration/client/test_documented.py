"""The program and the commands in docs/api/README.md, at a running server whose model asks a question."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from select import select

import pytest

from runs.enums import TokenScope
from tests.browser.site import Site
from tests.installation import ROOT, Installation
from tests.integration.client.asking_model import QUESTION, site_that_asks

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
SCOPES = (TokenScope.RUNS_READ, TokenScope.RUNS_WRITE, TokenScope.GATES_READ, TokenScope.GATES_DECIDE)
TASK = "Compare these offers."


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, installation: Installation) -> Iterator[Site]:
    with site_that_asks(installation, tmp_path_factory.mktemp("asking")) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of a person with two offers."""
    (tmp_path / "offers/b").mkdir(parents=True)
    (tmp_path / "offers/a.md").write_text("Offer A costs 10 EUR.\n")
    (tmp_path / "offers/b/b.md").write_text("Offer B costs 10 CHF.\n")
    return tmp_path


def documented(language: str) -> str:
    """The only block of this language in the documentation of the API."""
    text = (ROOT / "docs/api/README.md").read_text()
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(block)


def environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm"}


def test_the_program(site: Site, home: Path) -> None:
    (home / "program.py").write_text(documented("python"))
    token = site.write("token", "ann", "program", *SCOPES)
    done = subprocess.run(
        [sys.executable, "program.py", site.url, token, "offers", TASK, "report.pdf"],
        cwd=home,
        env=environ(home),
        input="y\nIn euros.\ny\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [words in done.stdout for words in ("- compare (low): Do compare", QUESTION, "1. EUR")] == [True] * 3
    assert done.stdout.splitlines()[-1] == (
        "Approve? [y/N] The run finished with open points. Read them before the answer."
    )
    assert (home / "report.pdf").read_bytes().startswith(b"%PDF-")


def at_terminal(command: list[str], home: Path, typed: str) -> tuple[int, str]:
    """The exit code of a command at a terminal where a person types this, and what the terminal shows."""
    here, there = pty.openpty()
    process = subprocess.Popen(
        command, cwd=home, env=environ(home), stdin=there, stdout=there, stderr=there, start_new_session=True
    )
    os.close(there)
    os.write(here, typed.encode())
    shown = b""
    while select([here], [], [], 120)[0]:  # a run that waits for a decision would be followed for ever
        try:
            shown += os.read(here, 65_536)
        except OSError:  # the command has ended
            break
    else:
        process.kill()
    os.close(here)
    return process.wait(), shown.decode()


def test_the_commands(site: Site, home: Path) -> None:
    token = site.write("token", "ben", "commands", *SCOPES)
    login, *lines = documented("sh").splitlines()
    program = [sys.executable, str(ROOT / "manage.py")]
    signing_in = [*program, *shlex.split(login.replace("https://pevsite.example.org", site.url))[1:]]
    done = subprocess.run(
        signing_in, cwd=home, env=environ(home), input=token, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    meant, asked, codes = dict[str, str](), list[str](), list[tuple[str, int]]()
    for line in lines:
        words = [meant.get(word, word) for word in shlex.split(line)[1:]]
        code, shown = at_terminal([*program, *words], home, "y\n")
        codes.append((words[0], code))
        if submitted := re.search(r"Run (\d+) is submitted", shown):
            meant["36"] = submitted[1]
        asked += [number for number in re.findall(r" gates (\d+)", shown) if number not in asked]
        meant |= dict(zip(("12", "13", "14"), asked, strict=False))
    decided = [("watch", 4), ("approve", 0), ("watch", 4), ("answer", 0), ("watch", 4), ("approve", 0)]
    assert codes == [("submit", 0), *decided, ("watch", 3), ("report", 0)]
    assert (home / "report.pdf").read_bytes().startswith(b"%PDF-")
