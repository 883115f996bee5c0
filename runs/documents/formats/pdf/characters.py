"""The characters of a PDF page as text, with the indices by which pdfium locates them."""

import ctypes
import math
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import NamedTuple

from pypdfium2 import PdfPage, PdfTextPage, raw

from runs.documents.formats.pdf.columns import by_columns

_WORD_WITH_DIGITS = re.compile(r"(?<!\S)[^\s0-9]*[0-9]\S*")


_WORD = re.compile(
    "[\u0591-\u05bd\u05bf-\u05c7\u05d0-\u05f2\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u06ff\u0750-\u077f\ufb1d-\ufdff\ufe70-\ufefc]+"
)
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉"
_DIGITS = re.compile(r"[0-9]+")
_MAX_BACK = 4
"""Characters before digits that are searched for a letter or digit on the baseline: ’500.”¹’."""
_MIN_OFF = 0.2
"""Minimum distance between the foot of a digit and that of a letter, as a share of the digit's height. Digits with less
are on the baseline.
"""
_MIN_RAISED, _MIN_LOWERED = 0.4, 0.15
"""Minimum distance between the baseline and the foot of a raised or lowered digit, as a share of its height."""
_MAX_HEIGHT, _MAX_HEIGHT_LOW = 0.85, 1.3
"""Maximum height of a raised or lowered digit, as a share of the height of a capital or digit, and of a letter that may
be low.
"""
_LOW = frozenset("acegmnopqrsuvwxyz")


class _Ink(NamedTuple):
    bottom: float
    top: float


def with_raised_digits(page: PdfTextPage, text: str, numbers: Sequence[int]) -> str:
    """Returns the text with superscript and subscript characters for small digits. Its length is unchanged."""
    found = _SmallDigits(page, text, numbers)
    for word in _WORD_WITH_DIGITS.finditer(text):
        for run in _DIGITS.finditer(text, *word.span()):
            found.look_at(word.start(), *run.span())
    if not found.instead:
        return text
    return "".join(found.instead.get(at, character) for at, character in enumerate(text))


class _SmallDigits:
    """Finds small digits. `instead` maps offsets to their replacements. Only text that runs across the page is
    examined.
    """

    def __init__(self, page: PdfTextPage, text: str, numbers: Sequence[int]) -> None:
        self._page, self._text, self._numbers = page, text, numbers
        self._sides = tuple(ctypes.c_double() for _ in range(4))
        self.instead: dict[int, str] = {}

    def look_at(self, begun: int, start: int, end: int) -> None:
        """Examines the digits from `start` to before `end` of the word that begins at `begun`, last digit first."""
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
        """Returns a character on the same line to compare the digits with."""
        before = range(start - 1, max(begun, start - _MAX_BACK) - 1, -1)
        found = next((at for at in before if self._text[at].isalnum() and at not in self.instead), None)
        if found is not None or end - start > 1 or self._text[begun - 1 : begun] not in {"", "\n"}:
            return found if found is not None or end - start == 1 else start
        return next((at for at in self._behind(end) if self._text[at].isalnum()), None)

    def _behind(self, end: int) -> Iterator[int]:
        """Yields the characters after the digits, for note marks that precede their word."""
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
        """Returns the replacements of digits placed like this one, or nothing if it is on the baseline."""
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


_ALEFS, _LAM = "\u0622\u0623\u0625\u0627\u0671", "\u0644"
_MARKS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670"
_TURNED = re.compile(f"[{_ALEFS}]{_LAM}|[{_MARKS}][{_MARKS}\u05d0-\u05ea\u0620-\u064a]")
"""No single glyph shows an alef before a lam, and marks are written after their letter."""
_MAY_BE = re.compile(f"[{_LAM}{_MARKS}]")
"""A test that takes a tenth of the time."""
_MAX_LETTERS = 8
"""Letters of one glyph."""
_MIN_STEP = 0.2
"""Points from one letter to the next."""
_MAX_SLANT = 0.1
"""Sine of the angle of a line that runs across the page."""


def in_reading_order(page: PdfTextPage, text: str, numbers: Sequence[int]) -> str:
    """Returns the text with reversed letters in reading order. Its length is unchanged.

    `numbers` remain valid, because letters only change places within a word or between adjacent words.
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
    """Returns runs of words whose glyphs advance to the right."""
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
    """Returns the left edge of a glyph, or NaN if its line does not run across the page."""
    x, y = ctypes.c_double(), ctypes.c_double()
    is_upright = abs(math.sin(raw.FPDFText_GetCharAngle(page, number))) < _MAX_SLANT
    return x.value if is_upright and raw.FPDFText_GetCharOrigin(page, number, x, y) else math.nan


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter) == "Mn"


def _place(page: PdfTextPage, number: int) -> tuple[float, ...]:
    """Returns the left edge of a glyph and the bottom and top of its ink. Letters of one glyph share its width."""
    x, y, left, right, bottom, top = (ctypes.c_double() for _ in range(6))
    raw.FPDFText_GetCharOrigin(page, number, x, y)
    raw.FPDFText_GetCharBox(page, number, left, right, bottom, top)
    return x.value, y.value, bottom.value, top.value


_SPECIAL = re.compile("\r\n?|\ufffe|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Characters that pdfium inserts for line ends and for the hyphen of a divided word (after which it omits the line
end), and control characters, which come from fonts that do not identify their letters.
"""
_HYPHEN = "\x02"
NAMELESS = "\ufffd"
"""Stands for a letter of a font that does not identify its letters."""
_SAMPLES = 20
"""Characters of a page whose direction is examined."""


