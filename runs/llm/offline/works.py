"""Owns what a recipe is given and what it makes, and the pieces that every written file has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runs.llm.offline import wording as w
from runs.llm.offline.reading import Library

CONTENT_CHARS = 52_000
"""A verifier is shown 60,000 characters of a document; a longer one could not be judged as a whole."""


@dataclass(frozen=True)
class Job:
    """`inputs` were to be read; `every` are the person's files, those that feedback has `excluded` too.

    `leave_out`: this is the rehearsal.
    """

    books: Library
    inputs: Sequence[str]
    every: Sequence[str]
    excluded: frozenset[str]
    folder: str
    output: str
    remarks: tuple[str, ...]
    leave_out: bool

    @property
    def kept(self) -> list[str]:
        return [path for path in self.every if path not in self.excluded]

    def sibling(self, name: str) -> str:
        """The text of another output of the plan, as far as it was read."""
        document = self.books.documents.get(f"{self.folder}/{name}" if self.folder else name)
        return document.text if document else ""


@dataclass(frozen=True)
class Work:
    """The file, and what the report says. `remarks` could not be put into the file and go into the report."""

    content: str
    findings: str
    reasoning: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """How a step is done. `needs`: outputs of earlier steps that it reads instead of the documents."""

    make: Callable[[Job], Work]
    needs: tuple[str, ...] = ()


def page(title: str, job: Job, lines: Sequence[str]) -> str:
    """A Markdown file: title, who made it, the content, what was not read, and remarks of a person."""
    shortfall = job.books.shortfall(job.inputs)
    parts = [f"# {title}", "", w.RULES_NOTE, "", *lines]
    if shortfall:
        parts += ["", "## Not covered", "", shortfall]
    if job.remarks:
        parts += ["", f"## {w.REMARKS}"]
        for remark in job.remarks:
            parts += ["", *(f"> {line}" for line in remark.split("\n"))]
    return "\n".join(parts).rstrip() + "\n"


def item(heading: str, fields: Sequence[tuple[str, str]], quote: str = "") -> list[str]:
    """One entry: a heading with its id, a quote, and fields on one line each."""
    quoted = [f"> {quote}", ""] if quote else []
    return ["", f"### {heading}", "", *quoted, *(f"- {name}: {value}" for name, value in fields)]


def fitting(items: Sequence[list[str]], room: int = CONTENT_CHARS) -> int:
    """How many of the items fit into the room."""
    used = 0
    for count, lines in enumerate(items):
        used += sum(len(line) + 1 for line in lines)
        if used > room:
            return count
    return len(items)
