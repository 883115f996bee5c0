"""The Markdown texts that a report quotes: each citation is looked up and becomes a link, marked if it is broken."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from runs.documents.printing.blocks import Block, paragraph
from runs.documents.printing.markup import Read, blocks_of
from runs.enums import CitationStatus
from runs.evidence.citations.citation import Citation, Cited
from runs.evidence.citations.words import words_of
from runs.models import Attempt, Run
from runs.readmodel.markdown_escaping import line
from runs.readmodel.memo import WeightedCache
from runs.readmodel.shown_citations import cited_in
from runs.reports.places import CitedPlaces
from runs.text.plural import pluralize

REST = "This text is long: only its first citations were looked up here. The others are shown as they are written."


type Address = Callable[[Citation], str]


def linked(text: str, cited: Cited, address: Address, nearest: Address = lambda one: "") -> str:
    """The Markdown with each citation as a link to its place. One that leads nowhere becomes words that say so, and
    these lead to what is `nearest`, if anything is.
    """
    if cited.problem:
        return f"*{line(cited.problem)}*\n\n{_without_links(text)}"
    end = len(text) if cited.until is None else cited.until
    parts = [] if cited.until is None else [f"*{line(REST)}*\n\n"]
    at = 0
    for number, one in enumerate(cited.links):
        parts.append(text[at : one.start])
        words = words_of(text[one.start : one.end])
        parts.append(_broken_link(one, words, nearest(one)) if one.broken else _link(one, words, address))
        following = [(two.statement_start, two.weak) for two in cited.links[number + 1 : number + 2]]
        if one.weak and following != [(one.statement_start, one.weak)]:
            parts.append(f" *({line(one.weak)})*")
        at = one.end
    return "".join([*parts, text[at:end], _without_links(text[end:])])


def _without_links(text: str) -> str:
    """Write brackets as entities, so that they cannot begin a link."""
    return text.replace("[", "&#91;")


def _broken_link(one: Citation, words: str, nearest: str) -> str:
    said = f"\\[broken citation: {line(one.target)}. {line(one.sentence)}\\]"
    return f"{line(words)} **[{said}](<{nearest}>)**" if nearest else f"{line(words)} **{said}**"


def _link(one: Citation, words: str, address: Address) -> str:
    if one.status is CitationStatus.COPIED:
        return f"{line(words)} *(a link of {line(one.source)})*"
    return f"[{words}](<{address(one)}>)" + (f" *({line(one.correction)})*" if one.correction else "")


MAX_CHARACTERS = 4_000
"""Characters of a quoted text of an attempt. The answer is quoted whole."""
MAX_KEPT = 20_000
"""Blocks that this process caches: a long text is parsed once for the page and all files."""
MAX_ALL_CHARACTERS = 600_000
"""Characters of all texts of a report. Further texts are only named; the JSON report has them."""


class Texts:
    """Collects the texts of a report by key, parses all at once, and returns the blocks of each."""

    def __init__(self, places: CitedPlaces) -> None:
        self._places = places
        self._given: dict[object, tuple[str, int]] = {}
        self._cut: dict[object, int] = {}
        self._read: dict[object, tuple[Block, ...]] = {}
        self._left = MAX_ALL_CHARACTERS
        self._known = hashlib.sha256()

    def add(
        self,
        key: object,
        text: str,
        place: Run | Attempt,
        *,
        top: int = 0,
        most: int = MAX_CHARACTERS,
        finished: bool = False,
    ) -> None:
        """Add a text. `top` is the level of its highest heading, 0 for no headings. `finished`: it must not cite."""
        text = text.strip()
        shown = text[: min(most, self._left)]
        if len(shown) < len(text):
            self._cut[key] = len(text) - len(shown)
        self._left -= len(shown)
        self._known.update(shown.encode(errors="replace"))
        self._given[key] = (linked_to_be(shown, place, self._places, finished=finished), top)

    def read(self) -> None:
        # No text can contain the digest of all of them, so that none can pass a link off as one that was looked up.
        known = f"looked-up-{self._known.hexdigest()}:"
        texts = [text.replace(_KNOWN, known) for text, _ in self._given.values()]
        tops = [top for _, top in self._given.values()]
        digest = hashlib.sha256("\0".join([*map(str, tops), *texts]).encode(errors="replace")).digest()
        read = _kept.get(digest, lambda: blocks_of(texts, known, tops))
        self._read = dict(zip(self._given, read, strict=True))

    def blocks(self, key: object) -> tuple[Block, ...]:
        cut = self._cut.get(key, 0)
        rest = pluralize(cut, "more character, which stands", "more characters, which stand")
        more = paragraph(f"… and {rest} in the JSON report.", tone="muted")
        return (*self._read.get(key, ()), *((more,) if cut else ()))


_kept = WeightedCache[Read](MAX_KEPT, lambda read: sum(map(len, read)) + 1)
_KNOWN = "\0looked-up:"
"""A placeholder for the beginning of a looked-up link, until all texts are known. No text contains a NUL."""


def linked_to_be(text: str, place: Run | Attempt, places: CitedPlaces, *, finished: bool = False) -> str:
    text = text.replace("\0", "�")
    cited = cited_in(text, place, finished=finished)
    return linked(text, cited, lambda one: f"{_KNOWN}{places.citation(one)}", lambda one: _nearest(one, places))


def _nearest(one: Citation, places: CitedPlaces) -> str:
    to = places.broken(one)
    return f"{_KNOWN}{to}" if to else ""
