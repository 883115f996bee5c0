"""What tools have shown of the documents, which reads are due next, and what a step has not looked at, and why.

The account is one value: the file of a step, its report and the open points of the run are all made from it.
"""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice, pairwise
from posixpath import splitext
from typing import NamedTuple

from runs.documents.model.layout import Block, BlockKind
from runs.documents.places.document import words_for
from runs.pev.contracts import LeftOut
from runs.pev.conversation.turns import MAX_CALLS
from runs.pev.conversation.window import MAX_RESULT_CHARS
from runs.pev.tools.find_files import READ_IN_PART
from runs.rehearsal.conversation import Call, Use
from runs.rehearsal.text import named, number_of
from runs.text.truncate import truncate_line

_TEXTS = (".md", ".markdown", ".txt", ".csv")
"""Files that a tool shows as they are, whatever they begin with."""
_PAGE_NAME = re.compile(r"\[(page=\d{1,6})\](?: .*)?")
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
    if not shown[-1] and not _PAGE_NAME.fullmatch(shown[-2] if shown[1:] else ""):
        shown.pop()
    return lines_of(path, shown)


def lines_of(path: str, shown: Sequence[str]) -> Iterator[Line]:
    """The lines as they are in the file. A page's name has a line of its own, which is none of the page."""
    if path.lower().endswith(_TEXTS) or not (shown and (_PAGE_NAME.fullmatch(shown[0]) or _PARAGRAPH.match(shown[0]))):
        yield from map(Line, shown)
        return
    paged = bool(_PAGE_NAME.fullmatch(shown[0]))
    anchor = place = ""
    for line in shown:
        if paged and (page := _PAGE_NAME.fullmatch(line)):
            anchor, place = page[1], _called(page[1], BlockKind.PAGE)
        elif (head := _PARAGRAPH.match(line)) and (not paged or head[1].startswith("page=")):  # a comment on a page
            anchor, place = head[1], _called(head[1], BlockKind.PARAGRAPH, head[2] or "")
            yield Line(line[head.end() :], anchor, place, begins=True)
        else:
            yield Line(line, anchor, place)


def _called(anchor: str, kind: BlockKind, clause: str = "") -> str:
    return words_for(Block(anchor=anchor, kind=kind, start=0, end=0, clause=clause))


PAGE_LINES = 10_000
"""The most lines that one call may ask for; so many characters as one answer may have are fewer in most texts."""
_LINES_SHOWN = re.compile(r"(?P<path>.+), lines (?P<first>\d+)-(?P<last>\d+) of (?P<total>\d+)(?:, .+)?")
_FORMATS = re.compile(r"\.(?:docx|pdf|xlsx|pptx|odt|rtf|epub|eml|msg|png|jpe?g|tif)", re.IGNORECASE)
"""Formats whose size says nothing about how much text there is."""
_LISTED = re.compile(r"(\d+)\t([^\t]+).*")


@dataclass(frozen=True)
class Limits:
    """What is beyond a limit becomes an open point of the run; a test goes over all fields.

    `turns`: after so many turns nothing more is read or commented: 12 are usual, and the last are needed for the file
    and the report. `calls`: tool calls of one turn. `characters`: those read of all documents together. `file_chars`:
    those of a file that is written.
    """

    turns: int = 9
    calls: int = MAX_CALLS
    characters: int = 1_000_000
    file_chars: int = 1_000_000

    @property
    def of_own_files(self) -> "Limits":
        """For files that the run has written itself: they are read whole, however long they are."""
        return replace(self, characters=sys.maxsize)


DEFAULT = Limits()


