"""What `PEV_COMMANDS` names: read as a shell would split it, without one, or refused in a sentence; and extras."""

import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from pevsite.commands import command_folders, commands, mcp_server


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (" ; ", {}),
        ("tests: pytest -q", {"tests": ("pytest", "-q")}),
        (
            "tests: pytest -k 'one and two'; lint-all:ruff check .;",
            {"tests": ("pytest", "-k", "one and two"), "lint-all": ("ruff", "check", ".")},
        ),
        ("one: sh -c 'a; b # c'; two: d#e", {"one": ("sh", "-c", "a; b # c"), "two": ("d#e",)}),
        ("tests: sh -c 'rm -rf $HOME'", {"tests": ("sh", "-c", "rm -rf $HOME")}),
    ],
)
def test_names_and_arguments(text: str, expected: dict[str, tuple[str, ...]]) -> None:
    assert commands(text) == expected


@pytest.mark.parametrize(
    "text", ["pytest -q", "tests:", "Tests: pytest", "tests: pytest 'q", "a b: c", "tests: a; tests: b", ": pytest"]
)
def test_what_cannot_be_read_is_said(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^PEV_COMMANDS cannot be read at “.*”\. Write it as in “tests: "):
        commands(text)


def test_folders_that_commands_see(tmp_path: Path) -> None:
    assert command_folders(" : ") == ()
    assert command_folders(f"/usr/bin: {tmp_path}") == (Path("/usr/bin"), tmp_path)


@pytest.mark.parametrize("text", ["tools", "/no/such/folder", "/usr:/usr/../root", "/etc/hostname"])
def test_what_is_no_folder_is_said(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^PEV_COMMAND_FOLDERS names .*, which is no folder here\. Name "):
        command_folders(text)


@pytest.mark.parametrize("path", ["/", "/tmp", "/root", "/proc", "/dev/shm", "link"])
def test_a_folder_in_whose_place_the_sandbox_has_its_own_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "link").symlink_to("/proc")
    with pytest.raises(ImproperlyConfigured, match="which commands cannot see"):
        command_folders(str(tmp_path / path))


def test_the_mcp_server_needs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [mcp_server(wanted) for wanted in (False, True)] == [False, True]
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert mcp_server(False) is False
    with pytest.raises(ImproperlyConfigured, match=r"^PEV_MCP_SERVER needs the extra mcp: uv sync --extra mcp\."):
        mcp_server(True)
