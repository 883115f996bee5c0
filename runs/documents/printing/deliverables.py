"""Prints documents that a step writes as Markdown with the code that prints reports. Citations become footnotes.

It runs in isolated processes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.xmlchemy import BaseOxmlElement
from pydantic import TypeAdapter

from runs.documents.printing import blocks, typeset
from runs.documents.printing.markup import TOO_DEEP, blocks_here
from runs.documents.printing.word import NO_XML, Writer, with_values
from runs.errors import InvalidInput

NOTE = "#note-"
"""The prefix of the address of a footnote. The number of the footnote, counted from 0, follows."""
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NOTES_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
MAX_NESTING = 100
"""As in `markup`, but higher, because nothing else waits for this process. Deeper nesting is refused."""


@dataclass(frozen=True)
class Deliverable:
    """A document to print. `text` is Markdown.

    Links that begin with `known` were looked up: they continue with `NOTE` and the index of one of the `notes`, or with
    nothing if the words have no target.
    """

    title: str
    text: str
    known: str
    notes: tuple[str, ...] = ()


_given: TypeAdapter[Deliverable] = TypeAdapter(Deliverable)
_blocks: TypeAdapter[tuple[blocks.Block, ...]] = TypeAdapter(tuple[blocks.Block, ...])


def docx(data: bytes) -> bytes:
    """Returns the Word file of a `Deliverable` (JSON), always the same bytes."""
    given = _given.validate_json(data)
    found = _read(given)
    return _DeliverableWriter(_titled(given, found), given.notes).finished(found)


def pdf(data: bytes) -> bytes:
    """Returns the tagged PDF (UA-1) of a `Deliverable` (JSON), always the same bytes."""
    given = _given.validate_json(data)
    found = _read(given)
    report = json.loads(blocks.REPORT.dump_json(blocks.PrintableReport(_titled(given, found))))
    shown = {"blocks": json.loads(_blocks.dump_json(found)), "notes": given.notes}
    try:
        return typeset.pdf(json.dumps({**report, **shown}, ensure_ascii=False).encode())
    except InvalidInput as error:
        raise InvalidInput("could not be laid out as PDF; write it in a simpler way, or as .docx") from error


def _read(given: Deliverable) -> tuple[blocks.Block, ...]:
    found = blocks_here(given.text, given.known, 1, MAX_NESTING)
    if found[:1] == (TOO_DEEP,):
        raise InvalidInput(f"has lists or quotations in more than {MAX_NESTING} levels; write it with fewer")
    return found


def _titled(given: Deliverable, found: Iterable[blocks.Block]) -> str:
    """Returns the text of the first heading."""
    first = next((block for block in found if isinstance(block, blocks.Heading)), None)
    return (blocks.plain(first.spans).strip() if first else "") or given.title


class _DeliverableWriter(Writer):
    """A writer whose citations are footnotes."""

    def __init__(self, title: str, notes: Sequence[str]) -> None:
        super().__init__(blocks.PrintableReport(title))
        self._notes = notes
        self._noted: list[str] = []

    def finished(self, found: tuple[blocks.Block, ...]) -> bytes:
        self.add(found)
        if self._noted:
            part = self.document.part
            notes = Part(PackURI("/word/footnotes.xml"), _NOTES_TYPE, _notes_part(self._noted), part.package)
            part.relate_to(notes, RELATIONSHIP_TYPE.FOOTNOTES)
        return self.saved()

    def fill(self, element: BaseOxmlElement, words: blocks.Spans, colour: str = "", anchor: str = "") -> None:
        for to, parts in blocks.by_link(words):
            super().fill(element, parts, colour, anchor)
            anchor = ""
            if to.startswith(NOTE):
                self._noted.append(self._notes[int(to.removeprefix(NOTE))])
                element.append(_reference(len(self._noted)))


def _reference(number: int) -> BaseOxmlElement:
    run, looks = OxmlElement("w:r"), OxmlElement("w:rPr")
    looks.append(with_values(OxmlElement("w:vertAlign"), val="superscript"))
    run.append(looks)
    run.append(with_values(OxmlElement("w:footnoteReference"), id=str(number)))
    return run


def _notes_part(notes: list[str]) -> bytes:
    """Returns the part with the notes, and with the separators that Word requires."""
    lines = "".join(
        f'<w:footnote w:type="{name}" w:id="{at}"><w:p><w:r><w:{name}/></w:r></w:p></w:footnote>'
        for at, name in ((-1, "separator"), (0, "continuationSeparator"))
    )
    inside = "".join(
        f'<w:footnote w:id="{at}"><w:p><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteRef/></w:r>'
        f'<w:r><w:t xml:space="preserve"> {escape(NO_XML.sub("\ufffd", note))}</w:t></w:r></w:p></w:footnote>'
        for at, note in enumerate(notes, 1)
    )
    return f'<?xml version="1.0" encoding="UTF-8"?><w:footnotes xmlns:w="{_W}">{lines}{inside}</w:footnotes>'.encode()
