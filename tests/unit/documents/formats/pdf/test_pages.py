"""A PDF file is read page by page: what one page takes is given back before the next one, and what is wrong with one
page costs no other.
"""

import gc
from collections.abc import Callable
from dataclasses import replace

import pytest
from PIL import Image
from pypdfium2 import PdfBitmap, PdfPage, PdfTextPage

from runs import isolation
from runs.documents.document_format import OF_PICTURES
from runs.documents.formats.pdf import ink
from runs.documents.formats.pdf import pdf_reader as reader
from runs.documents.formats.pdf.drawing import picture, places, thumbnail
from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.model.layout import MarkKind
from runs.documents.packed_parts import unpacked
from runs.errors import InvalidInput
from tests.documents import pdfs
from tests.documents.pdfs import line
from tests.documents.pictures import page as printed
from tests.documents.pictures import saved

_HIDDEN = line("Liability is capped at EUR 100.", y=620)
_BOX = b"q 1 g 60 615 400 18 re f Q "
_FRAME = b"q 60 600 400 60 re S Q "
_SCAN = printed(["The Supplier shall deliver the goods"], width=612, height=792)
_MEGABYTES = 90
"""A tenth of what a PDF file may take; one page with all its pictures takes some seventy."""


def _stamped(number: int) -> bytes:
    """A full page with a number over a white box, as productions of documents have it, which lies on the last line."""
    text = b"".join(line(f"The Supplier is liable for item {at} without limit.", y=740 - 16 * at) for at in range(45))
    return text + b"q 1 g 240 20 150 22 re f Q " + line(f"ABC-{number:06}", x=250, y=26)


def _left_of(call: Callable[[], object]) -> list[str]:
    """The kinds of objects that have much memory and that a call leaves behind where nothing collects garbage."""
    gc.collect()
    before = {id(one) for one in gc.get_objects()}
    gc.disable()
    try:
        call()
        return sorted(
            type(one).__name__
            for one in gc.get_objects()
            if id(one) not in before and isinstance(one, (PdfPage, PdfTextPage, PdfBitmap, Image.Image))
        )
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "data",
    [
        pdfs.pages_of([_stamped(number) for number in range(3)]),
        pdfs.pages_of([_HIDDEN + _BOX + line("Other words", y=620) + _FRAME]),
        pdfs.pages_of([line("Seen in another copy", y=600, more="3 Tr") + line("Seen in another copy", x=71, y=601.5)]),
        pdfs.pages_of([line("White words", more="1 g") + line("and black ones", x=300)]),
        pdfs.pages_of([b"0 0.5 0 rg 60 610 400 40 re f " + line("Red on green", y=625, more="1 0 0 rg") + _FRAME]),
        pdfs.over_picture(line("The Supplier", y=678, size=14, more="3 Tr"), _SCAN),
        pdfs.under_picture(line("The Supplier", y=678, size=14), _SCAN),
        pdfs.filled_form("Jane Doe"),
        pdfs.pages_of([line("One."), line("Two.")]).replace(b"6 0 obj\n<</Type/Page", b"6 0 obj\n<</Type/Pagx"),
    ],
    ids=["stamps", "covered", "copy", "white", "colours", "scan", "under a scan", "form", "damaged"],
)
def test_nothing_of_a_page_is_kept(data: bytes) -> None:
    assert _left_of(lambda: make(data)) == []


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [saved(_SCAN, "PDF"), pdfs.unnamed(["The Supplier"]), pdfs.unnamed(["The Supplier"], ["The Supplier"])],
    ids=["scan", "unnamed letters", "right ones"],
)
def test_nothing_of_a_page_that_ocr_reads_is_kept(data: bytes) -> None:
    assert _left_of(lambda: make(data)) == []


def test_nothing_of_a_page_that_took_too_long_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ink, "MAX_SECONDS", 0)
    assert _left_of(lambda: make(pdfs.pages_of([_stamped(1), _stamped(2)]))) == []


@pytest.mark.parametrize(
    "show",
    [lambda data: picture(data, page=1), thumbnail, lambda data: places(data, page=1, spans="0-9")],
    ids=["picture", "thumbnail", "places"],
)
def test_nothing_of_a_page_that_was_shown_is_kept(show: Callable[[bytes], bytes]) -> None:
    data = pdfs.pages_of([_stamped(1)])
    assert _left_of(lambda: show(data)) == []


