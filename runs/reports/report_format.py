"""What a report format declares, and what its writer gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from pydantic import TypeAdapter

from runs.documents.printing.blocks import PrintableReport
from runs.models import Run
from runs.readmodel.run_view import RunReading, reading_of
from runs.reports.outline import exported_from

_report: TypeAdapter[PrintableReport] = TypeAdapter(PrintableReport)


class ReportInput:
    """A run, read once. Formats that are made of blocks share one report, and isolated writers share its JSON."""

    def __init__(self, reading: RunReading) -> None:
        self.reading = reading

    @classmethod
    def of(cls, run: Run) -> ReportInput:
        return cls(reading_of(run))

    @cached_property
    def report(self) -> PrintableReport:
        return exported_from(self.reading)

    @cached_property
    def data(self) -> bytes:
        return _report.dump_json(self.report)


@dataclass(frozen=True)
class ReportFormat:
    """One format, declared as `FORMAT` by its module in `runs/reports/formats/`.

    `name` is used by the command line and the MCP server, `suffix` by addresses and file names, `title` by buttons.
    Formats are offered by `order`. `write` raises PevError with a sentence for people.

    `is_slow`: writing takes seconds. Downloads then wait on a page of their own, and the archive leaves the format out.
    `text`: the report for clients that read text, such as models over MCP; None if the format is not offered to them.
    """

    name: str
    suffix: str
    media_type: str
    title: str
    order: int
    write: Callable[[ReportInput], bytes]
    is_slow: bool = False
    text: Callable[[ReportInput], str] | None = None
