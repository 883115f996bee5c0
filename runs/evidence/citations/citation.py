"""A citation, and what became of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from runs.enums import CitationStatus, Provenance

EXAMPLE = "[“thirty days”](contracts/nda.md#L41)"
"""What every sentence on a citation that cannot be used shows."""


class Library(Protocol):
    """The sources of a run by name: a path is the file as it was given, or one that the run made; `@result/` and a path
    is what the run made of a given file. Bytes are the readable ones.
    """

    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __getitem__(self, name: str) -> bytes: ...
    def provenance(self, name: str) -> Provenance:
        """Where the words of this source come from."""
        ...

    def page(self, address: str) -> str:
        """What the run has read at this web address; empty for what it has not, or where that is not known."""
        ...

    def digest(self, name: str) -> str | None:
        """The SHA-256 of a given file as it was handed in; None for what has no other form than its readable bytes."""
        ...


@dataclass(frozen=True)
class Citation:
    """One link of a deliverable and what became of it.

    `start` to before `end` are its characters in the deliverable, `line` counts from 1. `source` is a name in the
    library, with the span of the quote in its text and the line where that begins; empty, 0 where nothing was found. Of
    a document `anchor` and `place` name where the quote stands, for links and for people, and `cited_place` is the
    anchor that the link has.
    `sentence` is for people. `plain`: a link that quotes nothing, or a copied one. `by_form`: its words stand in
    quotation marks, or its anchor is one of those that citations have, such as `#L41`. `weak`: what of the statement is
    not in what is cited, and why the cited words may not be what they are cited as. `statement` is the sentence or
    table row around it, without links. `at`: its place in a document, for people; empty in a text, which has lines.
    """

    start: int
    end: int
    line: int
    quote: str
    target: str
    status: CitationStatus
    sentence: str
    source: str = ""
    provenance: Provenance | None = None
    sha256: str = ""
    source_start: int = 0
    source_end: int = 0
    source_line: int = 0
    cited_line: int = 0
    anchor: str = ""
    place: str = ""
    cited_place: str = ""
    plain: bool = False
    by_form: bool = False
    statement: str = ""
    statement_start: int = 0
    statement_end: int = 0
    weak: str = ""
    at: str = ""

    @property
    def broken(self) -> bool:
        return self.status is CitationStatus.BROKEN

    @property
    def stands(self) -> str:
        """Where it is in the deliverable, as a sentence begins."""
        return self.at[:1].upper() + self.at[1:] if self.at else f"Line {self.line}"

    @property
    def where(self) -> str:
        """The place in the source, for people."""
        return self.place or f"line {self.source_line}"

    @property
    def correction(self) -> str:
        """What a reader is told of a place that was corrected; empty for the others."""
        if self.status is not CitationStatus.CORRECTED:
            return ""
        cited = self.cited_place or (str(self.cited_line) if self.cited_line else "")
        if not cited:
            return f"{self.where} added"
        return f"{'place' if self.place else 'line'} corrected from {cited} to {self.place or self.source_line}"


@dataclass(frozen=True)
class Cited:
    """The citations and file links of a text, in order. `problem`: why it was not looked through, or nothing.

    `searched`: characters of the sources that were searched for them. `until`: where in the text the rest begins, which
    was not looked through; None if there is none.
    """

    links: tuple[Citation, ...] = ()
    problem: str = ""
    searched: int = 0
    until: int | None = None

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(one for one in self.links if not one.plain)

    def carrying(self, start: int, end: int) -> list[Citation]:
        """Those whose statement overlaps the characters `start` to before `end`, and that hold."""
        return [
            one for one in self.citations if not one.broken and one.statement_start < end and start < one.statement_end
        ]

    @cached_property
    def broken(self) -> tuple[Citation, ...]:
        """Citations and links to files that lead nowhere."""
        return tuple(one for one in self.links if one.broken)
