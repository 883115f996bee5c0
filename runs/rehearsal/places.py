"""What tools show of a document: its lines, and before its paragraphs and pages what these are called."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runs.documents.model.layout import Block, BlockKind
from runs.documents.places.document import words_for

_TEXTS = (".md", ".markdown", ".txt", ".csv")
"""Files that a tool shows as they are, whatever they begin with."""
_PAGE = re.compile(r"\[(page=\d{1,6})\](?: .*)?")
_PARAGRAPH = re.compile(
    r"\[((?:[a-z]{1,2}\d|page=\d{1,6}\.|L\d|[^\[\]!]{1,60}!)[^\[\]]{0,60})\] "
    r"(?:((?:\d{1,3}|\(\w{1,5}\))(?:\.\d{1,3}|\(\w{1,5}\)){1,8}|\(\w{1,5}\)|\d{1,3}(?= [A-ZÄÖÜÉ{]))(?: |$)|"
    r"[^{}]{0,40} (?={))?"
    r"(?:\{[^{}]{1,600}\} )*"
)
"""Name, number and remarks. A bare number is one of a clause where a sentence or a title begins behind it."""


class Line(NamedTuple):
    """`place` is what people call where it stands, "clause 4.2(b)"; it and `anchor` are empty in a text. `begins`: a
    paragraph of its own begins with it.
    """

    text: str
    anchor: str = ""
    place: str = ""
    begins: bool = False


def lines_in(path: str, text: str) -> Iterator[Line]:
    """The lines of a whole file. A line end that ends it begins none, but an empty page at the end is a line."""
    shown = text.split("\n")
    if not shown[-1] and not _PAGE.fullmatch(shown[-2] if shown[1:] else ""):
        shown.pop()
    return lines_of(path, shown)


def lines_of(path: str, shown: Sequence[str]) -> Iterator[Line]:
    """The lines as they are in the file. A page's name has a line of its own, which is none of the page."""
    if path.lower().endswith(_TEXTS) or not (shown and (_PAGE.fullmatch(shown[0]) or _PARAGRAPH.match(shown[0]))):
        yield from map(Line, shown)
        return
    paged = bool(_PAGE.fullmatch(shown[0]))
    anchor = place = ""
    for line in shown:
        if paged and (page := _PAGE.fullmatch(line)):
            anchor, place = page[1], _called(page[1], BlockKind.PAGE)
        elif (head := _PARAGRAPH.match(line)) and (not paged or head[1].startswith("page=")):  # a comment on a page
            anchor, place = head[1], _called(head[1], BlockKind.PARAGRAPH, head[2] or "")
            yield Line(line[head.end() :], anchor, place, begins=True)
        else:
            yield Line(line, anchor, place)


def _called(anchor: str, kind: BlockKind, clause: str = "") -> str:
    return words_for(Block(anchor=anchor, kind=kind, start=0, end=0, clause=clause))
