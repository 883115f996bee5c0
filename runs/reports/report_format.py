"""What a report format declares, and what its writer gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from runs.documents.printing.blocks import REPORT, PrintableReport
from runs.models import Run
from runs.readmodel.run_view import RunReading, reading_of
from runs.reports.outline import Part, exported_from


class ReportInput:
    """A run, read once. Formats that are made of blocks share one report, and isolated writers share its JSON.

    `part` is what these formats contain. JSON always contains all.
    """

    def __init__(self, reading: RunReading, part: Part = Part.ALL) -> None:
        self.reading = reading
        self.part = part

    @classmethod
    def of(cls, run: Run, part: Part = Part.ALL) -> ReportInput:
        return cls(reading_of(run), part)

    @cached_property
    def report(self) -> PrintableReport:
        return exported_from(self.reading, self.part)

    @cached_property
    def data(self) -> bytes:
        return REPORT.dump_json(self.report)


@dataclass(frozen=True)
class ReportFormat:
    """One format, declared as `FORMAT` by its module in `runs/reports/formats/`.

    `name` is used by the command line and the MCP server, `suffix` by addresses and file names, `title` by buttons.
    Formats are offered by `order`. `write` raises PevError with a sentence for people.

    `is_slow`: writing takes seconds. Downloads then wait on a page of their own, and the archive leaves the format out.
    `has_parts`: the report and its protocol can be had apart. `text`: the report for clients that read text, such as
    models over MCP; None if the format is not offered to them.
    """

    name: str
    suffix: str
    media_type: str
    title: str
    order: int
    write: Callable[[ReportInput], bytes]
    is_slow: bool = False
    has_parts: bool = True
    text: Callable[[ReportInput], str] | None = None
