"""Workbooks: the cells of each sheet as Excel shows them, with their formulas and comments."""

from runs.documents.document_format import DocumentFormat

FORMAT = DocumentFormat(
    name="xlsx",
    title="an Excel workbook",
    unit="sheet",
    zip_part=b"xl/workbook",
    reader="runs.documents.formats.xlsx.reader",
    edition=3,
)
