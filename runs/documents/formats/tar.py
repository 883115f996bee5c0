"""Tar archives, compressed or not."""

from runs.documents.document_format import DocumentFormat, Signature, begins

FORMAT = DocumentFormat(
    name="tar",
    title="an archive",
    signatures=(
        *begins(b"\x1f\x8b", b"\xfd7zXZ\0"),
        *begins(b"BZh", binary=True),
        Signature(((257, b"ustar"),)),
    ),
    is_archive=True,
)
