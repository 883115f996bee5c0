"""Word, PDF and Excel files that a model writes as text: our own readers read what was meant, notes name the places."""

from collections.abc import Mapping

import pytest

from runs.contracts.base import JsonObject
from runs.contracts.ports import ToolResult
from runs.documents.formats.docx import docx_reader as word_reader
from runs.documents.formats.pdf import pdf_reader as pdf_reader
from runs.documents.formats.xlsx import xlsx_reader as sheet_reader
from runs.documents.made_files import make
from runs.documents.model.layout import BlockKind
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from runs.pev.read_set import ReadTracker
from runs.pev.tools.registry import note_looks
from tests.unit.pev.tools.bench import Memory, run
from tests.unit.pev.tools.test_documents import lease, report

REVIEW = """# Review

Rent is due in [“ten **days**”](lease.docx#p3), as [the lease](lease.docx) says and [“First page”](report.pdf#page=1).

## Points

1. One *point*
2. Two
   - inner `code`

3. Three

> Quoted.

| Place | Rent |
|---|---|
| Mill Lane | 1,200 |

```
x = 1
```
"""
READERS = {"docx": word_reader.make, "pdf": pdf_reader.make, "xlsx": sheet_reader.make}


class Desk(Memory):
    def extent(self, path: str) -> str:
        return "12 pages" if path.endswith(".pdf") else ""

    def is_given(self, path: str) -> bool:
        return path in SOURCES


SOURCES: Mapping[str, bytes] = {"lease.docx": lease(), "report.pdf": report(), "a.md": b"It is due monthly.\n"}


def write(path: str, content: str, desk: Memory | None = None) -> ToolResult:
    return run("write_file", {"path": path, "content": content}, desk or Desk(SOURCES))


def read(path: str, content: str) -> BuiltDocument:
    desk = Desk(SOURCES)
    result = write(path, content, desk)
    assert not result.is_error, result.text
    return READERS[path.rpartition(".")[2]](desk.content[path])


def test_a_word_document_is_made_of_markdown() -> None:
    made = read("review.docx", REVIEW)
    found = [(one.kind.value, one.label, made.text[one.start : one.end]) for one in made.rendered.layout.blocks]
    assert found == [
        ("heading", "", "Review"),
        ("paragraph", "", "Rent is due in “ten days”¹, as the lease says and “First page”²."),
        ("heading", "", "Points"),
        ("paragraph", "1.", "One point"),
        ("paragraph", "2.", "Two"),
        ("paragraph", "•", "inner code"),
        ("paragraph", "3.", "Three"),
        ("paragraph", "", "Quoted."),
        ("cell", "", "Place"),
        ("cell", "", "Rent"),
        ("cell", "", "Mill Lane"),
        ("cell", "", "1,200"),
        ("paragraph", "", "x = 1"),
        ("footnote", "1", " lease.docx, clause 4.2(b): “ten days”"),
        ("footnote", "2", " report.pdf, page 1 (“i”): “First page”"),
    ]


def test_headings_begin_at_the_first_level() -> None:
    made = read("a.docx", "## One\n\n### Two\n\n## Three\n")
    assert [block.level for block in made.rendered.layout.blocks] == [1, 2, 1]


@pytest.mark.parametrize("path", ["a.docx", "a.pdf"])
@pytest.mark.parametrize("mark", ["- ", "1. ", "> "])
def test_nothing_is_lost_that_is_nested_deeply(path: str, mark: str) -> None:
    inside = mark if mark == "> " else " " * len(mark)
    lines = [f"{inside * depth}{mark}Level {depth} says it." for depth in range(30)]
    text = " ".join(read(path, "\n".join(lines)).text.split())
    assert [depth for depth in range(30) if f"Level {depth} says it." not in text] == []


def test_marks_of_lists_that_are_nested_deeply_are_words() -> None:
    content = "\n".join(f"{'   ' * depth}1. Item" for depth in range(10))
    blocks = read("a.docx", content).rendered.layout.blocks
    text = read("a.docx", content).text
    assert [block.label for block in blocks] == ["1."] * 8 + ["", ""]
    assert text.split("\n")[-2:] == ["1. Item", "1. Item"]


@pytest.mark.parametrize("path", ["a.docx", "a.pdf"])
def test_what_is_nested_too_deeply_is_refused(path: str) -> None:
    result = write(path, "- " * 200 + "Text")
    assert result == ToolResult(
        f"{path} has lists or quotations in more than 100 levels; write it with fewer.", is_error=True
    )


def test_lists_begin_with_their_own_numbers() -> None:
    made = read("a.docx", "1. One\n2. Two\n\nText\n\n1. Again\n\nText\n\n7. Seven\n8. Eight\n")
    assert [block.label for block in made.rendered.layout.blocks] == ["1.", "2.", "", "1.", "", "7.", "8."]


