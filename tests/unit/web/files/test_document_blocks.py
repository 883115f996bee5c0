"""How documents are laid out around a place: paragraphs, tables, and texts cut where something begins in them."""

import pytest

from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder
from runs.web.files.document_blocks import AROUND_IN_PANEL, MAX_PIECES, Piece, blocks_around, pieces
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
