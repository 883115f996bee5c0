"""What the tool calls so far have shown of the documents, which reads are due next, and the limits of a step."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from posixpath import splitext

from runs.pev.conversation.turns import MAX_CALLS
from runs.pev.conversation.window import MAX_RESULT_CHARS
from runs.pev.tools.find_files import READ_IN_PART
from runs.rehearsal.conversation import Call, Use
from runs.rehearsal.places import Line, lines_of

PAGE_LINES = 10_000
"""The most lines that one call may ask for; so many characters as one answer may have are fewer in most texts."""
_PAGE = re.compile(r"(?P<path>.+), lines (?P<first>\d+)-(?P<last>\d+) of (?P<total>\d+)(?:, .+)?")
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
    page = _PAGE.fullmatch(head)
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
