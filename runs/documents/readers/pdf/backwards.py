"""Letters of Arabic and Hebrew that one glyph shows together, such as lam with alef, which pdfium reads backwards.

It turns the letters of text that runs from right to left around one by one, and so also those that a font names for one
glyph: "خلال" comes as "خالل". They all have the place of the glyph, which is how they are known.
"""

import ctypes
import re
import unicodedata
from collections.abc import Sequence

from pypdfium2 import PdfTextPage, raw

_ALEFS, _LAM = "\u0622\u0623\u0625\u0627\u0671", "\u0644"
_MARKS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670"
_TURNED = re.compile(f"[{_ALEFS}]{_LAM}|[{_MARKS}][{_MARKS}\u05d0-\u05ea\u0620-\u064a]")
"""No glyph shows an alef before a lam by themselves, and marks are written behind their letter."""
_MAY_BE = re.compile(f"[{_LAM}{_MARKS}]")
"""Looked for in a tenth of the time."""
_MAX_LETTERS = 8
"""Of a glyph."""


def forwards(page: PdfTextPage, text: str, numbers: Sequence[int]) -> str:
    """The text with such letters in the order in which they are read, of the same length."""
    if not _MAY_BE.search(text):
        return text
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


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter) == "Mn"


def _place(page: PdfTextPage, number: int) -> tuple[float, ...]:
    """Where a glyph begins, and the sides of its ink."""
    found = tuple(ctypes.c_double() for _ in range(6))
    raw.FPDFText_GetCharOrigin(page, number, *found[:2])
    raw.FPDFText_GetCharBox(page, number, *found[2:])
    return tuple(side.value for side in found)
