"""Only parts of a page are drawn where few of its lines are looked at, and they show what all of it shows."""

from typing import Any

import pytest
from PIL import ImageChops
from pypdfium2 import PdfDocument, PdfPage

from runs.documents.formats.pdf.geometry import Rectangle
from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.formats.pdf.windows import WHOLE, Picture, windows
from runs.documents.model.layout import MarkKind
from tests.documents import pdfs
from tests.documents.pdfs import line

_LINES = b"".join(line("The Supplier is liable without limit.", y=740 - 16 * at) for at in range(40))
_PLACES = [Rectangle(0.1, 0.2, 0.5, 0.3), Rectangle(0.0, 0.97, 1.0, 1.1), Rectangle(-0.5, 0.4, 0.01, 0.400001)]


@pytest.mark.parametrize("window", _PLACES)
@pytest.mark.parametrize("degrees", [0, 90, 180])
@pytest.mark.parametrize("scale", [1.0, 200 / 72, 0.7])
@pytest.mark.parametrize("grey", [True, False])
def test_a_part_of_a_page_is_drawn_as_in_the_picture_of_all_of_it(
    window: Rectangle, degrees: int, scale: float, grey: bool
) -> None:
    with PdfDocument(pdfs.rotated(pdfs.pages_of([_LINES], box="0 0 595.276 841.89"), degrees)) as document:
        page = document[0]
        whole, part = (Picture.of(page, scale, one, grey=grey) for one in (WHOLE, window))
        place = part.left, part.top, part.left + part.image.width, part.top + part.image.height
        assert ImageChops.difference(whole.image.crop(place), part.image).getbbox() is None
        assert ImageChops.difference(part.drawn_again(page), part.image).getbbox() is None
        assert whole.part(window).tobytes() == part.part(window).tobytes()


def test_lines_near_each_other_are_in_one_window_and_each_line_in_one() -> None:
    lines = [Rectangle(0.1, top, 0.9, top + 0.01) for top in (0.1, 0.9, 0.11, 0.5, 0.12)]
    found = list(windows(lines))
    assert sorted(one.lines for one in found) == [[0, 2, 4], [1], [3]]
    assert all(
        one.place.top < lines[number].top and lines[number].bottom < one.place.bottom
        for one in found
        for number in one.lines
    )


@pytest.mark.parametrize("count", [30, 300])
def test_many_places_are_looked_at_together(count: int) -> None:
    lines = [Rectangle(at / count, at / count, (at + 0.1) / count, (at + 0.1) / count) for at in range(count)]
    (window,) = windows(lines)
    assert window.lines == list(range(count))


def test_no_lines_have_no_windows() -> None:
    assert list(windows([])) == []


@pytest.mark.parametrize("degrees", [0, 90])
def test_hidden_words_are_found_in_each_part_of_a_page(degrees: int) -> None:
    boxes = b"".join(b"q 1 g 100 %d 60 12 re f Q " % (740 - 16 * at - 3) for at in (0, 20, 39))
    made = make(pdfs.rotated(pdfs.pages_of([_LINES, _LINES + boxes]), degrees))
    hidden = [made.text[one.start : one.end] for one in made.rendered.layout.marks if one.kind is MarkKind.UNSEEN]
    assert [one.replace(" ", "")[:9] for one in hidden] == ["upplieris"] * 3


def test_a_stamp_costs_pictures_of_its_part_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, render = list[float](), PdfPage.render

    def rendered(page: PdfPage, **options: Any) -> Any:
        bitmap = render(page, **options)
        sizes.append(bitmap.width * bitmap.height / options["scale"] ** 2)
        return bitmap

    monkeypatch.setattr(PdfPage, "render", rendered)
    stamped = _LINES + b"q 1 g 72 118 100 6 re f Q "
    make(pdfs.pages_of([_LINES, stamped, stamped]))
    first, *others = sizes
    assert first == 612 * 792
    assert others
    assert max(others) < first / 10
