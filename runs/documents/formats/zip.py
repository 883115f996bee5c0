"""Zip archives that are not documents."""

from runs.documents.document_format import DocumentFormat, begins

BEGIN, END = b"PK\3\4", b"PK\5\6"

FORMAT = DocumentFormat(name="zip", title="an archive", signatures=begins(BEGIN, END), is_archive=True)
