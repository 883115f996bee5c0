"""The content of a report, independent of its format: sections of blocks, and blocks of spans of plain text.

Nothing here is markup: each writer escapes what it gets. All texts are printable, so they cannot control a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from runs.text.visible import visible_text

SOURCE = "#source-"
"""The prefix of addresses of sources within the report."""

type Tone = Literal["", "muted", "good", "warn", "bad"]
type Mark = Literal["met", "not met", "open", "not done", "not provable", "answered by the plan", "not judged"]
"""The mark of a criterion (open if no one has judged it) or of a request."""
UNMET: Sequence[Mark] = ("not met", "not done")


@dataclass(frozen=True, slots=True)
class Span:
    """Some words. `to`: the address that they link to, or `#` with the id of a section, mark or source."""

    text: str
    strong: bool = False
    emphasis: bool = False
    struck: bool = False
    code: bool = False
    to: str = ""


type Spans = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    spans: Spans
    tone: Tone = ""
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. `level` counts from 1 (sections), and is at most one deeper than the level of the
    heading before it.
    """

    level: int
    spans: Spans
    id: str = ""
    kind: Literal["heading"] = "heading"


@dataclass(frozen=True, slots=True)
class Items:
    """A list. `start` is the number of its first item if it is numbered."""

    rows: tuple[tuple[Block, ...], ...]
    start: int | None = None
    kind: Literal["items"] = "items"


@dataclass(frozen=True, slots=True)
class Quotation:
    blocks: tuple[Block, ...]
    kind: Literal["quotation"] = "quotation"


@dataclass(frozen=True, slots=True)
class Preformatted:
    text: str
    kind: Literal["preformatted"] = "preformatted"


@dataclass(frozen=True, slots=True)
class Diagram:
    """A Mermaid diagram with its source.

    `picture` is a PNG in base64, shown in `width` by `height` CSS pixels, and `words` describes it to people who cannot
    see it. If there is no picture, `problem` is a clause that says why.
    """

    text: str
    picture: str = ""
    width: int = 0
    height: int = 0
    words: str = ""
    problem: str = ""
    kind: Literal["diagram"] = "diagram"


@dataclass(frozen=True, slots=True)
class HorizontalRule:
    kind: Literal["rule"] = "rule"


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table. `right` has the columns of figures, counted from 0. `name` says what it shows to people who cannot see
    it.
    """

    name: str
    head: tuple[Spans, ...]
    rows: tuple[tuple[Spans, ...], ...]
    right: tuple[int, ...] = ()
    kind: Literal["table"] = "table"


@dataclass(frozen=True, slots=True)
class FactList:
    """Terms with their values."""

    rows: tuple[tuple[str, Spans], ...]
    kind: Literal["facts"] = "facts"


@dataclass(frozen=True, slots=True)
class CheckItem:
    """One judgement. `label`: its number, such as C2, or nothing. `by`: who decided it, and with what confidence."""

    mark: Mark
    label: str
    spans: Spans
    by: str = ""
    details: tuple[Block, ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class CheckList:
    rows: tuple[CheckItem, ...]
    kind: Literal["checks"] = "checks"


@dataclass(frozen=True, slots=True)
class Callout:
    """A message before everything else."""

    tone: Tone
    title: str
    blocks: tuple[Block, ...]
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A place that something cites. `around`: the line that contains it, if known, with the cited words in bold."""

    number: int
    place: str
    sha256: str
    around: Spans = ()


@dataclass(frozen=True, slots=True)
class SourceList:
    """The targets of the citations in an exported report: `#source-` and the number of a source."""

    rows: tuple[CitedSource, ...]
    kind: Literal["sources"] = "sources"


type Block = Annotated[
    Paragraph
    | Heading
    | Items
    | Quotation
    | Preformatted
    | Diagram
    | HorizontalRule
    | TableBlock
    | FactList
    | CheckList
    | Callout
    | SourceList,
    Field(discriminator="kind"),
]


@dataclass(frozen=True, slots=True)
class ReportSection:
    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Letterhead:
    """What the first page begins with and each page ends with. `logo` is a PNG or JPEG in base64."""

    organisation: str = ""
    logo: str = ""
    footer: str = ""


