"""A document's text with its layout: finds the place of an anchor, and says what people call a place."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from runs.documents.formats import ANCHORS, format_of
from runs.documents.model.clause_numbers import duplicate_numbers, is_within, plain_number
from runs.documents.model.layout import Block, BlockKind, Deletion, Layout, Mark, MarkKind
from runs.documents.model.sheets import Address, address_in, anchor_of, column_of

_PAGES = re.compile(r"page=(\d{1,6})(?:-(?:page=)?(\d{1,6}))?", re.IGNORECASE)
_PAGES_IN_WORDS = re.compile(r"pages (\d{1,6}) and (\d{1,6})")
_IN_COMMENT = re.compile(r"(?:\.(?:p\d+x?|t\d+r\d+c\d+))+$")
_PART = re.compile(r"(?<=.)[.!](?=\w)|(?<=[0-9])[rc](?=[0-9])")
ASIDE = frozenset(
    {
        BlockKind.COMMENT,
        BlockKind.FOOTNOTE,
        BlockKind.ENDNOTE,
        BlockKind.HEADER,
        BlockKind.FOOTER,
        BlockKind.SPEAKER_NOTES,
    }
)
"""Blocks that are not part of the document's running text."""
_OF_SHEETS = frozenset({BlockKind.ROW, BlockKind.FORMULAS})


class PlaceName(NamedTuple):
    """A place as citations name it (`p23`) and as people do ("clause 4.2(b)")."""

    anchor: str
    words: str


