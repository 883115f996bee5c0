"""The formats of a report. Each module of this package declares one as `FORMAT`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from runs.reports.report_format import ReportFormat

_modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]

FORMATS: dict[str, ReportFormat] = {
    report_format.name: report_format
    for report_format in sorted((module.FORMAT for module in _modules), key=lambda one: one.order)
}
"""By name, in the order in which they are offered."""
BY_SUFFIX = {report_format.suffix: report_format for report_format in FORMATS.values()}
TEXT_FORMATS = tuple(name for name, report_format in FORMATS.items() if report_format.text)
