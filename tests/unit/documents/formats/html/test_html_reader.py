"""HTML and e-books: what is read as one block, what is hidden, and where deep pages are cut."""

import pytest

from runs import isolation
from runs.documents.formats.epub import epub_reader as epub
from runs.documents.formats.html import html_reader as html
from runs.documents.formats.html.html_reader import CUT, make
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.packed_parts import unpacked
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from runs.isolation import Limits
from tests.documents.texts import book


def test_blocks_are_what_a_reader_sees_as_such() -> None:
    made = make(
        b"<!DOCTYPE html><head><title> A  page </title><style>p {}</style></head><body>Loose <b>text</b>\n <i> here</i>"
        b"<h2>Rent</h2><p>First&nbsp;line<br>second</p><script>no()</script><div>One<br><br>Two<p>Three</p>Four</div>"
        b"<pre>a\n  b</pre><!-- no --><table><tr><th>No<td>7</table>"
    )
    assert _blocks(made) == [
        ("title", BlockKind.TITLE, "A page"),
        ("p1", BlockKind.PARAGRAPH, "Loose text here"),
        ("p2", BlockKind.HEADING, "Rent"),
        ("p3", BlockKind.PARAGRAPH, "First\u00a0line\nsecond"),
        ("p4", BlockKind.PARAGRAPH, "One"),
        ("p5", BlockKind.PARAGRAPH, "Two"),
        ("p6", BlockKind.PARAGRAPH, "Three"),
        ("p7", BlockKind.PARAGRAPH, "Four"),
        ("p8", BlockKind.PARAGRAPH, "a\n  b"),
        ("p9", BlockKind.CELL, "No"),
        ("p10", BlockKind.CELL, "7"),
    ]
    assert [block.level for block in made.rendered.layout.blocks][2] == 2


def test_lists_have_their_numbers_as_labels() -> None:
    made = make(b"<ol start=3><li>c<li>d<ul><li>below</ul><li value=9>i</ol><ol type=a><li><p>x</p><p>y</p></ol><p>z")
    assert [(one.label, one.level, made.text[one.start : one.end]) for one in made.rendered.layout.blocks] == [
        ("3.", 1, "c"),
        ("4.", 1, "d"),
        ("", 2, "below"),
        ("9.", 1, "i"),
        ("a.", 1, "x"),
        ("", 1, "y"),
        ("", 0, "z"),
    ]


def test_what_is_not_shown_is_marked() -> None:
    made = make(
        b"<p>a <span style='Display : NONE'>secret</span> b</p><div hidden><p>all</p></div>"
        b"<p style='opacity:0.5'>half</p>"
        b"<p style='font-size:0px'>tiny</p>"
    )
    marks = [(m.kind, made.text[m.start : m.end]) for m in made.rendered.layout.marks]
    assert marks == [(MarkKind.HIDDEN, "secret"), (MarkKind.HIDDEN, "all"), (MarkKind.HIDDEN, "tiny")]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<p>ä€".encode(), "ä€"),
        ("<p>ä€".encode("cp1252"), "ä€"),
        ("<meta charset='iso-8859-2'><p>ł".encode("iso-8859-2"), "ł"),
        ("<meta charset='no-such'><p>ä".encode("cp1252"), "ä"),
        ("<meta charset='hex'><p>ä".encode("cp1252"), "ä"),
        ("\ufeff<p>ä".encode("utf-16-le"), "ä"),
        ("<?xml version='1.0' encoding='utf-16'?><p>ä</p>".encode(), "ä"),
    ],
)
def test_encodings_are_found(data: bytes, text: str) -> None:
    assert make(data).text == text


def test_a_page_that_is_cut_says_so() -> None:
    made = make(b"<p>first</p>" + b"<div>" * 300 + b"deep" + b"</div>" * 300 + b"<p>last</p>")
    assert made.text == "first"
    assert made.rendered.notes == (CUT,)
    assert make(b"<div>" * 200 + b"deep").rendered.notes == ()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"<div>" * 200_000 + b"x", "has no text in it"),
        (b"<b>" * 200_000 + b"x", "has no text in it"),
        (b"", "has no text in it"),
        (b"<!-- -->", "has no text in it"),
        (b"<p>" * 2_000_001, "has more than 2,000,000 HTML tags"),
    ],
    ids=["deep", "deep inline", "empty", "comment", "tags"],
)
def test_hostile_pages_are_refused_at_once(data: bytes, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        isolation.run(f"{html.__name__}.read", data, Limits(megabytes=200, cpu_seconds=3))


@pytest.mark.slow
def test_many_paragraphs_are_read_in_bounded_memory() -> None:
    data = b"<p>x" * 30_000
    _, text = unpacked(isolation.run(f"{html.__name__}.read", data, Limits(megabytes=100, cpu_seconds=30, seconds=60)))
    assert len(text) == 59_999


def test_the_chapters_of_a_book_are_read_in_their_order() -> None:
    made = epub.make(book({"b c.xhtml": "<p>Two</p>", "a.xhtml": "<h1>One</h1><p>More"}, ["a", "b", "img", "none"]))
    assert _blocks(made) == [
        ("sp1.p1", BlockKind.HEADING, "One"),
        ("sp1.p2", BlockKind.PARAGRAPH, "More"),
        ("sp2.p1", BlockKind.PARAGRAPH, "Two"),
    ]
    assert (made.rendered.layout.unit, made.rendered.layout.units) == ("chapter", 4)
    assert made.rendered.notes == (
        "Chapter 3 of 4 is missing in the file.",
        "Chapter 4 of 4 is missing in the file.",
    )


def test_a_book_that_is_locked_is_refused_and_one_with_locked_fonts_is_not() -> None:
    locked = (
        "<encryption><EncryptedData><EncryptionMethod Algorithm='{}'/><CipherData>"
        "<CipherReference URI='OEBPS/a.xhtml'/></CipherData></EncryptedData></encryption>"
    )
    chapters = {"a.xhtml": "<p>One"}
    fonts = {"META-INF/encryption.xml": locked.format("http://www.idpf.org/2008/embedding")}
    assert epub.make(book(chapters, ["a"], fonts)).text == "One"
    with pytest.raises(InvalidInput, match="is protected against copying"):
        epub.make(book(chapters, ["a"], {"META-INF/encryption.xml": locked.format("http://www.w3.org/aes256-cbc")}))


@pytest.mark.parametrize("parts", [{"META-INF/container.xml": "<a/>"}, {"OEBPS/book.opf": None}])
def test_what_is_no_book_is_refused(parts: dict[str, str | None]) -> None:
    with pytest.raises(InvalidInput, match="is not an e-book"):
        epub.make(book({"a.xhtml": "<p>One"}, ["a"], parts))


def _blocks(made: BuiltDocument) -> list[tuple[str, BlockKind, str]]:
    return [(one.anchor, one.kind, made.text[one.start : one.end]) for one in made.rendered.layout.blocks]
