"""What a run has made is written whole, where the person says, and nowhere else."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.unit.client.fake_api import URL, FakeApi, arriving, at_terminal, problem


def line(path: str, change: str = "new", content: bytes = b"made") -> dict[str, Any]:
    return {"path": path, "change": change, "bytes": len(content), "sha256": sha256(content).hexdigest()}


def written(folder: Path) -> dict[str, bytes]:
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_a_report_is_written_once(api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report.pdf"
    api.on("GET /runs/7/report.pdf", b"%PDF \x1b", b"%PDF 2")
    assert api.run("report", "7", "--format", "pdf", "-o", str(out), "--json") == 0
    assert out.read_bytes() == b"%PDF \x1b"
    assert json.loads(capsys.readouterr().out) == {"file": str(out), "bytes": 6}
    assert (api.run("report", "7", "--format", "pdf", "-o", str(out)), out.read_bytes()) == (1, b"%PDF \x1b")
    assert capsys.readouterr().err.endswith("there is a file of this name already; --overwrite replaces it.\n")
    assert api.run("report", "7", "--format", "pdf", "-o", str(out), "--overwrite") == 0
    assert out.read_bytes() == b"%PDF 2"


def test_a_report_at_a_terminal_obeys_nothing(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# Report \x1b[2J “done”".encode()
    api.on("GET /runs/7/report.md", arriving(text, media_type="text/markdown; charset=utf-8"))
    api.on("GET /runs/7/report.json", arriving(b"{}", media_type="application/json"))
    shown = at_terminal(monkeypatch, "")
    assert (api.run("report", "7"), shown.getvalue()) == (0, "# Report \\u001b[2J “done”\n")
    assert api.run("report", "7", "--format", "json") == 0


def test_at_a_terminal_a_report_that_is_no_text_needs_a_file(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its media type: the server knows which formats there are."""
    api.on("GET /runs/7/report.odt", arriving(b"PK \x1b", media_type="application/vnd.oasis.opendocument.text"))
    shown = at_terminal(monkeypatch, "")
    assert api.run("report", "7", "--format", "odt") == 2
    assert shown.getvalue().endswith("Name a file for the report with -o: odt is no text.\n")


