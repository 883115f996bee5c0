"""The text of a link: the words that it may quote, and the same words where a page has them in other letters."""

import html
import re
from collections.abc import Callable, Sequence
from functools import cached_property

import regex

from runs.text.normalisation import one_spaced

_MARKS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|`+|~~")
_QUOTATION = re.compile(r"(\r?\n)[ \t]*(?:>[ \t]?)+")
_QUOTES = ("“”", '""', "„“", "«»", "»«", "‘’", "''", "„”", "‹›")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def quotes_in(text: str) -> tuple[list[str], bool]:
    """The words that a link's text may quote, the most likely first, and whether they stand in quotation marks."""
    written = html.unescape(_ESCAPED.sub(r"\1", _QUOTATION.sub(r"\1", text))).strip()
    bare = _MARKS.sub("", written).strip()
    found = [_unquoted(written), _unquoted(bare)]
    return list(dict.fromkeys(found)), _unquoted(bare) != bare


def words_of(link: str) -> str:
    """The text of a link, as it was written."""
    depth = at = 0
    while at < len(link):
        if link[at] == "\\":
            at += 1
        elif link[at] == "[":
            depth += 1
        elif link[at] == "]":
            depth -= 1
            if depth == 0:
                break
        at += 1
    return link[1:at]


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if len(text) > 2 and text[0] + text[-1] in _QUOTES else text


_KEPT = r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Common}\p{Inherited}"
_OTHER_SCRIPT = rf"[^{_KEPT}]"
_NO_LETTERS = regex.compile(rf"[{_KEPT}\P{{L}}]+")
"""All but the letters of other scripts; their marks are left out too, since pages have them in another order."""
_LOSSY = regex.compile(rf"{_OTHER_SCRIPT}|f[fil]+|\[(?:[a-z0-9-]+ )*[a-z0-9-]+\]")
_IN_OTHER_LETTERS = regex.compile(rf"{_OTHER_SCRIPT}|[\uFB00-\uFB06]|\p{{So}}")
"""Letters in a source that a page may not give back as they are."""
_MIN_FIRM = 4
"""Letters of a quote that have to be comparable; of fewer it counts that its source has letters that are not."""
_ROOM = 4
"""Characters of a source for each of a page between two parts that are the same in both, and so many more."""
_MAX_PLACES = 200  # occurrences that are compared
_FIRST = 3
"""Letters of a quote, without special ones, by which its places are found."""
_MAX_ADDED = 0.3
"""The share of the letters of such a quote that its source may lack."""
_COMPARING = 20
"""Comparing one letter or part takes as long as searching so many characters."""


def is_lossy(quote: str) -> bool:
    """Whether it has letters that a page may give back otherwise: of scripts whose letters are joined or reordered,
    joined Latin letters, and signs that are printed as their names.
    """
    return _LOSSY.search(quote) is not None


class Comparable:
    """A source made ready for such quotes; it takes the memory of its text twice. `searched`: characters that were
    gone through for them.
    """

    def __init__(self, text: str) -> None:
        self._text = one_spaced(text)
        self.searched = len(text)

    def may_have(self, quote: str) -> bool:
        """Whether the quote may stand there: all else of it does, with such letters between. Of one that is nothing
        but such letters, these do, as far as a page keeps them.
        """
        parts: list[tuple[str, str]] = []  # the texts between such letters, each with the letters before it
        before, at = "", 0
        for start, end in [*(match.span() for match in _LOSSY.finditer(quote)), (len(quote), len(quote))]:
            if part := quote[at:start].strip():
                parts.append((part, before))
                before = ""
            before, at = before + quote[start:end], end
        if sum(map(str.isalnum, "".join(part for part, _ in parts))) >= _MIN_FIRM:
            return self._any_place(self._text, parts[0][0], lambda at: self._follows(parts, at))
        letters = _NO_LETTERS.sub("", quote)
        if len(letters) >= _MIN_FIRM:
            return self._any_place(self._letters, letters[:_FIRST], lambda at: self._has_letters(letters, at))
        self.searched += len(self._text)
        return _IN_OTHER_LETTERS.search(self._text) is not None

    @cached_property
    def _letters(self) -> str:
        self.searched += len(self._text)
        return _NO_LETTERS.sub("", self._text)

    def _any_place(self, text: str, begins: str, holds: Callable[[int], bool]) -> bool:
        at = -1
        for _ in range(_MAX_PLACES):
            before, at = at, text.find(begins, at + 1)
            self.searched += (len(text) if at < 0 else at) - before
            if at < 0 or holds(at):
                return at >= 0
        return False

    def _follows(self, parts: Sequence[tuple[str, str]], at: int) -> bool:
        """Whether the parts follow each other there, with the text between them as it is or in other letters."""
        at += len(parts[0][0])
        for part, before in parts[1:]:
            room = _ROOM * len(before) + _ROOM + len(part)
            self.searched += _COMPARING + room
            found = self._text.find(part, at, at + room)
            between = self._text[at:found].strip()
            if found < 0 or not (between == before.strip() or _IN_OTHER_LETTERS.search(between)):
                return False
            at = found + len(part)
        return True

    def _has_letters(self, letters: str, at: int) -> bool:
        """Whether the letters occur there, with others between them: pages give some back several times."""
        added, most = 0, _MIN_FIRM + int(_MAX_ADDED * len(letters))
        for letter in letters:
            self.searched += _COMPARING
            if self._letters.startswith(letter, at):
                at += 1
            elif (added := added + 1) > most:
                return False
        return True
