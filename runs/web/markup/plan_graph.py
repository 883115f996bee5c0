"""The steps of a plan as its graph shows them: drawn for wide and for narrow pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from runs.readmodel.plan_view import StepReading
from runs.web.markup.graph_layout import NARROW, WIDE, Box, Canvas, Drawing, Unit, draw

MAX_NAMED = 5
"""Steps before a step that are named to those who hear the page."""


@dataclass(frozen=True)
class Node:
    """A step at its place; `after` names those that it depends on."""

    step: StepReading
    box: Box
    after: str


@dataclass(frozen=True)
class GraphLine:
    """From the steps with the ids of `start` to those of `end`, with spaces between; `path` is SVG path data."""

    start: str
    end: str
    path: str


@dataclass(frozen=True)
class Graph:
    """One drawing, for pages of this `shape`: wide or narrow."""

    shape: str
    drawing: Drawing
    nodes: tuple[Node, ...]
    lines: tuple[GraphLine, ...]


def graphs_of(steps: Sequence[StepReading]) -> list[Graph]:
    """The same steps for wide and for narrow pages; a style sheet shows one of the two."""
    order = tuple((step.row.key, tuple(step.row.spec.dependencies)) for step in steps)
    known = {step.row.key: step for step in steps}
    after = {}
    for step in steps:
        more = len(step.after) - MAX_NAMED
        after[step.row.key] = ", ".join(step.after[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")

    def ids(unit: Unit) -> str:
        return " ".join(str(known[key].row.pk) for key in unit)

    found = []
    for shape, canvas in (("wide", WIDE), ("narrow", NARROW)):
        drawing = _drawing(order, canvas)
        boxes = {box.key: box for box in drawing.boxes}
        nodes = tuple(Node(step, boxes[step.row.key], after[step.row.key]) for step in steps)
        lines = tuple(GraphLine(ids(edge.start), ids(edge.end), edge.path) for edge in drawing.edges)
        found.append(Graph(shape, drawing, nodes, lines))
    return found


@lru_cache(maxsize=128)  # a version of a plan never changes, and its page is sent again with every step
def _drawing(order: tuple[tuple[str, tuple[str, ...]], ...], canvas: Canvas) -> Drawing:
    return draw(dict(order), canvas)
