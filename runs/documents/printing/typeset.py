"""Reports and documents as PDF, laid out by typst in a guarded process.

What is quoted reaches typst as JSON, never as markup. Fonts are the project's own, so that every machine makes the same
bytes of the same report.
"""

from __future__ import annotations

import json
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path

import typst

from runs.errors import InvalidInput

_HERE = Path(__file__).parent
_FONTS = _HERE / "fonts"


def pdf(data: bytes) -> bytes:
    """A tagged PDF (UA-1) of a `blocks.Report` as JSON."""
    given = json.loads(_printed(data.decode()))
    try:
        made: bytes = typst.compile(
            str(_HERE / "report.typ"),
            format="pdf",
            root=str(_HERE),
            font_paths=[str(_FONTS)],
            ignore_system_fonts=True,
            sys_inputs={"data": json.dumps(given)},
            pdf_standards=["ua-1"],
        )
    except typst.TypstError as error:
        raise InvalidInput("it could not be laid out") from error
    return made


def _printed(text: str) -> str:
    """The text with each character that no font has as its name, such as [grinning face]. Those of the ASCII structure
    of JSON are all there.
    """
    missing = {char for char in set(text) if not _has_glyph(ord(char))}
    return text.translate({ord(char): _name(char) for char in missing}) if missing else text


def _name(char: str) -> str:
    if unicodedata.category(char) in {"Mn", "Cf"}:
        return ""  # it says only how its neighbour looks
    return f"[{unicodedata.name(char, f'U+{ord(char):04X}').lower()}]"


def _has_glyph(code: int) -> bool:
    starts, ends = _coverage()
    place = bisect_right(starts, code) - 1
    return code < 0x20 or (place >= 0 and code <= ends[place])


@lru_cache(maxsize=1)
def _coverage() -> tuple[list[int], list[int]]:
    """First and last code point of each range that the fonts have."""
    ranges = [row.partition("-") for row in (_FONTS / "coverage.txt").read_text().split()]
    return [int(first, 16) for first, _, _ in ranges], [int(last or first, 16) for first, _, last in ranges]
