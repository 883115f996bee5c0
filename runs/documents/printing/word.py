"""Writes blocks as a Word file with python-docx, in an isolated process."""

from __future__ import annotations

import base64
import io
import re
import zipfile
from collections.abc import Iterable
from datetime import datetime
from typing import assert_never

from docx import Document
from docx.document import Document as Docx
from docx.enum.section import WD_ORIENT
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.shared import Mm, Pt, RGBColor
from pydantic import TypeAdapter

from runs.documents.printing import blocks

_report: TypeAdapter[blocks.PrintableReport] = TypeAdapter(blocks.PrintableReport)
NO_XML = re.compile("[\0-\x08\x0b-\x1f\ufffe\uffff\ud800-\udfff]")
_OUTSIDE = ("http://", "https://", "mailto:")
_COLOURS = {"muted": "565D65", "good": "1D6B3E", "warn": "855104", "bad": "A62B24"}
_INDENT = 6
"""Millimetres of indentation for each level of nesting."""
_PAGE_WIDTH, _PAGE_HEIGHT, _SIDE_MARGIN = 210, 297, 20
_TEXT_WIDTH = _PAGE_WIDTH - 2 * _SIDE_MARGIN
"""Millimetres: A4, and the text between its margins."""
_ROOM_WIDTH, _ROOM_HEIGHT = int(_TEXT_WIDTH / 25.4 * 96), 900
"""CSS pixels (96 per inch) for a picture."""
_CELL_MARGIN, _CHARACTER = 5, 2.0
"""Millimetres: what a cell has around its text, and an average character of a table."""
_CELL_STYLE = "Table Text"
_LINE, _SHADE = "C9C9C2", "F4F4F0"
_STYLE_NAMES = ("Heading 1", "Heading 2", "Heading 3", "Heading 4", "Heading 5", "Heading 6", "Normal")


def docx(data: bytes) -> bytes:
    """Returns the Word file of a `blocks.PrintableReport` (JSON), always the same bytes."""
    return Writer(_report.validate_json(data)).write()