@pytest.mark.slow
@pytest.mark.parametrize("count", [60, 240])
@pytest.mark.exhaustive
def test_the_memory_is_that_of_a_page_however_many_there_are(count: int) -> None:
    data = pdfs.pages_of([_stamped(number) for number in range(count)])
    limits = replace(OF_PICTURES, megabytes=_MEGABYTES)
    _, text = unpacked(isolation.run("runs.documents.formats.pdf.pdf_reader.read", data, limits))
    assert [page.split("\n")[-1].split()[-1] for page in text.decode().split("\n\f")] == [
        f"ABC-{number:06}" for number in range(count)
    ]


def _between(page: str) -> bytes:
    """Three pages, of which the second has these entries."""
    one, two, three = (pdfs.pages_of([line(f"{name}.")]) for name in ("One", "Two", "Three"))
    return pdfs.joined(one, two.replace(b"/Resources", page.encode() + b"/Resources", 1), three)


@pytest.mark.parametrize(
    "page",
    ["/CropBox[700 0 900 792]", "/CropBox[0 800 612 900]", "/CropBox[612 0 900 792]", "/CropBox[-90 -90 -10 -10]"],
    ids=["right of", "above", "touching", "below"],
)
def test_a_page_that_cannot_be_shown_is_missing_alone(page: str) -> None:
    data = _between(page)
    made = make(data)
    assert (made.text, made.rendered.notes) == ("One.\n\f\n\fThree.", ("Page 2 of 3 could not be read.",))
    for show in (picture, thumbnail):
        with pytest.raises(InvalidInput, match="cannot be shown, since its crop box is outside the sheet"):
            show(data, page=2)
    assert thumbnail(data, page=3)


@pytest.mark.parametrize("error", [ValueError(), OverflowError(), KeyError(), AssertionError(), InvalidInput("no")])
@pytest.mark.parametrize("step", ["text_of", "find_hidden_text", "notes_of"])
def test_whatever_is_wrong_with_a_page_the_others_are_read(
    monkeypatch: pytest.MonkeyPatch, error: Exception, step: str
) -> None:
    """The words that a comment of such a page is about are not looked for in others."""
    perform = getattr(reader, step)

    def failing(*arguments: object) -> object:
        found = perform(*arguments)
        if "Two." in repr([*arguments, found]):
            raise error
        return found

    monkeypatch.setattr(reader, step, failing)
    struck = "/Annots[<</Type/Annot/Subtype/StrikeOut/Rect[60 690 200 720]/QuadPoints[60 720 200 720 60 690 200 690]>>]"
    made = make(_between(struck))
    assert (made.text, made.rendered.layout.marks) == ("One.\n\f\n\fThree.", ())
    assert made.rendered.notes[0] == "Page 2 of 3 could not be read."


def test_a_page_that_takes_too_much_memory_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of it would not be enough for the others either, and who reads the file says so."""

    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reader, "find_hidden_text", exhausted)
    with pytest.raises(MemoryError):
        make(pdfs.pages_of([line("One.")]))


def test_a_file_without_a_page_that_can_be_read_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^has no page that can be read; open it and save it again$"):
        make(pdfs.pages_of([line("One."), line("Two.")], page="/CropBox[700 0 900 792]"))


@pytest.mark.parametrize("label", ["FEFFD800", "FEFFD8000041", "FEFF0041DC00"])
def test_a_label_with_half_a_character_costs_no_page(label: str) -> None:
    made = make(pdfs.pages_of([line("One."), line("Two.")], catalog=f"/PageLabels<</Nums[0<</P<{label}>>>]>>"))
    assert made.text == "One.\n\fTwo."


def test_marks_of_other_pages_stay_in_place_behind_a_page_that_is_missing() -> None:
    white = pdfs.pages_of([line("Shown.") + line("Not shown.", y=600, more="1 g")])
    made = make(pdfs.joined(_between("/CropBox[700 0 900 792]"), white))
    assert [(mark.kind, made.text[mark.start : mark.end]) for mark in made.rendered.layout.marks] == [
        (MarkKind.UNSEEN, "Not shown.")
    ]
