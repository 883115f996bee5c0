"""Views: variants of a document's text whose offsets can be traced back to the document."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from runs.documents.model.layout import BlockKind, Deletion, Mark, MarkKind
from runs.documents.places.document import Document
from runs.text.boundaries import LINE_HYPHENS

_HYPHENS = (*LINE_HYPHENS, "\u00ad")
_BESIDE = frozenset({BlockKind.COMMENT, BlockKind.HEADER, BlockKind.FOOTER})


class ViewPart(NamedTuple):
    """What a view contains from offset `at`: the document's text from its character `start`, or a deletion."""

    at: int
    start: int
    deletion: Deletion | None = None


class TextView(NamedTuple):
    text: str
    parts: Sequence[ViewPart]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Returns the range in the document that contains these characters of the view and everything between them."""
        return self._at(start), self._at(end - 1) + 1

    def deletions(self, start: int, end: int) -> list[Deletion]:
        """Returns the deletions that contain some of these characters."""
        first = max(bisect_right(self.parts, start, key=_at) - 1, 0)
        return [
            part.deletion for part in self.parts[first : bisect_right(self.parts, end - 1, key=_at)] if part.deletion
        ]

    def _at(self, offset: int) -> int:
        part = self.parts[bisect_right(self.parts, offset, key=_at) - 1]
        return part.start if part.deletion else part.start + offset - part.at


def without_running(document: Document, text: str) -> TextView | None:
    """Returns the text, or another text of the same length, without lines that are repeated on each page. None if there
    are none.
    """
    running = document.marks_on(0, len(text), MarkKind.RUNNING)
    return _join(text, [ViewPart(mark.start, mark.end) for mark in running]) if running else None


def before_changes(document: Document) -> TextView | None:
    """Returns the text as it was before its tracked changes, or None if it has none."""
    inserted = document.marks_on(0, len(document.text), MarkKind.INSERTED)
    if not (inserted or document.layout.deletions):
        return None
    cuts = [ViewPart(mark.start, mark.end) for mark in inserted]
    cuts += [ViewPart(one.at, one.at, one) for one in document.layout.deletions]
    return _join(document.text, cuts)


def own_text(document: Document) -> str:
    """Returns the text with hidden, invisible and side texts blanked, so that searches skip them.
    Offsets stay valid.
    """
    aside = [(block.start, block.end) for block in document.layout.blocks if block.kind in _BESIDE]
    return _blanked(document.text, [*aside, *_spans(document, MarkKind.HIDDEN, MarkKind.UNSEEN)])


def comments_in(document: Document) -> str:
    """Returns the text with everything but comments blanked. Offsets stay valid."""
    return _blanked(
        document.text, [(one.start, one.end) for one in document.layout.blocks if one.kind is not BlockKind.COMMENT]
    )


def with_whole_paragraphs(document: Document, text: str) -> str | None:
    """Marks the ends of paragraphs that end with a hyphen, so that no word is joined across them.

    Returns the text, or another text of the same length, with these line ends replaced by paragraph separators, or None
    if there are none. Within a paragraph a hyphen at the end of a line may divide a word.
    """
    gaps = [
        (block.end, behind.start)
        for block, behind in pairwise(document.layout.blocks)
        if BlockKind.PAGE not in {block.kind, behind.kind} and text[block.start : block.end].rstrip().endswith(_HYPHENS)
    ]
    return _blanked(text, gaps, "\u2029") if gaps else None


def seen_text(document: Document) -> str:
    """Returns the text with invisible characters blanked. Offsets stay valid."""
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


def _join(text: str, cuts: Iterable[ViewPart]) -> TextView:
    """Returns the text without the characters from `at` to before `start` of each cut, and with its
    deletion instead.
    """
    words: list[str] = []
    parts: list[ViewPart] = []
    at = size = 0

    def add(more: str, start: int, deletion: Deletion | None = None) -> None:
        nonlocal size
        if more:
            words.append(more)
            parts.append(ViewPart(size, start, deletion))
            size += len(more)

    for cut in sorted(cuts, key=_at):
        add(text[at : cut.at], at)
        if cut.deletion:
            add(cut.deletion.text, min(max(cut.at, at), max(len(text) - 1, 0)), cut.deletion)
        at = max(at, cut.start)
    add(text[at:], at)
    return TextView("".join(words), parts)


def _at(part: ViewPart) -> int:
    return part.at
