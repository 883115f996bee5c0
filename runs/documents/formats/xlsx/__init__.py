"""Workbooks: the cells of each sheet as Excel shows them, with formulas and comments."""

from runs.documents.document_format import DocumentFormat
from runs.documents.model.anchors import Anchors
from runs.documents.model.sheets import address_in


def _sheet_of(anchor: str) -> str:
    address = address_in(anchor)
    return address.sheet if address else ""


FORMAT = DocumentFormat(
    name="xlsx",
    title="an Excel workbook",
    unit="sheet",
    zip_part=b"xl/workbook",
    reader="runs.documents.formats.xlsx.xlsx_reader",
    edition=3,
    anchors=Anchors(
        r"[^!]*!\$?[A-Za-z]{1,3}\$?\d+(?::.*)?",
        {r"^(.+![A-Z]+\d+)\.cm\d+$": "comment on {0}", r"^(.+)!name$": "name of sheet {0}"},
        _sheet_of,
    ),
    has_tables=True,
)
