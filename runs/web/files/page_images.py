"""A page of a document as its picture, with the place marked on it, its comments, and its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.documents.formats import format_of
from runs.documents.model.layout import Block, BlockKind, MarkKind
from runs.documents.places.document import Document
from runs.errors import InvalidInput
from runs.isolation import ChildFailed, NoTurn
from runs.store import page_pictures
from runs.store.page_pictures import Rectangle
from runs.web.files.document_blocks import ParagraphComment, Piece, pieces

A4 = 297 / 210
CROP_MARGIN, CROP_WIDTH, MAX_CROP = 40, 450, 800
"""Thousandths of the width of a page. On a phone or in a panel the words of a whole page are too small to read."""
MAX_MARKED = 60
"""Marked rectangles of a place: one for each line."""
MAX_COMMENTS = 100


@dataclass(frozen=True)
class Leaf:
    """Page `number` of `total`, `height` as a share of its width. `marked` are shares of width and height.

    `problem`: why there is no picture of it, as a sentence. `confidence`: in percent, of what was read from a picture.
    """

    number: int
    total: int
    label: str
    marked: Sequence[Rectangle]
    text: Sequence[Piece]
    height: float = A4
    problem: str = ""
    confidence: str = ""
    comments: Sequence[ParagraphComment] = ()

    @property
    def boxes(self) -> Sequence[tuple[float, float, float, float]]:
        """Left, top, width and height of what is marked, where the page is 1,000 wide and `units` high."""
        return [
            (
                round(1_000 * one.left, 1),
                round(self.units * one.top, 1),
                round(1_000 * (one.right - one.left), 1),
                round(self.units * (one.bottom - one.top), 1),
            )
            for one in self.marked
        ]

    @property
    def crop(self) -> tuple[float, float, float, float] | None:
        """Left, top, width and height of the part around the marked place, in the same units; None for the
        whole page.
        """
        if not self.boxes or self.problem:
            return None
        left, top = min(box[0] for box in self.boxes), min(box[1] for box in self.boxes)
        right = max(box[0] + box[2] for box in self.boxes)
        bottom = max(box[1] + box[3] for box in self.boxes)
        width = min(1_000.0, max(right - left + 2 * CROP_MARGIN, CROP_WIDTH))
        height = min(float(self.units), bottom - top + 2 * CROP_MARGIN, width)
        if width > MAX_CROP:
            return None
        at = min(max(0.0, (left + right - width) / 2), 1_000 - width)
        return at, min(max(0.0, top - CROP_MARGIN), self.units - height), width, height

    @property
    def units(self) -> int:
        """The height of the page if its width is 1,000."""
        return max(1, round(1_000 * self.height))

    @property
    def before(self) -> int:
        """The number of the page before; 0 for none."""
        return self.number - 1

    @property
    def after(self) -> int:
        return self.number + 1 if self.number < self.total else 0


def leaf_of(document: Document, sha256: str, hit: tuple[int, int], number: int = 0) -> Leaf | None:
    """The page with this number, else the one where the hit begins, else the first. None for a document without pages.

    Raises FileNotFoundError when the store lost it.
    """
    found = {number_of(block): block for block in document.layout.blocks if block.kind is BlockKind.PAGE}
    if not found:
        return None
    total = max(document.layout.units, *found)
    commented = _marked_comment(document, hit)
    pointed = next((one for one, block in found.items() if block.end > hit[0]), 1) if hit[1] else min(found)
    pointed = number_of(commented) if commented else pointed
    shown = number if 1 <= number <= total else pointed
    page = found.get(shown)
    height, problem = A4, ""
    marked: Sequence[Rectangle] = ()
    try:
        drawn = page_pictures.picture(sha256, document.layout.format, shown)
        height = drawn.height / max(drawn.width, 1.0)
        marked = (
            _rectangles(document, sha256, page, _words_of(document, commented) if commented else hit) if page else ()
        )
    except (InvalidInput, ChildFailed) as error:
        wait = " now, because many others are being drawn; try again" if isinstance(error, NoTurn) else ""
        problem = f"This page cannot be shown as a picture{wait}."
    read = document.marks_on(*hit, MarkKind.READ) if hit[1] else []
    return Leaf(
        number=shown,
        total=total,
        label=page.label if page else "",
        marked=marked[:MAX_MARKED],
        text=tuple(pieces(document, page.start, page.end, hit)) if page else (),
        height=height,
        problem=problem,
        confidence=read[0].note if read else "",
        comments=_comments(document, shown, hit),
    )


def number_of(block: Block) -> int:
    """Of the page that it is, or that it is a comment on."""
    return int(block.anchor.partition("=")[2].partition(".")[0] or 1)


def _marked_comment(document: Document, hit: tuple[int, int]) -> Block | None:
    """The marked comment."""
    block = document.block_at(hit[0]) if hit[1] else None
    return block if block and block.kind is BlockKind.COMMENT else None


def _words_of(document: Document, comment: Block) -> tuple[int, int]:
    """The first words that a comment is about; (0, 0) if it is about the page."""
    mark = next((one for one in document.layout.marks if one.note == comment.anchor), None)
    return (mark.start, mark.end) if mark else (0, 0)


def _comments(document: Document, page: int, hit: tuple[int, int]) -> Sequence[ParagraphComment]:
    """The comments on a page that are shown."""
    found = list[ParagraphComment]()
    for block in document.layout.blocks:
        if block.kind is BlockKind.COMMENT and number_of(block) == page and len(found) < MAX_COMMENTS:
            mark = document.author_of(block)
            by, on = (mark.by, mark.on) if mark else (block.label, "")
            is_hit = hit[0] < block.end and block.start < hit[1]
            found.append(ParagraphComment(by, on, document.text[block.start : block.end], is_hit))
    return found


def _rectangles(document: Document, sha256: str, page: Block, hit: tuple[int, int]) -> Sequence[Rectangle]:
    """The rectangles of words on the page, without those on other pages."""
    start, end = max(hit[0], page.start), min(hit[1], page.end)
    if start >= end:
        return ()
    boxes = [
        Rectangle(box.left, box.top, box.right, box.bottom)
        for box in document.layout.boxes
        if box.start < end and start < box.end
    ]
    form = format_of(document.layout.format)
    if boxes or not form.has_places:
        return boxes
    return page_pictures.rectangles(sha256, form.name, number_of(page), start - page.start, end - page.start)
