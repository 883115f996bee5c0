"""Which pages say more than their text does: those that are mostly pictures, and those with a ruled table over much of
the page. Models are shown them as they look.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pypdfium2 import PdfPage, raw

from runs.documents.formats.pdf.objects import Box, PageObject, all_of, corner_of, matrix_of, picture_box

_MIN_PICTURES = 0.5
_MIN_TABLE = 0.4
"""Of the page. A logo has less, and so has a small table, whose rows can be read as lines."""
_MIN_ROWS, _MIN_COLUMNS = 5, 4
"""Lines across and upright: frames around a page and its boxes have fewer."""
_MIN_LENGTH = 12.0
"""In points, of a line; columns are as wide."""
_TOLERANCE = 2.0
"""In points: how far a line is from straight, and two from being the same."""
_MAX_LOOKS = 500_000
"""Objects and corners that are looked at in a document: a second or so. Pages behind that count as text."""
_MAX_LOOKS_OF_PAGE = 20_000


class Looking:
    """Looks at the pages of one document, as long as they do not have too many objects in all."""

    def __init__(self) -> None:
        self._left, self._page_left = _MAX_LOOKS, 0

    def is_pictorial(self, page: PdfPage) -> bool:
        """Whether pictures take half of the page, or a ruled table nearly as much."""
        self._page_left = before = min(self._left, _MAX_LOOKS_OF_PAGE)
        left, bottom, right, top = area = page.get_bbox()
        room = max((right - left) * (top - bottom), 1.0)
        pictures, lines = 0.0, list[Box]()
        for one in all_of(page):
            if not self._may_go_on():
                break
            if one.kind == raw.FPDF_PAGEOBJ_IMAGE:
                pictures += _shared(picture_box(one), area)
            elif one.kind == raw.FPDF_PAGEOBJ_PATH:
                lines += self._lines(one)
        self._left -= before - max(self._page_left, 0)
        return bool(pictures >= _MIN_PICTURES * room or _table(lines, area) >= _MIN_TABLE * room)

    def _may_go_on(self) -> bool:
        self._page_left -= 1
        return self._page_left >= 0

    def _lines(self, path: PageObject) -> Iterator[Box]:
        """The straight edges of a path, across or upright: the box of each is a line."""
        count, matrix = raw.FPDFPath_CountSegments(path.handle), matrix_of(path)
        corners = [corner_of(path.handle, at, matrix) for at in range(count) if self._may_go_on()]
        for (x, y, _), (x2, y2, begins) in pairwise(filter(None, corners)):
            thin, long = sorted((abs(x - x2), abs(y - y2)))
            if not begins and thin <= _TOLERANCE and long >= _MIN_LENGTH:
                yield min(x, x2), min(y, y2), max(x, x2), max(y, y2)


def _shared(box: Box, area: Box) -> float:
    """How much of the page is in the box."""
    width, height = min(box[2], area[2]) - max(box[0], area[0]), min(box[3], area[3]) - max(box[1], area[1])
    return max(width, 0.0) * max(height, 0.0)


def _table(lines: Sequence[Box], area: Box) -> float:
    """How much of the page lies within a grid of lines: between the upright ones, as far as others cross there."""
    upright = [line for line in lines if line[2] - line[0] <= _TOLERANCE]
    if len(_places((line[0] for line in upright), _MIN_LENGTH)) < _MIN_COLUMNS:
        return 0.0
    left, bottom, right, top = _around(upright)
    across = [line for line in lines if line[3] - line[1] <= _TOLERANCE and line[0] < right and left < line[2]]
    rows = _places((line[1] for line in across if bottom - _TOLERANCE <= line[1] <= top + _TOLERANCE), _TOLERANCE)
    return _shared((left, bottom, right, top), area) if len(rows) >= _MIN_ROWS else 0.0


def _around(lines: Sequence[Box]) -> Box:
    lefts, bottoms, rights, tops = zip(*lines, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _places(values: Iterable[float], apart: float) -> list[float]:
    """Those that are more than this apart from each other."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > apart:
            found.append(value)
    return found
