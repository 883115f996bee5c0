"""The documents of a task, as far as tool calls have shown them: their lines with their places, and what is read next.

A document that is longer than the limits is not reviewed at all, and is named with this reason.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from runs.documents.model.layout import Block, BlockKind
from runs.documents.places.document import words_for
from runs.pev.contracts import LeftOut
from runs.pev.conversation.turns import MAX_CALLS
from runs.pev.tools.find_files import READ_IN_PART
from runs.rehearsal.conversation import Call, Use
from runs.text.truncate import truncate_line


@dataclass(frozen=True)
class Limits:
    """What the offline rules read and write at most.

    `turns`: after so many turns nothing more is read or commented; a step has 12, and the last ones are needed for the
    file and the report. `file_characters`: those of one document, and of a file that is written, which a later step
    reads. `task_characters`: those of all documents together.
    """

    turns: int = 9
    file_characters: int = 200_000
    task_characters: int = 1_000_000


LINES_OF_A_CALL = 10_000
"""The most that one call may ask for; the characters of an answer are fewer in most texts."""
_TEXTS = (".md", ".markdown", ".txt", ".csv")
"""Files that a tool shows as they are, even if they begin like a document."""
_PAGE_NAME = re.compile(r"\[(page=\d{1,6})\](?: .*)?")
_PARAGRAPH = re.compile(
    r"\[((?:[a-z]{1,2}\d|page=\d{1,6}\.|L\d|[^\[\]!]{1,60}!)[^\[\]]{0,60})\] "
    r"(?:((?:\d{1,3}|\(\w{1,5}\))(?:\.\d{1,3}|\(\w{1,5}\)){1,8}|\(\w{1,5}\)|\d{1,3}(?= [A-ZÄÖÜÉ{]))(?: |$)|"
    r"[^{}]{0,40} (?={))?"
    r"(?:\{[^{}]{1,600}\} )*"
)
"""Anchor, number and remarks. A bare number is the number of a clause if a sentence or a title follows it."""


class Line(NamedTuple):
    """A line of a document. `anchor`: what a citation calls its place; `place`: what people call it, such as “clause
    4.2(b)”; `begins`: whether a paragraph begins with it.
    """

    number: int
    text: str
    anchor: str
    place: str
    begins: bool = False


def lines_in(path: str, text: str) -> list[Line]:
    """The lines of a whole file. A line end at its end begins no line, but an empty page does."""
    shown = text.split("\n")
    if not shown[-1] and not _PAGE_NAME.fullmatch(shown[-2] if shown[1:] else ""):
        shown.pop()
    return list(lines_of(path, shown))


def lines_of(path: str, shown: Sequence[str], first: int = 1) -> Iterator[Line]:
    """The lines as they are in the file, numbered from `first`, without the names of places and the remarks."""
    is_document = shown and (_PAGE_NAME.fullmatch(shown[0]) or _PARAGRAPH.match(shown[0]))
    if path.lower().endswith(_TEXTS) or not is_document:
        yield from (Line(number, text, f"L{number}", f"line {number}") for number, text in enumerate(shown, first))
        return
    is_paged = bool(_PAGE_NAME.fullmatch(shown[0]))
    number, anchor, place = first, "", ""
    for text in shown:
        if is_paged and (page := _PAGE_NAME.fullmatch(text)):  # this line is not part of the page
            anchor, place = page[1], _place(page[1], BlockKind.PAGE)
            continue
        head = _PARAGRAPH.match(text)
        begins = head is not None and (not is_paged or head[1].startswith("page="))  # of pages: a comment on one
        if head and begins:
            anchor, place = head[1], _place(head[1], BlockKind.PARAGRAPH, head[2] or "")
        yield Line(number, text[head.end() :] if head and begins else text, anchor, place, begins)
        number += 1


def _place(anchor: str, kind: BlockKind, clause: str = "") -> str:
    return words_for(Block(anchor=anchor, kind=kind, start=0, end=0, clause=clause))


TOO_LONG = "too long for the offline rules"
NOT_TEXT = "it cannot be read as text"
LONG_LINE = "it has a line that is too long for the offline rules"
DISMISSED = "left out, by feedback"
_UNREAD_CHARS = 200


@dataclass
class Document:
    """What tool calls have shown of a file. `total`: its number of lines, None until some were read. `problem`: why it
    is not reviewed. `unread`: what the reader of its format could not read. `is_dismissed`: a person has left it out.
    """

    path: str
    size: int = 0
    lines: list[Line] = field(default_factory=list)
    total: int | None = None
    problem: str = ""
    unread: str = ""
    is_dismissed: bool = False

    @property
    def is_due(self) -> bool:
        """Whether more of it has to be read."""
        return not (self.is_dismissed or self.problem or self.total == len(self.lines))

    @property
    def is_reviewed(self) -> bool:
        return not (self.is_dismissed or self.problem or self.is_due)

    @property
    def note(self) -> str:
        """What was not reviewed of it, and why. Empty if all of it was."""
        if self.is_dismissed:
            return DISMISSED
        if not self.is_reviewed:
            return f"not reviewed: {self.problem or TOO_LONG}"
        return f"not reviewed as a whole: {self.unread}" if self.unread else ""

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    @property
    def characters(self) -> int:
        return sum(len(line.text) + 1 for line in self.lines)

    def anchor(self, first: int, last: int) -> str:
        """What a citation calls these lines. The place of a paragraph is that of its last line."""
        begins, ends = (self.lines[number - 1].anchor for number in (first, last))
        is_range = begins != ends and re.match(r"(?:L|page=)\d+\Z", ends)
        return f"{begins}-{ends.removeprefix('page=')}" if is_range else ends


_LISTED = re.compile(r"(\d+)\t([^\t]+).*")
_LINES_SHOWN = re.compile(r"(?P<path>.+), lines (?P<first>\d+)-(?P<last>\d+) of (?P<total>\d+)(?:, .+)?")


def documents_in(calls: Iterable[Call], limits: Limits, expected: Iterable[str] = ()) -> dict[str, Document]:
    """The files by path that the calls have listed or read, and those that are expected to be there."""
    documents = {path: Document(path) for path in expected}
    for call in calls:
        if call.name == "list_files":
            for line in call.result.split("\n"):
                if entry := _LISTED.fullmatch(line):
                    documents.setdefault(entry[2], Document(entry[2])).size = int(entry[1])
                path, is_in_part, unread = line.removesuffix("]").partition(f" {READ_IN_PART}")
                if is_in_part and path[1:] in documents:
                    documents[path[1:]].unread = truncate_line(unread.rstrip("."), _UNREAD_CHARS)
        elif call.name == "read_file":
            _add_page(call, documents.setdefault(call.path, Document(call.path)), limits)
    return dict(sorted(documents.items()))


def _add_page(call: Call, document: Document, limits: Limits) -> None:
    head, _, body = call.result.partition("\n")
    page = _LINES_SHOWN.fullmatch(head)
    if page is None:
        document.total = 0  # “… is empty”
        document.problem = NOT_TEXT if call.is_error else ""
        return
    first, last, document.total = int(page["first"]), int(page["last"]), int(page["total"])
    count = last - first + 1
    lines = list(lines_of(call.path, body.split("\n"), first))
    document.lines += [line._replace(text=line.text.removesuffix("\r")) for line in lines[:count]]
    if "".join(line.text for line in lines[count : count + 1]).startswith("[cut: "):
        document.problem = LONG_LINE
    elif document.characters > limits.file_characters:
        document.problem = TOO_LONG


def not_listed(calls: Iterable[Call]) -> int:
    """How many files there are beyond those that list_files has listed."""
    listings = [call.result for call in calls if call.name == "list_files"]
    return sum(int(more) for text in listings[-1:] for more in re.findall(r"^\[(\d+) more are not listed", text, re.M))


def next_reads(documents: Iterable[Document], limits: Limits, turns: int) -> list[Use]:
    """The next page of each document that is due, those that have been begun first. Empty at the limit of turns."""
    if turns >= limits.turns:
        return []
    due = sorted((one for one in documents if one.is_due), key=lambda one: one.total is None)
    pages = ((one.path, len(one.lines) + 1) for one in due[:MAX_CALLS])
    return [("read_file", {"path": path, "first_line": first, "lines": LINES_OF_A_CALL}) for path, first in pages]


def gaps_of(documents: Iterable[Document]) -> list[LeftOut]:
    """What was not reviewed although no person has said so."""
    return [LeftOut(path=one.path, why=one.note) for one in documents if one.note and not one.is_dismissed]