class PageText(NamedTuple):
    """The text of a page. `numbers` has pdfium's index for each character of `text`, ascending within a line; some are
    equal.
    """

    text: str
    numbers: Sequence[int]

    def spans(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yields the indices of these characters line by line: the first index and the count."""
        start, end = max(start, 0), max(end, 0)
        for line in self.text[start:end].split("\n"):
            yield self.span(start, start + len(line))
            start += len(line) + 1

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the indices of these characters of one line without surrounding white space: the first index and the
        count.
        """
        part = self.text[max(start, 0) : max(end, 0)]
        first = max(start, 0) + len(part) - len(part.lstrip())
        last = first + len(part.strip()) - 1
        return (self.numbers[first], self.numbers[last] + 1 - self.numbers[first]) if first <= last else (0, 0)


@contextmanager
def text_page_of(page: PdfPage) -> Iterator[PdfTextPage]:
    """Opens the characters of a page in reading order.

    pdfium applies /Rotate before it reads, and reads lines or words backwards if the text then runs in another
    direction. So the page is rotated to suit its text, and rotated back afterwards.
    """
    text_page = page.get_textpage()
    turned, wanted = page.get_rotation(), _rotation(text_page)
    if turned != wanted:
        text_page.close()
        page.set_rotation(wanted)
        text_page = page.get_textpage()
        page.set_rotation(turned)
    with closing(text_page):
        yield text_page


def _rotation(page: PdfTextPage) -> int:
    """Returns the degrees by which to rotate the page clockwise so that most of its text runs from left to right."""
    count = page.count_chars()
    angles = (raw.FPDFText_GetCharAngle(page, at) for at in range(0, count, max(count // _SAMPLES, 1)))
    quarters = Counter(round(angle / (math.pi / 2)) % 4 for angle in angles if angle >= 0)
    return -90 * quarters.most_common(1)[0][0] % 360 if quarters else 0


def text_of(page: PdfTextPage) -> PageText:
    """Returns the text of a page line by line.

    Small digits above and below the line are replaced, reversed letters are put in order, and columns follow each
    other.
    """
    count = page.count_chars()
    buffer = (ctypes.c_ushort * (2 * count + 2))()
    written = raw.FPDFText_GetText(page, 0, count, buffer)
    units = bytes(buffer)[: 2 * max(written - 1, 0)]
    text = units.decode("utf-16-le", errors="replace")
    numbers: Sequence[int] = range(count)
    if not len(text) == count == len(units) // 2:  # pdfium omits some characters, or counts some as two
        text, numbers = _one_by_one(page, count)
    found = _in_lines(page, text, numbers)
    text = with_raised_digits(page, in_reading_order(page, found.text, found.numbers), found.numbers)
    return PageText(*by_columns(page, text, found.numbers))


def _one_by_one(page: PdfTextPage, count: int) -> tuple[str, Sequence[int]]:
    found: list[str] = []
    numbers = array("I")
    for number, code in _codes(page, count):
        found.append(chr(code))
        numbers.append(number)
    return "".join(found), numbers


def _codes(page: PdfTextPage, count: int) -> Iterator[tuple[int, int]]:
    """Yields indices and code points. Surrogate pairs are joined."""
    high = 0
    for number in range(count):
        code = raw.FPDFText_GetUnicode(page, number)
        if 0xD800 <= code < 0xDC00:
            high = code
        elif 0xDC00 <= code < 0xE000:
            if high:
                yield number - 1, 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
            high = 0
        elif code:
            yield number, min(code, 0x10FFFF)
            high = 0


def _in_lines(page: PdfTextPage, text: str, numbers: Sequence[int]) -> PageText:
    """Replaces what pdfium inserts by line ends, and by a hyphen and a line end for a divided word."""
    parts, kept, at = list[str](), array("I"), 0
    for match in _SPECIAL.finditer(text):
        start, end = match.span()
        parts.append(text[at:start])
        kept.extend(numbers[at:start])
        number, at = numbers[start], end
        new = _instead(page, match[0], number)
        parts.append(new)
        kept.extend([number] * len(new))
    if not parts:
        return PageText(text, numbers)
    return PageText("".join([*parts, text[at:]]), kept + array("I", numbers[at:]))


def _instead(page: PdfTextPage, special: str, number: int) -> str:
    if special[0] == "\r":
        return "\n"
    if special == "\0":
        return ""
    if special in {"\ufffe", _HYPHEN} and raw.FPDFText_IsHyphen(page, number) == 1:
        return "-\n"
    return NAMELESS
