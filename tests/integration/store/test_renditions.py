"""Renditions: what is decided when a content comes in, once and for all runs, and how it is read from then on."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from runs import isolation
from runs.contracts.ports import FileInfo, ToolUse
from runs.documents.content import Converted, text_of
from runs.documents.packed_parts import packed
from runs.errors import UploadRefused
from runs.models import Rendition, Tree
from runs.pev.tools.toolbox import RunTools
from runs.store import blobs, input_examination, renditions, trees
from runs.store.renditions import WAITING, Readings
from runs.store.trees import Overlay

pytestmark = pytest.mark.django_db

UMLAUTS = "Größe der Straße\n"
WESTERN = UMLAUTS.encode("cp1252")
FILES = {"a.txt": WESTERN, "b.txt": UMLAUTS.encode(), "talk.mp4": b"\0\0\0 ftypisom", "x.bin": b"\0\1\2"}


def stored(contents: dict[str, bytes]) -> dict[str, FileInfo]:
    files = {path: blobs.put(content) for path, content in contents.items()}
    input_examination.examine(files)
    return files


def tree_of(contents: dict[str, bytes]) -> Tree:
    return trees.make_tree(stored(contents))


def workspace(tree: Tree) -> Overlay:
    return Overlay(tree, {}, max_files=100, max_bytes=1_000_000)


def test_only_what_is_not_utf_8_has_a_rendition() -> None:
    files = stored(FILES)
    rows = Rendition.objects.values_list("source", "text", "codec", "problem")
    assert {source: tuple(rest) for source, *rest in rows} == {
        files["a.txt"].sha256: (files["b.txt"].sha256, "Windows-1252", ""),
        files["talk.mp4"].sha256: ("", "", "is sound or film, which cannot be read"),
        files["x.bin"].sha256: ("", "", "is not text"),
    }


def test_as_much_as_a_document_may_be_fits_into_its_column() -> None:
    extent = "100,000 paragraphs, 100,000 read by OCR, 1,000,000 comments"
    Rendition(source="0" * 64, reader="pdf 1", extent=extent).clean_fields(exclude=["notes"])


def test_a_tree_is_read_as_utf_8_and_kept_as_it_was() -> None:
    tree = tree_of(FILES)
    read = workspace(tree).read("a.txt")
    assert (read, isinstance(read, Converted)) == (UMLAUTS.encode(), True)
    assert trees.contents_of(tree)["a.txt"] == UMLAUTS.encode()
    assert blobs.read(trees.files_of(tree)["a.txt"].sha256) == WESTERN
    assert trees.read_text(trees.files_of(tree)["a.txt"].sha256) == UMLAUTS
    assert trees.problems_of(tree) == {
        "talk.mp4": "is sound or film, which cannot be read",
        "x.bin": "is not text",
    }


def test_documents_in_ascii_are_no_text() -> None:
    pdf, rtf = b"%PDF-1.4\n1 0 obj", b"{\\rtf1 Hello}"
    tree = tree_of({"a.pdf": pdf, "b.md": b"%PDF- is how they begin", "c.rtf": rtf})
    assert sorted(trees.problems_of(tree)) == ["a.pdf", "c.rtf"]
    files, shas = workspace(tree), {path: info.sha256 for path, info in trees.files_of(tree).items()}
    assert {path: text_of(files.read(path)) for path in shas} == {
        "a.pdf": None,
        "b.md": "%PDF- is how they begin",
        "c.rtf": None,
    }
    assert {path: trees.read_text(sha256) for path, sha256 in shas.items()} == {
        "a.pdf": None,
        "b.md": "%PDF- is how they begin",
        "c.rtf": None,
    }


def test_an_rtf_file_that_was_read_before_stays_read() -> None:
    text = blobs.put(b"Hello").sha256
    rtf = blobs.put(b"{\\rtf1 Hello}")
    Rendition.objects.create(source=rtf.sha256, reader="text 1", text=text, codec="Windows-1252")
    input_examination.examine({"a.rtf": rtf})
    tree = trees.make_tree({"a.rtf": rtf})
    assert (trees.problems_of(tree), workspace(tree).read("a.rtf")) == ({}, b"Hello")


def test_an_rtf_file_that_a_run_writes_is_text() -> None:
    files = workspace(tree_of({}))
    files.write("letter.rtf", b"{\\rtf1 Hello}")
    assert (files.problem("letter.rtf"), text_of(files.read("letter.rtf"))) == ("", "{\\rtf1 Hello}")
    assert trees.read_text(blobs.put(b"{\\rtf1 Hello}").sha256) == "{\\rtf1 Hello}"


def test_tools_say_why_a_file_cannot_be_read() -> None:
    tools = RunTools(workspace(tree_of(FILES)))
    read = tools.run(ToolUse("1", "read_file", {"path": "talk.mp4"}))
    assert (read.text, read.is_error) == ("talk.mp4 is sound or film, which cannot be read.", True)
    assert tools.run(ToolUse("1", "list_files", {"prefix": ""})).text.splitlines()[-2:] == [
        "[talk.mp4 is sound or film, which cannot be read]",
        "[x.bin is not text]",
    ]


def test_lists_say_how_much_a_document_is() -> None:
    files = workspace(tree_of({"a.md": b"Text."}))
    tools = RunTools(files)
    assert not tools.run(ToolUse("1", "write_file", {"path": "report.pdf", "content": "# Report"})).is_error
    listed = tools.run(ToolUse("2", "list_files", {"prefix": ""})).text.splitlines()
    assert listed[1:] == ["5\ta.md", f"{files.files()['report.pdf'].size}\treport.pdf\t1 page"]


def test_what_a_run_writes_over_it_is_read_as_it_is() -> None:
    files = workspace(tree_of(FILES))
    files.write("a.txt", b"New.")
    assert (files.read("a.txt"), files.contents()["a.txt"]) == (b"New.", b"New.")


def test_the_row_of_a_tree_keeps_what_its_contents_read_as() -> None:
    tree = tree_of(FILES)
    other = trees.with_changes(tree, {"new.md": blobs.put(b"New.")})
    with CaptureQueriesContext(connection) as asked:
        trees.load_readings([tree, other])
        assert workspace(tree).read("a.txt") == UMLAUTS.encode()
        assert workspace(other).read("a.txt") == UMLAUTS.encode()
    assert len(asked) == 1


def test_what_another_process_has_found_out_since_is_read_with_the_next_row() -> None:
    files = {path: blobs.put(content) for path, content in FILES.items()}
    tree = trees.make_tree(files)
    assert (workspace(tree).read("a.txt"), trees.problems_of(tree)) == (WESTERN, {})
    input_examination.examine(files)  # as another process would
    assert workspace(tree).read("a.txt") == WESTERN
    again = Tree.objects.get(pk=tree.pk)
    assert workspace(again).read("a.txt") == UMLAUTS.encode()
    assert sorted(trees.problems_of(again)) == ["talk.mp4", "x.bin"]


def test_a_content_is_examined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stored(FILES)
    monkeypatch.setattr(isolation, "run", None)
    stored({f"again/{path}": content for path, content in FILES.items()})
    assert Rendition.objects.count() == 3


def test_another_reader_decides_only_what_could_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    files = stored(FILES)
    monkeypatch.setattr(input_examination, "reader", lambda: "text 2")
    input_examination.examine(files)
    again = Rendition.objects.filter(reader="text 2").values_list("source", flat=True)
    assert set(again) == {files["talk.mp4"].sha256, files["x.bin"].sha256}


def test_of_several_readers_the_first_text_and_the_last_problem_count() -> None:
    for reader, text in (("one", ""), ("two", "2" * 64), ("three", "3" * 64)):
        Rendition.objects.create(source="a", reader=reader, text=text, codec=text and "x", problem="" if text else "is")
    for reader, problem in (("one", "is one"), ("two", "is two")):
        Rendition.objects.create(source="b", reader=reader, problem=problem)
    assert renditions.readings(["a", "b"]) == Readings(texts={"a": "2" * 64}, problems={"b": "is two"})


@pytest.mark.slow
@pytest.mark.exhaustive
def test_utf_8_starts_no_process_and_small_files_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    run = isolation.run

    def counted(function: str, data: bytes, *rest: Any) -> bytes:
        calls.append(len(data))
        return run(function, data, *rest)

    monkeypatch.setattr(isolation, "run", counted)
    stored({f"{n}.txt": f"Grüße {n}".encode() for n in range(500)})
    assert calls == []
    stored({f"{n}.txt": f"Grüße {n}".encode("cp1252") for n in range(450)})
    assert len(calls) == 3
    assert Rendition.objects.exclude(text="").count() == 450


def test_one_that_breaks_its_process_does_not_spoil_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    run = isolation.run

    def fails(function: str, data: bytes, *rest: Any) -> bytes:
        if b"evil" in data:
            raise isolation.TimedOut("it took more than 10 seconds of the processor")
        return run(function, data, *rest)

    monkeypatch.setattr(isolation, "run", fails)
    tree = tree_of({"a.txt": WESTERN, "b.txt": b"evil\xff", "c.txt": "Köln".encode("cp1252")})
    assert trees.problems_of(tree) == {
        "b.txt": "is more than its reader can do: it took more than 10 seconds of the processor",
    }
    assert workspace(tree).read("c.txt") == "Köln".encode()


def test_a_long_content_is_read_as_utf_8_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_examination, "MAX_BYTES", 2_000_000)
    long = WESTERN * 150_000
    tree = tree_of({"a.txt": long, "b.txt": long.decode("cp1252").encode()})
    assert trees.problems_of(tree) == {"a.txt": "has more than 2 MB and is not UTF-8; save it as UTF-8"}


def test_what_takes_too_long_is_refused_and_what_was_decided_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_examination, "BATCH_FILES", 1)
    clock = iter(range(0, 1_000, 20))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(isolation, "run", lambda *_: packed(iter([b"Windows-1252", b"text", b""])))
    with pytest.raises(UploadRefused) as caught:
        stored({"a.txt": b"\xe9", "b.txt": b"\xe8"})
    assert str(caught.value) == (
        "Finding out which files are text took more than 60 seconds and had only come to “b.txt”. "
        "Send the same files again to go on from there, fewer of them, or save them as UTF-8."
    )
    assert Rendition.objects.count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"text": "a"},
        {"text": "a", "codec": "b", "problem": "c"},
        {"text": "a", "codec": "b", "layout": "c"},
        {"codec": "b"},
        {"layout": "b", "format": "pdf"},
    ],
)
def test_a_rendition_is_a_text_or_a_problem(wrong: dict[str, str]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Rendition.objects.create(source="a", reader="b", **wrong)


def test_there_is_one_by_each_reader() -> None:
    Rendition.objects.create(source="a", reader="b", problem="is")
    with pytest.raises(IntegrityError), transaction.atomic():
        Rendition.objects.create(source="a", reader="b", problem="is not")


MAIL = b"From: a@example.org\nMIME-Version: 1.0\nSubject: Rent\n\nIt is due.\n"


def test_a_mail_that_a_run_has_as_text_stays_text_when_it_is_given_again() -> None:
    before = trees.make_tree({"out.txt": blobs.put(MAIL)})  # as a run wrote it, or an earlier version took it in
    stored({"mail.eml": MAIL})
    assert trees.contents_of(before)["out.txt"] == MAIL
    assert Rendition.objects.count() == 0


def test_a_mail_that_is_given_first_is_a_document_from_then_on() -> None:
    given = tree_of({"mail.eml": MAIL})
    assert trees.problems_of(given) == {"mail.eml": WAITING}
    tree_of({"again.eml": MAIL})
    assert Rendition.objects.get().format == "eml"


def test_what_stands_far_into_a_text_makes_no_document_of_it() -> None:
    late = b"x" * 10_000 + b"<!-- saved from url=(0020)https://example.org/ -->"
    stored({"page.html": late})
    assert Rendition.objects.count() == 0
