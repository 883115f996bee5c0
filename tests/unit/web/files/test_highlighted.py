"""In documents of each format with any words: what is highlighted is what a quote was found to be."""

from collections.abc import Callable, Mapping, Sequence
from email.message import EmailMessage
from html import escape
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdfium2 import PdfDocument

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.formats.eml import eml_reader as eml
from runs.documents.formats.epub import epub_reader as epub
from runs.documents.formats.html import html_reader as html
from runs.documents.formats.odt import odt_reader as odt
from runs.documents.formats.ole import ole_reader as ole
from runs.documents.formats.pdf import pdf_reader as pdf
from runs.documents.formats.pdf.characters import text_of, text_page_of
from runs.documents.formats.pdf.geometry import PageView, rectangles
from runs.documents.formats.pptx import pptx_reader as pptx
from runs.documents.formats.rtf import rtf_reader as rtf
from runs.documents.formats.xlsx import xlsx_reader as xlsx
from runs.documents.places.document import Document
from runs.evidence.passages import Passage, passage_in
from runs.text.normalisation import folded
from runs.web.files.document_blocks import blocks_around
from runs.web.files.sheet_grid import grid_around
from tests.documents import pdfs, slides, texts, word, workbooks
from tests.documents.compound import compound

pytestmark = pytest.mark.slow

_LETTERS = "abcxyzABCéüßñ0123456789%§&<>'\"(),.;:-–—“”’…€·株式שלוםмир😀𝔘ﬁﬀ\u0301\u00ad\u200b\u200d"
_IN_CP1252 = "abcxyzABCéüßñ0123456789%§&<>'\"(),.;:–“”’€·"
type Paragraphs = Sequence[Sequence[str]]


def paragraphs(letters: str) -> st.SearchStrategy[tuple[Paragraphs, int, int, int]]:
    """Paragraphs of words, and which of them are quoted: the number of a paragraph, and its words from here to there.

    Words begin with a small letter, and not with that of a billion: a quote of "A5" is refused in "< A5" and "A5 b",
    since it may be an amount, and leaves out what it is compared with or counted in.
    """
    one = st.builds("".join, st.tuples(st.sampled_from("acxyz"), st.text(letters, max_size=7)))
    many = st.lists(st.lists(one, min_size=3, max_size=12), min_size=1, max_size=4)
    return many.flatmap(_with_place)


def _with_place(found: Paragraphs) -> st.SearchStrategy[tuple[Paragraphs, int, int, int]]:
    def within(number: int) -> st.SearchStrategy[tuple[Paragraphs, int, int, int]]:
        ends = st.tuples(*[st.integers(0, len(found[number]) - 1)] * 2).map(sorted)
        return ends.map(lambda places: (found, number, places[0], places[1] + 1))

    return st.integers(0, len(found) - 1).flatmap(within)


def _pages(lines: Sequence[str]) -> bytes:
    return "".join(f"<p>{escape(one)}</p>" for one in lines).encode()


def _mail(lines: Sequence[str]) -> bytes:
    message = EmailMessage()
    message["Subject"] = "Lease"
    message.set_content("\n".join(lines))
    return message.as_bytes()


def _outlook(lines: Sequence[str]) -> bytes:
    text = "\r\n".join(lines).encode("utf-16-le")
    return compound({"__properties_version1.0": bytes(32), "__substg1.0_1000001F": text})


def _rtf(lines: Sequence[str]) -> bytes:
    units = memoryview("\n".join(lines).encode("utf-16-le")).cast("H")
    body = "".join("\\par " if unit == 10 else f"\\u{unit - 65_536 if unit > 32_767 else unit}?" for unit in units)
    return f"{{\\rtf1\\ansi\\uc1 {body}}}".encode()


def _words(lines: Sequence[str]) -> bytes:
    return pdfs.word_by_word(" ".join(lines).split(), lines=12)


MAKERS: Mapping[str, tuple[ModuleType, Callable[[Sequence[str]], bytes]]] = {
    "docx": (docx, lambda lines: word.word("".join(word.paragraph(word.run(one)) for one in lines))),
    "odt": (odt, lambda lines: texts.open_document("".join(f"<text:p>{escape(one)}</text:p>" for one in lines))),
    "rtf": (rtf, _rtf),
    "pptx": (pptx, lambda lines: slides.presentation([slides.shape(*lines)])),
    "xlsx": (xlsx, lambda lines: workbooks.workbook({"2026": workbooks.rows(*[[one, "next"] for one in lines])})),
    "html": (html, _pages),
    "epub": (epub, lambda lines: texts.book({"c.xhtml": _pages(lines).decode()}, ["c"])),
    "eml": (eml, _mail),
    "msg": (ole, _outlook),
    "pdf": (pdf, _words),
}


def marked(name: str, data: bytes, document: Document, hit: tuple[int, int]) -> str:
    """The words that pages mark."""
    if name == "pdf":
        return _in_rectangles(data, document, hit)
    if name == "xlsx":
        grid = grid_around(document, hit, in_panel=False)
        return "\t".join(cell.text for row in grid.rows for cell in row.cells if cell.hit) if grid else ""
    rows = blocks_around(document, hit, in_panel=False).rows
    shown = ["".join(piece.text for piece in row.pieces if piece.hit) for row in rows if row.hit]
    return "\n".join(shown)


def _in_rectangles(data: bytes, document: Document, hit: tuple[int, int]) -> str:
    """What pdfium finds within the boxes that are drawn around the words, page by page."""
    found: list[str] = []
    with PdfDocument(data) as file:
        for block in document.blocks_in(*hit):
            page = file[int(block.anchor.partition("=")[2]) - 1]
            with text_page_of(page) as text_page:
                view = PageView(page)
                start, end = max(hit[0], block.start) - block.start, min(hit[1], block.end) - block.start
                for box in rectangles(text_page, view, *text_of(text_page).span(start, end)):
                    assert 0 <= box.left < box.right <= 1
                    assert 0 <= box.top < box.bottom <= 1
                    found.append(text_page.get_text_bounded(*view.box_of(box)))
    return " ".join(found)


@pytest.mark.parametrize("name", MAKERS)
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_highlighted_is_what_was_found(name: str, data: st.DataObject) -> None:
    found, number, first, last = data.draw(paragraphs(_IN_CP1252 if name == "pdf" else _LETTERS))
    reader, make = MAKERS[name]
    file = make([" ".join(one) for one in found])
    made = reader.make(file)
    document = Document(made.text, made.rendered.layout)
    quote = " ".join(found[number][first:last])
    passage = passage_in(quote, document, "a")
    assert isinstance(passage, Passage), (quote, made.text)
    hit = passage.span.start, passage.span.end
    words = made.text[slice(*hit)]
    assert folded(words) == folded(quote)
    shown = marked(name, file, document, hit)
    if name == "xlsx":  # whole cells are
        assert words in shown
        assert shown.count("\t") == words.count("\t")
    elif name == "pdf":
        assert "".join(shown.split()) == "".join(words.split())
    else:
        assert shown == words
