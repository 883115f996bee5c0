"""The report as PDF and DOCX, each made in a guarded process with bounds for time and memory."""

from __future__ import annotations

from typing import Literal

from pydantic import TypeAdapter

from runs import isolation
from runs.documents.printing.blocks import Report
from runs.errors import InvalidInput, PevError
from runs.reports.pictures import pictured

type Form = Literal["pdf", "docx"]

LIMITS = isolation.Limits(megabytes=2_000, cpu_seconds=40, seconds=40, files=64, output=100_000_000)
"""Bounds; a report of 40 steps with three attempts each takes a second. The threads of typst reserve much address space
that they never use.
"""
_MAKERS = {"pdf": "runs.documents.printing.typeset.pdf", "docx": "runs.documents.printing.word.docx"}
_report: TypeAdapter[Report] = TypeAdapter(Report)


class NotPrinted(PevError):
    """The file could not be made. The text is a sentence that says why, and what to take instead."""


def printed(report: Report, form: Form) -> bytes:
    """The bytes of the file; the same ones for the same report. Raises NotPrinted."""
    return printed_from(as_data(report), form)


def printed_from(data: bytes, form: Form) -> bytes:
    """The same, of what `as_data` gave. Raises NotPrinted."""
    try:
        return isolation.run(_MAKERS[form], _with_pictures(data), LIMITS)
    except (isolation.ChildFailed, InvalidInput) as error:
        why = str(error).rstrip(".")
        raise NotPrinted(f"The {form.upper()} was not made: {why}. Take the report as HTML instead.") from error


def _with_pictures(data: bytes) -> bytes:
    return as_data(pictured(_report.validate_json(data))) if b'"kind":"diagram"' in data else data


def as_data(report: Report) -> bytes:
    """What the guarded process is given."""
    return _report.dump_json(report)
