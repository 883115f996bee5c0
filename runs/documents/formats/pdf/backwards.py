"""Letters of Arabic and Hebrew that pdfium reads backwards.

It turns the letters of text that runs from right to left around one by one, and so also those that a font names for one
glyph, such as lam with alef: "خلال" comes as "خالل". They all have the place of the glyph, which is how they are known.
Words that a program puts at their places one by one it may not turn at all: each of their letters then stands to the
right of the one before, which no word does that is read from right to left.
"""

import ctypes
import math
import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from pypdfium2 import PdfTextPage, raw

_ALEFS, _LAM = "\u0622\u0623\u0625\u0627\u0671", "\u0644"
_MARKS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670"
_TURNED = re.compile(f"[{_ALEFS}]{_LAM}|[{_MARKS}][{_MARKS}\u05d0-\u05ea\u0620-\u064a]")
"""No glyph shows an alef before a lam by themselves, and marks are written behind their letter."""
_MAY_BE = re.compile(f"[{_LAM}{_MARKS}]")
"""Looked for in a tenth of the time."""
_MAX_LETTERS = 8
"""Of a glyph."""
_WORD = re.compile(
    "[\u0591-\u05bd\u05bf-\u05c7\u05d0-\u05f2\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u06ff\u0750-\u077f\ufb1d-\ufdff\ufe70-\ufefc]+"
)
_MIN_STEP = 0.2
"""Points from one letter to the next."""
_MAX_SLANT = 0.1
"""Of a line that goes across the page, as a sine."""


def forwards(page: PdfTextPage, text: str, numbers: Sequence[int]) -> str:
    """The text with such letters in the order in which they are read, of the same length. `numbers` stay as they are:
    letters that change places are those of one word, or of words that follow each other.
    """
    if not _WORD.search(text):
        return text
    if turned := _from_left(page, text, numbers):
        letters, numbers = list(text), list(numbers)
        for start, end in turned:
            letters[start:end], numbers[start:end] = letters[start:end][::-1], numbers[start:end][::-1]
        text = "".join(letters)
    return _glyphs_turned(page, text, numbers) if _MAY_BE.search(text) else text


def _glyphs_turned(page: PdfTextPage, text: str, numbers: Sequence[int]) -> str:
    parts, at = list[str](), 0
    for match in _TURNED.finditer(text):
        start, end = match.span()
        if start < at or (place := _place(page, numbers[start])) != _place(page, numbers[start + 1]):
            continue
        while end < min(len(text), start + _MAX_LETTERS) and _place(page, numbers[end]) == place:
            end += 1
        is_pair = end - start == 2 and text[end - 1] == _LAM
        is_first = start == 0 or _place(page, numbers[start - 1]) != place
        if is_first and (is_pair or _is_mark(text[start]) > _is_mark(text[end - 1])):
            parts += [text[at:start], text[start:end][::-1]]
            at = end
    return "".join([*parts, text[at:]]) if parts else text


def _from_left(page: PdfTextPage, text: str, numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The words whose glyphs stand one to the right of the other, those in such an order together."""
    found, last = list[tuple[int, int]](), math.inf
    for match in _WORD.finditer(text):
        start, end = match.span()
        letters = [numbers[at] for at in range(start, end) if not _is_mark(text[at])]
        places = list(dict.fromkeys(_across(page, number) for number in letters))
        if len(places) < 2 or not all(after - before >= _MIN_STEP for before, after in pairwise(places)):
            continue
        if found and places[0] > last and not text[found[-1][1] : start].strip(" "):
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
        last = places[-1]
    return found


def _across(page: PdfTextPage, number: int) -> float:
    """Where a glyph begins from the left; not a number where its line does not go across the page."""
    x, y = ctypes.c_double(), ctypes.c_double()
    is_upright = abs(math.sin(raw.FPDFText_GetCharAngle(page, number))) < _MAX_SLANT
    return x.value if is_upright and raw.FPDFText_GetCharOrigin(page, number, x, y) else math.nan


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter) == "Mn"


def _place(page: PdfTextPage, number: int) -> tuple[float, ...]:
    """Where a glyph begins, and the foot and the head of its ink. The letters of one glyph share its width."""
    x, y, left, right, bottom, top = (ctypes.c_double() for _ in range(6))
    raw.FPDFText_GetCharOrigin(page, number, x, y)
    raw.FPDFText_GetCharBox(page, number, left, right, bottom, top)
    return x.value, y.value, bottom.value, top.value
