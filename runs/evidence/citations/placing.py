"""Where the notes of a document stand in its text: at the words that they are about."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from runs.documents.formats import format_of
from runs.documents.places.document import ASIDE, Document
from runs.evidence.citations.links import Block, Link
from runs.evidence.citations.notes import MAX_QUOTE, RAISED, Note, on_the_line

MAX_SEARCHED = 50_000_000
"""Characters of a document in which the words are looked for that its notes are about."""
_COMPARING = 100
"""Comparing one word takes as long as searching so many characters."""
_SPACE = re.compile(r"\s++")
_BEHIND = re.compile(rf"”\s*+(\d++|[{RAISED}]*+)")
_RAISED = frozenset(RAISED)
_LINES = re.compile(r"[^\n]+\n?")
_SHORT = 0.75


class Placed(NamedTuple):
    """Paragraphs, and a link for each note: at the quoted words of the text that it is about where these stand there,
    so that their sentence is the statement that they carry; else where the note is. `sought`: of so many notes the
    words were looked for; there was too much to be searched for the others.
    """

    blocks: list[Block]
    links: list[Link]
    sought: int


def placed_in(document: Document, notes: Sequence[Note]) -> Placed:
    """Where these notes stand, in order."""
    on_pages = format_of(document.layout.format).notes_on_pages
    blocks = list(_paragraphs(document, notes) if on_pages else (Block(*one[2:4]) for one in document.layout.blocks))
    starts = [one.start for one in blocks]
    ends = [match.start() for match in re.finditer("\n", document.text)]
    searched, found, at, sought = _Searched(document.text), list[Link](), 0, 0
    for note in notes:
        place = searched.find(note, at)
        sought += searched.left > 0
        link = next(note.links())
        if place and (on_pages or not _is_aside(document, place[0])):
            at = place[1]
            link = replace(link, start=place[0], end=at)
        line = bisect_right(ends, link.start) + 1
        found.append(replace(link, line=line, block=bisect_right(starts, link.start) - 1))
    return Placed(blocks, found, sought)


class _Searched:
    """Finds quoted words in a text, as long as there is something `left`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.left = MAX_SEARCHED

    def find(self, note: Note, at: int) -> tuple[int, int] | None:
        """Where the quoted words of a note stand next, with its number if that stands behind them."""
        first, *others = note.quote[:MAX_QUOTE].split() or [""]
        wanted = f"“{first}"
        while self.left > 0:
            start = self._text.find(wanted, at)
            self.left -= (start if start >= 0 else len(self._text)) - at + len(wanted) + _COMPARING
            if start < 0:
                return None
            if end := self._end(start + len(wanted), others, note):
                return start, end
            at = start + 1
        return None

    def _end(self, at: int, words: Sequence[str], note: Note) -> int:
        """Where the quotation ends of which these words stand there; 0 if others do."""
        for word in words:
            space = _SPACE.match(self._text, at)
            begin, at = at, space.end() if space else at
            self.left -= _COMPARING + at - begin
            if not (space and self._text.startswith(word, at)):
                return 0
            at += len(word)
        if len(note.quote) > MAX_QUOTE:
            return at
        behind = _BEHIND.match(self._text, at)
        self.left -= behind.end() - at if behind else 0
        if behind is None or (note.number and on_the_line(behind[1]) != note.number):
            return 0
        return behind.end() if note.number or behind[1][:1] in _RAISED else at + 1


def _is_aside(document: Document, at: int) -> bool:
    block = document.block_at(at)
    return block is not None and block.kind in ASIDE


def _paragraphs(document: Document, notes: Sequence[Note]) -> Iterator[Block]:
    """Those of pages, whose lines are no paragraphs: each ends with a line that is much shorter than others are."""
    begun = [note.start for note in notes]
    for page in document.layout.blocks:
        lines = [(line.start(), line.end()) for line in _LINES.finditer(document.text, page.start, page.end)]
        longest = max((end - start for start, end in lines), default=0)
        ends = {end for start, end in lines if end - start < longest * _SHORT}
        ends.update(begun[bisect_right(begun, page.start) : bisect_left(begun, page.end)])
        edges = sorted({page.start, page.end, *ends})
        yield from (Block(start, end) for start, end in pairwise(edges))
