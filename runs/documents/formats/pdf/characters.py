"""The characters of a PDF page as text, each with its number in pdfium, which knows where it stands."""

import ctypes
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple

from pypdfium2 import PdfPage, PdfTextPage, raw

from runs.documents.formats.pdf.backwards import forwards
from runs.documents.formats.pdf.columns import by_columns
from runs.documents.formats.pdf.raised import raised

_SPECIAL = re.compile("\r\n?|\ufffe|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What pdfium puts in for the end of a line and for the hyphen of a divided word (behind which it leaves the end of the
line out), and control characters: those of fonts that do not say which letters they have.
"""
_HYPHEN = "\x02"
NAMELESS = "\ufffd"
"""A letter of a font that does not say which it is."""
_SAMPLES = 20
"""Characters of a page that are asked in which direction they go."""


class PageText(NamedTuple):
    """`numbers` has for each character of `text` the number of pdfium's, in order within a line; some have the same."""

    text: str
    numbers: Sequence[int]

    def spans(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The numbers of these characters, line by line: first one, and how many."""
        start, end = max(start, 0), max(end, 0)
        for line in self.text[start:end].split("\n"):
            yield self.span(start, start + len(line))
            start += len(line) + 1

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The numbers of these characters of a line, white space around them left out: first one, and how many."""
        part = self.text[max(start, 0) : max(end, 0)]
        first = max(start, 0) + len(part) - len(part.lstrip())
        last = first + len(part.strip()) - 1
        return (self.numbers[first], self.numbers[last] + 1 - self.numbers[first]) if first <= last else (0, 0)


@contextmanager
def text_page_of(page: PdfPage) -> Iterator[PdfTextPage]:
    """The characters of a page in reading order. pdfium reads a page as /Rotate turns it, and lines or words backwards
    where that is not how the text goes; so the page is turned for it, and back again.
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
    """By how many degrees to turn the page clockwise for most of its text to go from left to right."""
    count = page.count_chars()
    angles = (raw.FPDFText_GetCharAngle(page, at) for at in range(0, count, max(count // _SAMPLES, 1)))
    quarters = Counter(round(angle / (math.pi / 2)) % 4 for angle in angles if angle >= 0)
    return -90 * quarters.most_common(1)[0][0] % 360 if quarters else 0


def text_of(page: PdfTextPage) -> PageText:
    """The text of a page, a line of it per line, with small digits above and below the line as such, no letters
    backwards, and columns one after the other.
    """
    count = page.count_chars()
    units = _all_units(page, count)
    text = units.decode("utf-16-le", errors="replace")
    numbers: Sequence[int] = range(count)
    if not len(text) == count == len(units) // 2:  # there are characters that pdfium leaves out, or that are two for it
        text, numbers = _one_by_one(page, count)
    found = _in_lines(page, text, numbers)
    text = raised(page, forwards(page, found.text, found.numbers), found.numbers)
    return PageText(*by_columns(page, text, found.numbers))


def _all_units(page: PdfTextPage, count: int) -> bytes:
    buffer = (ctypes.c_ushort * (2 * count + 2))()
    written = raw.FPDFText_GetText(page, 0, count, buffer)
    return bytes(buffer)[: 2 * max(written - 1, 0)]


def _one_by_one(page: PdfTextPage, count: int) -> tuple[str, Sequence[int]]:
    found: list[str] = []
    numbers = array("I")
    for number, code in _codes(page, count):
        found.append(chr(code))
        numbers.append(number)
    return "".join(found), numbers


def _codes(page: PdfTextPage, count: int) -> Iterator[tuple[int, int]]:
    """Numbers and code points, two halves of one as one."""
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
    """A hyphen at the end of a line is one, with the end of the line behind it."""
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