@dataclass(frozen=True, slots=True)
class PrintableReport:
    """A report. `word` precedes the title of a run that did not succeed. `about` says which run it is and when it was
    exported; `at` is that time in ISO 8601, or empty if nothing has happened yet. `facts` are the lines below the
    title, such as the client. `author` is the person or organisation that files name as their author.

    `main` is what one sends to a client. `protocol` is how the result came about: steps, calls, costs and hashes.
    """

    title: str
    word: str = ""
    tone: Tone = ""
    about: str = ""
    at: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    author: str = ""
    main: tuple[ReportSection, ...] = ()
    protocol: tuple[ReportSection, ...] = ()
    foot: str = ""
    letterhead: Letterhead = Letterhead()

    @property
    def sections(self) -> tuple[ReportSection, ...]:
        return (*self.main, *self.protocol)

    @property
    def places(self) -> dict[str, str]:
        """Maps each address to the text that replaces a link to it in formats without links."""
        listed = (block for section in self.sections for block in section.blocks if isinstance(block, SourceList))
        return {f"{SOURCE}{one.number}": one.place for block in listed for one in block.rows}

    def changed(self, rewrite: Callable[[Block], Block]) -> PrintableReport:
        """The report with each block replaced by what `rewrite` returns for it, inner blocks first."""
        main, protocol = (
            tuple(replace(one, blocks=changed(one.blocks, rewrite)) for one in sections)
            for sections in (self.main, self.protocol)
        )
        return replace(self, main=main, protocol=protocol)


REPORT: TypeAdapter[PrintableReport] = TypeAdapter(PrintableReport)
"""Writes reports to JSON and reads them, for writers in isolated processes."""


def changed(found: Iterable[Block], rewrite: Callable[[Block], Block], *, quotations: bool = True) -> tuple[Block, ...]:
    """Replaces each block, and each block inside of others, by what `rewrite` returns for it, inner blocks first.

    Without `quotations` they stay as they are.
    """

    def one(block: Block) -> Block:
        match block:
            case Items():
                block = replace(block, rows=tuple(map(all_of, block.rows)))
            case Callout():
                block = replace(block, blocks=all_of(block.blocks))
            case Quotation():
                block = replace(block, blocks=all_of(block.blocks)) if quotations else block
            case CheckList():
                block = replace(block, rows=tuple(replace(row, details=all_of(row.details)) for row in block.rows))
        return rewrite(block)

    def all_of(blocks: Iterable[Block]) -> tuple[Block, ...]:
        return tuple(map(one, blocks))

    return all_of(found)


def with_spans(block: Block, rewrite: Callable[[Span], Span]) -> Block:
    """The block with each of its own spans replaced by what `rewrite` returns for it."""

    def all_of(words: Spans) -> Spans:
        return tuple(map(rewrite, words))

    match block:
        case Paragraph() | Heading():
            return replace(block, spans=all_of(block.spans))
        case TableBlock():
            rows = tuple(tuple(map(all_of, row)) for row in block.rows)
            return replace(block, head=tuple(map(all_of, block.head)), rows=rows)
        case FactList():
            return replace(block, rows=tuple((term, all_of(words)) for term, words in block.rows))
        case CheckList():
            return replace(block, rows=tuple(replace(row, spans=all_of(row.spans)) for row in block.rows))
        case _:
            return block


def span(text: object, *, strong: bool = False, emphasis: bool = False, code: bool = False, to: str = "") -> Span:
    """Returns words on one line in which no character has a special meaning."""
    return Span(visible_text(" ".join(str(text).split())), strong, emphasis, code=code, to=to)


def paragraph(*parts: object, tone: Tone = "") -> Paragraph:
    """Returns a paragraph of texts and spans."""
    return Paragraph(spans(*parts), tone)


def spans(*parts: object) -> Spans:
    """Returns texts and spans without empty ones. All but the first keep their leading space."""
    found: list[Span] = []
    for part in parts:
        if isinstance(part, Span):
            found.append(part)
        elif text := str(part):
            lead = " " if text[0].isspace() and found else ""
            end = " " if text[-1].isspace() else ""
            found.append(Span(f"{lead}{span(text).text}{end}"))
    return tuple(one for one in found if one.text)


def plain(spans_: Spans) -> str:
    return "".join(one.text for one in spans_)


def by_link(spans_: Spans) -> Iterator[tuple[str, Spans]]:
    """Yields the spans grouped by the address that they lead to. Adjacent spans with the same one are a single link."""
    for to, group in groupby(spans_, key=lambda one: one.to):
        yield to, tuple(group)
