"""Whether the given files have anything that a step deals with. Code searches for the words of the step (T10)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import regex

from runs.contracts.ports import FileInfo
from runs.documents.content import document_of, text_of
from runs.documents.places.views import seen_text
from runs.evidence.relation import folded, in_german, stem_of, tells_nothing
from runs.text.abbreviations import in_other_languages
from runs.text.normalisation import ACCENTS, Occurrence, Sought
from runs.text.plural import word_for
from runs.text.sentences import sentences_in
from runs.text.truncate import quoted

MAX_TERMS = 20
MAX_HITS = 20
MAX_CHARACTERS = 100_000_000
"""Characters of all files that are searched."""
LINE_CHARS = 200
SHORT = 4
"""Letters up to which a term must stand alone. A longer one may be part of a word, as in German."""
LISTED = 5
TINY = 2
"""Letters up to which words say nothing, unless they are names."""
MAX_PLACES = 1_000
"""Occurrences of a short term that are looked at. Most of them are parts of words."""
_WORD = regex.compile(r"[\p{L}\p{N}]{2,}")
_PART = regex.compile(r"(?<=[:;])\s+|\n+")
_WITHOUT_TEXT = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp", ".svgz", ".mp3", ".mp4", ".wav", ".mov", ".woff"),
    *(".woff2", ".ttf", ".otf", ".zip", ".gz", ".tar", ".jar", ".exe", ".dll", ".so", ".pyc", ".class"),
)
"""Files of these kinds have no words, so it does not matter that they cannot be searched."""


def terms_of(name: str, sentences: Iterable[str], outputs: Collection[str] = ()) -> tuple[str, ...]:
    """What a step speaks of, by its name, its description and its criteria: names and abbreviations if there are any,
    and otherwise the words that say something. `outputs`: the paths of its files, which are no words of it.
    """
    texts = [_without(outputs, text) for text in (name, *sentences)]
    found = [word for text in texts for word in _WORD.findall(text) if not (word.isdigit() or tells_nothing(word))]
    words = [word for word in found if len(word) > TINY or _is_name(word)]
    capitals = {} if in_german(" ".join(texts)) else _capitals(texts[1:])
    named = [word for word in words if _is_name(word) or word in capitals]
    terms = {folded(word): word for word in reversed(named or words)}
    return tuple(list(dict.fromkeys(reversed(terms.values())))[:MAX_TERMS])


@dataclass(frozen=True)
class TermHit:
    """A term, and where a given file has it, in the spelling of the file. `line` is 0 if the name of the file has it.
    `doubt`: why it may not be the term.
    """

    term: str
    path: str
    line: int = 0
    text: str = ""
    doubt: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}" if self.line else "its name"
        return f"{self.path}, {where}: {self.text or self.path}{f' (with {self.doubt})' if self.doubt else ''}"


@dataclass(frozen=True)
class Search:
    """The result of the search. `unsearched`: given files that may have words and could not be searched."""

    terms: Sequence[str]
    hits: Sequence[TermHit]
    files: int
    unsearched: Sequence[str] = ()

    @property
    def sentence(self) -> str:
        """What was searched, for people."""
        if not self.terms:
            return "The words of the step say nothing that the given files could be searched for"
        where = f"the names and texts of the {self.files:,} given files" if self.files != 1 else "the one given file"
        were = word_for(len(self.terms), "was", "were")
        return f"{_first_of(map(quoted, self.terms))} {were} searched for in {where}"

    @property
    def doubt(self) -> str:
        """Why the step may have something to do; empty where nothing was found."""
        if not self.terms:
            return "nothing was searched for"
        if self.hits:
            first = dict.fromkeys(f"{one.path}{f', line {one.line}' if one.line else ''}" for one in self.hits)
            terms = dict.fromkeys(quoted(one.term) for one in self.hits)
            return f"{_first_of(terms)} may be found: {_first_of(first)}"
        return f"{_first_of(self.unsearched)} could not be searched" if self.unsearched else ""


def search(terms: Sequence[str], infos: Mapping[str, FileInfo], files: Mapping[str, bytes]) -> Search:
    """Looks for all that could be one of the terms in the names and the texts of these files (T14). Endings do not
    matter, and abbreviations are looked for in other languages too.

    Linear in the texts.
    """
    wanted = {term: [one for other in (term, *in_other_languages(term)) for one in _spellings(other)] for term in terms}
    found: dict[str, list[TermHit]] = {term: [] for term in terms}
    unsearched, left = list[str](), MAX_CHARACTERS
    for path in infos:
        text = _text(path, files)
        if text is None or len(text) > left:
            unsearched += [] if path.lower().endswith(_WITHOUT_TEXT) else [path]
            text = ""
        left -= len(text)
        name, sought = Sought(path), Sought(text)
        for term, spellings in wanted.items():
            if _first(spellings, name, path):
                found[term].append(TermHit(term, path))
            elif place := _first(spellings, sought, text):
                found[term].append(_hit(term, path, text, place))
    hits = [hit for term in terms for hit in found[term]]
    return Search(terms, hits[:MAX_HITS], len(infos), unsearched)


class _Spelling(NamedTuple):
    """What is looked for. `alone`: whether it must be no part of a word."""

    words: str
    alone: bool


def _first(spellings: Sequence[_Spelling], sought: Sought, text: str) -> Occurrence | None:
    """The first place of one of the spellings."""
    for words, alone in spellings:
        for place in islice(sought.occurrences(words), MAX_PLACES):
            if not alone or _is_alone(text, place):
                return place
    return None


def _is_alone(text: str, place: Occurrence) -> bool:
    before, after = text[max(place.start - 1, 0) : place.start], text[place.end : place.end + 1]
    return not (before.isalnum() or after.isalnum())


def _hit(term: str, path: str, text: str, place: Occurrence) -> TermHit:
    start = text.rfind("\n", 0, place.start) + 1
    line = text[start : start + 2 * LINE_CHARS].partition("\n")[0] if place.end - start < LINE_CHARS else ""
    line = line or text[place.start : place.start + LINE_CHARS].partition("\n")[0]
    return TermHit(
        term,
        path,
        text.count("\n", 0, start) + 1,
        line.strip()[:LINE_CHARS],
        "" if place.doubt == ACCENTS else place.doubt,
    )


def _text(path: str, files: Mapping[str, bytes]) -> str | None:
    data = files.get(path)
    if data is None:
        return None
    document = document_of(data)
    return seen_text(document) if document else text_of(data)


def _spellings(term: str) -> Iterator[_Spelling]:
    """A word by its stem; a name as it is, and with a dot or a line between its parts."""
    is_long = len(term) > SHORT
    if is_long and not _is_name(term):
        yield _Spelling(stem_of(term), False)
        return
    yield _Spelling(term, not is_long)
    parts = regex.findall(r"\p{L}+|\p{N}+", term)
    yield from (_Spelling(mark.join(parts), not is_long) for mark in "._" if len(parts) > 1)


def _is_name(word: str) -> bool:
    """An abbreviation, a name with figures, or one with capitals inside: `GDPR`, `n8n`, `GitHub`."""
    mixed = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return mixed or any(map(str.isupper, word[1:]))


def _capitals(sentences: Iterable[str]) -> set[str]:
    """Words with a capital that does not come from the beginning of a sentence."""
    parts = [part for text in sentences for sentence in sentences_in(text) for part in _PART.split(sentence)]
    return {word for part in parts for word in _WORD.findall(part)[1:] if word[0].isupper()}


def _without(outputs: Collection[str], text: str) -> str:
    for path in outputs:
        text = text.replace(path, " ")
    return text


def _first_of(items: Iterable[str]) -> str:
    every = list(items)
    return ", ".join(every[:LISTED]) + (f" and {len(every) - LISTED:,} more" if len(every) > LISTED else "")
