"""Documents that a run writes: read as they are written, and known to whoever comes to the same files later."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from runs import isolation
from runs.contracts.ports import Changes, ToolResult, ToolUse
from runs.documents.content import document_of, text_of
from runs.models import Rendition, Tree
from runs.pev.tools.toolbox import RunTools
from runs.store import blobs, input_examination, renditions, trees
from runs.store.trees import Overlay
from tests.documents.word import field, paragraph, word

pytestmark = pytest.mark.django_db

LETTER = word(paragraph("Dear tenant,") + paragraph("The lease ends."))
TEXT = "Dear tenant,\nThe lease ends."


def workspace(tree: Tree, changes: Changes | None = None) -> Overlay:
    return Overlay(tree, changes or {}, max_files=100, max_bytes=1_000_000)


def written() -> Overlay:
    files = workspace(trees.make_tree({}))
    files.write("letter.docx", LETTER)
    return files


def test_it_is_read_as_it_is_written() -> None:
    files = written()
    data = files.read("letter.docx")
    document = document_of(data)
    assert (text_of(data), files.problem("letter.docx")) == (TEXT, "")
    assert document
    assert [block.anchor for block in document.layout.blocks] == ["p1", "p2"]
    assert text_of(files.contents()["letter.docx"]) == TEXT
    assert blobs.read(files.changes["letter.docx"].sha256) == LETTER  # type: ignore[union-attr]


def test_a_workspace_that_is_made_again_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = written().changes
    monkeypatch.setattr(isolation, "run", None)
    assert text_of(workspace(trees.make_tree({}), changes).read("letter.docx")) == TEXT
    again = workspace(trees.make_tree({}))
    again.put_back(changes)
    assert text_of(again.read("letter.docx")) == TEXT


def test_the_tree_with_it_knows_it() -> None:
    base = trees.make_tree({})
    trees.readings_of(base)
    later = trees.with_changes(base, written().changes)
    assert text_of(trees.contents_of(later)["letter.docx"]) == TEXT


def test_one_that_cannot_be_read_says_why() -> None:
    files = workspace(trees.make_tree({}))
    files.write("letter.docx", word("<w:p>"))
    assert files.problem("letter.docx") == "is damaged; open it with the program that made it and save it again"
    assert text_of(files.read("letter.docx")) is None


def test_one_that_is_read_in_part_says_so() -> None:
    files = workspace(trees.make_tree({}))
    files.write("letter.docx", word(paragraph("Fees are ", field("LISTNUM"), " costs.")))
    assert [note[:43] for note in files.notes("letter.docx")] == ["The number that Word counts at paragraph 1 "]
    assert not written().notes("letter.docx")


def test_what_another_process_is_reading_is_not_waited_for() -> None:
    info = blobs.put(LETTER)
    input_examination.examine({"letter.docx": info})
    assert Rendition.objects.waiting().count() == 1
    renditions.take(info.sha256)
    assert text_of(written().read("letter.docx")) == TEXT


@pytest.mark.slow
def test_what_the_run_has_made_may_be_made_again_and_cited() -> None:
    base = trees.make_tree({})
    first = workspace(base)
    made = write(first, "a.docx", "# One\n\nIt is due.")
    assert made.text == "a.docx was created: a Word document with 2 paragraphs."
    assert write(first, "a.docx", "It is due.").text == "a.docx was replaced: a Word document with 1 paragraph."
    later = trees.with_changes(base, first.changes)
    second = Overlay(later, {}, max_files=100, max_bytes=1_000_000, given={})
    assert write(second, "a.docx", "It is due.").text == "a.docx was replaced: a Word document with 1 paragraph."
    cited = write(second, "b.pdf", "So it [“is due”](a.docx#p1).")
    assert cited.text == "b.pdf was created: a PDF document with 1 page and 1 footnote."
    assert write(workspace(later), "a.docx", "Three").is_error


def write(files: Overlay, path: str, content: str) -> ToolResult:
    return RunTools(files).run(ToolUse("1", "write_file", {"path": path, "content": content}))


@pytest.mark.parametrize(
    "text", [b"{\\rtf1 Hello}", b"From: a@b.c\nMIME-Version: 1.0\n\nHello", "%PDF-1.7 größer".encode()]
)
def test_texts_stay_texts_and_ask_nothing(text: bytes, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    files = workspace(trees.make_tree({}))
    with django_assert_num_queries(0):
        files.write("letter.txt", text)
        assert text_of(files.read("letter.txt")) == text.decode()
