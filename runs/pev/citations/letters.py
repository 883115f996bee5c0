"""Words that a page gives back in other letters: whether a text may have them all the same."""

from collections.abc import Sequence

import regex

_OTHER_SCRIPT = r"[^\p{Latin}\p{Greek}\p{Cyrillic}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Common}\p{Inherited}]"
_LOSSY = regex.compile(rf"{_OTHER_SCRIPT}|f[fil]+|\[(?:[a-z0-9-]+ )*[a-z0-9-]+\]")
_IN_OTHER_LETTERS = regex.compile(rf"{_OTHER_SCRIPT}|[\uFB00-\uFB06]|\p{{So}}")
"""What a source has of which a page may not give back the words as they are there."""
_MIN_FIRM = 4
"""Letters of a quote that have to be comparable; of fewer it counts that its source has letters that are not."""
_ROOM = 4
"""Characters of a source for each of a page between two parts that are alike in both, and so many more."""
_MAX_PLACES = 1_000


def is_lossy(quote: str) -> bool:
    """Whether it has letters that a page may give back otherwise: of scripts whose letters are joined or reordered,
    joined Latin letters, and signs that are printed as their names.
    """
    return _LOSSY.search(quote) is not None


def stands_in(quote: str, text: str) -> bool:
    """Whether the text may have the quote: all else of it stands there, with such letters between."""
    parts = _firm_parts(quote)
    if sum(map(str.isalnum, "".join(part for part, _ in parts))) < _MIN_FIRM:
        return _IN_OTHER_LETTERS.search(text) is not None
    at = text.find(parts[0][0])
    for _ in range(_MAX_PLACES):
        if at < 0 or _follows(parts, text, at):
            return at >= 0
        at = text.find(parts[0][0], at + 1)
    return False


def _firm_parts(quote: str) -> list[tuple[str, str]]:
    """What stands between such letters, each part with those that stand before it."""
    parts: list[tuple[str, str]] = []
    before, at = "", 0
    for start, end in [*(match.span() for match in _LOSSY.finditer(quote)), (len(quote), len(quote))]:
        if part := quote[at:start].strip():
            parts.append((part, before))
            before = ""
        before, at = before + quote[start:end], end
    return parts


def _follows(parts: Sequence[tuple[str, str]], text: str, at: int) -> bool:
    """Whether the parts stand there one after the other, and what is between them as it is or in other letters."""
    at += len(parts[0][0])
    for part, before in parts[1:]:
        found = text.find(part, at, at + _ROOM * len(before) + _ROOM + len(part))
        between = text[at:found].strip()
        if found < 0 or not (between == before.strip() or _IN_OTHER_LETTERS.search(between)):
            return False
        at = found + len(part)
    return True