class Writer:
    """Appends block after block to the document."""

    def __init__(self, report: blocks.PrintableReport) -> None:
        self._report = report
        self.above = 1  # the level of the document's title
        self.document = Document()
        self._body = self.document.element.body
        self._end = self._body.sectPr
        self._ids = 0
        sections = (*report.brief, *report.annex)
        self._anchors = {one.id for one in sections} | {to[1:] for to in report.places}
        self._links: dict[str, str] = {}
        _set_up(self.document, report)

    def write(self) -> bytes:
        report = self._report
        word = (blocks.Span(f"{report.word}: "),) if report.word else ()
        self._heading(1, (*word, blocks.Span(report.title)))
        self._paragraph((blocks.Span(report.about),), colour="muted")
        for section in report.brief:
            self._section(section)
        for place, section in enumerate(report.annex):
            self._section(section, new_page=place == 0)
        self._paragraph((blocks.Span(report.foot),), colour="muted")
        self._page_footer(report.about)
        return self.saved()

    def _page_footer(self, words: str) -> None:
        """Let each page end with these words, its number, and the number of pages."""
        element = self.document.sections[0].footer.paragraphs[0]._p
        tabs = OxmlElement("w:tabs")
        inherited = self.document.styles["Footer"].paragraph_format.tab_stops
        for stop in inherited:  # or the number would stand at one of these
            tabs.append(with_values(OxmlElement("w:tab"), val="clear", pos=str(stop.position.twips)))
        tabs.append(with_values(OxmlElement("w:tab"), val="right", pos=str(Mm(_TEXT_WIDTH).twips)))
        element.get_or_add_pPr().append(tabs)
        self._run(element, blocks.Span(words), _COLOURS["muted"])
        element.append(_tab())
        self._field(element, "PAGE")
        self._run(element, blocks.Span(" / "), _COLOURS["muted"])
        self._field(element, "NUMPAGES")

    def _field(self, element: BaseOxmlElement, name: str) -> None:
        """Append a field that Word computes. Until then it reads 1."""
        field = with_values(OxmlElement("w:fldSimple"), instr=name)
        self._run(field, blocks.Span("1"), _COLOURS["muted"])
        element.append(field)

    def saved(self) -> bytes:
        buffer = io.BytesIO()
        self.document.save(buffer)
        return _undated(buffer.getvalue())

    def _section(self, section: blocks.ReportSection, *, new_page: bool = False) -> None:
        self._heading(2, (blocks.Span(section.title),), section.id, new_page=new_page)
        self.add(section.blocks)

    def add(self, found: Iterable[blocks.Block], depth: int = 0) -> None:
        for block in found:
            self._block(block, depth)

    def _block(self, block: blocks.Block, depth: int) -> None:
        match block:
            case blocks.Paragraph():
                self._paragraph(block.spans, depth, colour=block.tone)
            case blocks.Heading():
                self._heading(min(block.level + self.above, 6), block.spans, block.id)
            case blocks.Items():
                self.items(block, depth)
            case blocks.Quotation():
                self.add(block.blocks, depth + 1)
            case blocks.Preformatted() | blocks.Diagram():
                self._verbatim(block, depth)
            case blocks.HorizontalRule():
                self._paragraph((blocks.Span("* * *"),), depth)
            case blocks.TableBlock():
                self._table([block.head, *block.rows], block.right)
            case blocks.FactList():
                for term, words in block.rows:
                    self._paragraph((blocks.Span(f"{term}: ", strong=True), *words), depth)
            case blocks.CheckList():
                for one in block.rows:
                    head = (
                        blocks.Span(f"{one.label} ", strong=True),
                        *one.spans,
                        *((blocks.Span(f" ({one.by})"),) if one.by else ()),
                    )
                    self._paragraph(head, depth, mark=one.mark, mark_colour=_colour(one.mark))
                    self.add(one.details, depth + 3)
            case blocks.Notice():
                self._paragraph((blocks.Span(block.title, strong=True),), depth, colour=block.tone)
                self.add(block.blocks, depth + 1)
            case blocks.SourceList():
                self._sources(block)
            case _:
                assert_never(block)

    def items(self, block: blocks.Items, depth: int) -> None:
        for place, row in enumerate(block.rows):
            mark = "•" if block.start is None else f"{block.start + place}."
            first = row[0].spans if row and isinstance(row[0], blocks.Paragraph) else ()
            self._paragraph(first, depth, mark=mark)
            self.add(row[1:] if first else row, depth + 1)

    def _sources(self, block: blocks.SourceList) -> None:
        for one in block.rows:
            sha = (blocks.Span("  SHA-256 "), blocks.Span(one.sha256, code=True)) if one.sha256 else ()
            self._paragraph(
                (blocks.Span(one.place), *sha), mark=f"{one.number}.", anchor=f"{blocks.SOURCE[1:]}{one.number}"
            )
            if one.around:
                self._paragraph(one.around, 1)

    def _verbatim(self, block: blocks.Preformatted | blocks.Diagram, depth: int) -> None:
        """A preformatted text, or the picture of a diagram in its own width, at most that of the page."""
        if isinstance(block, blocks.Preformatted) or not block.picture:
            if isinstance(block, blocks.Diagram) and block.problem:
                self._paragraph((blocks.Span(f"This diagram is not drawn: {block.problem}."),), depth, colour="warn")
            self._paragraph((blocks.Span(block.text, code=True),), depth)
            return
        room = min(_ROOM_WIDTH / block.width, _ROOM_HEIGHT / block.height, 1.0)
        file = io.BytesIO(base64.b64decode(block.picture))
        width, height = Pt(0.75 * block.width * room), Pt(0.75 * block.height * room)
        inline = self.document.part.new_pic_inline(file, width, height)
        inline.docPr.set("descr", NO_XML.sub("\ufffd", block.words))
        run, drawing = OxmlElement("w:r"), OxmlElement("w:drawing")
        drawing.append(inline)
        run.append(drawing)
        self.new("").append(run)

    def _heading(self, level: int, words: blocks.Spans, anchor: str = "", *, new_page: bool = False) -> None:
        element = self.new(f"Heading{level}")
        if new_page:
            element.get_or_add_pPr().append(OxmlElement("w:pageBreakBefore"))
        self.fill(element, words, anchor=anchor)

    def _paragraph(
        self,
        words: blocks.Spans,
        depth: int = 0,
        *,
        colour: str = "",
        mark: str = "",
        mark_colour: str = "",
        anchor: str = "",
    ) -> None:
        element = self.new("")
        if depth or mark:
            hanging = _INDENT * (3 if mark_colour else 1) if mark else 0
            indent = OxmlElement("w:ind")
            indent.set(qn("w:left"), str(Mm(_INDENT * depth + hanging).twips))
            indent.set(qn("w:hanging"), str(Mm(hanging).twips))
            element.get_or_add_pPr().append(indent)
        if mark:
            self._run(element, blocks.Span(mark, strong=bool(mark_colour)), mark_colour)
            element.append(_tab())
        self.fill(element, words, _COLOURS.get(colour, ""), anchor)

    def new(self, style: str) -> BaseOxmlElement:
        element = OxmlElement("w:p")
        if style:
            element.get_or_add_pPr().get_or_add_pStyle().val = style
        self._end.addprevious(element)
        return element

    def fill(self, element: BaseOxmlElement, words: blocks.Spans, colour: str = "", anchor: str = "") -> None:
        if anchor:
            self._ids += 1
            element.append(with_values(OxmlElement("w:bookmarkStart"), id=str(self._ids), name=anchor))
            element.append(with_values(OxmlElement("w:bookmarkEnd"), id=str(self._ids)))
        for to, parts in blocks.by_link(words):
            holder = self._link(element, to) if to else element
            for one in parts:
                self._run(holder, one, colour if holder is element else "16415A")
            if to.startswith(blocks.SOURCE) and holder is not element:
                self._run(holder, blocks.Span(f" [{to.removeprefix(blocks.SOURCE)}]"), "16415A")

    def _link(self, element: BaseOxmlElement, to: str) -> BaseOxmlElement:
        """Returns the element that takes a link's words: a hyperlink, or the paragraph itself if the target is not in a
        file.
        """
        link = OxmlElement("w:hyperlink")
        if to.startswith("#") and to[1:] in self._anchors:
            link.set(qn("w:anchor"), to[1:])
        elif to.startswith(_OUTSIDE):
            if to not in self._links:
                self._links[to] = self.document.part.relate_to(
                    NO_XML.sub("", to), RELATIONSHIP_TYPE.HYPERLINK, is_external=True
                )
            link.set(qn("r:id"), self._links[to])
        else:
            return element
        element.append(link)
        return link

    def _run(self, holder: BaseOxmlElement, one: blocks.Span, colour: str) -> None:
        run = OxmlElement("w:r")
        looks = OxmlElement("w:rPr")
        if one.code:
            looks.append(with_values(OxmlElement("w:rFonts"), ascii="Consolas", hAnsi="Consolas", cs="Consolas"))
        for on, tag in ((one.strong, "w:b"), (one.emphasis, "w:i"), (one.struck, "w:strike")):
            if on:
                looks.append(OxmlElement(tag))
        if colour:
            looks.append(with_values(OxmlElement("w:color"), val=colour))
        if len(looks):
            run.append(looks)
        for place, row in enumerate(NO_XML.sub("\ufffd", one.text).split("\n")):
            if place:
                run.append(OxmlElement("w:br"))
            text = OxmlElement("w:t")
            text.text = row
            text.set(qn("xml:space"), "preserve")
            run.append(text)
        holder.append(run)

    def _table(self, rows: list[tuple[blocks.Spans, ...]], right: tuple[int, ...]) -> None:
        """Append a table with lines between its rows only; its first row repeats on each page."""
        count = max(1, len(rows[0]))
        head, *body = [[blocks.plain(cell) for cell in row] for row in rows]
        lengths = [[max(map(len, text.split()), default=0) for text in head]]  # a title may take several lines
        widths = column_widths([*lengths, *([len(text) for text in row] for row in body)], count)
        table, looks, grid = OxmlElement("w:tbl"), OxmlElement("w:tblPr"), OxmlElement("w:tblGrid")
        looks.append(with_values(OxmlElement("w:tblW"), w=str(sum(widths)), type="dxa"))
        borders = OxmlElement("w:tblBorders")
        for side in ("top", "bottom", "insideH"):
            borders.append(with_values(OxmlElement(f"w:{side}"), val="single", sz="4", space="0", color=_LINE))
        looks.append(borders)
        looks.append(with_values(OxmlElement("w:tblLayout"), type="fixed"))
        table.append(looks)
        for width in widths:
            grid.append(with_values(OxmlElement("w:gridCol"), w=str(width)))
        table.append(grid)
        for number, row in enumerate(rows):
            line = OxmlElement("w:tr")
            features = OxmlElement("w:trPr")
            features.append(OxmlElement("w:cantSplit"))
            if number == 0:
                features.append(OxmlElement("w:tblHeader"))
            line.append(features)
            for place, width in enumerate(widths):
                words = row[place] if place < len(row) else ()
                line.append(self._cell(words, width, head=number == 0, right=place in right))
            table.append(line)
        self._end.addprevious(table)
        self.new("")  # Word joins two tables that nothing parts

    def _cell(self, words: blocks.Spans, width: int, *, head: bool, right: bool) -> BaseOxmlElement:
        cell, features, element = OxmlElement("w:tc"), OxmlElement("w:tcPr"), OxmlElement("w:p")
        features.append(with_values(OxmlElement("w:tcW"), w=str(width), type="dxa"))
        if head:
            features.append(with_values(OxmlElement("w:shd"), val="clear", color="auto", fill=_SHADE))
        cell.append(features)
        element.get_or_add_pPr().get_or_add_pStyle().val = _CELL_STYLE.replace(" ", "")
        if right:
            element.get_or_add_pPr().append(with_values(OxmlElement("w:jc"), val="right"))
        self.fill(element, tuple(blocks.Span(one.text, True, to=one.to) for one in words) if head else words)
        cell.append(element)
        return cell


