"""Presentations: the words of each slide, with notes and comments."""

from runs.documents.document_format import DocumentFormat
from runs.documents.model.anchors import Anchors, group_of

FORMAT = DocumentFormat(
    name="pptx",
    title="a PowerPoint presentation",
    unit="slide",
    zip_part=b"ppt/presentation",
    reader="runs.documents.formats.pptx.pptx_reader",
    packages=("lxml",),
    anchors=Anchors(
        r"s\d+[\w.]*",
        {r"s(\d+)\.notes": "notes of slide {0}", r"s(\d+)\.": "slide {0}"},
        group_of(r"s(\d+)(?=\.|$)"),
    ),
)
