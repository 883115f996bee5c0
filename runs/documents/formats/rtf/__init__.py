"""RTF files line by line: the text as it is when all tracked changes are accepted, then its notes and margins.

A reader of ours: the library that there is drops notes, takes deleted words for text, and takes more than linear time.
"""

from collections.abc import Sequence

from runs.documents.formats.building import Builder, BuiltDocument
from runs.documents.formats.fields import left_out_at
from runs.documents.formats.rtf.words import Line, Reader
from runs.documents.model.layout import BlockKind, MarkKind
from runs.errors import InvalidInput

_KINDS = {
    "": BlockKind.LINE,
    "footnote": BlockKind.FOOTNOTE,
    "annotation": BlockKind.COMMENT,
    "header": BlockKind.HEADER,
    "footer": BlockKind.FOOTER,
}


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    if not data.lstrip().startswith(b"{\\rtf"):
        raise InvalidInput("is no RTF file")
    reader = Reader(data)
    reader.read()
    builder = Builder("rtf")
    number = 0
    for name, kind in _KINDS.items():
        for line in _without_gaps(reader.streams[name]):
            number += 1
            _add(builder, f"L{number}", kind, line)
    return builder.made("line", number)


def _add(builder: Builder, anchor: str, kind: BlockKind, line: Line) -> None:
    block = builder.add(anchor, kind, line.text, label=line.label.strip())
    start = block.start
    for run in line.runs:
        end = min(start + run.end, block.end)  # without the spaces at the end of the line
        if run.is_hidden:
            builder.mark(MarkKind.HIDDEN, start + run.start, end)
        if run.is_inserted:
            builder.mark(MarkKind.INSERTED, start + run.start, end, by=run.by, on=run.on)
    for thing in line.left_out:
        builder.note(left_out_at(thing, f"line {anchor.removeprefix('L')}"))
    for thing in line.unread:
        builder.note(f"The {thing} at line {anchor.removeprefix('L')} was not read.")
    for gone in line.gone:
        if text := gone.text.strip("\n"):
            builder.delete(start + gone.start, text, by=gone.by, on=gone.on)


def _without_gaps(lines: Sequence[Line]) -> list[Line]:
    """With one empty line where there are several, and none at the beginning and the end."""
    kept: list[Line] = []
    for line in lines:
        if line.text.strip() or line.gone or line.left_out or line.unread or (kept and kept[-1].text.strip()):
            kept.append(line)
    while kept and not kept[-1].text.strip() and not kept[-1].gone:
        kept.pop()
    return kept