def column_widths(lengths: list[list[int]], count: int) -> list[int]:
    """The widths of the columns of a table in twips, together as wide as the text of a page.

    `lengths` has the number of characters of each cell, row by row. A column gets the width of its longest text, or an
    equal share of what the narrower columns leave. If all texts fit, the columns are widened in proportion.
    """
    longest = [max((row[place] for row in lengths if place < len(row)), default=0) for place in range(count)]
    wanted = [_CELL_MARGIN + _CHARACTER * max(size, 1) for size in longest]
    widths = [0.0] * count
    room = float(_TEXT_WIDTH)
    for left, place in zip(range(count, 0, -1), sorted(range(count), key=wanted.__getitem__), strict=True):
        widths[place] = min(wanted[place], room / left)
        room -= widths[place]
    return [Mm(width * _TEXT_WIDTH / sum(widths)).twips for width in widths]


def _tab() -> BaseOxmlElement:
    run = OxmlElement("w:r")
    run.append(OxmlElement("w:tab"))
    return run


def _colour(mark: blocks.Mark) -> str:
    return _COLOURS["good" if mark == "met" else "bad" if mark in blocks.UNMET else "warn"]


def with_values(element: BaseOxmlElement, **attributes: str) -> BaseOxmlElement:
    for name, value in attributes.items():
        element.set(qn(f"w:{name}"), value)
    return element


