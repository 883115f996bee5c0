"""The reports of a run, as tests read them."""

from __future__ import annotations

from typing import Any, cast

from runs.documents.printing.blocks import PrintableReport
from runs.models import Run
from runs.readmodel.run_view import RunReading, reading_of
from runs.reports import json_report
from runs.reports.formats import FORMATS
from runs.reports.report_format import ReportInput


def exported(run: Run) -> PrintableReport:
    return ReportInput.of(run).report


def written(report: PrintableReport, name: str) -> bytes:
    """A file of blocks that may come from no run."""
    source = ReportInput(cast("RunReading", None))
    source.report = report
    return FORMATS[name].write(source)


def as_markdown(run: Run) -> str:
    return FORMATS["markdown"].write(ReportInput.of(run)).decode()


def as_json(run: Run) -> Any:
    return json_report.as_json(reading_of(run))