class Document:
    """A document's text with its layout. Raises ValueError if the layout does not belong to the text."""

    def __init__(self, text: str, layout: Layout) -> None:
        if not layout.fits(text):
            raise ValueError("the layout belongs to another text")
        self.text, self.layout = text, layout
        self._starts = [block.start for block in layout.blocks]

    def block_at(self, offset: int) -> Block | None:
        """Returns the block that contains this character. Between two blocks it is the first of them."""
        at = bisect_right(self._starts, offset) - 1
        return self.layout.blocks[at] if at >= 0 else None

    def blocks_in(self, start: int, end: int) -> Sequence[Block]:
        """Returns the blocks that contain some of the characters from `start` to before `end`."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        found = self.layout.blocks[first : bisect_left(self._starts, end)]
        return found[1:] if found and found[0].end <= start and len(found) > 1 else found

    def place_name(self, start: int, end: int) -> PlaceName:
        """Returns the name of the place of these characters: a block, or a range from one block to another."""
        blocks = self.blocks_in(start, end)
        if not blocks:
            line = self.text.count("\n", 0, start) + 1
            return PlaceName(f"L{line}", f"line {line}")
        first = blocks[0]
        if first.kind in _OF_SHEETS:
            return self._cells(blocks, start, end)
        last = next(block for block in reversed(blocks) if block.kind is first.kind)
        if first.kind is BlockKind.PAGE and last is not first:
            pages = _page(first), _page(last)
            return PlaceName(f"page={pages[0]}-{pages[1]}", f"pages {pages[0]} and {pages[1]}")
        doubt = self.doubt_about_number(first)
        return PlaceName(first.anchor, f"{self.name_of(first)} ({doubt})" if doubt else self.name_of(first))

    def doubt_about_number(self, block: Block) -> str:
        """Returns a remark if the document itself refers to the clause by another number, or else an empty string."""
        for mark in self._disputes(block):
            clause = self.block_at(mark.start)
            which = f" for {words_for(clause)}" if clause and clause is not block else ""
            return f"{_DOUBTFUL} {mark.note}{which}"
        return ""

    def disputed_numbers(self, block: Block) -> Sequence[str]:
        """Returns the other numbers by which the document itself refers to a clause or to one that contains it."""
        return [mark.note for mark in self._disputes(block)]

    def _disputes(self, block: Block) -> Sequence[Mark]:
        return self.marks_on(block.start, block.end, MarkKind.DISPUTED) if block.clause else ()

    def name_of(self, block: Block) -> str:
        """Returns what people call a block of this document.

        Such as "clause 4.2(b)", or "clause 1.1 of Schedule 2" if the number occurs in several schedules.
        """
        schedule = self._duplicate_numbers.get(block.anchor)
        if schedule is None:
            return words_for(block)
        place = f" of {schedule}" if schedule else f" ({words_for(block._replace(clause=''))})"
        return f"{words_for(block)}{place}"

    def _cells(self, blocks: Sequence[Block], start: int, end: int) -> PlaceName:
        """Returns the smallest range of cells around these characters. Formulas count as their cell."""
        one = self._cell(blocks[0], start)
        if one is None:
            return PlaceName(blocks[0].anchor, blocks[0].anchor)
        ends = (self._cell(block, max(start, end - 1)) for block in reversed(blocks) if block.kind in _OF_SHEETS)
        other = next((cell for cell in ends if cell and cell.sheet == one.sheet), one)
        low, high = (
            one._replace(column=pick(one.column, other.column), row=pick(one.row, other.row)) for pick in (min, max)
        )
        anchor = anchor_of(low) if low == high else f"{anchor_of(low)}:{column_of(high.column)}{high.row}"
        return PlaceName(anchor, anchor)

    def _cell(self, block: Block, offset: int) -> Address | None:
        first = address_in(block.anchor)
        if first is None:
            return None
        if block.kind is BlockKind.FORMULAS:
            begun = self.text.rfind("\n", block.start, offset) + 1 or block.start
            cell = address_in(f"{_NO_SHEET}!{self.text[begun : self.text.find(':', begun)]}")
            return cell._replace(sheet=first.sheet) if cell else first
        column = first.column + self.text.count("\t", block.start, min(offset, block.end))
        return first._replace(column=column, last_column=column)

    def span_of(self, anchor: str) -> tuple[int, int] | None:
        """Returns the characters of an anchor, from the first to before the last, or None if there is no such place.

        A clause number is accepted too, if only one clause has it.
        """
        address = address_in(anchor) if self._rows else None
        # before blocks, because a row has the anchor of its first cell
        if address and (cells := self._cells_of(address)):
            return cells
        if block := self._by_anchor.get(anchor.casefold()):
            return block.start, block.end
        if pages := _PAGES.fullmatch(anchor):
            return self._pages(int(pages[1]), int(pages[2] or pages[1]))
        blocks = self.clauses(anchor)
        if blocks:
            return (blocks[0].start, blocks[0].end) if len(blocks) == 1 else None
        return self._parts.get(anchor.casefold())

    def clauses(self, number: str) -> Sequence[Block]:
        """Returns the blocks with this clause number, with or without a word such as "clause" before it."""
        return self._by_clause.get(plain_number(number), [])

    def spans_named(self, words: str) -> Sequence[tuple[int, int]]:
        """Returns the characters of each place with this name, such as "clause 4.2(b)" or "pages 3 and 4"."""
        words = words.partition(f" ({_DOUBTFUL}")[0]
        pages = _PAGES_IN_WORDS.fullmatch(words)
        if pages and (span := self._pages(int(pages[1]), int(pages[2]))):
            return [span]
        return self._by_words.get(words, [])

    def parts_of(self, anchor: str) -> Sequence[tuple[int, int]]:
        """Like `span_of`, but a clause number means each clause that has it, including everything below it."""
        if anchor.casefold() not in self._by_anchor and (blocks := self.clauses(anchor)):
            return [self._with_below(block) for block in blocks]
        span = self.span_of(anchor)
        return [span] if span else []

    def formulas_of(self, anchor: str) -> Sequence[tuple[int, int]]:
        """Returns the formulas of the first and the last row of a range. Those of other rows are between its cells in
        the text.
        """
        address = address_in(anchor)
        rows = dict.fromkeys((address.row, address.last_row)) if address else ()
        return [found for row in rows if address and (found := self._formulas_in(address, row))]

    def _formulas_in(self, address: Address, row: int) -> tuple[int, int] | None:
        """Returns the characters from the first to the last formula of these columns in a row."""
        found: list[tuple[int, int]] = []
        for block in self._formulas.get((address.sheet.casefold(), row), ()):
            at = block.start
            for line in self.text[block.start : block.end].split("\n"):
                cell = address_in(f"{_NO_SHEET}!{line.partition(':')[0]}")
                if cell and address.column <= cell.column <= address.last_column:
                    found.append((at, at + len(line)))
                at += len(line) + 1
        return (found[0][0], found[-1][1]) if found else None

    def _with_below(self, block: Block) -> tuple[int, int]:
        """Returns the characters of a clause up to the next one on the same or a higher level."""
        end = block.end
        for other in self.layout.blocks[bisect_right(self._starts, block.start) :]:
            if other.kind in ASIDE or (other.clause and not is_within(other.clause, block.clause)):
                break
            end = other.end
        return block.start, end

    def _pages(self, first: int, last: int) -> tuple[int, int] | None:
        one, other = (self._by_anchor.get(f"page={page}") for page in (first, last))
        return (one.start, other.end) if one and other and first <= last else None

    def _cells_of(self, address: Address) -> tuple[int, int] | None:
        """Returns the characters from the first to the last non-empty cell of the range, without formulas."""
        found: list[tuple[int, int]] = []
        for row in range(address.row, min(address.last_row, address.row + _MAX_ROWS) + 1):
            for block in self._rows.get((address.sheet.casefold(), row), ()):
                found += self._in_row(block, address.column, address.last_column)
        return (found[0][0], found[-1][1]) if found else None

    def _in_row(self, block: Block, first: int, last: int) -> Iterator[tuple[int, int]]:
        address = address_in(block.anchor)
        at, column = block.start, address.column if address else 0
        for cell in self.text[block.start : block.end].split("\t"):
            if first <= column <= last and cell:
                yield at, at + len(cell)
            at, column = at + len(cell) + 1, column + 1

    def marks_on(self, start: int, end: int, *kinds: MarkKind) -> list[Mark]:
        """Returns the marks of these kinds on any of the characters from `start` to before `end`, in order."""
        found: list[Mark] = []
        for kind in kinds:
            if marks := self._marks.get(kind):
                first, last = bisect_right(self._reach[kind], start), bisect_left(self._mark_starts[kind], end)
                found += [mark for mark in marks[first:last] if mark.end > start]
        return found

    def deletions_in(self, start: int, end: int) -> Sequence[Deletion]:
        """Returns the deletions between these characters, including those right before the first and right after the
        last.
        """
        deleted = self._deletions
        return deleted[bisect_left(deleted, start, key=_at) : bisect_right(deleted, end, key=_at)]

    def author_of(self, comment: Block) -> Mark | None:
        """Returns the mark on the words that a comment is about. It has the comment's author and date."""
        return self._commented.get(comment_of(comment.anchor))

    @cached_property
    def _marks(self) -> Mapping[MarkKind, Sequence[Mark]]:
        found: dict[MarkKind, list[Mark]] = defaultdict(list)
        for mark in self.layout.marks:
            found[mark.kind].append(mark)
        return found

    @cached_property
    def _mark_starts(self) -> Mapping[MarkKind, Sequence[int]]:
        return {kind: [mark.start for mark in marks] for kind, marks in self._marks.items()}

    @cached_property
    def _reach(self) -> Mapping[MarkKind, Sequence[int]]:
        """By kind, how far each mark or any mark before it reaches. Marks are sorted by start and may overlap."""
        return {kind: list(accumulate((mark.end for mark in marks), max)) for kind, marks in self._marks.items()}

    @cached_property
    def _deletions(self) -> Sequence[Deletion]:
        return sorted(self.layout.deletions, key=_at)

    @cached_property
    def _commented(self) -> Mapping[str, Mark]:
        return {comment_of(mark.note): mark for mark in self._marks.get(MarkKind.COMMENTED, ())}

    @cached_property
    def _parts(self) -> Mapping[str, tuple[int, int]]:
        """The characters of each prefix of anchors: `s4` for a slide, `Rents` for a sheet, `t3` for a table, `cm0` for
        a comment.
        """
        found: dict[str, tuple[int, int]] = {}
        for block in self.layout.blocks:
            for match in _PART.finditer(block.anchor):
                part = block.anchor[: match.start()].casefold()
                found[part] = (found[part][0] if part in found else block.start, block.end)
        return found

    @cached_property
    def _by_anchor(self) -> Mapping[str, Block]:
        found: dict[str, Block] = {}
        for block in self.layout.blocks:
            found.setdefault(block.anchor.casefold(), block)
        return found

    @cached_property
    def _by_words(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """Consecutive blocks with the same name, such as those of a slide, are one place."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        before = ""
        for block in self.layout.blocks:
            words = words_for(block)
            if words == before:
                found[words][-1] = found[words][-1][0], block.end
            else:
                found[words].append((block.start, block.end))
            before = words
            if block.anchor in self._duplicate_numbers:
                found[self.name_of(block)].append((block.start, block.end))
        return found

    @cached_property
    def _duplicate_numbers(self) -> Mapping[str, str]:
        return duplicate_numbers(self.text, self.layout.blocks, self._by_clause)

    @cached_property
    def _by_clause(self) -> Mapping[str, Sequence[Block]]:
        found: dict[str, list[Block]] = defaultdict(list)
        for block in self.layout.blocks:
            if block.clause:
                found[plain_number(block.clause)].append(block)
        return found

    @cached_property
    def _rows(self) -> Mapping[tuple[str, int], Sequence[Block]]:
        return self._by_row(BlockKind.ROW)

    @cached_property
    def _formulas(self) -> Mapping[tuple[str, int], Sequence[Block]]:
        return self._by_row(BlockKind.FORMULAS)

    def _by_row(self, kind: BlockKind) -> Mapping[tuple[str, int], Sequence[Block]]:
        found: dict[tuple[str, int], list[Block]] = defaultdict(list)
        for block in self.layout.blocks:
            if block.kind is kind and (address := address_in(block.anchor)):
                found[address.sheet.casefold(), address.row].append(block)
        return found


_DOUBTFUL = "number doubtful: the document says"
_NO_SHEET = "x"
"""A sheet name for addresses without one: real sheet names may contain characters that addresses cannot."""
_MAX_ROWS = 10_000
"""Rows of a range that are examined."""


def words_for(block: Block) -> str:
    """Returns what people call a block of any format: "clause 4.2(b)", "page 7", "footnote 3"."""
    return ANCHORS.words_for(block)


def comment_of(anchor: str) -> str:
    """Returns the anchor that all paragraphs of one comment share: `cm0` for `cm0.p2`, but
    `Q1.2026!B7.cm1` for itself.
    """
    return _IN_COMMENT.sub("", anchor)


def _at(deletion: Deletion) -> int:
    return deletion.at


def _page(block: Block) -> str:
    return block.anchor.partition("=")[2]


def units_in(document: Document, start: int, end: int) -> str:
    """Returns a phrase such as "pages 3-5 of 12" or "sheet Rents of 4", or an empty string if the
    format has no units.
    """
    layout = document.layout
    blocks = document.blocks_in(start, end)
    if not (layout.unit and blocks):
        return ""
    unit_of = format_of(layout.format).anchors.unit_of
    names = [unit_of(block.anchor) for block in (blocks[0], blocks[-1])]
    of = f" of {layout.units}" if layout.units else ""
    if not all(names):
        return ""
    if names[0] == names[1]:
        return f"{layout.unit} {names[0]}{of}"
    return f"{layout.unit}s {'-'.join(names) if ''.join(names).isdecimal() else ' to '.join(names)}{of}"


def unit_at(document: Document, place: int) -> str:
    """Returns "page 3" or "sheet Rents" for the block at this offset, or an empty string if the format has no units."""
    block = document.block_at(place)
    layout = document.layout
    name = format_of(layout.format).anchors.unit_of(block.anchor) if layout.unit and block else ""
    return f"{layout.unit} {name}" if name else ""