def _set_up(document: Docx, report: blocks.PrintableReport) -> None:
    """Sets paper size, fonts and metadata. The library's template has a date of 2013 and another author."""
    properties = document.core_properties
    properties.title = NO_XML.sub("\ufffd", f"{report.word}: {report.title}" if report.word else report.title)[:255]
    properties.author = properties.last_modified_by = "pevsite"
    properties.comments, properties.language = "", "en"
    at = datetime.fromisoformat(report.at) if report.at else datetime(1980, 1, 1)
    properties.created = properties.modified = at
    paper = document.sections[0]
    paper.orientation, paper.page_width, paper.page_height = WD_ORIENT.PORTRAIT, Mm(_PAGE_WIDTH), Mm(_PAGE_HEIGHT)
    paper.left_margin = paper.right_margin = Mm(_SIDE_MARGIN)
    paper.top_margin = paper.bottom_margin = Mm(18)
    for name in _STYLE_NAMES:
        style = document.styles[name]
        style.font.name = "Calibri"
        style.font.color.rgb = RGBColor(0x1D, 0x21, 0x26)
        style.paragraph_format.space_after = Pt(4)
    document.styles["Normal"].font.size = Pt(10)
    cell = document.styles.add_style(_CELL_STYLE, WD_STYLE_TYPE.PARAGRAPH)
    cell.base_style, cell.font.size = document.styles["Normal"], Pt(8.5)
    cell.paragraph_format.space_before = cell.paragraph_format.space_after = Pt(2)


def _undated(package: bytes) -> bytes:
    """Sets the same time on each part, so that the same report gives the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as given, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for info in given.infolist():
            made.writestr(zipfile.ZipInfo(info.filename), given.read(info), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
