"""Mermaid diagrams in a text: whether Mermaid itself can draw them. This is tried in an isolated process."""

from __future__ import annotations

import json
from typing import NamedTuple

from markdown_it import MarkdownIt

from runs import isolation
from runs.errors import InvalidInput
from runs.text.patterns import Budget, TooSlow

MAX_DIAGRAMS = 20
"""Diagrams of one text: each takes a third of a second."""
MAX_CHARACTERS = 20_000
"""Characters of one diagram: a larger one is unreadable."""
MAX_PROBLEM = 300
_MEGABYTES = 600
"""Mermaid takes 100, and so many more for the largest diagrams."""


class Drawn(NamedTuple):
    """A diagram that begins in this line, and why it cannot be drawn, as the end of a sentence; empty if it can."""

    line: int
    problem: str


def drawn(text: str, budget: Budget, *, whole: bool) -> list[Drawn]:
    """The diagrams of a text in order: all of it, if it is a `whole` one, else the blocks of Markdown that say so.

    Raises InvalidInput where they are too many, TooSlow when the budget is used up.
    """
    left = budget.left()
    limits = isolation.Limits(megabytes=_MEGABYTES, cpu_seconds=left, seconds=left, output=MAX_DIAGRAMS * 2_000)
    try:
        found = isolation.run(f"{__name__}.{drawn_in.__name__}", text.encode(errors="replace"), limits, whole=whole)
    except isolation.TimedOut as error:
        raise TooSlow(budget.used_up) from error
    except isolation.ChildFailed as error:
        raise TooSlow(str(error)) from error
    return [Drawn(*one) for one in json.loads(found)]


def drawn_in(data: bytes, *, whole: bool) -> bytes:
    """Returns lines and problems as JSON. It runs in an isolated process."""
    text = data.decode()
    blocks = [(1, text)] if whole else _blocks(text)
    if len(blocks) > MAX_DIAGRAMS:
        raise InvalidInput(f"has {len(blocks):,} diagrams, and {MAX_DIAGRAMS} can be looked at")
    return json.dumps([(line, _problem_of(source)) for line, source in blocks]).encode()


def _blocks(text: str) -> list[tuple[int, str]]:
    tokens = MarkdownIt("commonmark").parse(text)
    fences = (token for token in tokens if token.type == "fence" and token.info.split()[:1] == ["mermaid"])
    return [((token.map or [0])[0] + 1, token.content) for token in fences]


def _problem_of(source: str) -> str:
    try:
        svg_of(source)
    except InvalidInput as error:
        return str(error)
    return ""


def svg_of(source: str) -> str:
    """Returns what Mermaid draws, which is as hostile as the source. It runs in an isolated process.

    Raises InvalidInput with what Mermaid says, as the end of a sentence.
    """
    # Only the isolated process needs it: with its engine it takes longer to import than all else.
    from mermaidx import Diagram

    if len(source) > MAX_CHARACTERS:
        raise InvalidInput(f"it has {len(source):,} characters and may have {MAX_CHARACTERS:,}")
    try:
        return str(Diagram(source).svg())
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).removeprefix("Mermaid rendering failed: ").splitlines()]
        said = " ".join(line for line in lines if line and set(line) != {"-", "^"})
        raise InvalidInput(said[:MAX_PROBLEM]) from error
