"""The wheel, unpacked and started in an empty folder: the whole product, which writes nothing beside itself."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from tests.installation import ROOT

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
PROGRAM = [sys.executable, "-c", "from pevsite.command_line import main; main()"]
"""What the script `pevsite` does that an installer makes of the wheel."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that an installer would have filled."""
    built, unpacked = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("unpacked")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(built)]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    [wheel] = built.glob("pevsite-*.whl")
    zipfile.ZipFile(wheel).extractall(unpacked)
    return unpacked


@pytest.fixture(scope="module")
def environ(package: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A user who has set nothing, in a home of their own; what is started first makes the installation there."""
    empty = tmp_path_factory.mktemp("home")
    set_here = ("PEV_", "ANTHROPIC_", "COVERAGE", "DJANGO_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(set_here)}
    home = {"HOME": str(empty), "XDG_DATA_HOME": str(empty / "data")}
    return {**kept, **home, "PYTHONPATH": str(package), "PEV_REHEARSAL_DELAY": "0"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty one, in which no checkout can be found."""
    made = tmp_path / "empty"
    made.mkdir()
    return made


def files(folder: Path) -> set[Path]:
    """Without the bytecode that Python keeps."""
    return {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


@pytest.mark.exhaustive
def test_a_run_succeeds_and_its_data_lie_with_the_user(package: Path, environ: dict[str, str], folder: Path) -> None:
    before = files(package)
    run = [*PROGRAM, "run", "--sample", "contracts", "--approve-all", "--json"]
    done = subprocess.run(run, cwd=folder, env=environ, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "succeeded"
    assert Path(environ["XDG_DATA_HOME"], "pevsite", "pevsite.sqlite3").is_file()
    assert files(folder) == set()
    assert files(package) == before


@pytest.fixture
def lines(environ: dict[str, str], folder: Path) -> Iterator[Iterator[str]]:
    """What `pevsite serve` prints."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serve = [*PROGRAM, "serve", "--port", str(port)]
    with subprocess.Popen(serve, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield iter(process.stdout)
        process.kill()


def test_it_serves_pages_and_styles(lines: Iterator[str]) -> None:
    told = "".join(next(line for line in lines if part in line) for part in ("data in", "Sign in", "Another link"))
    assert "Another link: pevsite people link USER" in told
    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    [link] = re.findall(r"http://\S+/sign-in/\S+", told)
    page = browser.open(link).read().decode()
    base = link.partition("/sign-in/")[0]
    styles = re.findall(r'href="(/static/css/[^"]+)"', page)
    assert styles
    assert all(browser.open(base + style).status == 200 for style in styles)
