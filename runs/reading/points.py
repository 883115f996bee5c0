"""The points of a report: its lead, its list as rows that can be accepted or sent back one by one, and the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runs.errors import InvalidInput
from runs.pev.contracts import Comment
from runs.pev.texts.wording import quoted

MAX_POINTS = 500
"""Rows that can be decided one by one; what comes after them stays in the rest."""
MAX_LEAD = 400
"""Characters of the lead, some 60 words: with it a gate says what the result is before anything is opened."""
_QUOTED = 160
"""Characters of a point that stand in the request which sends it back."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])\s+(?=\S)")
_BLOCK = re.compile(r" {0,3}(?:#|\||>|[-*_]{3}|`{3}|~{3}|<|\[[^\]]+\]:)")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+(?=\S)")


@dataclass(frozen=True)
class Point:
    """One row, as Markdown; `number` counts from 1."""

    number: int
    text: str


@dataclass(frozen=True)
class Points:
    """A report in three parts, in which each of its lines stands once."""

    lead: str
    points: tuple[Point, ...]
    rest: str


def points_of(report: str) -> Points:
    """The first paragraph, the items of its lists outside of code, and what is left. Linear in the text.

    A list of one item is no list of points: there is nothing to choose.
    """
    lines = report.splitlines()
    spans = list(_items(lines))[:MAX_POINTS]
    if len(spans) < 2:
        spans = []
    points = tuple(Point(number, _text(lines[start:end])) for number, (start, end) in enumerate(spans, start=1))
    left = list(_outside(lines, spans))
    lead, rest = _lead(left)
    return Points(lead, points, rest)


def sent_back(points: Sequence[Point], notes: Mapping[int, str]) -> tuple[Comment, ...]:
    """A request for each point that is sent back, by number: what was noted beside it, or that it is to change.

    Raises InvalidInput for a number that no point has.
    """
    known = {point.number: point for point in points}
    if unknown := sorted(set(notes) - set(known)):
        raise InvalidInput(f"This result has no point {unknown[0]}. Load the page again, then decide.")
    return tuple(
        Comment(
            text=notes[number].strip() or "This is not right yet. Look at it again and change it.",
            place=f"On point {number} {quoted(known[number].text, _QUOTED)}",
        )
        for number in sorted(notes)
    )


def _items(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """From where to where each item at the left edge goes, with the indented lines that belong to it."""
    fence, start = "", None
    for number, line in enumerate(lines):
        opened = _FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
        inside = fence or (opened and start is None)
        begins = not inside and _ITEM.match(line) is not None
        if start is not None and (begins or (line.strip() and not line.startswith((" ", "\t")))):
            yield start, number
            start = None
        if begins:
            start = number
    if start is not None:
        yield start, len(lines)


def _text(lines: Sequence[str]) -> str:
    """An item without its mark; its own lines keep what they are indented by beyond it."""
    mark = _ITEM.match(lines[0])
    width = mark.end() if mark else 0
    rest = (line[min(width, len(line) - len(line.lstrip())) :] for line in lines[1:])
    return "\n".join([lines[0][width:], *rest]).strip()


def _outside(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    at = 0
    for start, end in spans:
        yield from lines[at:start]
        at = end
    yield from lines[at:]


def _lead(lines: Sequence[str]) -> tuple[str, str]:
    """The sentences of the first paragraph that fit, and everything else; no lead if it begins with anything else."""
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    end = next((number for number in range(first, len(lines)) if not lines[number].strip()), len(lines))
    paragraph = " ".join(line.strip() for line in lines[first:end])
    if not paragraph or _BLOCK.match(lines[first]) or _ITEM.match(lines[first]):
        return "", "\n".join(lines).strip()
    cut = len(paragraph)
    if cut > MAX_LEAD:
        ends = [match.end() for match in _SENTENCE_END.finditer(paragraph) if match.end() <= MAX_LEAD]
        cut = ends[-1] if ends else 0
    rest = "\n".join([paragraph[cut:], *lines[end:]])
    return paragraph[:cut].strip(), rest.strip()
