"""What the tool calls so far have shown of the documents, and which reads are due next."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runs.pev.verification.questions import SHOWN_CHARS, SHOWN_IN_ALL
from runs.rehearsal.conversation import Call, Use
from runs.rehearsal.places import Line, lines_of
from runs.rehearsal.text import named, number_of

CALLS_PER_TURN = 40
"""Replies of a model that works in parallel are no larger; the journal has one row for each."""
MAX_DOCUMENTS = 200
"""A rehearsal shows how a review goes; it is not made for archives."""
IN_REACH = SHOWN_IN_ALL - SHOWN_CHARS - 10_000
"""Bytes of all documents that are read: a verifier is shown so much beside the file that was written."""
_PAGE = re.compile(r"(?P<path>.+), lines (?P<first>\d+)-(?P<last>\d+) of (?P<total>\d+)(?:, .+)?")
_DOCUMENTS = (
    ".docx",
    ".pdf",
    ".xlsx",
    ".pptx",
    ".odt",
    ".rtf",
    ".epub",
    ".eml",
    ".msg",
    ".png",
    ".jpg",
    ".jpeg",
    ".tif",
)
"""Of these the size says nothing of how much text there is."""
_LISTED = re.compile(r"(\d+)\t([^\t]+).*")


@dataclass
class Document:
    """What is known of one file. `total` lines, None until some were read. `cut`: a line is not shown whole. `places`
    says of a document's lines what they are called.
    """

    path: str
    size: int = 0
    lines: dict[int, str] = field(default_factory=dict)
    total: int | None = None
    refused: bool = False
    cut: bool = False
    places: dict[int, Line] = field(default_factory=dict)

    @property
    def gap(self) -> str:
        """Why it was not read as a whole, or nothing."""
        if self.total is None:
            return "not readable as text" if self.refused else "not read, too long or too many"
        return "read in part" if self.cut or len(self.lines) < self.total else ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines[number] for number in sorted(self.lines))

    @property
    def words(self) -> int:
        return len(self.text.split())

    @property
    def own(self) -> Mapping[int, str]:
        """The lines without what people have commented beside them."""
        aside = {number for number, line in self.places.items() if line.place.startswith("comment")}
        return {number: line for number, line in self.lines.items() if number not in aside}

    @property
    def beginnings(self) -> frozenset[int]:
        """The lines that are known to begin a paragraph."""
        return frozenset(number for number, line in self.places.items() if line.begins)

    @property
    def reach(self) -> int:
        """How many bytes a verifier has to be shown for it, as far as that is known."""
        if not (self.places or (self.total is None and self.path.lower().endswith(_DOCUMENTS))):
            return self.size
        return sum(len(line.encode()) + 60 for line in self.lines.values())

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
        elif call.name == "read_file":
            _take_page(call, documents.setdefault(call.path, Document(call.path)))
    return dict(sorted(documents.items()))


def unlisted(calls: Sequence[Call]) -> int:
    """How many files list_files has left out."""
    listings = [call.result for call in calls if call.name == "list_files"]
    return sum(int(more) for text in listings[-1:] for more in re.findall(r"^\[(\d+) more are not listed", text, re.M))


def in_reach(documents: Iterable[Document]) -> list[Document]:
    """Those that a verifier can be shown from beginning to end, until there is no more room."""
    room, chosen = IN_REACH, list[Document]()
    for document in documents:
        needed = document.reach + 2 * len(document.path) + 200  # with the delimiters around it
        if document.reach <= SHOWN_CHARS and needed <= room and len(chosen) < MAX_DOCUMENTS:
            chosen.append(document)
            room -= needed
    return chosen


def due(documents: Iterable[Document]) -> list[Use]:
    """The next page of each file that has been begun, then new files. Empty when all was read."""
    waiting = [one for one in documents if one.gap and not one.refused and not one.cut]
    waiting.sort(key=lambda one: one.total is None)
    pages = [(one.path, next(n for n in range(1, len(one.lines) + 2) if n not in one.lines)) for one in waiting]
    return [("read_file", {"path": path, "first_line": line}) for path, line in pages[:CALLS_PER_TURN]]


def shortfall(documents: Sequence[Document]) -> str:
    """A sentence on what was not read, or nothing."""
    gaps = {gap: [one.path for one in documents if one.gap == gap] for gap in sorted({one.gap for one in documents})}
    notes = [f"{number_of(len(paths), 'file')} {gap}: {named(paths, 5)}" for gap, paths in gaps.items() if gap]
    return "; ".join(notes) + ("." if notes else "")


def _take_page(call: Call, document: Document) -> None:
    head, _, body = call.result.partition("\n")
    page = _PAGE.fullmatch(head)
    if page is None:
        document.refused = call.is_error
        document.total = None if call.is_error else 0  # “… is empty”
        return
    first, last, document.total = int(page["first"]), int(page["last"]), int(page["total"])
    lines = list(lines_of(call.path, body.split("\n")))
    count = last - first + 1
    document.cut |= "".join(line.text for line in lines[count : count + 1]).startswith("[cut: ")
    for number, line in enumerate(lines[:count], first):
        document.lines[number] = line.text.removesuffix("\r")
        if line.anchor:
            document.places[number] = line
