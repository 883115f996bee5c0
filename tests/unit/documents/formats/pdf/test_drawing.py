"""What is shown of PDF files: the ink of a quote is inside its rectangles, however the page is turned or cut."""

import io
import json
from collections.abc import Callable, Sequence

import pytest
from PIL import Image
from pypdf import PdfReader

from runs.documents.formats.pdf import drawing
from runs.documents.formats.pdf.drawing import extract_pages, picture, places, thumbnail
from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.packed_parts import unpacked
from runs.errors import InvalidInput
from tests.documents import pdfs
from tests.documents.quotes import look_up, rectangles_of

_LINES = pdfs.line("The parties agree.", y=700) + pdfs.line("Liability is limited.", y=500)
_PAGE = pdfs.pages_of([_LINES])
_SECOND = "19-40"
"""The second line."""


def boxes_of(data: bytes, *spans: str, page: int = 1) -> list[list[tuple[float, float, float, float]]]:
    found = json.loads(places(data, page=page, spans=" ".join(spans)))
    return [[tuple(box) for box in boxes] for boxes in found]


def shown(data: bytes, page: int = 1) -> Image.Image:
    return Image.open(io.BytesIO(list(unpacked(picture(data, page=page)))[1])).convert("L")


def dark(image: Image.Image, box: Sequence[float]) -> int:
    """Dark pixels in a rectangle of a picture, given in shares of its sides."""
    left, top, right, bottom = box
    first = max(round(left * image.width) - 1, 0), max(round(top * image.height) - 1, 0)
    last = min(round(right * image.width) + 1, image.width), min(round(bottom * image.height) + 1, image.height)
    return sum(image.crop((*first, *last)).histogram()[:128])


def test_a_quote_stands_where_its_rectangle_is() -> None:
    ((box,), (other,)) = boxes_of(_PAGE, "0-18", _SECOND)
    assert [round(side * size) for side, size in zip(box, (612, 792) * 2, strict=True)] == [72, 83, 168, 95]
    image = shown(_PAGE)
    assert dark(image, box) + dark(image, other) == dark(image, (0, 0, 1, 1))


@pytest.mark.parametrize(
    "data",
    [
        pdfs.rotated(_PAGE, 90),
        pdfs.rotated(_PAGE, 180),
        pdfs.rotated(_PAGE, 270),
        pdfs.pages_of([_LINES], page="/CropBox[50 450 400 750]"),
        pdfs.pages_of([_LINES], page="/CropBox[50 450 400 750]/Rotate 90"),
        pdfs.pages_of([_LINES], box="60 100 500 900"),
        pdfs.pages_of([_LINES], page="/UserUnit 2"),
        pdfs.pages_of([b"0 1 -1 0 900 0 cm " + _LINES], box="0 0 900 500"),
    ],
    ids=["90", "180", "270", "cut", "cut and 90", "not at 0", "unit", "text upwards"],
)
def test_rectangles_hold_the_ink_of_their_quotes(data: bytes) -> None:
    boxes = [box for boxes in boxes_of(data, "0-18", _SECOND) for box in boxes]
    image = shown(data)
    assert len(boxes) == 2
    assert [dark(image, box) > 50 for box in boxes] == [True, True]
    assert sum(dark(image, box) for box in boxes) == dark(image, (0, 0, 1, 1))


@pytest.mark.parametrize("turn", [b"", b"0 1 -1 0 900 0 cm "], ids=["across", "upwards"])
def test_parts_of_a_line_are_one_rectangle_and_columns_are_not(turn: bytes) -> None:
    words = b"".join(pdfs.line(word, x=72 + 35 * at) for at, word in enumerate(["these", "words", "are", "one"]))
    data = pdfs.pages_of([turn + words + pdfs.line("column two", x=400)], box="0 0 792 792")
    text = make(data).text
    assert [len(boxes) for boxes in boxes_of(data, f"0-{len(text)}")] == [2]


def test_what_is_off_the_page_is_cut_away() -> None:
    data = pdfs.pages_of([pdfs.line("over the edge", x=580) + pdfs.line("nowhere", x=700, y=600)])
    (over, nowhere) = boxes_of(data, "0-13", "14-21")
    assert (over[0][2], nowhere) == (1.0, [])


@pytest.mark.parametrize("span", ["5-5", "9-3", "400-500", "18-19"])
def test_nothing_stands_nowhere(span: str) -> None:
    assert boxes_of(_PAGE, span) == [[]]


@pytest.mark.slow
@pytest.mark.parametrize("maker", [pdfs.two_columns, pdfs.word_by_word])
def test_every_rectangle_of_every_quote_is_on_its_page(maker: Callable[[Sequence[str]], bytes]) -> None:
    words = pdfs.words(4_000)
    data = maker(words)
    made = make(data)
    spans = look_up(words, made.text, 500).spans
    found = rectangles_of(data, made, spans)
    assert (len(spans) > 485, found.max < 12, found.off, found.bare) == (True, True, 0, 0)


def test_a_page_is_a_picture_of_so_many_dots_an_inch() -> None:
    header, image = unpacked(picture(_PAGE, page=1, dpi=100))
    assert json.loads(header) == {"width": 612.0, "height": 792.0}
    with Image.open(io.BytesIO(image)) as opened:
        assert (opened.format, opened.size) == ("WEBP", (850, 1100))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("box", "dpi", "size"),
    [("0 0 612 792", 5_000, (1700, 2200)), ("0 0 5000 5000", 200, (3465, 3465)), ("0 0 14000 10", 72, (8000, 6))],
    ids=["dots", "pixels", "long"],
)
def test_pictures_are_bounded(box: str, dpi: int, size: tuple[int, int]) -> None:
    _, image = unpacked(picture(pdfs.pages_of([_LINES], box=box), page=1, dpi=dpi))
    assert Image.open(io.BytesIO(image)).size == size


def test_a_thumbnail_is_small() -> None:
    assert Image.open(io.BytesIO(thumbnail(pdfs.rotated(_PAGE, 90)))).size == (drawing.THUMBNAIL_WIDTH, 186)


@pytest.mark.parametrize(("last", "names"), [(3, ["two", "three"]), (9, ["two", "three", "four"])])
def test_pages_are_cut_out_as_far_as_there_are_any(last: int, names: list[str]) -> None:
    data = pdfs.pages_of([pdfs.line(f"Page {name}") for name in ("one", "two", "three", "four")])
    pages = PdfReader(io.BytesIO(extract_pages(data, first=2, last=last))).pages
    assert [page.extract_text() for page in pages] == [f"Page {name}" for name in names]


@pytest.mark.parametrize(
    ("call", "options", "problem"),
    [
        (places, {"page": 2, "spans": "0-1"}, "has no page 2"),
        (picture, {"page": 0}, "has no page 0"),
        (thumbnail, {"page": 2}, "has no page 2"),
        (extract_pages, {"first": 2, "last": 3}, "has no pages 2 to 3"),
        (extract_pages, {"first": 2, "last": 1}, "has no pages 2 to 1"),
    ],
)
def test_pages_that_are_not_there_are_refused(
    call: Callable[..., bytes], options: dict[str, int | str], problem: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        call(_PAGE, **options)
    assert str(error.value) == problem