def test_a_format_that_there_is_not_is_refused_by_the_server(
    api: FakeApi, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    api.on("GET /runs/7/report.rtf", problem(422, "Input should be 'md' or 'pdf'."))
    assert api.run("report", "7", "--format", "rtf", "-o", str(tmp_path / "report")) == 1
    assert capsys.readouterr().err == "Input should be 'md' or 'pdf'.\n"
    assert written(tmp_path) == {}


def test_a_report_in_a_pipe_is_as_it_is(api: FakeApi, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    api.on("GET /runs/7/report.pdf", b"%PDF \x1b\xff")
    assert (api.run("report", "7", "--format", "pdf"), capfdbinary.readouterr().out) == (0, b"%PDF \x1b\xff")


def test_files_are_listed_page_by_page(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    first = {"files": [line("a.md")], "next_offset": 1}
    api.on("GET /runs/7/files", first, {"files": [line("b\x1b\n.md", "given")], "next_offset": None})
    assert api.run("files", "7") == 0
    assert [one.split() for one in capsys.readouterr().out.splitlines()] == [
        ["new", "4", "a.md"],
        ["given", "4", "b\\u001b", ".md"],
        ["2", "files"],
    ]
    assert [one.url.params["offset"] for one in api.requests] == ["0", "1"]


def test_nothing_is_written_outside_the_folder(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, outside = tmp_path / "out", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "linked").symlink_to(outside)
    bad = ["../x.md", "/etc/x.md", "a/../../x.md", "C:/x.md", ".git/config", ".envrc", "..\\x.md", "a\x1b.md"]
    names = ["deep/a b#?.md", "linked/b.md", "short.md", "gone.md", *bad]
    lines = [*map(line, names), line("given.md", "given"), line("removed.md", "removed")]
    api.on("GET /runs/7/files", {"files": lines, "next_offset": None})
    api.on("GET /runs/7/files/deep/a b#?.md", b"made")
    api.on("GET /runs/7/files/linked/b.md", b"made")
    api.on("GET /runs/7/files/short.md", b"mad")
    api.on("GET /runs/7/files/given.md", b"made")
    assert api.run("files", "7", "-o", str(folder), "--given") == 1
    assert (written(folder), written(outside)) == ({"deep/a b#?.md": b"made", "given.md": b"made"}, {})
    said = capsys.readouterr()
    assert said.out == f"2 files written to “{folder}”.\n"
    assert [one.split("”")[0].removeprefix("“") for one in said.err.splitlines()] == [
        "linked/b.md",
        "short.md",
        "gone.md",
        *(name.replace("\x1b", "\\u001b") for name in bad),
    ]
    asked = [one.url.path.removeprefix("/api/v1/runs/7/files") for one in api.requests]
    assert asked == ["", *(f"/{name}" for name in (*names[:4], "given.md"))]


def test_files_without_problems(api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("GET /runs/7/files", {"files": [line("a.md"), line("b.md", "given")], "next_offset": None})
    api.on("GET /runs/7/files/a.md", b"made")
    assert api.run("files", "7", "-o", str(tmp_path / "new/out"), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"run": 7, "written": ["a.md"], "problems": []}
    assert written(tmp_path / "new/out") == {"a.md": b"made"}


@pytest.mark.parametrize(
    ("answers", "waits", "said"),
    [
        ([problem(429, "Too many.", Retry_After="4")], [4, 4, 4, 4], "Too many."),
        ([problem(429, "Too many.", Retry_After="9000")], [], "Too many."),
        ([problem(503, "Away.", Retry_After="0")], [1, 1, 1, 1], "Away."),
        ([problem(404, "There is no run 7 that you may see.")], [], "There is no run 7 that you may see."),
        ([b"<html>"], [], "The answer cannot be read. Is pevsite at this address?"),
    ],
)
def test_a_busy_server_is_asked_a_few_times(
    api: FakeApi, capsys: pytest.CaptureFixture[str], answers: list[Any], waits: list[float], said: str
) -> None:
    api.on("GET /runs/7/files", *answers)
    assert api.run("files", "7") == 1
    assert (api.waits, capsys.readouterr().err) == (waits, f"{said}\n")


def test_long_waits_are_said(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("GET /runs/7/files", problem(429, "Too many.", Retry_After="59"), {"files": [], "next_offset": None})
    assert api.run("files", "7") == 0
    assert (api.waits, capsys.readouterr().err) == ([59], f"{URL} is busy. Trying again in 59 seconds.\n")


def test_a_download_that_breaks_off_begins_again(api: FakeApi, tmp_path: Path) -> None:
    lost = arriving(b"%PDF half", httpx2.ReadError("gone"), media_type="application/pdf")
    api.on("GET /runs/7/report.pdf", lost, b"%PDF")
    assert api.run("report", "7", "--format", "pdf", "-o", str(tmp_path / "report.pdf")) == 0
    assert (written(tmp_path), api.waits) == ({"report.pdf": b"%PDF"}, [1])


def test_a_download_that_never_arrives_leaves_no_file(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = arriving(b"%PDF half", httpx2.ReadError("gone"), media_type="application/pdf")
    api.on("GET /runs/7/report.pdf", lost)
    assert api.run("report", "7", "--format", "pdf", "-o", str(tmp_path / "report.pdf")) == 1
    assert (written(tmp_path), api.waits) == ({}, [1, 2, 4, 8])
    assert capsys.readouterr().err.endswith(f"The connection to {URL} broke off. Start the command again.\n")


@contextmanager
def no_room_for(size: int) -> Iterator[None]:
    """Meanwhile this process can write no file of more bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_said_and_leaves_no_file(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = b"x" * 1_000
    api.on("GET /runs/7/report.pdf", content)
    api.on("GET /runs/7/files", {"files": [line("a.md", content=content)], "next_offset": None})
    api.on("GET /runs/7/files/a.md", content)
    with no_room_for(100):
        codes = [
            api.run("report", "7", "--format", "pdf", "-o", str(tmp_path / "report.pdf")),
            api.run("files", "7", "-o", str(tmp_path / "out")),
        ]
    assert (codes, written(tmp_path)) == ([1, 1], {})
    assert capsys.readouterr().err.splitlines() == [
        f"“{tmp_path / 'report.pdf'}” was not written: File too large.",
        "“a.md” was not written: File too large.",
    ]


def test_a_report_that_does_not_fit_while_it_arrives(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET /runs/7/report.pdf", b"x" * 11_000_000)
    with no_room_for(1_000_000):
        assert api.run("report", "7", "--format", "pdf", "-o", str(tmp_path / "report.pdf")) == 1
    assert written(tmp_path) == {}
    assert capsys.readouterr().err == f"“{tmp_path / 'report.pdf'}” was not written: File too large.\n"
