"""Sixty pages with hundreds of known labels: every one is right, and every quote is found at its place."""

import random
from functools import cache

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.model.layout import MarkKind
from runs.documents.places.document import Document
from runs.documents.reading.building import BuiltDocument
from tests.documents.contract import Contract, contract


@cache
def _read() -> tuple[Contract, BuiltDocument]:
    truth = contract()
    return truth, docx.make(truth.data)


def test_every_block_label_and_clause_is_right() -> None:
    truth, made = _read()
    blocks = [
        (one.anchor, made.text[one.start : one.end], one.label, one.clause) for one in made.rendered.layout.blocks
    ]
    assert blocks == [(one.anchor, one.text, one.label, one.clause) for one in truth.blocks]
    assert sum(bool(one.label) for one in truth.blocks if one.anchor.startswith("p")) >= 400
    assert len(made.text.split()) >= 60 * 400  # sixty pages


def test_every_change_is_there_with_who_and_when() -> None:
    truth, made = _read()
    marks, text = made.rendered.layout.marks, made.text
    insertions = [(text[one.start : one.end], one.by, one.on) for one in marks if one.kind is MarkKind.INSERTED]
    assert insertions == truth.insertions
    assert [(one.text, one.by, one.on) for one in made.rendered.layout.deletions] == truth.deletions
    assert not [words for words, _, _ in truth.deletions if words in text and not _is_moved(truth, words)]
    assert [text[one.start : one.end] for one in marks if one.kind is MarkKind.HIDDEN] == truth.hidden


def test_every_comment_is_on_its_words_and_leads_to_its_text() -> None:
    truth, made = _read()
    document = Document(made.text, made.rendered.layout)
    found = []
    for mark in made.rendered.layout.marks:
        if mark.kind is MarkKind.COMMENTED:
            start, end = document.span_of(mark.note) or (0, 0)
            found.append((made.text[mark.start : mark.end], mark.by, made.text[start:end]))
    assert found == truth.comments
    assert len(found) >= 30


def test_every_quote_is_found_at_its_clause() -> None:
    truth, made = _read()
    document = Document(made.text, made.rendered.layout)
    dice = random.Random(3)
    for _ in range(1_000):
        block = dice.choice([one for one in truth.blocks if len(one.text) > 100])
        start = dice.randrange(30)
        quote = block.text[start : start + 70]
        at = made.text.index(quote)
        where = document.place_name(at, at + len(quote))
        assert where.anchor == block.anchor
        assert made.text[at : at + len(quote)] == quote
        assert document.span_of(block.anchor) == (at - start, at - start + len(block.text))
        assert where.words.startswith(f"clause {block.clause}" if block.clause else "")


def test_clauses_lead_to_their_paragraphs() -> None:
    truth, made = _read()
    document = Document(made.text, made.rendered.layout)
    clauses = [one.clause for one in truth.blocks if one.clause]
    for block in truth.blocks:
        if clauses.count(block.clause) == 1:
            assert document.span_of(block.clause) == document.span_of(block.anchor)


def _is_moved(truth: Contract, words: str) -> bool:
    return any(words == new for new, _, _ in truth.insertions)
