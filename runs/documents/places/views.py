"""Other views of a document's text, of which each part is known to stand where it stands in that text."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from runs.documents.model.layout import BlockKind, Deletion, Mark, MarkKind
from runs.documents.places.document import Document
from runs.text.boundaries import LINE_HYPHENS

_HYPHENS = (*LINE_HYPHENS, "\u00ad")
_BESIDE = frozenset({BlockKind.COMMENT, BlockKind.HEADER, BlockKind.FOOTER})


class Part(NamedTuple):
    """What stands in a view from `at` on: text of the document from its character `start` on, or a deletion."""

    at: int
    start: int
    deletion: Deletion | None = None


class View(NamedTuple):
    text: str
    parts: Sequence[Part]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where these characters stand in the document, from the first to behind the last, with what lies between."""
        return self._at(start), self._at(end - 1) + 1

    def deletions(self, start: int, end: int) -> list[Deletion]:
        """Those that have some of these characters."""
        first = max(bisect_right(self.parts, start, key=_at) - 1, 0)
        return [
            part.deletion for part in self.parts[first : bisect_right(self.parts, end - 1, key=_at)] if part.deletion
        ]

    def _at(self, offset: int) -> int:
        part = self.parts[bisect_right(self.parts, offset, key=_at) - 1]
        return part.start if part.deletion else part.start + offset - part.at


def without_running(document: Document, text: str) -> View | None:
    """The text, or another as long as it is, without the lines that stand on each page; None if there are none."""
    running = document.marks_on(0, len(text), MarkKind.RUNNING)
    return _joined(text, [Part(mark.start, mark.end) for mark in running]) if running else None


def before_changes(document: Document) -> View | None:
    """The text as it was before its tracked changes; None if it has none."""
    inserted = document.marks_on(0, len(document.text), MarkKind.INSERTED)
    if not (inserted or document.layout.deletions):
        return None
    cuts = [Part(mark.start, mark.end) for mark in inserted]
    cuts += [Part(one.at, one.at, one) for one in document.layout.deletions]
    return _joined(document.text, cuts)


def own_text(document: Document) -> str:
    """The text with what is hidden, invisible or beside it made unfindable, so that all offsets stay true."""
    aside = [(block.start, block.end) for block in document.layout.blocks if block.kind in _BESIDE]
    return _blanked(document.text, [*aside, *_spans(document, MarkKind.HIDDEN, MarkKind.UNSEEN)])


def comments_in(document: Document) -> str:
    """What comments say, with all other text made unfindable, so that all offsets stay true."""
    return _blanked(
        document.text, [(one.start, one.end) for one in document.layout.blocks if one.kind is not BlockKind.COMMENT]
    )


def with_whole_paragraphs(document: Document, text: str) -> str | None:
    """The text, or another as long as it is, with marks of paragraphs in place of the line ends behind paragraphs that
    end with a hyphen. It breaks no word there, as it does at the end of a line. None if no paragraph ends so.
    """
    gaps = [
        (block.end, behind.start)
        for block, behind in pairwise(document.layout.blocks)
        if BlockKind.PAGE not in {block.kind, behind.kind} and text[block.start : block.end].rstrip().endswith(_HYPHENS)
    ]
    return _blanked(text, gaps, "\u2029") if gaps else None


def seen_text(document: Document) -> str:
    """The text with what is invisible made unfindable, so that all offsets stay true."""
    return _blanked(document.text, _spans(document, MarkKind.UNSEEN))


def _spans(document: Document, *kinds: MarkKind) -> Iterator[tuple[int, int]]:
    marks: Iterable[Mark] = document.marks_on(0, len(document.text), *kinds)
    return ((mark.start, mark.end) for mark in marks)


def _blanked(text: str, spans: Iterable[tuple[int, int]], blank: str = "\0") -> str:
    parts: list[str] = []
    at = 0
    for start, end in sorted(spans):
        first, last = max(start, at), max(end, at)
        parts += [text[at:first], blank * (last - first)]
        at = last
    return "".join([*parts, text[at:]])


def _joined(text: str, cuts: Iterable[Part]) -> View:
    """The text without the characters from `at` to before `start` of each cut, and with its deletion in their place."""
    words: list[str] = []
    parts: list[Part] = []
    at = size = 0

    def add(more: str, start: int, deletion: Deletion | None = None) -> None:
        nonlocal size
        if more:
            words.append(more)
            parts.append(Part(size, start, deletion))
            size += len(more)

    for cut in sorted(cuts, key=_at):
        add(text[at : cut.at], at)
        if cut.deletion:
            add(cut.deletion.text, min(max(cut.at, at), max(len(text) - 1, 0)), cut.deletion)
        at = max(at, cut.start)
    add(text[at:], at)
    return View("".join(words), parts)


def _at(part: Part) -> int:
    return part.at