def test_a_pdf_is_made_of_markdown() -> None:
    lines = read("review.pdf", REVIEW).text.split("\n")
    assert lines[:2] == ["Review", "Rent is due in “ten days”¹, as the lease says and “First page”²."]
    assert lines[2:7] == ["Points", "1. One point", "2. Two", "• inner code", "3. Three"]
    assert {"¹lease.docx, clause 4.2(b): “ten days”", "²report.pdf, page 1 (“i”): “First page”"} <= set(lines)


def test_a_workbook_is_made_of_csv_and_called_after_its_file() -> None:
    made = read("tables/Rents.xlsx", "Place,Rent\nMill Lane,=A1\n")
    rows = [block for block in made.rendered.layout.blocks if block.kind is BlockKind.ROW]
    assert [(one.anchor, made.text[one.start : one.end]) for one in rows] == [
        ("Rents!A1", "Place\tRent"),
        ("Rents!A2", "Mill Lane\t=A1"),
    ]


class IsolatedDesk(Desk):
    """Files are made as in the product, in isolated processes."""

    def make(self, form: str, data: bytes) -> bytes:
        return make(form, data)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["a.docx", "a.pdf", "a.xlsx"])
def test_the_same_content_is_the_same_bytes_in_whichever_process(path: str) -> None:
    desk, other = Desk(SOURCES), IsolatedDesk(SOURCES)
    content = "a,b\n" if path == "a.xlsx" else REVIEW
    write(path, content, desk)
    write(path, content, other)
    assert desk.content[path] == other.content[path]


@pytest.mark.parametrize(
    ("path", "content", "sentence"),
    [
        ("a.docx", REVIEW, "a.docx was created: a Word document with 2 footnotes."),
        ("a.docx", "Text", "a.docx was created: a Word document."),
        ("a.xlsx", "a,b", "a.xlsx was created: an Excel workbook."),
    ],
)
def test_the_answer_says_what_was_made(path: str, content: str, sentence: str) -> None:
    assert write(path, content) == ToolResult(sentence)


def test_a_place_that_is_wrong_is_put_right_in_the_note() -> None:
    made = read("a.docx", "Due in [“ten days”](lease.docx#p1).")
    assert made.text.endswith("lease.docx, clause 4.2(b): “ten days”")


def test_lines_of_texts_are_named() -> None:
    assert read("a.docx", "It is [“due monthly”](a.md#L1).").text.endswith("a.md, line 1: “due monthly”")


@pytest.mark.parametrize("path", ["a.docx", "a.pdf"])
def test_broken_citations_are_refused(path: str) -> None:
    desk = Desk(SOURCES)
    result = write(path, "Due in [“forty days”](lease.docx#p3).\n\nSee [it](gone.docx).", desk)
    assert result.is_error
    assert result.text.startswith(
        f"{path} was not written, since citations in it are broken. Line 1: “forty days” does not occur in lease.docx. "
        "Line 3: There is no file “gone.docx”. Write each as"
    )
    assert path not in desk.content


def test_links_that_pass_themselves_off_as_looked_up_are_refused() -> None:
    assert write("a.docx", "See [x](looked-up-0:#note-7).").is_error is False
    assert "[not looked up: looked-up-0:#note-7]" in read("a.docx", "See [x](looked-up-0:#note-7).").text


@pytest.mark.parametrize("path", ["a.docx", "a.pdf", "a.xlsx"])
def test_nothing_is_no_document(path: str) -> None:
    assert write(path, " \n") == ToolResult(f"{path} would be empty; write its content.", is_error=True)


def test_what_the_run_made_can_be_made_again_and_what_was_given_cannot() -> None:
    desk = Desk(SOURCES)
    write("a.docx", "One", desk)
    assert write("a.docx", "Two", desk).text == "a.docx was replaced: a Word document."
    assert write("lease.docx", "Two", desk) == ToolResult(
        "lease.docx is a Word document, which a text would destroy; write into a new file.", is_error=True
    )


def test_a_maker_that_fails_says_why() -> None:
    class Failing(Desk):
        def make(self, form: str, data: bytes) -> bytes:
            raise InvalidInput("was not made: it took too long; write less, or split it")

    assert write("a.pdf", "Text", Failing(SOURCES)) == ToolResult(
        "a.pdf was not made: it took too long; write less, or split it.", is_error=True
    )


def test_a_file_that_would_be_too_large_is_refused_before_it_is_made() -> None:
    result = run("write_file", {"path": "a.docx", "content": "x" * 11}, Desk(SOURCES), file_bytes=10)
    assert result.text == "a.docx would have 11 bytes and may have 10; split it."


def test_the_files_that_it_cites_were_looked_at() -> None:
    looks = ReadTracker()
    content: JsonObject = {"path": "a.docx", "content": "[“x”](b%20c.md#L1), [“y”](<S#1.xlsx#Rents!A1>), [z](d.md)"}
    note_looks(looks, "write_file", content, ToolResult(""))
    assert {"a.docx", "b c.md", "S#1.xlsx", "d.md"} <= looks._files
