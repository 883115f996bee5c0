"""The form of a text in which the same words are the same, however a document has spelled, broken or spaced them.

For quotes that people and models copy out of documents. What makes another statement stays different: capitals, signs
and figures ("-5" is not "5", "1 000" not "1000", "10²" not "102", "10-20" not "1020").
"""

import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import regex

from runs.text.boundaries import is_whole

MAX_CHARACTERS = 400_000
"""Of a text whose key is made, more than a hundred pages: a fifth of a second, at the worst two; eight megabytes."""
MAX_OF_DOCUMENTS = 2_000_000
"""Some six hundred pages, looked through in five pieces: two seconds at the worst, and their keys are kept."""
MIN_KEY = 12
"""Characters of a key; a shorter one has to be the only one of its kind in the text, to point at one place."""

MAX_CUT = 1_000
"""Places of a piece that are looked at: at most of them the quote is a part of longer words."""
MAX_BETWEEN = 200
"""Characters that a passage may have more than twice those of the quote: white space and what nobody sees."""
_OVERLAP = 10_000
"""Of the pieces in which a long source is looked through."""
_DROPPED = "\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
"""Soft hyphens, what has no width, and marks of direction: nobody sees them, and copies have them or not."""
_FOLDED = (
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "…": "..."}
    | dict.fromkeys("“”„‟«»″", '"')
    | dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("‐‑‒–—―−﹣\ufffe\x02", "-")  # noncharacters stand for hyphens in the texts of PDF files
    | {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
)
_FOLDED |= {"－": "-", "＇": "'", "＂": '"'}
_MARKED = r"\P{M}\p{M}+|[\u1100-\u11ff]+"
"""A letter and its marks, or the parts of Korean syllables."""
_SPECIAL = rf"(?P<dropped>[{_DROPPED}]+)|(?P<space>\s+)|(?P<folded>[{''.join(map(regex.escape, _FOLDED))}])"
_PLAIN = "A-Za-z0-9.,;:()/%&\u00c0-\u024f\u0370-\u10ff\u1e00-\u1fff\u3041-\ud7ff"
_TOKEN = regex.compile(rf"{_SPECIAL}|(?P<plain>[{_PLAIN}]+)|(?P<other>.)", regex.DOTALL)
_TOKEN_OR_MARKED = regex.compile(rf"(?P<composed>{_MARKED})|{_SPECIAL}|(?P<other>.)", regex.DOTALL)
_COMPOSED = regex.compile(_MARKED)
_BROKEN = regex.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
"""A hyphen between two letters: it may be there because the line ended. So "re-sign" is taken for "resign"."""


@dataclass(frozen=True)
class Key:
    """`places` has, for each character of `text`, where it comes from in the source."""

    text: str
    places: array[int]


@lru_cache(maxsize=16)
def key(source: str) -> Key:
    """The key of a text: composed letters (NFC), without white space but one between two digits, ligatures, wide forms,
    quotation marks and dashes as their common forms, no hyphen between letters, nothing invisible.
    """
    parts: list[str] = []
    places = array("I")
    spaced, last = False, ""
    tokens = _TOKEN_OR_MARKED if _COMPOSED.search(source) else _TOKEN
    for match in tokens.finditer(source):
        kind, token, start = match.lastgroup, match[0], match.start()
        if kind in {"dropped", "space"}:
            spaced = spaced or kind == "space"
            continue
        if kind == "composed":
            token = unicodedata.normalize("NFC", token)
        elif kind == "folded":
            token = _FOLDED[token]
        if spaced and last.isdigit() and token[0].isdigit():
            parts.append(" ")
            places.append(start)
        spaced, last = False, token[-1]
        parts.append(token)
        places.extend(range(start, match.end()) if kind == "plain" else [start] * len(token))
    return _without_breaks("".join(parts), places)


def _without_breaks(text: str, places: array[int]) -> Key:
    kept, left, at = list[str](), array("I"), 0
    for match in _BROKEN.finditer(text):
        kept.append(text[at : match.start()])
        left.extend(places[at : match.start()])
        at = match.end()
    return Key("".join([*kept, text[at:]]), left + places[at:])


def find_by_key(quote: str, source: str, limit: int = MAX_CHARACTERS) -> tuple[int, int] | None:
    """Where the source has the words of the quote in its own spelling, as first character and one after the last.

    None where it has not, where it is longer than `limit`, where a short quote has several such places, where words or
    numbers are cut at its ends, and where so much lies between the words that they would not be one passage. A long
    source is looked through piece by piece.
    """
    wanted = key(quote).text
    if not wanted or len(source) > limit:
        return None
    longest = 2 * len(quote) + MAX_BETWEEN
    overlap = longest + -longest % _OVERLAP  # the same for most quotes, so that the keys of pieces are those kept
    places = (
        (start + first, start + end)
        for start in range(0, max(len(source), 1), MAX_CHARACTERS)
        for first, end in islice(_places(wanted, source[start : start + MAX_CHARACTERS + overlap]), MAX_CUT)
        if first < MAX_CHARACTERS and is_whole(source, start + first, start + end)
    )
    found = next(places, None)
    if found is None or (len(wanted) < MIN_KEY and next(places, None)):
        return None
    return found if found[1] - found[0] <= longest else None


def _places(wanted: str, source: str) -> Iterator[tuple[int, int]]:
    found = key(source)
    at = found.text.find(wanted)
    while at >= 0:
        last = found.places[at + len(wanted) - 1]
        composed = _COMPOSED.match(source, last)
        yield found.places[at], composed.end() if composed else last + 1
        at = found.text.find(wanted, at + 1)
