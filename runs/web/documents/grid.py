"""A sheet as its cells around a place, with the letters of the columns, the numbers of the rows, and the formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runs.pev.documents.document import Document
from runs.pev.documents.layout import Block, BlockKind, MarkKind
from runs.pev.documents.sheets import address_in, column_of

AROUND = 200
AROUND_IN_PANEL = 5
COLUMNS_IN_PANEL = 5
COLUMNS = 40
CELL_CHARACTERS = 300


@dataclass(frozen=True)
class Cell:
    text: str
    formula: str = ""
    hit: bool = False
    first: bool = False


@dataclass(frozen=True)
class Row:
    number: int
    cells: Sequence[Cell]
    hidden: bool


@dataclass(frozen=True)
class Grid:
    """Rows of the `sheet` that have something in them, not all if `cut`; `columns` are letters. `sheets` are all
    that have something in them, each with its first row's anchor.
    """

    sheet: str
    columns: Sequence[str]
    rows: Sequence[Row]
    cut: bool
    sheets: Sequence[tuple[str, str]] = ()


def grid_around(document: Document, hit: tuple[int, int], *, in_panel: bool) -> Grid | None:
    """The rows around what is pointed at, of its sheet; without a place the first ones. None for an empty workbook."""
    blocks = [block for block in document.layout.blocks if block.kind is BlockKind.ROW]
    if not blocks:
        return None
    at = next((place for place, block in enumerate(blocks) if block.end > hit[0]), 0) if hit[1] else 0
    if at and blocks[at].start > hit[0] and _is_formula(document, hit[0]):
        at -= 1
    sheet = _sheet(blocks[at])
    around = AROUND_IN_PANEL if in_panel else AROUND
    near = [block for block in blocks[max(0, at - around) : at + around + 1] if _sheet(block) == sheet]
    rows = _rows(document, near, hit)
    for cells, _ in rows.values():
        if first := next((column for column in sorted(cells) if cells[column].hit), 0):
            cells[first] = replace(cells[first], first=True)
            break
    low, high = _columns(rows, hit_only=in_panel)
    shown = [
        Row(number, [cells.get(column, Cell("")) for column in range(low, high + 1)], hidden)
        for number, (cells, hidden) in rows.items()
    ]
    sheets: dict[str, str] = {}
    for block in blocks:
        sheets.setdefault(_sheet(block), block.anchor)
    of_sheet = sum(1 for block in blocks if _sheet(block) == sheet)
    return Grid(
        sheet, [column_of(one) for one in range(low, high + 1)], shown, of_sheet > len(near), list(sheets.items())
    )


def _rows(document: Document, blocks: Sequence[Block], hit: tuple[int, int]) -> dict[int, tuple[dict[int, Cell], bool]]:
    """By the number of the row its cells by column, and whether it is hidden."""
    formulas = _formulas(document, blocks)
    computed = {place: Cell("", formula, _touches(span, hit)) for place, (formula, span) in formulas.items()}
    found: dict[int, tuple[dict[int, Cell], bool]] = {}
    for block in blocks:
        address = address_in(block.anchor)
        if address is None:
            continue
        cells, _ = found.setdefault(address.row, ({}, bool(document.marks_on(block.start, block.end, MarkKind.HIDDEN))))
        at, column = block.start, address.column
        for text in document.text[block.start : block.end].split("\t"):
            cell = computed.pop((address.row, column), Cell(""))
            if text or cell.formula:
                cells[column] = replace(cell, text=_shown(text), hit=cell.hit or _touches((at, at + len(text)), hit))
            at, column = at + len(text) + 1, column + 1
    for (row, column), cell in computed.items():  # computed, and nothing came out
        if row in found:
            found[row][0][column] = cell
    return found


def _formulas(document: Document, blocks: Sequence[Block]) -> dict[tuple[int, int], tuple[str, tuple[int, int]]]:
    """By row and column what is computed in a cell, and where that stands in the text."""
    found: dict[tuple[int, int], tuple[str, tuple[int, int]]] = {}
    first, last = blocks[0].start, blocks[-1].end + 1
    for block in document.blocks_in(first, last + 10_000):
        if block.kind is not BlockKind.FORMULAS:
            continue
        at = block.start
        for line in document.text[block.start : block.end].split("\n"):
            name, _, formula = line.partition(": ")
            if address := address_in(f"x!{name}"):
                found[address.row, address.column] = (_shown(formula), (at, at + len(line)))
            at += len(line) + 1
    return found


def _touches(span: tuple[int, int], hit: tuple[int, int]) -> bool:
    return hit[0] < span[1] and span[0] < hit[1]


def _columns(rows: dict[int, tuple[dict[int, Cell], bool]], *, hit_only: bool) -> tuple[int, int]:
    """The first and the last column to be shown: those around the place, and not too many."""
    used = sorted({column for cells, _ in rows.values() for column in cells}) or [1]
    hits = sorted(column for cells, _ in rows.values() for column, cell in cells.items() if cell.hit) or used[:1]
    around = COLUMNS_IN_PANEL if hit_only else COLUMNS
    low = max(used[0], hits[0] - around)
    return low, min(used[-1], max(hits[0], min(hits[-1], hits[0] + around)) + around)


def _is_formula(document: Document, offset: int) -> bool:
    block = document.block_at(offset)
    return block is not None and block.kind is BlockKind.FORMULAS


def _sheet(block: Block) -> str:
    address = address_in(block.anchor)
    return address.sheet if address else ""


def _shown(text: str) -> str:
    return text if len(text) <= CELL_CHARACTERS else f"{text[:CELL_CHARACTERS]} …"
