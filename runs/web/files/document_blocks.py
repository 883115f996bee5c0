"""A document as paragraphs around a place, with numbers in the margin, coloured changes, and comments beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from runs.documents.model.layout import Block, BlockKind, Mark, MarkKind
from runs.documents.places.document import Document, comment_of, words_for

MAX_PIECES = 2_000
"""Pieces of one paragraph: each is an element of the page, and more changes in one paragraph are unreadable."""
MAX_AT_ONCE = 20
_SHOWN = (MarkKind.INSERTED, MarkKind.COMMENTED, MarkKind.HIDDEN, MarkKind.STRUCK, MarkKind.UNSEEN)
_SAID = {
    MarkKind.INSERTED: "inserted",
    MarkKind.COMMENTED: "commented",
    MarkKind.HIDDEN: "hidden in the document",
    MarkKind.STRUCK: "struck through in the document",
    MarkKind.UNSEEN: "cannot be seen in the document",
}
AROUND = 400
AROUND_IN_PANEL = 8
"""Paragraphs before and after the place. A page has about 400 kB at most."""
MAX_CHARACTERS = 300_000
_TABLE_CELL = re.compile(r"((?:\w+\.)*?(?:t\d+|sh\d+\.))r(\d+)c(\d+)\b")
BESIDE = frozenset({BlockKind.COMMENT})
_NAMED = frozenset(
    {BlockKind.FOOTNOTE, BlockKind.ENDNOTE, BlockKind.HEADER, BlockKind.FOOTER, BlockKind.TEXT_BOX}
    | {BlockKind.SPEAKER_NOTES, BlockKind.CHART}
)


class Piece(NamedTuple):
    """`hit`: it is pointed at; `first`, its first one. `marks` are words for what is true of it, `said` is for people:
    "inserted by Alice, 2026-11-01". A `deleted` piece is not in the text any more.
    """

    text: str
    hit: bool = False
    first: bool = False
    marks: tuple[str, ...] = ()
    said: str = ""
    deleted: bool = False


def pieces(document: Document, start: int, end: int, hit: tuple[int, int]) -> Iterator[Piece]:
    """The characters `start` to before `end`, with what was deleted among them. Linear in what it has of both: the text
    behind the first `MAX_PIECES` is one piece.
    """
    marks = sorted(document.marks_on(start, end, *_SHOWN), key=lambda mark: mark.start)
    deletions = document.deletions_in(start, end)
    cuts = {start, end, *hit, *(one.at for one in deletions)}
    cuts |= {edge for mark in marks for edge in (mark.start, mark.end)}
    places = sorted(cut for cut in cuts if start <= cut <= end)
    at = begun = 0
    current: list[Mark] = []
    for place, after in zip(places[:MAX_PIECES], [*places[1:], end], strict=False):
        while at < len(deletions) and deletions[at].at <= place:
            one = deletions[at]
            yield Piece(one.text, said=_by("deleted", one.by, one.on), marks=("deleted",), deleted=True)
            at += 1
        while begun < len(marks) and marks[begun].start <= place:
            current.append(marks[begun])
            begun += 1
        current = [mark for mark in current if mark.end > place][:MAX_AT_ONCE]
        if place < after:
            is_hit = hit[0] < after and place < hit[1]
            yield Piece(
                document.text[place:after],
                hit=is_hit,
                first=is_hit and place <= hit[0],
                marks=tuple(dict.fromkeys(mark.kind.value for mark in current)),
                said="; ".join(dict.fromkeys(_by(_SAID[mark.kind], mark.by, mark.on) for mark in current)),
            )
    if len(places) > MAX_PIECES:
        yield Piece(document.text[places[MAX_PIECES] : end])


def _by(what: str, person: str, on: str) -> str:
    """Files have dates to the second; the day is enough."""
    return ", ".join(filter(None, [f"{what} by {person}" if person else what, on.partition("T")[0]]))


@dataclass(frozen=True)
class ParagraphComment:
    """A comment beside the words, with its author and the day."""

    by: str
    on: str
    text: str
    hit: bool


@dataclass(frozen=True)
class ParagraphRow:
    """One paragraph. `margin` is its number as the document shows it, or what it is ("footnote 2"); `group` is the
    slide or chapter that begins with it.
    """

    anchor: str
    kind: BlockKind
    level: int
    margin: str
    group: str
    pieces: Sequence[Piece]
    comments: Sequence[ParagraphComment]
    hit: bool


@dataclass(frozen=True)
class Section:
    """A paragraph, or a table: its rows, with the paragraphs of each cell."""

    row: ParagraphRow | None = None
    table: Sequence[Sequence[Sequence[ParagraphRow]]] = ()


@dataclass(frozen=True)
class Blocks:
    """Rows number `first` to `last` of `total`."""

    rows: Sequence[ParagraphRow]
    first: int
    last: int
    total: int

    @property
    def sections(self) -> Iterator[Section]:
        """The rows, those of a table together."""
        for table, rows in groupby(self.rows, key=lambda row: _cell(row)[:1]):
            if table:
                lines = groupby(rows, key=lambda row: _cell(row)[1])
                cells = (groupby(line, key=lambda row: _cell(row)[2]) for _, line in lines)
                yield Section(table=[[list(cell) for _, cell in line] for line in cells])
            else:
                yield from (Section(row) for row in rows)

    @property
    def whole(self) -> bool:
        return self.first == 1 and self.last == self.total


def _cell(row: ParagraphRow) -> Sequence[str]:
    """The table, row and column of a paragraph; empty outside of tables."""
    found = _TABLE_CELL.match(row.anchor)
    return found.groups() if found else ()


def blocks_around(document: Document, hit: tuple[int, int], *, in_panel: bool) -> Blocks:
    """The paragraphs around the marked place, or the first ones, with comments beside the words that they are about."""
    comments = _comments(document, hit)
    listed = [block for block in document.layout.blocks if block.kind not in BESIDE]
    at = next((place for place, block in enumerate(listed) if block.end > hit[0]), 0) if hit[1] else 0
    if hit[1] and (words_begin := _begin_of_commented_words(document, hit)):
        at = next((place for place, block in enumerate(listed) if block.end > words_begin), at)
    low, high = _window(listed, at, AROUND_IN_PANEL if in_panel else AROUND)
    groups = [_group(block) for block in listed[low:high]]
    rows = [
        ParagraphRow(
            anchor=block.anchor,
            kind=block.kind,
            level=block.level,
            margin=_margin(block),
            group=group if before != group else "",
            pieces=tuple(pieces(document, block.start, block.end, hit)),
            # A comment stands next to the paragraph in which the words begin that it is about.
            comments=[
                comments[mark.note]
                for mark in document.marks_on(block.start, block.end, MarkKind.COMMENTED)
                if mark.start >= block.start and mark.note in comments
            ],
            hit=hit[0] < block.end and block.start < hit[1],
        )
        for block, group, before in zip(listed[low:high], groups, ["", *groups], strict=False)
    ]
    return Blocks(rows, low + 1, high, len(listed))


def _margin(block: Block) -> str:
    if block.kind in {BlockKind.LINE, BlockKind.FIELD}:
        return block.anchor.removeprefix("L")
    label = block.label or (words_for(block) if block.kind in _NAMED else "")
    return f"{label} [{block.markup}]" if block.markup else label


def _comments(document: Document, hit: tuple[int, int]) -> dict[str, ParagraphComment]:
    """The comments about words of the text, by the anchor of their first paragraph."""
    blocks = [block for block in document.layout.blocks if block.kind in BESIDE]
    of: dict[str, list[Block]] = {}
    for block in blocks:
        of.setdefault(comment_of(block.anchor), []).append(block)
    return {
        mark.note: ParagraphComment(
            mark.by,
            mark.on.partition("T")[0],
            "\n".join(document.text[block.start : block.end] for block in of.get(comment_of(mark.note), ())),
            hit=any(hit[0] < block.end and block.start < hit[1] for block in of.get(comment_of(mark.note), ())),
        )
        for mark in document.layout.marks
        if mark.kind is MarkKind.COMMENTED
    }


def _begin_of_commented_words(document: Document, hit: tuple[int, int]) -> int:
    """Where the words begin that the marked comment is about; 0 if no comment is marked."""
    block = document.block_at(hit[0])
    if block is None or block.kind not in BESIDE:
        return 0
    mark = document.author_of(block)
    return mark.start if mark else 0


def _group(block: Block) -> str:
    """The slide or chapter of a paragraph."""
    stem = block.anchor.partition(".")[0]
    if stem.startswith("sp"):
        return f"Chapter {stem[2:]}"
    return f"Slide {stem[1:]}" if stem.startswith("s") else ""


def _window(listed: Sequence[Block], at: int, around: int) -> tuple[int, int]:
    """The paragraphs from `around` before the place to as many after it, up to a limit of characters."""
    low, high = max(0, at - around), min(len(listed), at + around + 1)
    while high > at + 1 and sum(block.end - block.start for block in listed[low:high]) > MAX_CHARACTERS:
        # Halving both sides keeps the place in the middle and needs few sums, even for thousands of long paragraphs.
        high, low = at + 1 + (high - at - 1) // 2, at - (at - low) // 2
    return low, high
