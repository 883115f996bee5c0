"""Finds the words of a quote in a text, as they are written or as the same text. Linear in the size of the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from runs.text.boundaries import is_whole
from runs.text.negations import with_negation
from runs.text.normalisation import MAX_CUT, Markup, find_same_text, find_words, one_spaced
from runs.text.truncate import quoted

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Span:
    """Character offsets `start` (first) and `end` (one after the last) and the line of `start`, from 1."""

    start: int
    end: int
    line: int


def find(quote: str, text: str) -> Span | None:
    """Where the quote first occurs in the text, runs of whitespace counting as one space; None if nowhere.

    A quote of nothing but whitespace occurs nowhere.
    """
    return Searched(text).find(quote)


def find_verbatim(quote: str, text: str) -> Span | None:
    """Where the quote first occurs in its own spelling and neither begins nor ends inside a number or a word."""
    return Searched(text, whole=True).find(quote)


def find_quote(quote: str, text: str, markup: Markup = Markup.PLAIN) -> Span | None:
    """The same; where it does not occur so, where the text has the same words in another spelling."""
    return find_verbatim(quote, text) or find_respelled(quote, text, markup)


def find_respelled(quote: str, text: str, markup: Markup = Markup.PLAIN) -> Span | None:
    """Where the text has the same words as the quote, however they are spelled."""
    place = find_same_text(quote, text, markup)
    return Span(*place, text.count("\n", 0, place[0]) + 1) if place else None


def find_in_words(words: str, text: str, markup: Markup = Markup.PLAIN) -> Span | None:
    """Where the text first has the same words in another spelling, be it in longer ones."""
    place = find_words(words, text, markup)
    return Span(*place, text.count("\n", 0, place[0]) + 1) if place else None


def widened(span: Span, text: str) -> Span:
    """The place as it is, or the whole sentence where a negation stands directly before it or behind."""
    start, end = with_negation(text, span.start, span.end)
    return span if (start, end) == (span.start, span.end) else Span(start, end, text.count("\n", 0, start) + 1)


def not_found(quote: str, name: str, text: str) -> str:
    """Why a quote is not in the text of the source called `name`."""
    if find(quote, text):
        return f"{quoted(quote)} is in {name} only as a part of longer words or numbers; quote these whole"
    return f"{quoted(quote)} does not occur in {name}"


class Searched:
    """A text made ready for several look-ups, which takes its memory twice. `whole`: as `is_whole` says; after MAX_CUT
    places where it is not, the quote counts as not there.
    """

    def __init__(self, text: str, *, whole: bool = False) -> None:
        self._text = text
        self._whole = whole
        self._spaced = one_spaced(text)

    def __contains__(self, quote: str) -> bool:
        return self.find(quote) is not None

    def find(self, quote: str) -> Span | None:
        for start, end in islice(self._places(" ".join(quote.split())), MAX_CUT if self._whole else 1):
            if not self._whole or is_whole(self._text, start, end):
                return Span(start, end, self._text.count("\n", 0, start) + 1)
        return None

    def _places(self, wanted: str) -> Iterator[tuple[int, int]]:
        """Where the text has these words, in order. Each of its words is counted once."""
        starts = (match.start() for match in _WORD.finditer(self._text))
        rest, last = wanted.count(" "), len(wanted) - wanted.rfind(" ") - 1
        at = self._spaced.find(wanted) if wanted else -1
        counted, word = 0, next(starts, 0)
        while at >= 0:
            if passed := self._spaced.count(" ", counted, at):
                word = next(islice(starts, passed - 1, None))
            counted = at
            start = word + at - self._spaced.rfind(" ", 0, at) - 1
            if rest:
                behind = _WORD.finditer(self._text, word)
                yield start, next(islice(behind, rest, None)).start() + last
            else:
                yield start, start + last
            at = self._spaced.find(wanted, at + 1)
