"""A text cut into pieces where something begins or ends: the marked place, changes, comments, hidden text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from runs.documents.model.layout import Mark, MarkKind
from runs.documents.places.document import Document

MAX_PIECES = 2_000
"""Pieces of one paragraph: each is an element of the page, and more changes in one paragraph are unreadable."""
MAX_AT_ONCE = 20
_SHOWN = (MarkKind.INSERTED, MarkKind.COMMENTED, MarkKind.HIDDEN, MarkKind.STRUCK, MarkKind.UNSEEN)
_SAID = {
    MarkKind.INSERTED: "inserted",
    MarkKind.COMMENTED: "commented",
    MarkKind.HIDDEN: "hidden in the document",
    MarkKind.STRUCK: "struck through in the document",
    MarkKind.UNSEEN: "cannot be seen in the document",
}


class Piece(NamedTuple):
    """`hit`: it is pointed at; `first`, its first one. `marks` are words for what is true of it, `said` is for people:
    "inserted by Alice, 2026-11-01". A `deleted` piece is not in the text any more.
    """

    text: str
    hit: bool = False
    first: bool = False
    marks: tuple[str, ...] = ()
    said: str = ""
    deleted: bool = False


def pieces(document: Document, start: int, end: int, hit: tuple[int, int]) -> Iterator[Piece]:
    """The characters `start` to before `end`, with what was deleted among them. Linear in what it has of both: the text
    behind the first `MAX_PIECES` is one piece.
    """
    marks = sorted(document.marks_on(start, end, *_SHOWN), key=lambda mark: mark.start)
    deletions = document.deletions_in(start, end)
    cuts = {start, end, *hit, *(one.at for one in deletions)}
    cuts |= {edge for mark in marks for edge in (mark.start, mark.end)}
    places = sorted(cut for cut in cuts if start <= cut <= end)
    at = begun = 0
    current: list[Mark] = []
    for place, after in zip(places[:MAX_PIECES], [*places[1:], end], strict=False):
        while at < len(deletions) and deletions[at].at <= place:
            one = deletions[at]
            yield Piece(one.text, said=_by("deleted", one.by, one.on), marks=("deleted",), deleted=True)
            at += 1
        while begun < len(marks) and marks[begun].start <= place:
            current.append(marks[begun])
            begun += 1
        current = [mark for mark in current if mark.end > place][:MAX_AT_ONCE]
        if place < after:
            yield _piece(document.text[place:after], place, after, hit, current)
    if len(places) > MAX_PIECES:
        yield Piece(document.text[places[MAX_PIECES] : end])


def _piece(text: str, start: int, end: int, hit: tuple[int, int], on: list[Mark]) -> Piece:
    said = "; ".join(dict.fromkeys(_by(_SAID[mark.kind], mark.by, mark.on) for mark in on))
    is_hit = hit[0] < end and start < hit[1]
    return Piece(text, is_hit, is_hit and start <= hit[0], tuple({mark.kind.value: None for mark in on}), said)


def _by(what: str, person: str, on: str) -> str:
    """Dates stand in files to the second; the day is enough."""
    return ", ".join(filter(None, [f"{what} by {person}" if person else what, on.partition("T")[0]]))
