"""The report as PDF, laid out by typst."""

from runs.reports.isolated_writing import write_isolated
from runs.reports.report_format import ReportFormat

FORMAT = ReportFormat(
    name="pdf",
    suffix="pdf",
    media_type="application/pdf",
    title="PDF",
    order=1,
    write=lambda source: write_isolated("runs.documents.printing.typeset.pdf", source.data, "PDF"),
    is_slow=True,
)
