"""How documents are laid out around a place: paragraphs, cells, and texts cut where something begins in them."""

import pytest

from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder
from runs.store.page_pictures import Rectangle
from runs.web.files.document_blocks import AROUND_IN_PANEL, MAX_PIECES, Piece, blocks_around, pieces
from runs.web.files.page_images import Leaf
from runs.web.files.sheet_grid import grid_around
from tests.work import growth

NOWHERE = (0, 0)


def document(builder: Builder) -> Document:
    made = builder.build()
    return Document(made.text, made.rendered.layout)


def lease() -> Document:
    builder = Builder("docx")
    builder.add("p1", BlockKind.HEADING, "Payment", label="4", clause="4", level=1)
    start = builder.add("p2", BlockKind.PARAGRAPH, "within thirty days", label="(b)", clause="4(b)").start
    builder.mark(MarkKind.INSERTED, start + 7, start + 13, by="Ann", on="2026-03-01T10:00:00Z")
    builder.delete(start + 13, "sixty", by="Bob", on="2026-03-02T10:00:00Z")
    builder.mark(MarkKind.COMMENTED, start + 7, start + 18, by="Cora", on="2026-03-05T09:00:00Z", note="cm0.p1")
    builder.add("t1r1c1.p1", BlockKind.CELL, "Hall")
    builder.add("t1r1c2.p1", BlockKind.CELL, "700")
    builder.add("t1r1c2.p2", BlockKind.CELL, "a month")
    builder.add("t1r2c1.p1", BlockKind.CELL, "Office")
    builder.add("fn1.p1", BlockKind.FOOTNOTE, "See annex.")
    builder.add("cm0.p1", BlockKind.COMMENT, "Agreed?")
    builder.add("cm0.p2", BlockKind.COMMENT, "By whom?")
    return document(builder)


def test_a_text_is_cut_where_changes_and_the_place_begin_and_end() -> None:
    found = lease()
    start = found.text.index("within")
    hit = (start + 10, start + 18)
    said = "inserted by Ann, 2026-03-01; commented by Cora, 2026-03-05"
    assert list(pieces(found, start, start + 18, hit)) == [
        Piece("within "),
        Piece("thi", marks=("inserted", "commented"), said=said),
        Piece("rty", hit=True, first=True, marks=("inserted", "commented"), said=said),
        Piece("sixty", marks=("deleted",), said="deleted by Bob, 2026-03-02", deleted=True),
        Piece(" days", hit=True, marks=("commented",), said="commented by Cora, 2026-03-05"),
    ]


def test_all_characters_are_shown_once() -> None:
    found = lease()
    for block in found.layout.blocks:
        shown = "".join(one.text for one in pieces(found, block.start, block.end, (5, 12)) if not one.deleted)
        assert shown == found.text[block.start : block.end]


def test_numbers_stand_in_the_margin_and_comments_beside_their_words() -> None:
    rows = blocks_around(lease(), NOWHERE, in_panel=False).rows
    assert [(row.anchor, row.margin) for row in rows] == [
        ("p1", "4"),
        ("p2", "(b)"),
        ("t1r1c1.p1", ""),
        ("t1r1c2.p1", ""),
        ("t1r1c2.p2", ""),
        ("t1r2c1.p1", ""),
        ("fn1.p1", "footnote 1"),
    ]
    assert [(one.by, one.on, one.text) for one in rows[1].comments] == [("Cora", "2026-03-05", "Agreed?\nBy whom?")]


def test_both_numbers_of_a_paragraph_stand_in_the_margin() -> None:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "The tenant insures.", label="(b)", clause="5.4(b)", markup="5.6(b)")
    builder.add("p2", BlockKind.PARAGRAPH, "The landlord pays.", label="5.5", clause="5.5")
    rows = blocks_around(document(builder), NOWHERE, in_panel=False).rows
    assert [row.margin for row in rows] == ["(b) [5.6(b)]", "5.5"]


