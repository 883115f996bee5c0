"""The tool that comments a Word file: into one copy, at the words meant; whatever it cannot do it says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runs.contracts.base import JsonObject
from runs.contracts.ports import FileInfo, ToolResult, ToolUse
from runs.documents.content import document_of
from runs.documents.model.layout import BlockKind, Mark, MarkKind
from runs.models import Tree
from runs.pev.read_set import ReadTracker
from runs.pev.tools.registry import note_looks
from runs.pev.tools.toolbox import RunTools
from runs.store import blobs, trees
from runs.store.trees import Overlay
from tests.documents.word import deleted, inserted, note, paragraph, run, text_box, word

pytestmark = pytest.mark.django_db

LEASE = word(
    paragraph("Rent is due in ", inserted("ten"), deleted("thirty"), " days.", note("footnote", 1))
    + paragraph("Rent may rise.")
    + paragraph(run("See.") + text_box(paragraph("Boxed."))),
    {
        "footnotes": f'<w:footnote w:id="1">{paragraph("As agreed in March.")}</w:footnote>',
        "header": paragraph("Draft of March"),
    },
)
FILES = {"contracts/lease.docx": LEASE, "notes.md": b"Rent is due.\n"}


@pytest.fixture
def files() -> Overlay:
    tree = stored(FILES)
    return Overlay(tree, {}, max_files=100, max_bytes=10_000_000, dated=datetime(2026, 11, 22, 10, tzinfo=UTC))


def stored(contents: dict[str, bytes]) -> Tree:
    """Each read, as a run reads them before it begins."""
    scratch = Overlay(trees.make_tree({}), {}, max_files=100, max_bytes=10_000_000)
    for path, content in contents.items():
        scratch.write(path, content)
    return trees.make_tree({path: info for path, info in scratch.changes.items() if info})


def comment(files: Overlay, quote: str, path: str = "contracts/lease.docx", words: str = "Too short?") -> ToolResult:
    arguments: JsonObject = {"path": path, "quote": quote, "comment": words}
    return RunTools(files).run(ToolUse("1", "comment_document", arguments))


def marks(files: Overlay, path: str = "reviewed/contracts/lease.docx") -> list[tuple[str, Mark]]:
    document = document_of(files.read(path))
    assert document is not None
    found = document.marks_on(0, len(document.text), MarkKind.COMMENTED)
    return [(document.text[one.start : one.end], one) for one in found]


@pytest.mark.slow
def test_the_copy_has_the_comment_and_the_file_stays(files: Overlay) -> None:
    assert comment(files, "due in ten days").text == (
        "reviewed/contracts/lease.docx has the comment at paragraph 1, on “due in ten days”."
    )
    [(words, mark)] = marks(files)
    assert (words, mark.by, mark.on) == ("due in ten days", "pevsite", "2026-11-22T10:00:00Z")
    assert sorted(files.changes) == ["reviewed/contracts/lease.docx"]


@pytest.mark.slow
def test_several_comments_come_into_one_copy(files: Overlay) -> None:
    comment(files, "due in ten days", words="One")
    comment(files, "[p2] Rent", words="Two")
    comment(files, "Boxed", "reviewed/contracts/lease.docx", words="Three")
    assert [words for words, _ in marks(files)] == ["due in ten days", "Rent", "Boxed"]
    document = document_of(files.read("reviewed/contracts/lease.docx"))
    assert document is not None
    blocks = [block for block in document.layout.blocks if block.kind is BlockKind.COMMENT]
    assert [document.text[block.start : block.end] for block in blocks] == ["One", "Two", "Three"]
    assert document.marks_on(0, 40, MarkKind.INSERTED) != []


@pytest.mark.parametrize(
    ("quote", "sentence"),
    [
        ("in forty days", "“in forty days” does not occur in contracts/lease.docx; read_file shows its text."),
        (
            "agreed in March",
            "“agreed in March” is in footnote 1 of contracts/lease.docx, where no comment can be; "
            "quote words of the text itself.",
        ),
        (
            "Draft of March",
            "“Draft of March” is in header 1 of contracts/lease.docx, where no comment can be; "
            "quote words of the text itself.",
        ),
        (
            "Rent",
            "“Rent” is in contracts/lease.docx several times, as in paragraph 1 and in paragraph 2; put the name "
            "of the paragraph before it, as in [p23] thirty days.",
        ),
        ("See. Boxed.", "“See. Boxed.” goes over the edge of a text box in contracts/lease.docx; quote less."),
    ],
)
@pytest.mark.slow
def test_words_that_no_comment_can_be_at(files: Overlay, quote: str, sentence: str) -> None:
    assert comment(files, quote) == ToolResult(sentence, is_error=True)
    assert files.changes == {}


def test_deleted_words_are_told_with_who_deleted_them(files: Overlay) -> None:
    refused = comment(files, "due in thirty days")
    assert refused.is_error
    assert "Bob" in refused.text


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("notes.md", "notes.md is a plain text; comments go into a Word document only, so write into a new file."),
        ("gone.docx", "gone.docx does not exist; list_files shows what there is."),
    ],
)
def test_other_files_are_not_commented(files: Overlay, path: str, sentence: str) -> None:
    assert comment(files, "Rent is due", path) == ToolResult(sentence, is_error=True)


def test_a_copy_that_was_given_is_not_changed() -> None:
    tree = stored({**FILES, "reviewed/contracts/lease.docx": LEASE})
    files = Overlay(tree, {}, max_files=100, max_bytes=10_000_000)
    assert comment(files, "due in ten days").text == (
        "reviewed/contracts/lease.docx is a file of the task, and comments on contracts/lease.docx would change it."
    )
    assert comment(files, "Rent may", "reviewed/contracts/lease.docx").text == (
        "reviewed/reviewed/contracts/lease.docx has the comment at paragraph 2, on “Rent may”."
    )


@pytest.mark.parametrize(
    ("quote", "words", "part"),
    [
        ("x" * 100_000, "Why?", "quote"),
        ("Rent may", "x" * 100_000, "comment"),
        ("Rent may", " \n", "The comment is empty"),
        ("Rent may", "\ud800", "unable to parse"),
    ],
)
def test_hostile_arguments_are_refused(files: Overlay, quote: str, words: str, part: str) -> None:
    refused = comment(files, quote, words=words)
    assert refused.is_error
    assert part in refused.text
    assert files.changes == {}


def test_a_comment_without_characters_that_xml_has_is_read_again(files: Overlay) -> None:
    assert comment(files, "Rent may", words="a\0b\x1b").is_error is False
    assert files.problem("reviewed/contracts/lease.docx") == ""


def test_file_and_copy_were_looked_at() -> None:
    looks = ReadTracker()
    arguments: JsonObject = {"path": "a.docx", "quote": "x", "comment": "y"}
    note_looks(looks, "comment_document", arguments, ToolResult(""))
    assert looks._files == {"a.docx", "reviewed/a.docx"}


def test_its_bytes_are_those_of_the_store(files: Overlay) -> None:
    comment(files, "Rent may")
    info = files.changes["reviewed/contracts/lease.docx"]
    assert isinstance(info, FileInfo)
    assert blobs.read(info.sha256).startswith(b"PK")
