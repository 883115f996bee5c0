"""Prints reports and documents as PDF with typst in an isolated process.

Quoted text reaches typst as JSON, never as markup. The fonts are the project's own, so that all machines make the same
bytes.
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
    """Returns the tagged PDF (UA-1) of a `blocks.PrintableReport` (JSON)."""
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
    """Replaces each character without a glyph by its name, such as [grinning face]. ASCII, and so the structure of the
    JSON, is not affected.
    """
    missing = {char for char in set(text) if not _has_glyph(ord(char))}
    return text.translate({ord(char): _name(char) for char in missing}) if missing else text


def _name(char: str) -> str:
    if unicodedata.category(char) in {"Mn", "Cf"}:
        return ""  # a modifier, which only changes the look of its neighbour
    return f"[{unicodedata.name(char, f'U+{ord(char):04X}').lower()}]"


def _has_glyph(code: int) -> bool:
    starts, ends = _coverage()
    place = bisect_right(starts, code) - 1
    return code < 0x20 or (place >= 0 and code <= ends[place])


@lru_cache(maxsize=1)
def _coverage() -> tuple[list[int], list[int]]:
    """Returns the first and the last code point of each range that the fonts cover."""
    ranges = [row.partition("-") for row in (_FONTS / "coverage.txt").read_text().split()]
    return [int(first, 16) for first, _, _ in ranges], [int(last or first, 16) for first, _, last in ranges]
