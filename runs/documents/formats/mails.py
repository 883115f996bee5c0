"""Mails as lines: the fields of the header, the body, and the names of what is attached."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runs.documents.formats.building import Builder, BuiltDocument
from runs.documents.formats.html import CUT, page_of
from runs.documents.model.layout import BlockKind, MarkKind

MAX_ATTACHMENTS = 100
MAX_ATTACHED_BYTES = 100_000_000
"""Of all attachments together."""
MAX_ORNAMENT = 10_000
"""Bytes of a picture that stands in the text of a mail: smaller ones are those of signatures, and no documents."""
_MAX_NAME = 200
_NO_NAME = re.compile(r"[\x00-\x1f\x7f]+")


class Line(NamedTuple):
    """`hidden`: from where to where it is not shown."""

    text: str
    label: str = ""
    hidden: Sequence[tuple[int, int]] = ()


class Mail(NamedTuple):
    """`fields` by name; `attachments`: their names; `notes`: what could not be read; `cautions`: what to know before
    relying on it.
    """

    fields: Sequence[tuple[str, str]]
    lines: Sequence[Line]
    attachments: Sequence[str]
    notes: Sequence[str]
    cautions: Sequence[str] = ()


def laid_out(kind: str, mail: Mail) -> BuiltDocument:
    """One block for each line, whose anchor is its number."""
    builder = Builder(kind)
    lines = [
        (Line(f"{name}: {' '.join(value.split())}"), BlockKind.FIELD) for name, value in mail.fields if value.strip()
    ]
    body = [(line, BlockKind.LINE) for line in _without_gaps(mail.lines)]
    attached = [(Line(f"Attachment: {name}"), BlockKind.FIELD) for name in mail.attachments]
    parts = [part for part in (lines, body, attached) if part]
    between = [(Line(""), BlockKind.LINE)]
    everything = [one for part in parts for one in (between if part is not parts[0] else []) + part]
    for number, (line, block_kind) in enumerate(everything, 1):
        block = builder.add(f"L{number}", block_kind, line.text, label=line.label)
        for start, end in line.hidden:
            builder.mark(MarkKind.HIDDEN, block.start + start, block.start + end)
    for note in mail.notes:
        builder.note(note)
    for caution in mail.cautions:
        builder.caution(caution)
    return builder.made("line", len(everything))


def plain_lines(text: str) -> list[Line]:
    return [Line(line.rstrip()) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def html_lines(data: bytes, encoding: str = "") -> tuple[list[Line], Sequence[str], Sequence[str]]:
    """With what could not be read, and what to know before relying on it, as sentences."""
    page = page_of(data, encoding)
    lines: list[Line] = []
    for piece in page.pieces:
        at = 0
        for number, text in enumerate(piece.text.split("\n")):
            hidden = [
                (max(start - at, 0), min(end - at, len(text)))
                for start, end in piece.hidden
                if start < at + len(text) and end > at
            ]
            lines.append(Line(text, "" if number else piece.label, hidden))
            at += len(text) + 1
    return lines, [CUT] if page.is_cut else [], page.cautions


def attachment_name(name: str | None, number: int) -> str:
    """The last part of a name that a mail gives, which may be anything; one with its number where there is none."""
    bare = re.split(r"[/\\]", _NO_NAME.sub(" ", name or ""))[-1].strip(" .")[:_MAX_NAME]
    return bare or f"attachment {number}"


def _without_gaps(lines: Sequence[Line]) -> Iterator[Line]:
    """With one empty line where there are several, and none at the beginning and the end."""
    is_gap = False
    begun = False
    for line in lines:
        if not line.text.strip():
            is_gap = begun
            continue
        if is_gap:
            yield Line("")
        yield line
        is_gap, begun = False, True
