"""Citations of documents: whether the words stand at the anchor, and the name of the place."""

import re
from collections.abc import Sequence
from dataclasses import replace

from runs.documents.model.clause_numbers import was_within
from runs.documents.model.layout import BlockKind
from runs.documents.places.document import Document
from runs.documents.places.marked import offset_of
from runs.enums import CitationStatus
from runs.evidence.citations.citation import Citation
from runs.evidence.passages import Passage, Place, passage_in
from runs.evidence.quotes import useless
from runs.text.truncate import quoted

MISSED = 4
"""Words that are nowhere are looked for in several ways, which takes so many times as long as finding them."""
MAX_SPANS = 20
"""Clauses with one number that are searched for words."""
_LINES = re.compile(r"L(\d{1,9})(?:-L?(\d{1,9}))?", re.IGNORECASE)
_BY_LINES = frozenset({BlockKind.PAGE, BlockKind.ROW, BlockKind.FORMULAS, BlockKind.LINE})


def passage_at(quote: str, document: Document, name: str, anchor: str) -> tuple[Passage | str, int]:
    """Where the document called `name` has the quote, rather at the anchor, or why it proves nothing; and how many
    characters were searched for it.
    """
    spans = spans_of(document, anchor)[:MAX_SPANS]
    searched = 0
    first: Passage | str | None = None
    wanted: list[Place | None] = [*spans] or [None]
    for span in wanted:
        found = passage_in(quote, document, name, span)
        if span and isinstance(found, Passage) and _overlaps(found, [span]):
            return useless(found.words, document) or found, searched + span[1] - span[0] + 4 * len(quote)
        first = first or found
        searched += len(document.text) * (1 if found else MISSED)
    words = first.words if isinstance(first, Passage) else quote
    return useless(words, document) or first or f"{quoted(quote)} does not occur in {name}", searched


def judged_by_place(known: Citation, found: Passage, document: Document, anchor: str) -> Citation:
    """A citation whose words were found: at its anchor, elsewhere, or with an anchor that leads nowhere."""
    spans = spans_of(document, anchor)
    one = replace(
        known,
        quote=found.words,
        source_start=found.span.start,
        source_end=found.span.end,
        source_line=found.span.line,
        anchor=found.where.anchor,
        place=found.where.words,
        cited_place=anchor,
        weak=found.weak,
    )
    where = f"{quoted(found.words)} is in {known.source}, {found.where.words}"
    block = document.block_at(found.span.start)
    if anchor and block and (renumbered := was_within(block, anchor)):
        return replace(one, status=CitationStatus.OK, sentence=f"{where}{found.remarks}; {renumbered}")
    name = f" ({found.where.anchor})" if block and block.clause else ""
    if anchor and not spans:
        return replace(one, sentence=f"{known.source} has no place {quoted(anchor, 40)}; {where}{name}")
    if _overlaps(found, spans):
        return replace(one, status=CitationStatus.OK, sentence=where + found.remarks)
    instead = f"not in {anchor}" if anchor else "which the link did not say"
    return replace(one, status=CitationStatus.CORRECTED, sentence=f"{where}{name}, {instead}{found.remarks}")


def spans_of(document: Document, anchor: str) -> Sequence[Place]:
    """The characters that an anchor means: a place, also by what people call it, cells with their formulas, each clause
    of a number, or lines of the text; maybe none.
    """
    if not anchor:
        return []
    lines = _LINES.fullmatch(anchor)
    if (spans := [*document.parts_of(anchor), *document.formulas_of(anchor)]) or lines is None:
        return spans or document.spans_named(anchor)
    start = offset_of(document.text, int(lines[1]))
    end = offset_of(document.text, max(int(lines[1]), int(lines[2] or 0)) + 1)
    return [(start, min(end, len(document.text)))] if start <= len(document.text) else []


def paragraphs_around(document: Document, start: int, end: int) -> str:
    """The paragraphs that have these characters, with their numbers and the ones beside them; empty for what is no
    paragraph.
    """
    blocks = document.blocks_in(start, end)
    if not blocks or any(block.kind in _BY_LINES for block in blocks):
        return ""
    before, behind = document.block_at(blocks[0].start - 1), document.blocks_in(blocks[-1].end, blocks[-1].end + 2)
    first = before.start if before else blocks[0].start
    numbers = " ".join(block.clause for block in blocks)
    return f"{numbers} {document.text[first : behind[-1].end if behind else blocks[-1].end]}"


def _overlaps(found: Passage, spans: Sequence[Place]) -> bool:
    return any(start < found.span.end and found.span.start < max(end, start + 1) for start, end in spans)
