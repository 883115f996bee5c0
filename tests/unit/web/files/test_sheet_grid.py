"""How a sheet is laid out around a place: cells with formulas and comments, and what lies beyond the edges."""

import pytest

from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder
from runs.web.files.sheet_grid import grid_around


def document(builder: Builder) -> Document:
    made = builder.build()
    return Document(made.text, made.rendered.layout)


def book() -> Document:
    builder = Builder("xlsx")
    builder.add("Rents!A1", BlockKind.ROW, "Place\t\tRent")
    start = builder.add("Rents!B3", BlockKind.ROW, "Mill Lane\t1200").start
    builder.mark(MarkKind.HIDDEN, start, start + 14)
    builder.add("Rents!B3", BlockKind.FORMULAS, "C3: =B3*12\nD3: =C3")
    builder.add("Other!A1", BlockKind.ROW, "x")
    return document(builder)


def test_cells_stand_under_their_letters() -> None:
    found = book()
    at = found.text.index("1200")
    grid = grid_around(found, (at, at + 4), in_panel=True)
    assert grid
    assert (grid.sheet, grid.columns, grid.left_out) == ("Rents", ["A", "B", "C", "D"], [])
    assert [(row.number, [cell.text for cell in row.cells], row.hidden) for row in grid.rows] == [
        (1, ["Place", "", "Rent", ""], False),
        (3, ["", "Mill Lane", "1200", ""], True),
    ]
    assert [cell.formula for cell in grid.rows[1].cells] == ["", "", "=B3*12", "=C3"]
    assert [cell.hit for cell in grid.rows[1].cells] == [False, False, True, False]


def test_a_place_in_a_formula_is_its_cell() -> None:
    found = book()
    at = found.text.index("=C3")
    grid = grid_around(found, (at, at + 3), in_panel=True)
    assert grid
    assert [cell.hit for cell in grid.rows[1].cells] == [False, False, False, True]


def test_comments_stand_beside_their_cells_also_where_these_are_empty() -> None:
    builder = Builder("xlsx")
    start = builder.add("Rents!A2", BlockKind.ROW, "Mill Lane\t1200").start
    builder.mark(MarkKind.COMMENTED, start, start + 9, by="Ann", on="2026-03-01T10:00:00Z", note="Rents!A2.cm1")
    builder.add("Rents!A2.cm1", BlockKind.COMMENT, "Which number?", label="Ann:")
    builder.add("Rents!A2.cm2", BlockKind.COMMENT, "Number 5", label="Bob:")
    builder.add("Rents!A3", BlockKind.ROW, "Elm Row")
    builder.add("Rents!C9.cm1", BlockKind.COMMENT, "Sum missing")
    found = document(builder)
    at = found.text.index("Number 5")
    grid = grid_around(found, (at, at + 8), in_panel=True)
    assert grid
    assert [
        (f"{column}{row.number}", one.by, one.on, one.text, one.hit)
        for row in grid.rows
        for column, cell in zip(grid.columns, row.cells, strict=True)
        for one in cell.comments
    ] == [
        ("A2", "Ann", "2026-03-01", "Which number?", False),
        ("A2", "Bob", "", "Number 5", True),
        ("C9", "", "", "Sum missing", False),
    ]
    assert [cell.first for cell in grid.rows[0].cells] == [True, False, False]


@pytest.mark.parametrize("words", ["x49 ", "note 49"])
def test_what_lies_beyond_the_edges_is_counted(words: str) -> None:
    builder = Builder("xlsx")
    for row in range(1, 101):
        builder.add(f"Rents!A{row}", BlockKind.ROW, f"x{row} " + "\ty" * 20)
        builder.add(f"Rents!A{row}.cm1", BlockKind.COMMENT, f"note {row}.")
    found = document(builder)
    at = found.text.index(words)
    grid = grid_around(found, (at, at + len(words)), in_panel=True)
    assert grid
    assert (grid.columns[-1], [row.number for row in grid.rows]) == ("F", list(range(44, 55)))
    assert grid.left_out == ["43 rows above", "46 rows below", "15 columns on the right"]
    assert sum(len(cell.comments) for row in grid.rows for cell in row.cells) == 11


def test_another_sheet_is_shown_by_itself() -> None:
    found = book()
    at = found.text.rindex("x")
    grid = grid_around(found, (at, at + 1), in_panel=False)
    assert grid
    assert (grid.sheet, [row.number for row in grid.rows]) == ("Other", [1])
    assert grid.sheets == [("Rents", "Rents!A1"), ("Other", "Other!A1")]
    letter = Builder("docx")
    letter.add("p1", BlockKind.PARAGRAPH, "No sheet")
    assert grid_around(document(letter), (0, 0), in_panel=False) is None


def test_only_the_first_cell_of_a_place_is_led_to() -> None:
    found = book()
    start = found.text.index("Place")
    grid = grid_around(found, (start, found.text.index("1200") + 4), in_panel=False)
    assert grid
    assert [cell.first for row in grid.rows for cell in row.cells if cell.hit] == [True, False, False, False]
