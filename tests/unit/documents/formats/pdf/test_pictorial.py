"""Which pages of PDF files are mostly pictures or tables."""

import pytest
from PIL import Image

from runs.documents.formats.pdf import pdf_reader as reader
from runs.documents.formats.pdf.pdf_reader import make
from tests.documents import pdfs
from tests.documents.pictures import page as printed
from tests.documents.pictures import saved

PROSE = b"".join(pdfs.line(" ".join(pdfs.words(10, seed=row)), y=740 - 14 * row) for row in range(48))
PICTURE = Image.new("L", (60, 80), 128)


def pages(*contents: bytes) -> tuple[int, ...]:
    return make(pdfs.pages_of(contents)).rendered.layout.pictorial


def grid(left: float, bottom: float, right: float, top: float, *, rows: int = 8, columns: int = 4) -> bytes:
    """A table with a word in each cell and lines around them all."""
    high, wide = (top - bottom) / rows, (right - left) / columns
    across = [f"{left} {bottom + high * at} m {right} {bottom + high * at} l S" for at in range(rows + 1)]
    upright = [f"{left + wide * at} {bottom} m {left + wide * at} {top} l S" for at in range(columns + 1)]
    cells = [
        pdfs.line(f"cell {row} {column}", left + wide * column + 4, bottom + high * row + 4, 8)
        for row in range(rows)
        for column in range(columns)
    ]
    return "\n".join([*across, *upright]).encode() + b"\n" + b"".join(cells)


def cells(left: float, bottom: float, right: float, top: float) -> bytes:
    """The same as boxes, one for each cell, as some programs draw tables."""
    high, wide = (top - bottom) / 8, (right - left) / 4
    boxes = [f"{left + wide * at} {bottom + high * row} {wide} {high} re S" for row in range(8) for at in range(4)]
    return "\n".join(boxes).encode() + b"\n"


def test_a_page_of_prose_is_none_and_a_table_over_most_of_it_is_one() -> None:
    assert pages(PROSE, grid(60, 100, 550, 700), PROSE + cells(60, 100, 550, 700)) == (2, 3)


@pytest.mark.slow
def test_a_table_in_thin_boxes_and_one_that_is_scaled_count_too() -> None:
    thin = b"".join(b"60 %d 490 0.5 re f " % y for y in range(100, 720, 60))
    thin += b"".join(b"%d 100 0.5 600 re f " % x for x in range(60, 560, 120))
    assert pages(PROSE + thin, b"q 10 0 0 10 0 0 cm 0.1 w " + grid(6, 10, 55, 70) + b" Q " + PROSE) == (1, 2)


@pytest.mark.parametrize(
    "page",
    [
        grid(60, 500, 550, 700),
        b"20 20 572 752 re S 30 30 552 300 re S 30 400 552 300 re S ",
        b"".join(b"60 %d m 550 %d l S " % (y, y) for y in range(40, 760, 14)),
    ],
    ids=["a small table", "frames around boxes", "a line under each line"],
)
def test_lines_that_are_no_table_over_much_of_the_page_do_not_count(page: bytes) -> None:
    assert pages(PROSE + page) == ()


@pytest.mark.parametrize(
    ("place", "counts"), [(b"612 0 0 792 0 0", True), (b"612 0 0 400 0 0", True), (b"90 0 0 60 480 700", False)]
)
def test_pictures_over_half_of_a_page_count_and_a_logo_does_not(place: bytes, counts: bool) -> None:
    content = b"q " + place + b" cm /I Do Q " + PROSE
    made = make(pdfs.with_picture(content, PICTURE))
    assert made.rendered.layout.pictorial == ((1,) if counts else ())


@pytest.mark.slow
def test_a_scan_is_one_whether_its_words_were_read_or_not() -> None:
    scan = saved(printed(["The Supplier shall deliver the goods", "within 30 days of the order."]), "PDF")
    data = pdfs.joined(pdfs.pages_of([PROSE]), scan)
    assert make(data).rendered.layout.pictorial == (2,)


def test_what_has_too_many_objects_is_not_looked_at_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_MAX_LOOKS", 20)
    assert pages(PROSE, grid(60, 100, 550, 700)) == ()