@dataclass
class Document:
    """What is known of one file. `total` lines, None until some were read. `cut`: lines that were shown in part only.
    `pages`: how many calls have shown some of it. `places` says what its lines are called. `unread`: what of it its
    reader could not read, so that no line of it says anything of that.
    """

    path: str
    size: int = 0
    lines: dict[int, str] = field(default_factory=dict)
    total: int | None = None
    refused: bool = False
    cut: set[int] = field(default_factory=set)
    pages: int = 0
    places: dict[int, Line] = field(default_factory=dict)
    unread: str = ""

    @property
    def missing(self) -> list[tuple[int, int]]:
        """The first and last lines of what was not read of a document that was begun."""
        last = self.total or 0
        ends = [0, *sorted(self.lines), last + 1]
        return [(one + 1, other - 1) for one, other in pairwise(ends) if one + 1 < other]

    @property
    def is_format(self) -> bool:
        """Whether it is a document of some program, whose size says nothing about how much text there is."""
        return bool(_FORMATS.fullmatch(splitext(self.path)[1]))

    @property
    def text(self) -> str:
        return "\n".join(self.lines[number] for number in sorted(self.lines))

    @property
    def characters(self) -> int:
        return sum(len(line) + 1 for line in self.lines.values())

    @property
    def words(self) -> int:
        return len(self.text.split())

    @property
    def beginnings(self) -> frozenset[int]:
        """The lines that are known to begin a paragraph."""
        return frozenset(number for number, line in self.places.items() if line.begins)

    def place(self, line: int) -> str:
        """What people call the place of a line: "clause 4.2(b)", "page 2", or "line 47" of a text."""
        return self.places[line].place if line in self.places else f"line {line}"

    def anchor(self, first: int, last: int) -> str:
        """What a citation calls these lines."""
        if first not in self.places:
            return f"L{first}" if first == last else f"L{first}-L{last}"
        begins, ends = (self.places[number].anchor if number in self.places else "" for number in (first, last))
        paged = begins != ends and begins.startswith("page=") and ends.startswith("page=")
        return f"{begins}-{ends.removeprefix('page=')}" if paged else begins


def library(calls: Sequence[Call], expected: Iterable[str]) -> dict[str, Document]:
    """The files by path, as far as the calls have shown them, and those that are expected to be there."""
    documents = {path: Document(path) for path in expected}
    for call in calls:
        if call.name == "list_files":
            for line in call.result.split("\n"):
                if entry := _LISTED.fullmatch(line):
                    documents.setdefault(entry[2], Document(entry[2])).size = int(entry[1])
                path, is_in_part, unread = line.removesuffix("]").partition(f" {READ_IN_PART}")
                if is_in_part and path[1:] in documents:
                    documents[path[1:]].unread = unread
        elif call.name == "read_file":
            _take_page(call, documents.setdefault(call.path, Document(call.path)))
    return dict(sorted(documents.items()))


def unlisted(calls: Sequence[Call]) -> int:
    """How many files list_files has left out."""
    listings = [call.result for call in calls if call.name == "list_files"]
    return sum(int(more) for text in listings[-1:] for more in re.findall(r"^\[(\d+) more are not listed", text, re.M))


def due(documents: Iterable[Document], limits: Limits, turns: int) -> list[Use]:
    """The next parts of the files that have been begun, then new files. Empty when all was read, or at a limit."""
    if turns >= limits.turns:
        return []
    known = [one for one in documents if not one.refused]
    room = limits.characters - sum(one.characters for one in known)
    return list(islice(_reads(known, room), limits.calls))


