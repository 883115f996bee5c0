"""The files of a submission: their paths, their limits, and how they are stored."""

from __future__ import annotations

import tracemalloc
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.base import File
from django.test import override_settings

from runs.contracts.ports import FileInfo
from runs.enums import EventKind
from runs.errors import UploadRefused
from runs.lifecycle.coverage import inputs_of
from runs.models import Event, Run
from runs.pev.input_coverage import Extent, coverage
from runs.store import blobs, trees
from runs.submission.intake import Upload, intake
from runs.submission.submit import again, submit
from runs.web.new_run.draft_files import rows_of
from tests import factories as made
from tests.integration.lifecycle.submitting import refused, submission, upload

pytestmark = pytest.mark.django_db


class Large(File):  # type: ignore[type-arg]
    """A file that says how large it is and gives its bytes in chunks only."""

    def __init__(self, size: int, read: list[int]) -> None:
        super().__init__(None)
        self.size = size
        self._read = read

    def read(self, *args: Any) -> Any:
        raise AssertionError("the file was read into memory")

    def seek(self, *args: Any) -> Any:
        return 0

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        for _ in range(self.size // 100_000):
            self._read.append(100_000)
            yield b"x" * 100_000


def test_files_are_kept_byte_by_byte_under_their_paths_also_binary_ones() -> None:
    binary = bytes(range(256))
    given = submission("Go.", upload("b/Ünïcode näme 文.md"), upload("a.bin", binary), upload("empty.txt", b""))
    run = submit(made.alice(), given)
    files = trees.files_of(run.inputs)
    assert list(files) == ["a.bin", "b/Ünïcode näme 文.md", "empty.txt"]
    assert [blobs.read(info.sha256) for info in files.values()] == [binary, b"Hello.", b""]
    assert Event.objects.get(run=run, kind=EventKind.SUBMITTED).data == {
        "by": "alice",
        "files": 3,
        "bytes": 262,
        "not_read": [
            "a.bin cannot be read: it is not text.",
            "Nothing is in empty.txt: the file is empty.",
        ],
    }


@pytest.mark.parametrize(
    "path",
    [
        "../a.md",
        "a/../../b.md",
        "/etc/passwd",
        "C:/a.md",
        "c:\\a.md",
        "\\\\server\\share",
        "a//b.md",
        "./a.md",
        "a/",
        "",
        "nul.txt",
        "a\0.md",
        "a\n.md",
        "@output",
        "x" * 256,
        "a/" * 30 + "b.md",
        "evil\u202etxt.exe",
    ],
)
def test_a_path_that_cannot_be_in_a_tree_refuses_the_whole_submission(path: str) -> None:
    assert " cannot be used as a path: " in refused(submission("Go.", upload("fine.md"), upload(path)))


def test_backslashes_of_windows_are_folders() -> None:
    assert list(intake([upload("notes\\a.md")])) == ["notes/a.md"]


@pytest.mark.parametrize(
    ("one", "other", "sentence"),
    [
        ("a.md", "a.md", "“a.md” was sent twice; rename one of the two."),
        ("a/b.md", "a\\b.md", "“a/b.md” was sent twice; rename one of the two."),
        ("\u00e9.md", "e\u0301.md", "“\u00e9.md” was sent twice; rename one of the two."),
        ("A.md", "a.md", "“A.md” and “a.md” cannot lie in one folder; rename one of the two."),
        ("a", "a/b.md", "“a” and “a/b.md” cannot lie in one folder; rename one of the two."),
        ("a/b.md", "a", "“a” and “a/b.md” cannot lie in one folder; rename one of the two."),
    ],
)
def test_two_files_that_cannot_lie_side_by_side_are_refused(one: str, other: str, sentence: str) -> None:
    assert refused(submission("Go.", upload(one), upload(other))) == sentence


def test_10001_files_are_refused_before_any_is_read() -> None:
    read: list[int] = []
    uploads = [Upload(f"f{n}.txt", Large(100_000, read)) for n in range(10_001)]
    assert refused(submission("Go.", *uploads)) == "10,001 files are more than the 10,000 that a run may have."
    assert read == []


def test_a_file_of_51_mb_is_refused_before_it_is_read() -> None:
    read: list[int] = []
    large = Upload("large.bin", Large(51_000_000, read))
    assert refused(submission("Go.", upload("a.md"), large)) == "“large.bin” has 51.0 MB; one file may have 50.0 MB."
    assert read == []


def test_files_that_are_too_large_together_are_refused_before_they_are_read() -> None:
    read: list[int] = []
    uploads = [Upload(f"f{n}.bin", Large(45_000_000, read)) for n in range(5)]
    assert refused(submission("Go.", *uploads)) == "The files have 225.0 MB together; 200.0 MB are allowed."
    assert read == []


def test_files_for_which_the_disk_has_no_room_are_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "free_bytes", lambda: 510_000_000)
    read: list[int] = []
    assert refused(submission("Go.", Upload("large.txt", Large(20_000_000, read)))) == (
        "The server's disk has 510.0 MB free, and 500.0 MB have to stay free. Nothing was stored. "
        "Ask the administrator of this site to make room."
    )
    assert read == []


