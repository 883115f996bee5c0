"""What a report is made of, whatever it is written as: sections of blocks, blocks of spans of plain text.

Nothing here is markup: each writer escapes what it is given. Every text is printable, so that no screen obeys it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from runs.text.visible import visible_text

SOURCE = "#source-"
"""What the address of a source in the report itself begins with."""

type Tone = Literal["", "muted", "good", "warn", "bad"]
type Mark = Literal["met", "not met", "open", "not done", "not provable", "answered by the plan", "not judged"]
"""Of a criterion, which is open where nobody has judged it, or of a request."""
UNMET: Sequence[Mark] = ("not met", "not done")


@dataclass(frozen=True, slots=True)
class Span:
    """Some words. `to`: where they lead, an address or `#` and the id of a section, a mark or a source."""

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
    """`level` counts from 1, the headings of sections; it is never more than one deeper than the one before."""

    level: int
    spans: Spans
    id: str = ""
    kind: Literal["heading"] = "heading"


@dataclass(frozen=True, slots=True)
class Items:
    """A list; numbered from `start`, if there is one."""

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
    """One of Mermaid: its source. `picture`: a PNG in base64 that shows it, `width` by `height` pixels of a page, and
    `words` for those who do not see it; or `problem`, a clause that says why there is none.
    """

    text: str
    picture: str = ""
    width: int = 0
    height: int = 0
    words: str = ""
    problem: str = ""
    kind: Literal["diagram"] = "diagram"


@dataclass(frozen=True, slots=True)
class Rule:
    kind: Literal["rule"] = "rule"


@dataclass(frozen=True, slots=True)
class Table:
    """`right`: the columns of figures, counted from 0. `name` says what it shows to those who cannot see it."""

    name: str
    head: tuple[Spans, ...]
    rows: tuple[tuple[Spans, ...], ...]
    right: tuple[int, ...] = ()
    kind: Literal["table"] = "table"


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms with what holds of each."""

    rows: tuple[tuple[str, Spans], ...]
    kind: Literal["facts"] = "facts"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was judged. `label`: its number, such as C2; `by`: who decided it, and how sure."""

    mark: Mark
    label: str
    spans: Spans
    by: str = ""
    details: tuple[Block, ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class Checks:
    rows: tuple[Check, ...]
    kind: Literal["checks"] = "checks"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to know before all that follows."""

    tone: Tone
    title: str
    blocks: tuple[Block, ...]
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class Source:
    """A place that something cites. `around`: the line that it is in, if that is known, with the words in strong."""

    number: int
    place: str
    sha256: str
    around: Spans = ()


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the citations of a report that has left the product lead: `#source-` and the number of one."""

    rows: tuple[Source, ...]
    kind: Literal["sources"] = "sources"


type Block = Annotated[
    Paragraph | Heading | Items | Quotation | Preformatted | Diagram | Rule | Table | Facts | Checks | Notice | Sources,
    Field(discriminator="kind"),
]


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """`word` is what the title begins with where the run did not succeed. `about` says of which run, and as of when;
    `at` is that time in ISO 8601, empty before anything happened.
    """

    title: str
    word: str
    tone: Tone
    about: str
    at: str
    brief: tuple[Section, ...]
    annex: tuple[Section, ...]
    foot: str

    @property
    def places(self) -> dict[str, str]:
        """By address, what a reader without links is told of each source."""
        listed = (block for section in self.annex for block in section.blocks if isinstance(block, Sources))
        return {f"{SOURCE}{one.number}": one.place for block in listed for one in block.rows}


def span(text: object, *, strong: bool = False, emphasis: bool = False, code: bool = False, to: str = "") -> Span:
    """Words on one line, each character of which stands for itself."""
    return Span(visible_text(" ".join(str(text).split())), strong, emphasis, code=code, to=to)


def said(*parts: object, tone: Tone = "") -> Paragraph:
    """A paragraph of texts and spans."""
    return Paragraph(spans(*parts), tone)


def spans(*parts: object) -> Spans:
    """Texts and spans, without the empty ones; those after the first keep the space that they begin with."""
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