def test_a_table_is_a_table() -> None:
    sections = list(blocks_around(lease(), NOWHERE, in_panel=False).sections)
    assert [bool(section.table) for section in sections] == [False, False, True, False]
    anchors = [[[row.anchor for row in cell] for cell in line] for line in sections[2].table]
    assert anchors == [[["t1r1c1.p1"], ["t1r1c2.p1", "t1r1c2.p2"]], [["t1r2c1.p1"]]]


def test_a_place_in_a_comment_leads_to_what_it_is_about() -> None:
    found = lease()
    at = found.text.index("Agreed")
    shown = blocks_around(found, (at, at + 6), in_panel=True)
    assert [one.hit for row in shown.rows for one in row.comments] == [True]


def test_a_panel_shows_the_neighbours_of_the_place() -> None:
    builder = Builder("docx")
    for number in range(1, 101):
        builder.add(f"p{number}", BlockKind.PARAGRAPH, f"Provision {number}.")
    found = document(builder)
    at = found.text.index("Provision 50.")
    shown = blocks_around(found, (at, at + 5), in_panel=True)
    assert (shown.first, shown.last, shown.total) == (50 - AROUND_IN_PANEL, 50 + AROUND_IN_PANEL, 100)
    assert [row.anchor for row in shown.rows if row.hit] == ["p50"]
    assert blocks_around(found, (at, at + 5), in_panel=False).whole


def test_slides_are_told_apart() -> None:
    builder = Builder("pptx")
    builder.add("s1.sh1.p1", BlockKind.TITLE, "Plan")
    builder.add("s1.notes.p1", BlockKind.SPEAKER_NOTES, "Slowly.")
    builder.add("s2.sh1.p1", BlockKind.TITLE, "Costs")
    rows = blocks_around(document(builder), NOWHERE, in_panel=False).rows
    assert [(row.group, row.margin) for row in rows] == [("Slide 1", ""), ("", "notes of slide 1"), ("Slide 2", "")]


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
    assert grid_around(lease(), NOWHERE, in_panel=False) is None


def test_what_is_around_the_place_is_cut_out_of_the_page() -> None:
    leaf = Leaf(2, 6, "", [Rectangle(0.6, 0.5, 0.9, 0.52)], (), height=1.5)
    assert leaf.units == 1_500
    assert leaf.boxes == [(600, 750, 300, 30)]
    assert leaf.crop == (525, 710, 450, 110)
    assert (leaf.before, leaf.after) == (1, 3)


def test_a_place_across_the_page_is_not_cut_out() -> None:
    assert Leaf(1, 1, "", [Rectangle(0.05, 0.5, 0.95, 0.52)], ()).crop is None
    assert Leaf(1, 1, "", (), ()).crop is None
    assert (Leaf(1, 1, "", (), ()).before, Leaf(1, 1, "", (), ()).after) == (0, 0)


def changed(size: int) -> Document:
    """A paragraph of so many words, each with a change before it and within."""
    builder = Builder("docx")
    start = builder.add("p1", BlockKind.PARAGRAPH, "ab " * size).start
    for at in range(start, start + 3 * size, 3):
        builder.mark(MarkKind.INSERTED, at, at + 2, by="Ann")
        builder.delete(at, "x", by="Bob")
    return document(builder)


@pytest.mark.slow
def test_the_work_on_a_paragraph_of_many_changes_grows_with_them() -> None:
    documents = {size: changed(size) for size in (1, 2 * MAX_PIECES, 8 * MAX_PIECES)}
    assert growth(lambda size: list(pieces(documents[size], 0, 3 * size, (10, 12))), 2 * MAX_PIECES) < 5


def test_of_a_paragraph_of_many_changes_so_many_are_shown_and_all_its_words() -> None:
    found = changed(4 * MAX_PIECES)
    shown = list(pieces(found, 0, 12 * MAX_PIECES, (10, 12)))
    assert "".join(one.text for one in shown if not one.deleted) == found.text
    assert len(shown) <= 2 * MAX_PIECES + 1


def test_only_the_first_cell_of_a_place_is_led_to() -> None:
    found = book()
    start = found.text.index("Place")
    grid = grid_around(found, (start, found.text.index("1200") + 4), in_panel=False)
    assert grid
    assert [cell.first for row in grid.rows for cell in row.cells if cell.hit] == [True, False, False, False]