def test_without_free_space_no_run_begins_not_even_one_without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    finished = made.finished_partial()
    monkeypatch.setattr(blobs, "free_bytes", lambda: 499_999_999)
    with pytest.raises(UploadRefused, match="have to stay free"):
        submit(made.alice(), submission())
    with pytest.raises(UploadRefused, match="have to stay free"):
        again(finished, made.alice(), uuid.uuid4())
    assert Run.objects.get() == finished


def test_a_large_file_is_stored_without_being_held_in_memory() -> None:
    read: list[int] = []
    tracemalloc.start()
    stored = blobs.put_file(Large(20_000_000, read))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (stored.size, sum(read)) == (20_000_000, 40_000_000)
    assert peak < 4_000_000


@override_settings(UPLOAD_FILES=2, FILE_BYTES=10, UPLOAD_BYTES=15)
def test_limits_are_inclusive() -> None:
    assert list(intake([upload("a", b"x" * 10), upload("b", b"x" * 5)])) == ["a", "b"]
    with pytest.raises(UploadRefused):
        intake([upload("a", b"x" * 10), upload("b", b"x" * 6)])
    with pytest.raises(UploadRefused):
        intake([upload("a", b"x" * 11)])


def test_the_same_content_twice_is_stored_once() -> None:
    run = submit(made.alice(), submission("Go.", upload("a.md", b"the same"), upload("b.md", b"the same")))
    files = trees.files_of(run.inputs)
    assert files["a.md"] == files["b.md"] == FileInfo(files["a.md"].sha256, 8)


BLANK = {
    "spaces.txt": b"  \n\t\r\n",
    "unseen.md": "\ufeff\u200b\u00a0\n".encode(),
    "wide.txt": "\ufeff \r\n \r\n".encode("utf-16-le"),
    "long.csv": b"\n" * 3_000_000,
}


def test_files_of_white_space_are_named_as_empty_ones_are() -> None:
    files = [upload(path, content) for path, content in BLANK.items()]
    run = submit(made.alice(), submission("Go.", *files, upload("empty.txt", b""), upload("dot.txt", b"\n.\n")))
    said = Event.objects.get(run=run, kind=EventKind.SUBMITTED).data["not_read"]
    assert said == [
        "Nothing is in empty.txt: the file is empty.",
        "Nothing but white space is in long.csv, spaces.txt, unseen.md and wide.txt.",
    ]
    extents = {row.path: row.extent for row in rows_of(trees.files_of(run.inputs))}
    blank = dict.fromkeys(BLANK, "nothing but white space")
    assert extents == {**blank, "empty.txt": "empty", "dot.txt": ""}
    assert {one.path for one in coverage(inputs_of(run), ()) if one.extent is Extent.NOTHING} == {"dot.txt"}
