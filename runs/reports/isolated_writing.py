"""Writes files from a report in an isolated process, with limits for time and memory."""

from __future__ import annotations

from pydantic import TypeAdapter

from runs import isolation
from runs.documents.printing.blocks import Report
from runs.errors import InvalidInput, PevError
from runs.reports.pictures import pictured

LIMITS = isolation.Limits(megabytes=2_000, cpu_seconds=40, seconds=40, files=64, output=100_000_000)
"""A report of 40 steps with three attempts each takes a second. The threads of typst reserve much address space that
they never use.
"""
_report: TypeAdapter[Report] = TypeAdapter(Report)


class ReportNotWritten(PevError):
    """The file could not be written. The text is a sentence that says why, and what to take instead."""


def write_isolated(writer: str, data: bytes, what: str) -> bytes:
    """Calls `writer` (a dotted name) with the JSON of a report. The same report gives the same bytes.

    Raises ReportNotWritten, whose sentence calls the file `what`.
    """
    try:
        return isolation.run(writer, _with_pictures(data), LIMITS)
    except (isolation.ChildFailed, InvalidInput) as error:
        why = str(error).rstrip(".")
        raise ReportNotWritten(f"The {what} was not made: {why}. Take the report as HTML instead.") from error


def _with_pictures(data: bytes) -> bytes:
    """Diagrams are drawn here, before the isolated process begins, because drawing needs the store."""
    return _report.dump_json(pictured(_report.validate_json(data))) if b'"kind":"diagram"' in data else data
