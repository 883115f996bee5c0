"""The question whether a quote stands in its source (rule T1). Linear in the size of the source."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import regex

from runs.pev.contracts import QuotedEvidence
from runs.pev.evidence.results import Evidence
from runs.pev.files.paths import digest_of, text_of
from runs.pev.texts.quotekey import find_by_key
from runs.pev.texts.wording import one_spaced, quoted

MIN_CHARACTERS = 3
"""Letters and digits of a quote that can be seen. Fewer occur in nearly every text and prove nothing."""

LONG_WORD = 8
"""From so many letters on, one word alone may be a quote."""

HINT_BYTES = 20_000_000
HINT_SOURCES = 500
"""How far the other sources are read for the hint where a quote does stand: it is a courtesy."""

_WORD = re.compile(r"\S+")
_WORDS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|[\p{L}\p{N}]+")
_FIGURE = regex.compile(r"\p{N}")
_READ = regex.compile(r"(?V1)[[\p{L}\p{N}]--\p{Default_Ignorable_Code_Point}]")


@dataclass(frozen=True)
class Span:
    """Character offsets `start` (first) and `end` (one after the last) and the line of `start`, from 1."""

    start: int
    end: int
    line: int


def resolve(given: QuotedEvidence, sources: Mapping[str, bytes]) -> Evidence:
    """The quote looked up in the bytes of its source; verified, or a sentence that says why it is not.

    Runs of whitespace are taken as equal, and where that does not do, what `quotekey` takes as equal: the same words
    as a document spells and breaks them. Then the quote is what the source says, and not what it was asked for.
    `sources` may be lazy: only the source named is read, and others when the quote is not in it.
    """
    if given.source not in sources:
        return unverified(given, f"There is no source {quoted(given.source)}; {_listed(sources)}")
    data = sources[given.source]
    digest = digest_of(data)
    text = text_of(data)
    if text is None:
        return unverified(given, f"{given.source} is not a text file; nothing can be quoted from it", digest)
    if reason := proves_nothing(given.quote, text):
        return unverified(given, reason, digest)
    span = find(given.quote, text) or _find_by_key(given.quote, text)
    if span is None:
        missing = f"{quoted(given.quote)} does not occur in {given.source}{_elsewhere(given, sources)}"
        return unverified(given, missing, digest)
    exact = find(given.quote, text[span.start : span.end]) is not None
    quote = given.quote if exact else text[span.start : span.end]
    return Evidence(
        kind="quote",
        source=given.source,
        verified=True,
        sentence=f"{quoted(quote)} stands in {given.source}, line {span.line}",
        quote=quote,
        sha256=digest,
        start=span.start,
        end=span.end,
        line=span.line,
    )


def proves_nothing(quote: str, text: str) -> str:
    """Why a quote from this text cannot prove anything, wherever it stands; empty if it can.

    One short word without a figure that stands in longer lines only is too little too: such a word occurs in nearly
    every text, often as a part of another one, and points at no place in it.
    """
    if len(_READ.findall(quote)) < MIN_CHARACTERS:
        return f"{quoted(quote)} is too short to prove anything"
    if is_short(quote) and not _has_line(quote.strip(), text):
        return f"{quoted(quote)} is one short word; quote the words around it"
    return ""


def words_in(text: str) -> list[str]:
    """Its words and numbers; of a script without spaces, each character."""
    return _WORDS.findall(text)


def is_short(quote: str) -> bool:
    """Whether it is one short word without a figure."""
    return not (len(words_in(quote)) > 1 or len(_READ.findall(quote)) >= LONG_WORD or _FIGURE.search(quote))


def _has_line(wanted: str, text: str, piece: int = 250_000) -> bool:
    """Whether a line of the text is this and nothing else but white space; piece by piece, as in `one_spaced`."""
    rest = ""
    for start in range(0, len(text), piece):
        *lines, rest = (rest + text[start : start + piece]).splitlines(keepends=True)
        if any(line.strip() == wanted for line in lines):
            return True
    return rest.strip() == wanted


def find(quote: str, text: str) -> Span | None:
    """Where the quote first occurs in the text, runs of whitespace counting as one space; None if nowhere.

    A quote of nothing but whitespace occurs nowhere.
    """
    return Searched(text).find(quote)


class Searched:
    """A text made ready for several look-ups, which takes its memory twice. Without `capitals` these do not count, and
    what `find` returns is exact to the word only: some letters have another length as capitals.
    """

    def __init__(self, text: str, *, capitals: bool = True) -> None:
        self._text = text
        self._capitals = capitals
        self._folded = self._fold(one_spaced(text))

    def __contains__(self, quote: str) -> bool:
        return self._at(quote) >= 0

    def find(self, quote: str) -> Span | None:
        at = self._at(quote)
        if at < 0:
            return None
        first, into_first = _word_at(self._folded, at)
        last, into_last = _word_at(self._folded, at + len(self._wanted(quote)) - 1)
        words = islice((match.start() for match in _WORD.finditer(self._text)), first, last + 1)
        start, end = _outermost(words)
        return Span(start + into_first, end + into_last + 1, self._text.count("\n", 0, start) + 1)

    def _at(self, quote: str) -> int:
        wanted = self._wanted(quote)
        return self._folded.find(wanted) if wanted else -1

    def _wanted(self, quote: str) -> str:
        return self._fold(" ".join(quote.split()))

    def _fold(self, text: str) -> str:
        return text if self._capitals else text.casefold()


def _find_by_key(quote: str, text: str) -> Span | None:
    place = find_by_key(quote, text)
    return Span(*place, text.count("\n", 0, place[0]) + 1) if place else None


def _word_at(folded: str, at: int) -> tuple[int, int]:
    """Which word the character `at` is in, from 0, and how far into it."""
    return folded.count(" ", 0, at), at - folded.rfind(" ", 0, at) - 1


def _outermost(starts: Iterator[int]) -> tuple[int, int]:
    first = last = next(starts)
    for last in starts:  # noqa: B007  the last one is what is wanted
        pass
    return first, last


def _elsewhere(given: QuotedEvidence, sources: Mapping[str, bytes]) -> str:
    left = HINT_BYTES
    for name in islice(sources, HINT_SOURCES):
        if name == given.source:
            continue
        data = sources[name]
        left -= len(data)
        if left < 0:
            return ""
        text = text_of(data)
        span = find(given.quote, text) if text is not None else None
        if span:
            return f"; it does occur in {name}, line {span.line}, but that is not the source named"
    return ""


def _listed(sources: Mapping[str, bytes], limit: int = 5) -> str:
    if not sources:
        return "there are no sources at all"
    names = list(islice(sources, limit))
    more = len(sources) - len(names)
    listed = ", ".join(names) + (f" and {more} more" if more else "")
    return f"there {'is' if len(sources) == 1 else 'are'} {listed}"


def unverified(given: QuotedEvidence, sentence: str, digest: str = "") -> Evidence:
    """The quote as one that proves nothing, with the sentence that says why."""
    return Evidence(
        kind="quote", source=given.source, verified=False, sentence=sentence, quote=given.quote, sha256=digest
    )
