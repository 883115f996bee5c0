"""How many points of a result cite nothing, and how few of what a criterion speaks of have evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from runs.enums import About
from runs.evidence.citations.citation import Cited
from runs.evidence.results import CriterionResult
from runs.pev.contracts import PlanStep
from runs.readmodel.open_points import Points


@dataclass(frozen=True)
class PointsCited:
    """Of all points of a report, so many have a citation."""

    cited: int
    points: int


def points_cited(report: Points, citations: Cited) -> PointsCited | None:
    """None where there are no points, where each has one, and where the report was not looked through to its end. Rows
    of files, and of a table beside the list of points, such as an overview, are not counted.
    """
    beside = {point.number for table in report.further for point in table.points}
    points = [point for point in report.all if point.lines and point.number not in beside]
    if not points or citations.until is not None:
        return None
    lines = {one.line for one in citations.citations}
    cited = sum(1 for point in points if not lines.isdisjoint(point.lines))
    return PointsCited(cited, len(points)) if cited < len(points) else None


def wants_sources(step: PlanStep, results: Iterable[CriterionResult]) -> bool:
    """Whether a step is about the material: a criterion speaks of it, or was met by it. Not one that writes only what
    has to be free of citations.
    """
    if step.expected_outputs and not any(output.cited for output in step.expected_outputs):
        return False
    topics = (criterion.topic for criterion in step.acceptance_criteria)
    return About.SOURCES in topics or any(one.grounded for one in results)


def sampled(results: Iterable[CriterionResult]) -> list[CriterionResult]:
    """Criteria about each of several things that were met by a sample."""
    return [one for one in results if one.uncounted or one.looked_at < one.out_of]
