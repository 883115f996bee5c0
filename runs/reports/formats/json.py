"""The report as one JSON object; `runs/reports/contract.py` is its schema."""

from __future__ import annotations

import json

from runs.reports.json_report import as_json
from runs.reports.report_format import ReportFormat, ReportInput


def _write(source: ReportInput) -> bytes:
    return json.dumps(as_json(source.reading)).encode()


def _text(source: ReportInput) -> str:
    """Without escapes: a model reads other scripts as they are."""
    return json.dumps(as_json(source.reading), ensure_ascii=False)


FORMAT = ReportFormat(
    name="json",
    suffix="json",
    media_type="application/json",
    title="JSON",
    order=5,
    write=_write,
    has_parts=False,
    text=_text,
)
