"""Where the notes of a document stand in its text: at the words that they are about."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from runs.pev.citations.links import Block, Link
from runs.pev.citations.notes import Note
from runs.pev.documents.document import ASIDE, Document

MAX_SEARCHED = 50_000_000
"""Characters of a document in which the words are looked for that its notes are about."""
_LINES = re.compile(r"[^\n]+\n?")
_SHORT = 0.75


def placed_in(document: Document, notes: Sequence[Note]) -> tuple[list[Block], list[Link]]:
    """Paragraphs, and a link for each note: at the quoted words of the text that it is about where these stand there,
    so that their sentence is the statement that they carry; else where the note is.
    """
    on_pages = document.layout.format == "pdf"
    blocks = list(_paragraphs(document, notes) if on_pages else (Block(*one[2:4]) for one in document.layout.blocks))
    starts = [one.start for one in blocks]
    ends = [match.start() for match in re.finditer("\n", document.text)]
    found: list[Link] = []
    at, left = 0, MAX_SEARCHED
    for note in notes:
        match = note.words().search(document.text, at) if left > 0 else None
        left -= (match.end() if match else len(document.text)) - at
        link = next(note.links())
        if match and (on_pages or not _is_aside(document, match.start())):
            at = match.end()
            link = replace(link, start=match.start(), end=at)
        line = bisect_right(ends, link.start) + 1
        found.append(replace(link, line=line, block=bisect_right(starts, link.start) - 1))
    return blocks, found


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
