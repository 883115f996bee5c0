"""Texts are put together within limits, and every offset stays true."""

import time

import pytest
from pydantic import TypeAdapter

from runs.documents.model.layout import BlockKind, MarkKind, Rendered
from runs.documents.packed_parts import unpacked
from runs.documents.reading import building
from runs.documents.reading.building import MAX_CHARACTERS, MAX_NOTES, Builder, WorkBudget
from runs.errors import InvalidInput


def test_what_a_process_sends_is_what_the_reader_made() -> None:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "One.")
    builder.note("Page 3 of 12 is a picture.")
    made = builder.build("page", 12)
    header, text = unpacked(made.packed())
    assert TypeAdapter(Rendered).validate_json(header) == made.rendered
    assert text.decode() == made.text


def test_no_character_is_lost_or_added() -> None:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "\ufeffa\0b\ud800c")
    builder.mark(MarkKind.HIDDEN, builder.begin() + 1, builder.begin() + 2)
    builder.add("p2", BlockKind.PARAGRAPH, "xyz")
    made = builder.build()
    assert made.text == "\u200ba\ufffdb\ufffdc\nxyz"
    mark = made.rendered.layout.marks[0]
    assert made.text.encode().decode("utf-8-sig")[mark.start : mark.end] == "y"


def test_names_and_labels_are_as_they_can_be_stored() -> None:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "a", label="\ud800")
    builder.mark(MarkKind.INSERTED, 0, 1, by="\udfff", note="x\0")
    layout = builder.build().rendered.layout
    assert (layout.blocks[0].label, layout.marks[0].by, layout.marks[0].note) == ("\ufffd", "\ufffd", "x\ufffd")


def test_too_many_blocks_are_refused() -> None:
    builder = Builder("docx", max_blocks=2)
    builder.add("p1", BlockKind.PARAGRAPH, "a")
    builder.add("p2", BlockKind.PARAGRAPH, "b")
    with pytest.raises(InvalidInput, match="more than 2 paragraphs or rows"):
        builder.add("p3", BlockKind.PARAGRAPH, "c")


def test_too_much_text_is_refused() -> None:
    builder = Builder("docx")
    with pytest.raises(InvalidInput, match="5,000,000 characters of text"):
        builder.add("p1", BlockKind.PARAGRAPH, "a" * (MAX_CHARACTERS + 1))
    builder.delete(0, "a" * (MAX_CHARACTERS // 2))
    with pytest.raises(InvalidInput, match="of deleted text"):
        builder.delete(0, "a" * (MAX_CHARACTERS // 2 + 1))


def test_too_many_marks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MAX_MARKS", 2)
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "abc")
    for at in range(2):
        builder.mark(MarkKind.HIDDEN, at, at + 1)
        builder.delete(at, "x")
    with pytest.raises(InvalidInput, match="more than 2 tracked changes"):
        builder.mark(MarkKind.HIDDEN, 2, 3)
    with pytest.raises(InvalidInput, match="more than 2 tracked changes"):
        builder.delete(2, "x")


def test_a_document_without_text_is_none() -> None:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, " \n")
    with pytest.raises(InvalidInput, match="has no text in it"):
        builder.build()


def test_many_notes_are_counted() -> None:
    builder = Builder("pdf")
    builder.add("page=1", BlockKind.PAGE, "a")
    for page in range(MAX_NOTES + 5):
        builder.note(f"Page {page} could not be read.")
    assert builder.build().rendered.notes[-1] == "5 more places could not be read."


def test_effort_counts_from_the_beginning_of_a_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([1_000.0, 1_002.5])
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    assert WorkBudget().seconds_spent == 2.5
