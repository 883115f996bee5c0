"""What a document's text is made of: blocks with anchors and numbers, and what is true of some of its characters.

All offsets count characters of the document's one text. Readers make it in guarded processes, so that it is data from
outside until it has been validated.
"""

from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import Field, StringConstraints, model_validator

from runs.contracts.base import Contract

MAX_BLOCKS = 500_000
MAX_MARKS = 500_000
"""A workbook of two million cells has no more rows; a contract of sixty pages has some seven hundred paragraphs."""

MIN_CONFIDENCE = 60
"""In percent: what was read from a picture with less is said to be uncertain."""

MAX_STORED = 700_000
"""Characters for a row of a sheet: it has at most 16,384 cells of 40."""
NOT_KEPT = "?"
"""In place of what the cells of a row hold, where a workbook has too much of it."""

type Short = Annotated[str, StringConstraints(max_length=300)]
type Offset = Annotated[int, Field(ge=0)]


class BlockKind(StrEnum):
    PAGE = "page"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CELL = "cell"
    """A paragraph in a cell of a table."""
    ROW = "row"
    """The cells of a row of a sheet, between tabs; the anchor is the address of the first."""
    FORMULAS = "formulas"
    """The formulas of the row before it: `B7: =SUM(B2:B6)`, a line each."""
    TITLE = "title"
    SPEAKER_NOTES = "speaker_notes"
    TEXT_BOX = "text_box"
    FOOTNOTE = "footnote"
    ENDNOTE = "endnote"
    COMMENT = "comment"
    HEADER = "header"
    FOOTER = "footer"
    FIELD = "field"
    """Of a mail: subject, sender, recipients, date."""
    CHART = "chart"
    LINE = "line"


class MarkKind(StrEnum):
    INSERTED = "inserted"
    """A tracked insertion, which is in the text since changes are taken as accepted."""
    COMMENTED = "commented"
    """A comment refers to it; `note` is the anchor of the comment's first block."""
    HIDDEN = "hidden"
    """The document keeps it from being shown: hidden text, a hidden row, sheet or slide; of Word files also words
    in the colour of what they stand on, or too small to be read; of web pages what style sheets hide.
    """
    STRUCK = "struck"
    """Struck through by hand, and no tracked deletion: the author may have meant it to go."""
    UNSEEN = "unseen"
    """There is no ink at its place: white on white, under something, off the page. It proves nothing."""
    RUNNING = "running"
    """A line that stands on most pages, a footnote at the foot of its page or its mark: a passage goes around it."""
    DISPUTED = "disputed"
    """Of Word files, a clause that the document refers to by another number, `note`, than the one that was counted."""
    READ = "read"
    """Read from a picture; `note` is the confidence in percent."""


class Block(NamedTuple):
    """Characters `start` to before `end`. `anchor` is what a citation names: `p23`, `page=7`, `Rents!A7`, `s4.sh2.p1`.

    `label` is the number that a reader sees before it and the text does not hold, such as "(b)", and the label of a
    page where that is not its number; `clause` is all of it, such as "4.2(b)". `level`: of a heading or a list, from 1.
    `stored`: of a row of a sheet, for each of its cells what the workbook holds, between spaces: a number that is shown
    in another form, `=` for one that is shown as it is and has decimals, and nothing for all else.
    `markup`: its clause as long as tracked changes are shown, where that is another: deleted paragraphs still count.
    """

    anchor: Short
    kind: BlockKind
    start: Offset
    end: Offset
    label: Short = ""
    clause: Short = ""
    level: Annotated[int, Field(ge=0, le=100)] = 0
    markup: Short = ""
    stored: Annotated[str, StringConstraints(max_length=MAX_STORED)] = ""


class Mark(NamedTuple):
    """What is true of the characters `start` to before `end`. `by` and `on`: who did it, and when, as the file says."""

    kind: MarkKind
    start: Offset
    end: Offset
    by: Short = ""
    on: Short = ""
    note: Short = ""


class Deletion(NamedTuple):
    """Words that a tracked change has deleted, and that stood before the character `at`. They are not in the text."""

    at: Offset
    text: str
    by: Short = ""
    on: Short = ""


class Box(NamedTuple):
    """Where the words `start` to before `end` stand on a page, from 1: shares of its width and height, from the top
    left. Of words that were read from a picture; those of PDF files are computed when they are shown.
    """

    page: Annotated[int, Field(ge=1)]
    start: Offset
    end: Offset
    left: float
    top: float
    right: float
    bottom: float


class Layout(Contract):
    """`blocks` and `marks` are sorted by `start`; blocks do not overlap. `unit` and `units`: what the format counts
    ("page", 12), or nothing. `pictorial`: the pages, from 1, that are mostly pictures or tables, so that their text is
    not all that they say.
    """

    format: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,8}$")]
    unit: Annotated[str, StringConstraints(max_length=20)] = ""
    units: Annotated[int, Field(ge=0)] = 0
    blocks: Annotated[tuple[Block, ...], Field(max_length=MAX_BLOCKS)]
    marks: Annotated[tuple[Mark, ...], Field(max_length=MAX_MARKS)] = ()
    deletions: Annotated[tuple[Deletion, ...], Field(max_length=MAX_MARKS)] = ()
    boxes: Annotated[tuple[Box, ...], Field(max_length=MAX_MARKS)] = ()
    pictorial: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(max_length=MAX_BLOCKS)] = ()

    @model_validator(mode="after")
    def _is_in_order(self) -> "Layout":
        at = 0
        for block in self.blocks:
            if not at <= block.start <= block.end:
                raise ValueError(f"block {block.anchor} begins before the end of the one before it")
            at = block.end
        if any(one.start > other.start for one, other in zip(self.marks, self.marks[1:], strict=False)):
            raise ValueError("marks are not sorted")
        return self

    def fits(self, text: str) -> bool:
        """Whether all of it is about characters that this text has."""
        ends = [self.blocks[-1].end] if self.blocks else []
        ends += [mark.end for mark in self.marks] + [box.end for box in self.boxes] + [one.at for one in self.deletions]
        return max(ends, default=0) <= len(text)


class Rendered(Contract):
    """What a reader made of a content. `notes`: what of it could not be read, as sentences such as "Page 3 of 12 is a
    picture without text."; they are open points of a run. `cautions`: what to know before relying on its text.
    """

    layout: Layout
    notes: Annotated[tuple[Annotated[str, StringConstraints(max_length=300)], ...], Field(max_length=50)] = ()
    cautions: Annotated[tuple[Annotated[str, StringConstraints(max_length=300)], ...], Field(max_length=50)] = ()
