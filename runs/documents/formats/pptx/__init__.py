"""Presentations: the words of each slide, its notes and its comments."""

from runs.documents.document_format import DocumentFormat

FORMAT = DocumentFormat(
    name="pptx",
    title="a PowerPoint presentation",
    unit="slide",
    zip_part=b"ppt/presentation",
    reader="runs.documents.formats.pptx.reader",
    packages=("lxml",),
)
