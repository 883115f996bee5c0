"""The first findings of a result, as its gate shows them before anything is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.models import Attempt
from runs.readmodel.finding_entries import field_of
from runs.readmodel.result_points import MAX_LONE, Points
from runs.text.normalisation import caseless
from runs.text.truncate import truncate_line
from runs.web.markup.point_tables import PointRow, PointsTable, Source, table_of_list

MAX_FINDINGS = 3
MAX_TITLE = 110
"""Characters of a finding, and of what it recommends: three of them and the other facts have some 150 words."""
MAX_RECOMMENDATION = 90
MAX_SEVERITY = 24
MAX_SOURCES = 2
_RANKS = (
    ("critical", "kritisch", "严重", "blocker"),
    ("high", "major", "severe", "hoch", "schwer", "高"),
    ("medium", "moderate", "mittel", "中"),
    ("low", "minor", "niedrig", "gering", "leicht", "低"),
)
_RANK = {word: rank for rank, words in enumerate(_RANKS) for word in words}
_UNKNOWN = 2


@dataclass(frozen=True)
class Finding:
    """A point in a line or two, as text. `label`: its id or number. `doubt`: why its citations do not hold, if any."""

    label: str
    title: str
    severity: str
    recommendation: str
    sources: Sequence[Source]
    broken: int
    doubt: str

    @property
    def rank(self) -> int:
        """0 for the most severe."""
        words = caseless(self.severity).split()
        return _RANK.get(words[0], _UNKNOWN) if words else _UNKNOWN


def first_findings(report: Points, tables: Sequence[PointsTable], attempt: Attempt) -> list[Finding]:
    """The most severe points of the main list, or the only one, which is shown whole."""
    if report.lone:
        return [_finding(table_of_list(report.lone, attempt).rows[0], MAX_LONE, MAX_LONE)]
    rows = next((table.rows for table in tables if not table.overview), ())
    return sorted((_finding(row) for row in rows), key=lambda one: one.rank)[:MAX_FINDINGS]


def _finding(row: PointRow, title: int = MAX_TITLE, recommendation: int = MAX_RECOMMENDATION) -> Finding:
    named = [(field_of(name), words) for name, words in row.fields if words.strip()]
    fields = {field: words for field, words in reversed(named) if field in ("severity", "recommendation")}
    words = " · ".join(words for field, words in named if field not in fields)
    sources = {one.address: one for one in row.sources}
    return Finding(
        row.label,
        truncate_line(words, title),
        truncate_line(fields.get("severity", ""), MAX_SEVERITY),
        truncate_line(fields.get("recommendation", ""), recommendation),
        list(sources.values())[:MAX_SOURCES],
        row.broken,
        row.said if row.broken or not row.found else "",
    )
