"""The report for Word, written by python-docx."""

from runs.reports.isolated_writing import write_isolated
from runs.reports.report_format import ReportFormat

FORMAT = ReportFormat(
    name="docx",
    suffix="docx",
    media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    title="Word",
    order=2,
    write=lambda source: write_isolated("runs.documents.printing.word.docx", source.data, "DOCX"),
    is_slow=True,
)
