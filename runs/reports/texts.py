"""The Markdown texts that a report quotes, with their citations looked up; all of them are read together."""

from __future__ import annotations

import hashlib

from runs.documents.printing.blocks import Block, said
from runs.documents.printing.markup import Read, blocks_of
from runs.evidence.citations.citation import Citation
from runs.models import Attempt, Run
from runs.readmodel.memo import WeightedCache
from runs.readmodel.shown_citations import cited_in
from runs.reports.citing import linked
from runs.reports.places import Places
from runs.text.plural import pluralize

MAX_CHARACTERS = 4_000
"""Of what is quoted of an attempt; the answer is quoted whole."""
MAX_KEPT = 20_000
"""Blocks that this process keeps: a long text is read once for its page and each of its files."""
MAX_ALL_CHARACTERS = 600_000
"""Of all texts of a report; what comes after that is named, and stands in the JSON report."""


class Texts:
    """Gathers the texts, each under the key by which its blocks are asked for once all have been read."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._given: dict[object, tuple[str, int]] = {}
        self._cut: dict[object, int] = {}
        self._read: dict[object, tuple[Block, ...]] = {}
        self._left = MAX_ALL_CHARACTERS
        self._known = hashlib.sha256()

    def add(self, key: object, text: str, place: Run | Attempt, *, top: int = 0, most: int = MAX_CHARACTERS) -> None:
        """`top`: the level of its headings, 0 for none."""
        text = text.strip()
        shown = text[: min(most, self._left)]
        if len(shown) < len(text):
            self._cut[key] = len(text) - len(shown)
        self._left -= len(shown)
        self._known.update(shown.encode(errors="replace"))
        self._given[key] = (linked_to_be(shown, place, self._places), top)

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
        more = said(f"… and {rest} in the JSON report.", tone="muted")
        return (*self._read.get(key, ()), *((more,) if cut else ()))


_kept = WeightedCache[Read](MAX_KEPT, lambda read: sum(map(len, read)) + 1)
_KNOWN = "\0looked-up:"
"""Stands for the beginning of a link that was looked up until all texts are known; no text has a NUL."""


def linked_to_be(text: str, place: Run | Attempt, places: Places) -> str:
    text = text.replace("\0", "�")
    cited = cited_in(text, place)
    return linked(text, cited, lambda one: f"{_KNOWN}{places.citation(one)}", lambda one: _nearest(one, places))


def _nearest(one: Citation, places: Places) -> str:
    to = places.broken(one)
    return f"{_KNOWN}{to}" if to else ""
