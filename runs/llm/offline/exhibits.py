"""Owns what lies before the verifier: documents and tool results, by line, and the entries in them.

It reads for itself and shares nothing with the executor's rules, so that an error there is not repeated here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from runs.llm.offline.questions import Question
from runs.pev.delimiters import Block

_CUT = re.compile(r" \(only the first \d+ characters\)$")
_PAGE = re.compile(r"(?P<path>.+), lines (?P<first>\d+)-(?P<last>\d+) of (?P<total>\d+)")
_EMPTY = re.compile(r"(?P<path>.+) is empty")
TOOL_CHARS = 8_000
"""What is shown of a tool's result; the last line of a longer one may be cut."""


@dataclass
class Exhibit:
    """The lines that are known of one file. `whole`: it was given from its first to its last character."""

    path: str
    lines: dict[int, str] = field(default_factory=dict)
    total: int | None = None
    whole: bool = False

    @cached_property
    def folded(self) -> str:
        """The known lines in order as one line."""
        return " ".join(" ".join(self.lines[number] for number in sorted(self.lines)).split())

    @property
    def text(self) -> str:
        return "\n".join(self.lines[number] for number in sorted(self.lines))

    def holds(self, quote: str, line: int) -> bool:
        """Whether the quote stands in the known lines and begins in `line`; it may run on."""
        wanted = " ".join(quote.split())
        around = " ".join(" ".join(self.lines.get(n, "") for n in range(line, line + 60)).split())
        own = " ".join(self.lines.get(line, "").split())
        at = around.find(wanted)
        return bool(wanted) and 0 <= at < max(1, len(own))


@dataclass(frozen=True)
class Entry:
    """One `### ` entry of a written file: its heading, its fields, its quote and the line of its heading."""

    heading: str
    fields: Mapping[str, str]
    quote: str
    line: int

    @property
    def name(self) -> str:
        return self.heading.split(" ", 1)[0]

    @property
    def place(self) -> str:
        """Who is meant, for feedback."""
        document, line = self.fields.get("Document"), self.fields.get("Line")
        if not document:
            return f"{self.name} “{self.heading.partition(' · ')[2]}”"
        return f"{self.name} ({document}, line {line})" if line else f"{self.name} ({document})"


@dataclass(frozen=True)
class Exhibits:
    """`files`: documents shown and pages read by tools. `sizes`: what list_files said."""

    files: Mapping[str, Exhibit]
    output: str
    sizes: Mapping[str, int]
    unlisted: int
    sources: Sequence[tuple[str, str]]
    """Everything with its name, for criteria that are only compared by their words."""


def exhibits(question: Question) -> Exhibits:
    files: dict[str, Exhibit] = {}
    sizes: dict[str, int] = {}
    unlisted = 0
    for item in question.all("tool"):
        unlisted += _listing(item.text, sizes)
        _page(item.text, files)
    for item in question.all("document"):
        _document(item, files)
    output = question.one("output")
    documents = [(_CUT.sub("", item.name), item.text) for item in question.all("document")]
    tools = [(item.name, item.text) for item in question.all("tool")]
    return Exhibits(files, output, sizes, unlisted, [*documents, ("@output", output), *tools])


def _document(item: Block, files: dict[str, Exhibit]) -> None:
    """A whole document replaces the pages that were read of it; of one that is cut, its last line may be."""
    path = _CUT.sub("", item.name)
    lines = item.text.removesuffix("\n").split("\n") if item.text else []
    if path == item.name:
        files[path] = Exhibit(path, dict(enumerate(lines, 1)), len(lines), whole=True)
        return
    exhibit = files.setdefault(path, Exhibit(path))
    exhibit.lines.update(enumerate(lines[:-1], 1))


def entries(exhibit: Exhibit) -> Iterator[Entry]:
    """The entries of a file in order. A heading of the first or second level ends one."""
    heading, start, body = "", 0, list[str]()
    for number, line in [*sorted(exhibit.lines.items()), (0, "## ")]:
        if not line.startswith(("# ", "## ", "### ")):
            body.append(line)
            continue
        if heading:
            yield _entry(heading, body, start)
        heading = line[4:].strip() if line.startswith("### ") else ""
        start, body = number, []


def _entry(heading: str, body: Sequence[str], line: int) -> Entry:
    fields: dict[str, str] = {}
    for text in body:
        if match := re.fullmatch(r"- ([A-Z][A-Za-z ]*): (.*\S)\s*", text):
            fields.setdefault(match[1], match[2])
    quote = " ".join(text[2:] for text in body if text.startswith("> "))
    return Entry(heading, fields, quote.strip(), line)


def _listing(text: str, sizes: dict[str, int]) -> int:
    """Only a result that begins as list_files does counts as a listing."""
    if not re.match(r"\d+ files, size in bytes and path:\n", text):
        return 0
    for line in text.split("\n")[1 : None if len(text) < TOOL_CHARS else -1]:
        size, tab, path = line.partition("\t")
        if tab and size.isdigit():
            sizes[path] = int(size)
    total = int(text.split(" ", 1)[0])
    return total - len(sizes)


def _page(text: str, files: dict[str, Exhibit]) -> None:
    head, _, body = text.partition("\n")
    if match := _EMPTY.fullmatch(text):
        files.setdefault(match["path"], Exhibit(match["path"], total=0, whole=True))
        return
    page = _PAGE.fullmatch(head)
    if page is None:
        return
    exhibit = files.setdefault(page["path"], Exhibit(page["path"]))
    exhibit.total = int(page["total"])
    first, last = int(page["first"]), int(page["last"])
    for offset, line in enumerate(body.split("\n")[: last - first + 1]):
        known = exhibit.lines.get(first + offset, "")
        exhibit.lines[first + offset] = max(known, line, key=len)
