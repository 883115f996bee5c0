"""Quotes at random places of texts that are known, looked up in what a reader has made of them."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from runs.documents.formats.pdf.characters import text_of, text_page_of
from runs.documents.formats.pdf.drawing import open_document, page_of
from runs.documents.formats.pdf.geometry import PageView, rectangles
from runs.documents.model.layout import MarkKind
from runs.documents.reading.building import BuiltDocument
from runs.text.normalisation import find_same_text, folded

_WORDS = 15


class Found(NamedTuple):
    """Of so many quotes that were `asked` for, where those that were found stand, and how many of these are `equal`."""

    asked: int
    spans: Sequence[tuple[int, int]]
    equal: int

    @property
    def share(self) -> float:
        return len(self.spans) / self.asked


def look_up(words: Sequence[str], text: str, count: int, seed: int = 2) -> Found:
    """So many quotes of fifteen words."""
    places = random.Random(seed)
    quotes = [" ".join(words[at : at + _WORDS]) for at in (places.randrange(len(words) - _WORDS) for _ in range(count))]
    found = [(quote, span) for quote in quotes if (span := find_same_text(quote, text))]
    equal = sum(folded(text[slice(*span)]) == folded(quote) for quote, span in found)
    return Found(count, [span for _, span in found], equal)


def without_running(made: BuiltDocument) -> str:
    """The text without the lines that stand on most pages."""
    text = made.text
    for mark in reversed(made.rendered.layout.marks):
        if mark.kind is MarkKind.RUNNING:
            text = text[: mark.start] + text[mark.end :]
    return text


class Rectangles(NamedTuple):
    """How many rectangles a quote has at most, how many of all are `off` their page, and how many quotes have none."""

    max: int
    off: int
    bare: int


def rectangles_of(data: bytes, made: BuiltDocument, spans: Sequence[tuple[int, int]]) -> Rectangles:
    """Of places in a PDF file that were found, those over page breaks included."""
    counts: Counter[int] = Counter()
    off = 0
    with open_document(data) as document:
        for number, block in enumerate(made.rendered.layout.blocks, 1):
            here = [at for at, span in enumerate(spans) if span[0] < block.end and block.start < span[1]]
            with page_of(document, number) as page, text_page_of(page) as text_page:
                text, view = text_of(text_page), PageView(page)
                for at in here:
                    start, end = max(spans[at][0], block.start), min(spans[at][1], block.end)
                    found = rectangles(text_page, view, *text.span(start - block.start, end - block.start))
                    counts[at] += len(found)
                    off += sum(not (0 <= x < x2 <= 1 and 0 <= y < y2 <= 1) for x, y, x2, y2 in found)
    return Rectangles(max(counts.values()), off, sum(not counts[at] for at in range(len(spans))))
