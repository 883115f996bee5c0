"""Digits of a PDF page that stand above or below the line, such as marks of footnotes and exponents: pdfium gives them
as plain ones, so that "EUR 500" with a footnote 1 would read "EUR 5001".

Told by the ink: fonts have small digits of their own, in the size of the others.
"""

import ctypes
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pypdfium2 import PdfTextPage, raw

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉"
_WORD = re.compile(r"(?<!\S)[^\s0-9]*[0-9]\S*")
_DIGITS = re.compile(r"[0-9]+")
_MAX_BACK = 4
"""Characters before digits among which there has to be a letter or digit on the line: ’500.”¹’."""
_MIN_OFF = 0.2
"""Of a digit's height, between its foot and that of a letter, to look closer at all."""
_MIN_RAISED, _MIN_LOWERED = 0.4, 0.15
"""Of a digit's height, from the line to its foot."""
_MAX_HEIGHT, _MAX_HEIGHT_LOW = 0.85, 1.3
"""Of the height above the line of a capital or digit, and of a letter that may be low."""
_LOW = frozenset("acegmnopqrsuvwxyz")


class _Ink(NamedTuple):
    bottom: float
    top: float


def raised(page: PdfTextPage, text: str, numbers: Sequence[int]) -> str:
    """The text with such digits in their place, of the same length."""
    found = _Found(page, text, numbers)
    for word in _WORD.finditer(text):
        for run in _DIGITS.finditer(text, *word.span()):
            found.look_at(word.start(), *run.span())
    if not found.instead:
        return text
    return "".join(found.instead.get(at, character) for at, character in enumerate(text))


class _Found:
    """`instead`: by offset, what stands for a digit. Only text that goes across the page is looked at."""

    def __init__(self, page: PdfTextPage, text: str, numbers: Sequence[int]) -> None:
        self._page, self._text, self._numbers = page, text, numbers
        self._sides = tuple(ctypes.c_double() for _ in range(4))
        self.instead: dict[int, str] = {}

    def look_at(self, begun: int, start: int, end: int) -> None:
        """The digits `start` to before `end` of the word that begins at `begun`, from the last one on."""
        base = self._base(begun, start, end)
        if base is None:
            return
        foot = self._ink(base)
        for at in range(end - 1, start - 1, -1):
            digits = RAISED if at != base and self._is_off(at, foot) else ""
            digits = digits and self._digits(at, base)
            if not digits:
                return
            self.instead[at] = digits[int(self._text[at])]

    def _base(self, begun: int, start: int, end: int) -> int | None:
        """A character of the same line that digits are compared with."""
        before = range(start - 1, max(begun, start - _MAX_BACK) - 1, -1)
        found = next((at for at in before if self._text[at].isalnum() and at not in self.instead), None)
        if found is not None or end - start > 1 or self._text[begun - 1 : begun] not in {"", "\n"}:
            return found if found is not None or end - start == 1 else start
        return next((at for at in self._behind(end) if self._text[at].isalnum()), None)

    def _behind(self, end: int) -> Iterator[int]:
        """The mark of a note stands before its words."""
        for at in range(end, min(end + _MAX_BACK, len(self._text))):
            if self._text[at] == "\n":
                return
            yield at

    def _ink(self, at: int) -> _Ink:
        left, right, bottom, top = self._sides
        raw.FPDFText_GetCharBox(self._page, self._numbers[at], left, right, bottom, top)
        return _Ink(bottom.value, top.value)

    def _is_off(self, at: int, foot: _Ink) -> bool:
        ink = self._ink(at)
        return abs(ink.bottom - foot.bottom) > _MIN_OFF * (ink.top - ink.bottom)

    def _digits(self, at: int, base: int) -> str:
        """What stands for digits that are as this one is; nothing for those on the line."""
        ink, other = self._ink(at), self._ink(base)
        x, y = self._sides[:2]
        raw.FPDFText_GetCharOrigin(self._page, self._numbers[base], x, y)
        line, height = y.value, ink.top - ink.bottom
        most = _MAX_HEIGHT_LOW if self._text[base] in _LOW else _MAX_HEIGHT
        if not (0 < height < most * (other.top - line) and self._is_upright(at) and self._is_upright(base)):
            return ""
        if ink.bottom - line >= _MIN_RAISED * height:
            return RAISED
        is_behind_letter = not self._text[at - 1].isdecimal() and self._text[at - 1].isalpha()
        return _LOWERED if is_behind_letter and line - ink.bottom >= _MIN_LOWERED * height else ""

    def _is_upright(self, at: int) -> bool:
        matrix = raw.FS_MATRIX()
        known = raw.FPDFText_GetMatrix(self._page, self._numbers[at], matrix)
        return bool(known) and abs(matrix.b) + abs(matrix.c) < abs(matrix.d) / 2 and matrix.d > 0
