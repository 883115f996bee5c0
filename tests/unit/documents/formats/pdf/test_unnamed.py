"""Letters that a font does not name are compared with what the page shows, or it is said that they may be others."""

import codecs
from collections.abc import Sequence

import pytest

from runs.documents.formats.image import image_reader as reader
from runs.documents.formats.pdf import unnamed
from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.model.layout import MarkKind
from runs.documents.reading.building import BuiltDocument
from tests.documents import pdfs

_LINES = ["The liability of the Supplier is", "not more than EUR 100,000 a year."]
_DOUBT = "Page 1 of 1 has a font that does not name its letters; the letters may not be those that are shown."
_NAMED = b"BT /G 12 Tf 72 400 Td (The words of this line have names, and there are many of them.) Tj ET\n"


def _from_ocr(made: BuiltDocument) -> list[str]:
    return [made.text[one.start : one.end] for one in made.rendered.layout.marks if one.kind is MarkKind.READ]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What OCR has read so far, picture by picture."""
    found, read = list[str](), reader._read

    def noted(*arguments: object) -> list[reader.OcrLine]:
        lines = read(*arguments)  # type: ignore[arg-type]
        found.append("\n".join(line.text for line in lines))
        return lines

    monkeypatch.setattr(reader, "_read", noted)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (_LINES, ()),
        (_LINES[:1], ()),
        (_LINES, [codecs.encode(line, "rot13") for line in _LINES]),
        (["due within 5 days, EUR 166,666"], ["due within 5 days, EUR 199,999"]),
    ],
    ids=["by number", "one line", "other letters", "another digit"],
)
@pytest.mark.parametrize("degrees", [0, 90])
def test_what_the_page_shows_is_read_instead(lines: Sequence[str], said: Sequence[str], degrees: int) -> None:
    made = make(pdfs.rotated(pdfs.unnamed(lines, said), degrees))
    assert (made.text.split("\n"), _from_ocr(made)) == (list(lines), list(lines))
    assert made.rendered.notes == ()


@pytest.mark.slow
def test_unnamed_words_among_named_ones_are_read_too() -> None:
    made = make(pdfs.unnamed(_LINES, more=_NAMED))
    assert made.text.split("\n")[:2] == _LINES
    assert (len(_from_ocr(made)), made.rendered.notes) == (3, ())


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_letters_whose_numbers_are_right_are_the_text_of_the_page(reads: list[str], degrees: int) -> None:
    made = make(pdfs.rotated(pdfs.unnamed(_LINES, _LINES, more=_NAMED), degrees))
    assert made.text.split("\n")[:2] == _LINES
    assert (_from_ocr(made), made.rendered.notes, reads) == ([], (), _LINES)


@pytest.mark.parametrize(
    ("lines", "said"),
    [(_LINES, ()), (_LINES, _LINES), (["EUR 166"], ["EUR 199"]), (["a"], ["b"])],
    ids=["by number", "right ones", "digits", "one letter"],
)
def test_without_ocr_it_is_said(monkeypatch: pytest.MonkeyPatch, lines: Sequence[str], said: Sequence[str]) -> None:
    monkeypatch.setattr(reader, "tesserocr", None)
    made = make(pdfs.unnamed(lines, said, more=_NAMED))
    assert (made.rendered.notes, _from_ocr(made), made.rendered.layout.pictorial) == ((_DOUBT,), [], (1,))


def test_where_ocr_has_no_time_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_SECONDS", -1)
    assert make(pdfs.unnamed(_LINES)).rendered.notes == (_DOUBT,)


def test_what_ocr_is_not_sure_of_is_no_better_than_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader.OcrLine, "confidence", 50)
    made = make(pdfs.unnamed(_LINES, _LINES))
    assert (made.text.split("\n"), made.rendered.notes) == (_LINES, (_DOUBT,))


@pytest.mark.parametrize(
    "data",
    [
        pdfs.unnamed(["-"], ["-"], more=_NAMED),
        pdfs.unnamed(["+ +"], ["* *"], more=_NAMED),
        pdfs.unnamed(_LINES, more=_NAMED + b"1 g 60 650 500 70 re f"),
        pdfs.pages_of([pdfs.line("The liability")]),
    ],
    ids=["bullet", "other bullets", "under a box", "named"],
)
def test_signs_and_hidden_words_are_not_compared(reads: list[str], data: bytes) -> None:
    assert (make(data).rendered.notes, reads) == ((), [])


@pytest.mark.slow
def test_the_lines_of_a_file_that_are_read_are_bounded(monkeypatch: pytest.MonkeyPatch, reads: list[str]) -> None:
    """Behind them one of each page: that with most letters."""
    monkeypatch.setattr(unnamed, "MAX_LINES", 3)
    page = pdfs.unnamed(["The Supplier", *_LINES[1:]], ["The Supplier", *_LINES[1:]])
    made = make(pdfs.joined(page, page, page))
    assert (made.rendered.notes, reads) == ((), ["The Supplier", *_LINES[1:] * 3])
