"""A sheet as cells around a place, with letters of columns, numbers of rows, formulas and comments."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from runs.documents.model.layout import Block, BlockKind, MarkKind
from runs.documents.model.sheets import MAX_ROW, Address, address_in, column_of
from runs.documents.places.document import Document
from runs.text.plural import pluralize
from runs.text.truncate import cut_after

AROUND = 200
AROUND_IN_PANEL = 5
COLUMNS_IN_PANEL = 5
COLUMNS = 40
CELL_CHARACTERS = 300
MAX_COMMENTED = 400
"""Cells whose comments are shown: there may be thousands below the last row."""
_OF_COMMENT = re.compile(r"\.cm\d+$")


@dataclass(frozen=True)
class CellComment:
    by: str
    on: str
    text: str
    hit: bool


@dataclass(frozen=True)
class Cell:
    text: str
    formula: str = ""
    hit: bool = False
    first: bool = False
    comments: Sequence[CellComment] = ()


@dataclass(frozen=True)
class GridRow:
    number: int
    cells: Sequence[Cell]
    hidden: bool


type Rows = dict[int, tuple[dict[int, Cell], bool]]
"""By the number of the row its cells by column, and whether it is hidden."""


@dataclass(frozen=True)
class Grid:
    """Rows of the `sheet` that have something in them; `columns` are letters. `left_out` says what of the sheet lies
    beyond the edges, as in "200 rows below". `sheets` are all that have something in them, each with its first row's
    anchor.
    """

    sheet: str
    columns: Sequence[str]
    rows: Sequence[GridRow]
    left_out: Sequence[str] = ()
    sheets: Sequence[tuple[str, str]] = ()


def grid_around(document: Document, hit: tuple[int, int], *, in_panel: bool) -> Grid | None:
    """The rows around the marked place, in its sheet; without a place the first rows. None for an empty workbook."""
    blocks = [block for block in document.layout.blocks if block.kind is BlockKind.ROW]
    if not blocks:
        return None
    at = _nearest(document, blocks, hit)
    sheet = _sheet(blocks[at])
    of_sheet = [place for place, block in enumerate(blocks) if _sheet(block) == sheet]
    around = AROUND_IN_PANEL if in_panel else AROUND
    low, high = max(of_sheet[0], at - around), min(of_sheet[-1], at + around)
    above, below = blocks[of_sheet[0] : low], blocks[high + 1 : of_sheet[-1] + 1]
    among = range(_row(blocks[low]) if above else 1, _row(blocks[high]) + 1 if below else MAX_ROW + 1)
    rows = _rows(document, blocks[low : high + 1], hit)
    comments = _comments(document, blocks[low : high + 1], hit, among)
    _add_comments(rows, islice(comments.items(), MAX_COMMENTED))
    for cells, _ in rows.values():
        if first := next((column for column in sorted(cells) if cells[column].hit), 0):
            cells[first] = replace(cells[first], first=True)
            break
    used = sorted({column for cells, _ in rows.values() for column in cells}) or [1]
    left, right = _columns(rows, used, hit_only=in_panel)
    shown = [
        GridRow(number, [cells.get(column, Cell("")) for column in range(left, right + 1)], hidden)
        for number, (cells, hidden) in sorted(rows.items())
    ]
    left_out = [
        _many(_rows_in(above, rows), "row", "above"),
        _many(_rows_in(below, rows), "row", "below"),
        _many(sum(1 for column in used if column < left), "column", "on the left"),
        _many(sum(1 for column in used if column > right), "column", "on the right"),
        _many(len(comments) - MAX_COMMENTED, "commented cell", "in the text"),
    ]
    sheets: dict[str, str] = {}
    for block in blocks:
        sheets.setdefault(_sheet(block), block.anchor)
    letters = [column_of(one) for one in range(left, right + 1)]
    return Grid(sheet, letters, shown, list(filter(None, left_out)), list(sheets.items()))


def _nearest(document: Document, blocks: Sequence[Block], hit: tuple[int, int]) -> int:
    """The row that is marked, or that has the marked formula or comment."""
    if not hit[1]:
        return 0
    at = next((place for place, block in enumerate(blocks) if block.end > hit[0]), len(blocks) - 1)
    pointed = document.block_at(hit[0])
    if pointed is None or pointed.kind not in {BlockKind.FORMULAS, BlockKind.COMMENT}:
        return at
    cell = _cell_of(pointed)
    for place in range(at, -1, -1):
        row = address_in(blocks[place].anchor)
        # The row of the cell, or the last one above it: a row in which no cell has a value has no block.
        if row and cell and row.sheet == cell.sheet and row.row <= cell.row:
            return place
    return max(at - (blocks[at].start > hit[0]), 0)


def _rows_in(blocks: Sequence[Block], shown: Container[int]) -> int:
    """How many rows there are besides those that are shown. A row with a gap has two blocks."""
    return len({row for block in blocks if (row := _row(block)) not in shown})


def _row(block: Block) -> int:
    address = address_in(block.anchor)
    return address.row if address else 0


def _many(count: int, noun: str, where: str) -> str:
    return f"{pluralize(count, noun)} {where}" if count > 0 else ""


def _rows(document: Document, blocks: Sequence[Block], hit: tuple[int, int]) -> Rows:
    formulas = _formulas(document, blocks)
    computed = {place: Cell("", formula, _touches(span, hit)) for place, (formula, span) in formulas.items()}
    found: Rows = {}
    for block in blocks:
        address = address_in(block.anchor)
        if address is None:
            continue
        cells, _ = found.setdefault(address.row, ({}, bool(document.marks_on(block.start, block.end, MarkKind.HIDDEN))))
        at, column = block.start, address.column
        for text in document.text[block.start : block.end].split("\t"):
            cell = computed.pop((address.row, column), Cell(""))
            if text or cell.formula:
                cells[column] = replace(cell, text=_cut_text(text), hit=cell.hit or _touches((at, at + len(text)), hit))
            at, column = at + len(text) + 1, column + 1
    for (row, column), cell in computed.items():  # computed, and nothing came out
        if row in found:
            found[row][0][column] = cell
    return found


def _add_comments(rows: Rows, comments: Iterable[tuple[tuple[int, int], Sequence[CellComment]]]) -> None:
    """Adds comments to their cells. A commented cell without a value gets a row, if its row has no other cell."""
    for (row, column), of_cell in comments:
        cells, _ = rows.setdefault(row, ({}, False))
        cell = cells.get(column, Cell(""))
        cells[column] = replace(cell, comments=of_cell, hit=cell.hit or any(one.hit for one in of_cell))


def _comments(
    document: Document, blocks: Sequence[Block], hit: tuple[int, int], among: range
) -> dict[tuple[int, int], list[CellComment]]:
    """By row and column the comments in these rows of the sheet, in the order of their threads."""
    sheet = _sheet(blocks[0])
    marks = document.marks_on(blocks[0].start, blocks[-1].end, MarkKind.COMMENTED)
    dates = {mark.note: mark.on.partition("T")[0] for mark in marks}
    found: dict[tuple[int, int], list[CellComment]] = {}
    for block in document.layout.blocks:
        cell = _cell_of(block) if block.kind is BlockKind.COMMENT else None
        if cell and cell.sheet == sheet and cell.row in among:
            text, by = _cut_text(document.text[block.start : block.end]), block.label.removesuffix(":")
            one = CellComment(by, dates.get(block.anchor, ""), text, _touches((block.start, block.end), hit))
            found.setdefault((cell.row, cell.column), []).append(one)
    return found


def _cell_of(block: Block) -> Address | None:
    """The first cell of a formula, or the cell of a comment."""
    return address_in(_OF_COMMENT.sub("", block.anchor))


def _formulas(document: Document, blocks: Sequence[Block]) -> dict[tuple[int, int], tuple[str, tuple[int, int]]]:
    """By row and column the formula of a cell, and its place in the text."""
    found: dict[tuple[int, int], tuple[str, tuple[int, int]]] = {}
    first, last = blocks[0].start, blocks[-1].end + 1
    for block in document.blocks_in(first, last + 10_000):
        if block.kind is not BlockKind.FORMULAS:
            continue
        at = block.start
        for line in document.text[block.start : block.end].split("\n"):
            name, _, formula = line.partition(": ")
            if address := address_in(f"x!{name}"):
                found[address.row, address.column] = (_cut_text(formula), (at, at + len(line)))
            at += len(line) + 1
    return found


def _touches(span: tuple[int, int], hit: tuple[int, int]) -> bool:
    return hit[0] < span[1] and span[0] < hit[1]


def _columns(rows: dict[int, tuple[dict[int, Cell], bool]], used: Sequence[int], *, hit_only: bool) -> tuple[int, int]:
    """The first and the last column to show: those around the place, up to a limit."""
    hits = sorted(column for cells, _ in rows.values() for column, cell in cells.items() if cell.hit) or used[:1]
    around = COLUMNS_IN_PANEL if hit_only else COLUMNS
    low = max(used[0], hits[0] - around)
    return low, min(used[-1], max(hits[0], min(hits[-1], hits[0] + around)) + around)


def _sheet(block: Block) -> str:
    address = address_in(block.anchor)
    return address.sheet if address else ""


def _cut_text(text: str) -> str:
    return cut_after(text, CELL_CHARACTERS)
