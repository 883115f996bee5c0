"""The layout of a document: blocks with anchors and numbers, and marks on some of its characters.

All offsets count characters in the document's one text. Readers make layouts in isolated processes, so a layout is
untrusted until it has been validated.
"""

from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import Field, StringConstraints, model_validator

from runs.contracts.base import Contract

MAX_BLOCKS = 500_000
MAX_MARKS = 500_000
"""A workbook of two million cells has no more rows than this. A contract of sixty pages has some 700 paragraphs."""

MIN_CONFIDENCE = 60
"""In percent. Words that were read from a picture with a lower confidence are called uncertain."""

MAX_STORED = 700_000
"""Characters for the row of a sheet, which has at most 16,384 cells of 40 characters."""
NOT_KEPT = "?"
"""Replaces the stored values of a row's cells if a workbook has too many of them."""

type Short = Annotated[str, StringConstraints(max_length=300)]
type Offset = Annotated[int, Field(ge=0)]


class BlockKind(StrEnum):
    PAGE = "page"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CELL = "cell"
    """A paragraph in the cell of a table."""
    ROW = "row"
    """The cells of a row of a sheet, separated by tabs. The anchor is the address of the first cell."""
    FORMULAS = "formulas"
    """The formulas of the row before it, one per line: `B7: =SUM(B2:B6)`."""
    TITLE = "title"
    SPEAKER_NOTES = "speaker_notes"
    TEXT_BOX = "text_box"
    FOOTNOTE = "footnote"
    ENDNOTE = "endnote"
    COMMENT = "comment"
    HEADER = "header"
    FOOTER = "footer"
    FIELD = "field"
    """A header field of a mail: subject, sender, recipients or date."""
    CHART = "chart"
    LINE = "line"


class MarkKind(StrEnum):
    INSERTED = "inserted"
    """A tracked insertion. It is part of the text, because changes are read as accepted."""
    COMMENTED = "commented"
    """A comment refers to these characters. `note` is the anchor of the comment's first block."""
    HIDDEN = "hidden"
    """The document does not show it: hidden text, or a hidden row, sheet or slide. In Word files, also words in the
    colour of their background or too small to read; in web pages, what style sheets hide.
    """
    STRUCK = "struck"
    """Struck through with formatting, not as a tracked deletion. The author may have meant to delete it."""
    UNSEEN = "unseen"
    """Nothing is visible at its place: it is white on white, covered, or outside the page. It proves nothing."""
    RUNNING = "running"
    """A line that is repeated on most pages, or a footnote or its mark. Passages may continue across it."""
    DISPUTED = "disputed"
    """In Word files, a clause that the document itself refers to by another number (`note`) than the one that was
    counted.
    """
    READ = "read"
    """Read from a picture. `note` is the confidence in percent."""


class Block(NamedTuple):
    """A part of the text, from `start` to before `end`. `anchor` is what citations name: `p23`, `page=7`, `s4.sh2.p1`.

    * `label`: the number that a reader sees before the block and that is not in the text, such as "(b)"; also the label
      of a page if it differs from its number.
    * `clause`: the whole number, such as "4.2(b)".
    * `level`: of a heading or list, from 1.
    * `markup`: the clause while tracked changes are shown, if it differs. Deleted paragraphs are counted there.
    * `stored`: for a row of a sheet, one entry for each cell, separated by spaces: the stored number if the cell shows
      it in another form, `=` for a number that is shown as it is and has decimals, otherwise nothing.
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
    """A property of the characters from `start` to before `end`. `by` and `on`: author and date
    according to the file.
    """

    kind: MarkKind
    start: Offset
    end: Offset
    by: Short = ""
    on: Short = ""
    note: Short = ""


class Deletion(NamedTuple):
    """Text that a tracked change has deleted before the character `at`. It is not part of the document's text."""

    at: Offset
    text: str
    by: Short = ""
    on: Short = ""


class Box(NamedTuple):
    """Where the words from `start` to before `end` are on a page (numbered from 1), for words that were read from a
    picture.

    The sides are fractions of the page's width and height, from the top left. Boxes of words in PDF files are not
    stored but computed when a page is shown.
    """

    page: Annotated[int, Field(ge=1)]
    start: Offset
    end: Offset
    left: float
    top: float
    right: float
    bottom: float


class Layout(Contract):
    """The layout of one document. `blocks` and `marks` are sorted by `start`, and blocks do not overlap.

    `unit` and `units` are what the format counts ("page", 12), or empty. `pictorial` has the numbers of pages that
    consist mostly of pictures or tables, whose content is more than their text.
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
        """Whether all offsets are within this text."""
        ends = [self.blocks[-1].end] if self.blocks else []
        ends += [mark.end for mark in self.marks] + [box.end for box in self.boxes] + [one.at for one in self.deletions]
        return max(ends, default=0) <= len(text)


class Rendered(Contract):
    """The result of reading a document.

    `notes` are sentences on what could not be read, such as "Page 3 of 12 is a picture without text."; they become open
    points of a run. `cautions` are sentences on what to know before relying on the text.
    """

    layout: Layout
    notes: Annotated[tuple[Annotated[str, StringConstraints(max_length=300)], ...], Field(max_length=50)] = ()
    cautions: Annotated[tuple[Annotated[str, StringConstraints(max_length=300)], ...], Field(max_length=50)] = ()
