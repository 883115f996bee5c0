"""Whether a quote stands in its source (rule T1). The time is linear in the size of the source, which is prepared once
for many quotes.
"""

from collections.abc import Mapping
from itertools import islice

import regex

from runs.contracts.base import QuotedEvidence
from runs.documents.content import digest_of, document_of, is_guessed, text_of
from runs.documents.places.document import Document
from runs.documents.places.views import seen_text, without_running
from runs.evidence.passages import Passage, Searched, find_quote, find_verbatim, not_found, passage_in, widened
from runs.evidence.results import Evidence
from runs.text.ignorable import IGNORABLE
from runs.text.normalisation import Markup, find_same_text, markup_of
from runs.text.plural import word_for
from runs.text.truncate import quoted

MIN_CHARACTERS = 3
"""Visible letters and digits that a quote must have. Fewer occur in nearly every text and prove nothing."""

LONG_WORD = 8
"""Letters that a single word must have to be a quote."""

HINT_BYTES = 20_000_000  # of all sources that are searched for a similar passage
HINT_SOURCES = 500
"""How many other sources are searched for the hint in which of them the quote occurs."""

_WORDS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|[\p{L}\p{N}]+")
_FIGURE = regex.compile(r"\p{N}")
_READ = regex.compile(rf"(?V1)[[\p{{L}}\p{{N}}]--{IGNORABLE}]")


def resolve(given: QuotedEvidence, sources: Mapping[str, bytes]) -> Evidence:
    """The quote looked up in the bytes of its source; verified, or a sentence that says why it is not.

    Runs of white space are equal. If the quote is not found that way, the same words in another spelling count
    (`runs.text.normalisation`). The evidence then holds the words of the source. If a negation stands directly next to
    the quote, the evidence is the whole sentence.
    `sources` may be lazy: only the source named is read, and others when the quote is not in it.
    """
    if given.source not in sources:
        return unverified(given, f"There is no source {quoted(given.source)}; {_sources_in_words(sources)}")
    data = sources[given.source]
    digest = digest_of(data)
    text = text_of(data)
    if text is None:
        return unverified(given, f"{given.source} is not a text file; nothing can be quoted from it", digest)
    if document := document_of(data):
        return _of_document(given, document, digest, sources)
    if reason := proves_nothing(given.quote, text):
        return unverified(given, reason, digest)
    span = find_quote(given.quote, text, markup_of(given.source))
    if span is None:
        missing = not_found(given.quote, given.source, text) + _elsewhere(given, sources)
        return unverified(given, missing, digest)
    whole = widened(span, text)
    is_verbatim = whole == span and find_verbatim(given.quote, text[span.start : span.end])
    span, quote = whole, given.quote if is_verbatim else text[whole.start : whole.end]
    return Evidence(
        kind="quote",
        source=given.source,
        verified=True,
        sentence=f"{quoted(quote)} is in {given.source}, line {span.line}",
        quote=quote,
        sha256=digest,
        start=span.start,
        end=span.end,
        line=span.line,
        weak=guessed_letters(is_guessed(data), text[span.start : span.end]),
    )


def guessed_letters(guessed: bool, words: str) -> str:
    """Why words of a text whose encoding was guessed may be others; empty for ASCII, which is sure."""
    if not guessed or words.isascii():
        return ""
    return "the encoding of this file was guessed, so letters of the quote may be others"


def _of_document(given: QuotedEvidence, document: Document, digest: str, sources: Mapping[str, bytes]) -> Evidence:
    found = passage_in(given.quote, document, given.source)
    words = found.words if isinstance(found, Passage) else given.quote
    if reason := useless(words, document):
        return unverified(given, reason, digest)
    if found is None:
        missing = not_found(given.quote, given.source, document.text) + _elsewhere(given, sources)
        return unverified(given, missing, digest)
    if isinstance(found, str):
        return unverified(given, found, digest)
    return Evidence(
        kind="quote",
        source=given.source,
        verified=True,
        sentence=f"{quoted(found.words)} is in {given.source}, {found.place}",
        quote=found.words,
        sha256=digest,
        start=found.span.start,
        end=found.span.end,
        line=found.span.line,
        anchor=found.where.anchor,
        place=found.where.words,
        weak=found.weak,
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


def useless(quote: str, document: Document) -> str:
    """As `proves_nothing`, for a document: a cell counts as a line of its own."""
    return proves_nothing(quote, document.text.replace("\t", "\n") if is_short(quote) else "")


def words_in(text: str) -> list[str]:
    """The words and numbers of a text; in a script without spaces, each character."""
    return _WORDS.findall(text)


def is_short(quote: str) -> bool:
    """Whether it is one short word without a figure."""
    return not (len(words_in(quote)) > 1 or len(_READ.findall(quote)) >= LONG_WORD or _FIGURE.search(quote))


def _has_line(wanted: str, text: str, piece: int = 250_000) -> bool:
    """Whether a line of the text is only this and white space. Searched piece by piece, as in `one_spaced`."""
    rest = ""
    for start in range(0, len(text), piece):
        *lines, rest = (rest + text[start : start + piece]).splitlines(keepends=True)
        if any(line.strip() == wanted for line in lines):
            return True
    return rest.strip() == wanted


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
        span = find_verbatim(given.quote, text) if text is not None else None
        if span:
            document = document_of(data)
            where = document.place_name(span.start, span.end).words if document else f"line {span.line}"
            return f"; it does occur in {name}, {where}, but that is not the source named"
    return ""


def _sources_in_words(sources: Mapping[str, bytes], limit: int = 5) -> str:
    if not sources:
        return "there are no sources at all"
    names = list(islice(sources, limit))
    more = len(sources) - len(names)
    listed = ", ".join(names) + (f" and {more} more" if more else "")
    return f"there {word_for(len(sources), 'is', 'are')} {listed}"


def unverified(given: QuotedEvidence, sentence: str, digest: str = "") -> Evidence:
    """The quote as evidence that proves nothing, with the reason."""
    return Evidence(
        kind="quote", source=given.source, verified=False, sentence=sentence, quote=given.quote, sha256=digest
    )


class Quotable:
    """A source prepared for many quotes. It takes the memory of its text several times. Invisible text of a document
    does not count.
    """

    def __init__(self, data: bytes, text: str, markup: Markup = Markup.PLAIN) -> None:
        self._markup = markup
        self._document = document_of(data)
        self._texts = [seen_text(self._document) if self._document else text]
        if self._document and (view := without_running(self._document, self._texts[0])):
            self._texts.append(view.text)
        self._searched = Searched(self._texts[0], whole=True)

    def __contains__(self, quote: str) -> bool:
        if quote in self._searched or any(find_same_text(quote, text, self._markup) for text in self._texts):
            return True
        return self._document is not None and isinstance(passage_in(quote, self._document, ""), Passage)
