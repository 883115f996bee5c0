"""Clauses that have the same number are told apart by the schedule that they stand in."""

from collections.abc import Sequence

import pytest

from runs.documents.model.layout import BlockKind
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder
from runs.evidence.citations.places import spans_of

_HEADING, _PARAGRAPH = BlockKind.HEADING, BlockKind.PARAGRAPH
type Given = tuple[BlockKind, str, str]
"""Kind, text, and the clause or, in brackets, the label."""


def _document(given: Sequence[Given]) -> Document:
    builder = Builder("docx")
    for number, (kind, text, name) in enumerate(given, 1):
        is_label = name.startswith("[")
        label = name.strip("[]")
        builder.add(f"p{number}", kind, text, label=label, clause="" if is_label else name)
    made = builder.build()
    return Document(made.text, made.rendered.layout)


def _names(document: Document) -> list[str]:
    return [document.place_name(one.start, one.end).words for one in document.layout.blocks if one.clause]


_BODY = [(_PARAGRAPH, "The Supplier delivers.", "1.1"), (_PARAGRAPH, "The Buyer pays.", "2.1")]
_INNER = (_PARAGRAPH, "Support is given by day.", "1.1")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ((_PARAGRAPH, "SCHEDULE 2 – Services", ""), "SCHEDULE 2"),
        ((_HEADING, "Anlage  B: Preise.", ""), "Anlage B"),
        ((_HEADING, "Services", "[Annex IV]"), "Annex IV"),
    ],
)
def test_a_clause_of_a_schedule_is_named_with_it(title: Given, name: str) -> None:
    document = _document([*_BODY, title, _INNER])
    assert _names(document) == ["clause 1.1", "clause 2.1", f"clause 1.1 of {name}"]
    assert [document.text[start:end] for start, end in spans_of(document, f"clause 1.1 of {name}")] == [
        "Support is given by day."
    ]
    assert len(spans_of(document, "clause 1.1")) == 2


@pytest.mark.parametrize(
    "words",
    [
        "Schedule 2 applies to the Services only.",
        "Schedule 2\t45",
        "Schedules are a part of this agreement",
        "Schedule 2(a) is left out",
        "Schedule 2 " + "and what else there is of it " * 5,
    ],
)
def test_what_only_speaks_of_a_schedule_is_no_title(words: str) -> None:
    document = _document([*_BODY, (_PARAGRAPH, words, ""), _INNER])
    assert _names(document) == ["clause 1.1 (paragraph 1)", "clause 2.1", "clause 1.1 (paragraph 4)"]
    assert [document.text[start:end] for start, end in spans_of(document, "clause 1.1 (paragraph 4)")] == [
        "Support is given by day."
    ]


def test_headings_go_before_lines_that_look_like_titles() -> None:
    contents = (_PARAGRAPH, "Schedule 1 Prices", "")
    document = _document([contents, *_BODY, (_HEADING, "Schedule 1", ""), _INNER])
    assert _names(document) == ["clause 1.1", "clause 2.1", "clause 1.1 of Schedule 1"]


def test_two_in_one_schedule_are_told_by_their_paragraphs() -> None:
    document = _document([*_BODY, (_HEADING, "Schedule 1", ""), _INNER, _INNER])
    assert _names(document) == [*("clause 1.1", "clause 2.1", "clause 1.1 (paragraph 4)", "clause 1.1 (paragraph 5)")]
