"""PDF files that a browser prints: each glyph is put at its place, in two columns with divided words."""

from collections.abc import Iterator
from html import escape

import pytest
from playwright.sync_api import Browser

from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.model.layout import MarkKind
from runs.documents.reading.building import BuiltDocument
from tests.documents import pdfs
from tests.documents.quotes import look_up, rectangles_of, without_running

_WORDS = pdfs.words(15_000)
_STYLE = "font: 11px serif; text-align: justify; hyphens: auto; columns: 2"
_HEADER = '<div style="font-size: 8px">Master Services Agreement, page <span class="pageNumber"></span></div>'


@pytest.fixture(scope="module")
def printed(browser: Browser) -> Iterator[bytes]:
    paragraphs = (" ".join(_WORDS[at : at + 90]) for at in range(0, len(_WORDS), 90))
    body = "".join(f"<p>{escape(words)}</p>" for words in paragraphs)
    page = browser.new_page()
    page.set_content(f'<!doctype html><html lang="en"><body><div style="{_STYLE}">{body}</div></body></html>')
    yield page.pdf(
        format="A4",
        margin={"top": "2cm", "bottom": "2cm", "left": "2cm", "right": "2cm"},
        display_header_footer=True,
        header_template=_HEADER,
        footer_template="<p></p>",
    )
    page.close()


@pytest.fixture(scope="module")
def made(printed: bytes) -> BuiltDocument:
    return make(printed)


def test_quotes_are_found(made: BuiltDocument) -> None:
    found = look_up(_WORDS, without_running(made), 1_000)
    assert (found.equal, found.share >= 0.995) == (len(found.spans), True)


def test_headers_are_known_and_nothing_is_hidden(made: BuiltDocument) -> None:
    marks = made.rendered.layout.marks
    assert {mark.kind for mark in marks} == {MarkKind.RUNNING}
    assert len(marks) == made.rendered.layout.units


def test_rectangles_are_few_and_on_the_page(printed: bytes, made: BuiltDocument) -> None:
    """Its glyphs are drawn one by one, but a line is one rectangle."""
    spans = look_up(_WORDS, made.text, 2_000).spans
    found = rectangles_of(printed, made, spans)
    assert (len(spans) > 1_900, found.max < 12, found.off, found.bare) == (True, True, 0, 0)