def _reads(documents: Sequence[Document], room: int) -> Iterator[Use]:
    """As many as there is room for, in characters. A text that has more than that is not begun."""
    for document in documents:
        read, pages = max(1, len(document.lines)), max(1, document.pages)
        at_once, width = max(1, 4 * read // (5 * pages)), document.characters // read + 1
        for first, last in document.missing:
            for start in range(first, last + 1, at_once):
                if room <= 0:
                    return
                count = min(at_once, last - start + 1)
                yield "read_file", {"path": document.path, "first_line": start, "lines": count}
                room -= min(MAX_RESULT_CHARS, count * width)
    for document in documents:
        if document.total is None and (document.is_format or document.size <= room):
            yield "read_file", {"path": document.path, "first_line": 1, "lines": PAGE_LINES}
            room -= MAX_RESULT_CHARS if document.is_format else document.size
        if room <= 0:
            return


def _take_page(call: Call, document: Document) -> None:
    head, _, body = call.result.partition("\n")
    page = _LINES_SHOWN.fullmatch(head)
    if page is None:
        if not document.pages:
            document.refused = call.is_error
            document.total = None if call.is_error else 0  # “… is empty”
        return
    document.pages += 1
    first, last, document.total = int(page["first"]), int(page["last"]), int(page["total"])
    lines = list(lines_of(call.path, body.split("\n")))
    count = last - first + 1
    if "".join(line.text for line in lines[count : count + 1]).startswith("[cut: "):
        document.cut.add(last)
    for number, line in enumerate(lines[:count], first):
        document.lines[number] = line.text.removesuffix("\r")
        if line.anchor:
            document.places[number] = line


_UNREAD_CHARS = 200
"""A reason is one line of a contract, with room for the others."""
TOO_LONG = "too long for the offline rules"


class Share(StrEnum):
    """How much of a document was looked at. The values are words for people."""

    WHOLE = "reviewed"
    PART = "not reviewed as a whole"
    NOTHING = "not reviewed"
    DISMISSED = "left out, by feedback"


@dataclass(frozen=True)
class Account:
    """The documents of a task, and the number of files that no tool has listed. `dismissed`: the paths that a person
    has left out.
    """

    documents: Sequence[Document]
    unlisted: int = 0
    limits: Limits = DEFAULT
    dismissed: Collection[str] = ()

    @cached_property
    def _shares(self) -> dict[str, tuple[Share, str]]:
        return {one.path: self._share(one) for one in self.documents}

    def with_share(self, *shares: Share) -> list[Document]:
        return [one for one in self.documents if self._shares[one.path][0] in shares]

    def note(self, document: Document) -> str:
        """How much of it was looked at and why not all; nothing for a document that was reviewed as a whole."""
        share, why = self._shares[document.path]
        return "" if share is Share.WHOLE else f"{share}: {why}" if why else str(share)

    @property
    def left_out(self) -> list[LeftOut]:
        """What was not looked at although no person has said so."""
        left = [LeftOut(path=one.path, why=self.note(one)) for one in self.with_share(Share.NOTHING, Share.PART)]
        if self.unlisted:
            left.append(LeftOut(path="", why="not reviewed: files that the list of all files had no room for"))
        return left

    @property
    def shortfall(self) -> str:
        """A clause such as “not reviewed: a.md and 3 more”, or nothing."""
        paths = {share: [one.path for one in self.with_share(share)] for share in (Share.NOTHING, Share.PART)}
        clauses = [f"{share}: {named(some, 5)}" for share, some in paths.items() if some]
        if self.unlisted:
            clauses.append(f"not listed: {number_of(self.unlisted, 'more file')}")
        return "; ".join(clauses)

    def _share(self, document: Document) -> tuple[Share, str]:
        """How much of a document was looked at, and why not all of it."""
        if document.path in self.dismissed:
            return Share.DISMISSED, ""
        if document.refused:
            return Share.NOTHING, "it cannot be read as text"
        if document.total is None:
            too_long = document.size > self.limits.characters and not document.is_format
            why = TOO_LONG if too_long else "with the other documents it is more than the offline rules read"
            return Share.NOTHING, why
        reasons = [unread] if (unread := truncate_line(document.unread.rstrip("."), _UNREAD_CHARS)) else []
        if document.missing or document.cut:
            why = f"{len(document.lines) - len(document.cut):,} of {document.total:,} lines were read"
            why += f", the rest is {TOO_LONG}" if document.missing else ""
            if document.cut:
                why += f", of {number_of(len(document.cut), 'very long line')} only the beginning was"
            reasons.append(why)
        return (Share.PART, "; ".join(reasons)) if reasons else (Share.WHOLE, "")
