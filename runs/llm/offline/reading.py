"""Owns how the executor's rules read: which calls to make next, and what the results so far amount to.

A verifier is shown the first 8,000 characters of each tool result. So only lines within that reach count as
read; the rest is asked for again, in smaller pages. What is not read is said, never guessed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from runs.llm.offline.questions import Call, Question
from runs.llm.offline.texts import number_of
from runs.llm.offline.wire import Use

REACH = 7_800
PAGE_CHARS = 7_000
CALLS_PER_TURN = 30
READING_TURNS = 7
PAGES_PER_FILE = 40

_HEADER = re.compile(r"(?P<path>.+), lines (?P<first>\d+)-(?P<last>\d+) of (?P<total>\d+)")
_LISTED = re.compile(r"(?P<size>\d+)\t(?P<path>.+)")
_MORE = re.compile(r"\[(\d+) more are not listed")


@dataclass
class Document:
    """What is known of one file. `total` is None until a page of it was read."""

    path: str
    size: int
    lines: dict[int, str] = field(default_factory=dict)
    total: int | None = None
    refused: str = ""
    calls: int = 0
    cut: bool = False
    """A line is longer than what was shown of it."""

    @property
    def complete(self) -> bool:
        return self.total is not None and len(self.lines) == self.total and not self.cut

    @property
    def started(self) -> bool:
        return self.total is not None or bool(self.refused)

    @property
    def words(self) -> int:
        return sum(len(line.split()) for line in self.lines.values())

    @property
    def text(self) -> str:
        return "\n".join(self.lines[number] for number in sorted(self.lines))


@dataclass(frozen=True)
class Library:
    """The files of a task as far as the calls have shown them. `unlisted`: left out by list_files."""

    documents: Mapping[str, Document]
    listed: bool
    unlisted: int

    def read(self, paths: Sequence[str]) -> list[Document]:
        """Those of which at least one page was read, in the order of the paths."""
        found = [self.documents[path] for path in paths if path in self.documents]
        return [document for document in found if document.total is not None]

    def shortfall(self, paths: Sequence[str]) -> str:
        """A sentence on what was not read, or nothing."""
        known = [self.documents[path] for path in paths]
        unread = [d.path for d in known if not d.started]
        partly = [d.path for d in known if d.total is not None and not d.complete]
        refused = [d.path for d in known if d.refused]
        said = []
        if unread:
            said.append(f"{number_of(len(unread), 'file')} not read, there are too many: {_some(unread)}")
        if partly:
            said.append(f"{number_of(len(partly), 'file')} read in part, too long: {_some(partly)}")
        if refused:
            said.append(f"{number_of(len(refused), 'file')} could not be read as text: {_some(refused)}")
        if self.unlisted:
            said.append(f"{number_of(self.unlisted, 'file')} of the task not listed by list_files")
        return "; ".join(said) + ("." if said else "")


def library(question: Question) -> Library:
    """Everything that listing and reading have shown in this conversation."""
    documents = {path: Document(path, size) for path, size in question.listed.items()}
    listed, unlisted = False, 0
    for call in question.calls:
        if call.name == "list_files" and call.result is not None and not call.is_error:
            listed = True
            unlisted += _take_listing(call.result, documents)
        elif call.name == "read_file" and call.result is not None:
            path = call.text("path")
            _take_page(call, documents.setdefault(path, Document(path, 0)))
    return Library(dict(sorted(documents.items())), listed, unlisted)


def next_reads(books: Library, paths: Sequence[str], turns: int) -> list[Use]:
    """The reads that are still due: pages of files begun before new files. Empty when enough was read."""
    if turns > READING_TURNS:
        return []
    documents = [books.documents[path] for path in paths if path in books.documents]
    begun = [d for d in documents if d.total is not None and not d.complete]
    fresh = [d for d in documents if not d.started and d.calls == 0]
    uses: list[Use] = []
    for document in begun:
        uses += _pages(document)
    for document in fresh:
        lines = 400 if document.size <= PAGE_CHARS else 60
        uses.append(_read(document.path, 1, lines))
    return uses[:CALLS_PER_TURN]


def _pages(document: Document) -> Iterator[Use]:
    """Pages for the lines that are missing, sized after the lines known so far."""
    known = sum(len(line) + 1 for line in document.lines.values())
    most = max(1, min(400, int(PAGE_CHARS * len(document.lines) / max(1, known))))
    allowed = PAGES_PER_FILE - document.calls
    number, total = 1, document.total or 0
    while number <= total and allowed > 0:
        if number in document.lines:
            number += 1
            continue
        end = number
        while end - number < most and end <= total and end not in document.lines:
            end += 1
        yield _read(document.path, number, end - number)
        number, allowed = end, allowed - 1


def _read(path: str, first: int, lines: int) -> Use:
    return Use("read_file", {"path": path, "first_line": first, "lines": lines})


def _take_listing(result: str, documents: dict[str, Document]) -> int:
    unlisted = 0
    for line in result.split("\n"):
        if entry := _LISTED.fullmatch(line):
            documents.setdefault(entry["path"], Document(entry["path"], int(entry["size"])))
        elif more := _MORE.match(line):
            unlisted += int(more[1])
    return unlisted


def _take_page(call: Call, document: Document) -> None:
    document.calls += 1
    result = call.result or ""
    if call.is_error:
        document.refused = result
        return
    head, _, body = result.partition("\n")
    page = _HEADER.fullmatch(head)
    if page is None:
        document.total = 0 if head == f"{document.path} is empty" else document.total
        if document.total is None:
            document.refused = head[:200]
        return
    first, last = int(page["first"]), int(page["last"])
    document.total = int(page["total"])
    reach = REACH - len(head)
    for offset, line in enumerate(body.split("\n")[: last - first + 1]):
        if offset and len(line) > reach:
            break
        document.cut = document.cut or len(line) > reach
        document.lines[first + offset] = line[: max(0, reach)].removesuffix("\r")
        reach -= len(line) + 1


def _some(paths: Sequence[str]) -> str:
    named = ", ".join(paths[:5])
    return named if len(paths) <= 5 else f"{named} and {len(paths) - 5} more"
