"""Writes blocks as a Word file with python-docx, in an isolated process."""

from __future__ import annotations

import base64
import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import assert_never

from docx import Document
from docx.blkcntnr import BlockItemContainer
from docx.document import Document as Docx
from docx.enum.section import WD_ORIENT
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.parts.story import StoryPart
from docx.shared import Emu, Mm, Pt, RGBColor

from runs.documents.printing import blocks

NO_XML = re.compile("[\0-\x08\x0b-\x1f\ufffe\uffff\ud800-\udfff]")
_OUTSIDE = ("http://", "https://", "mailto:")
_COLOURS = {"muted": "565D65", "good": "1D6B3E", "warn": "855104", "bad": "A62B24", "link": "16415A"}
_INDENT = 6
"""Millimetres of indentation for each level of nesting."""
_PAGE_WIDTH, _PAGE_HEIGHT, _SIDE_MARGIN = 210, 297, 20
_TEXT_WIDTH = _PAGE_WIDTH - 2 * _SIDE_MARGIN
"""Millimetres: A4, and the text between its margins."""
_ROOM_WIDTH, _ROOM_HEIGHT = int(_TEXT_WIDTH / 25.4 * 96), 900
"""CSS pixels (96 per inch) for a picture."""
_CELL_MARGIN, _CHARACTER = 5, 2.0
"""Millimetres: what a cell has around its text, and an average character of a table."""
_SHORT, _LONG = 16, 90
"""Characters of a cell that is not broken into lines, and of one beyond which a column gets no wider."""
_CELL_STYLE, _NOTICE_STYLE, _CODE_STYLE, _CONTENTS_STYLE = "Table Text", "Notice", "Code", "TOC 1"
_LETTERHEAD_STYLE = "Letterhead"
_LINE, _SHADE = "C9C9C2", "F4F4F0"
_HEADING_SIZES = {"Title": 20, "Heading 1": 14, "Heading 2": 12, "Heading 3": 11, "Heading 4": 10, "Heading 5": 10}
_HEADING_SIZES |= {"Heading 6": 10}
_DEEPEST_LIST = 3
"""The template of python-docx has styles for so many levels of lists."""
_PROTOCOL = blocks.ReportSection("protocol", "Protocol", ())
_MIN_CONTENTS = 4
"""Sections of a report that has a table of contents."""
_LOGO_HEIGHT, _MAX_LOGO_WIDTH = 14, 60  # millimetres


def docx(data: bytes) -> bytes:
    """Returns the Word file of a `blocks.PrintableReport` (JSON), always the same bytes."""
    return Writer(blocks.REPORT.validate_json(data)).write()


class Writer:
    """Appends block after block to the document."""

    def __init__(self, report: blocks.PrintableReport) -> None:
        self._report = report
        self._above = 0  # the level of the heading that the sections stand below
        self._style = ""  # of paragraphs in a quotation or a notice
        self.document = Document()
        self._body = self.document.element.body
        self._end = self._body.sectPr
        self._ids = 0
        self._anchors = {_PROTOCOL.id} | {one.id for one in report.sections} | {to[1:] for to in report.places}
        self._links: dict[str, str] = {}
        _set_up(self.document, report)

    def write(self) -> bytes:
        report = self._report
        word = (blocks.Span(f"{report.word}: "),) if report.word else ()
        self.fill(self.new("Title"), (*word, blocks.Span(report.title)))
        if report.facts:
            self._facts(report.facts)
        self._paragraph((blocks.Span(report.about),), colour="muted")
        listed = (*report.main, *([_PROTOCOL] if report.protocol else [])) if report.main else report.protocol
        if len(listed) >= _MIN_CONTENTS:
            self._contents(listed)
        for section in report.main:
            self._section(section)
        if report.main and report.protocol:
            self._heading(1, (blocks.Span(_PROTOCOL.title),), _PROTOCOL.id, new_page=True)
            self._above = 1
        for section in report.protocol:
            self._section(section)
        self._paragraph((blocks.Span(report.foot),), colour="muted")
        self._page_margins()
        return self.saved()

    def _facts(self, facts: Iterable[tuple[str, str]]) -> None:
        """Append a table without lines."""
        widths = [Mm(38).twips, Mm(_TEXT_WIDTH - 38).twips]
        table = _new_table(widths, [])
        for name, value in facts:
            line = OxmlElement("w:tr")
            line.append(self._cell((blocks.Span(name),), widths[0], colour="muted"))
            line.append(self._cell((blocks.Span(value),), widths[1]))
            table.append(line)
        self._end.addprevious(table)

    def _contents(self, sections: Sequence[blocks.ReportSection]) -> None:
        """Append a field with links to the sections. It has no page numbers, which only Word could compute."""
        for place, section in enumerate(sections):
            element = self.new(_CONTENTS_STYLE.replace(" ", ""))
            if place == 0:
                for kind in ("begin", 'TOC \\o "1-1" \\h \\n', "separate"):
                    element.append(_field_part(kind))
            self._run(self._link(element, f"#{section.id}"), blocks.Span(section.title), _COLOURS["link"])
            if place == len(sections) - 1:
                element.append(_field_part("end"))

    def _page_margins(self) -> None:
        """The letterhead on the first page, the title on the others, and a footer with page numbers on all."""
        report, paper = self._report, self.document.sections[0]
        paper.different_first_page_header_footer = True
        if report.letterhead.organisation or report.letterhead.logo:
            self._letterhead(paper.first_page_header)
        self._run(paper.header.paragraphs[0]._p, blocks.Span(report.title), _COLOURS["muted"])
        for footer in (paper.first_page_footer, paper.footer):
            element = footer.paragraphs[0]._p
            self._right_tab(element, "Footer")
            self._run(element, blocks.Span(report.letterhead.footer or report.about), _COLOURS["muted"])
            element.append(_tab())
            self._field(element, "PAGE")
            self._run(element, blocks.Span(" / "), _COLOURS["muted"])
            self._field(element, "NUMPAGES")

    def _letterhead(self, header: BlockItemContainer) -> None:
        """A table without lines: the organisation next to the logo, which stands at the right margin."""
        letterhead = self._report.letterhead
        widths = [Mm(_TEXT_WIDTH - _MAX_LOGO_WIDTH).twips, Mm(_MAX_LOGO_WIDTH).twips]
        table, line = _new_table(widths, []), OxmlElement("w:tr")
        name = self._cell((blocks.Span(letterhead.organisation),), widths[0], style=_LETTERHEAD_STYLE)
        logo = self._cell((), widths[1], right=True)
        if letterhead.logo:
            picture = io.BytesIO(base64.b64decode(letterhead.logo))
            logo.p_lst[0].append(_drawing(_logo(header.part, picture), letterhead.organisation or "Logo"))
        for cell in (name, logo):
            line.append(cell)
        table.append(line)
        header.paragraphs[0]._p.addprevious(table)

    def _right_tab(self, element: BaseOxmlElement, style: str) -> None:
        """Let the paragraph have one tab stop, at the right margin."""
        tabs = OxmlElement("w:tabs")
        inherited = self.document.styles[style].paragraph_format.tab_stops
        for stop in inherited:  # or the text would stop at one of these
            tabs.append(with_values(OxmlElement("w:tab"), val="clear", pos=str(stop.position.twips)))
        tabs.append(with_values(OxmlElement("w:tab"), val="right", pos=str(Mm(_TEXT_WIDTH).twips)))
        element.get_or_add_pPr().append(tabs)

    def _field(self, element: BaseOxmlElement, name: str) -> None:
        """Append a field that Word computes. Until then it reads 1."""
        field = with_values(OxmlElement("w:fldSimple"), instr=name)
        self._run(field, blocks.Span("1"), _COLOURS["muted"])
        element.append(field)

    def saved(self) -> bytes:
        buffer = io.BytesIO()
        self.document.save(buffer)
        return _undated(buffer.getvalue())

    def _section(self, section: blocks.ReportSection) -> None:
        self._heading(1 + self._above, (blocks.Span(section.title),), section.id)
        self.add(section.blocks)

    def add(self, found: Iterable[blocks.Block], depth: int = 0) -> None:
        for block in found:
            self._block(block, depth)

    def _block(self, block: blocks.Block, depth: int) -> None:
        match block:
            case blocks.Paragraph():
                self._paragraph(block.spans, depth, colour=block.tone)
            case blocks.Heading():
                self._heading(min(block.level + self._above, 6), block.spans, block.id)
            case blocks.Items():
                self._items(block, depth)
            case blocks.Quotation():
                self._styled("Quote", block.blocks, depth + 1)
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
                        *((blocks.Span(f"{one.label} ", strong=True),) if one.label else ()),
                        *one.spans,
                        *((blocks.Span(f" ({one.by})"),) if one.by else ()),
                    )
                    self._paragraph(head, depth, mark=one.mark, mark_colour=_colour(one.mark))
                    self.add(one.details, depth + 3)
            case blocks.Callout():
                title = blocks.Paragraph((blocks.Span(block.title, strong=True),), block.tone)
                self._styled(_NOTICE_STYLE, (title, *block.blocks), depth)
            case blocks.SourceList():
                self._sources(block)
            case _:
                assert_never(block)

    def _styled(self, style: str, found: Iterable[blocks.Block], depth: int) -> None:
        outer, self._style = self._style, style
        self.add(found, depth)
        self._style = outer

    def _items(self, block: blocks.Items, depth: int) -> None:
        level = min(depth + 1, _DEEPEST_LIST)
        style = ("ListBullet" if block.start is None else "ListNumber") + (str(level) if level > 1 else "")
        number = None if block.start is None else self._numbered_from(block.start, style)
        for row in block.rows:
            first = row[0].spans if row and isinstance(row[0], blocks.Paragraph) else ()
            element = self.new(style)
            if number is not None:
                element.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = number
            self.fill(element, first)
            self.add(row[1:] if first else row, depth + 1)

    def _numbered_from(self, start: int, style: str) -> int:
        """Creates a list of its own, so that its numbers do not continue those of the list before it."""
        numbering = self.document.part.numbering_part.element
        shared = self.document.styles.element.get_by_id(style).pPr.numPr.numId.val
        number = numbering.add_num(numbering.num_having_numId(shared).abstractNumId.val)
        number.add_lvlOverride(ilvl=0).add_startOverride(start)
        return int(number.numId)

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
            self._styled(_CODE_STYLE, (blocks.Paragraph((blocks.Span(block.text, code=True),)),), depth)
            return
        room = min(_ROOM_WIDTH / block.width, _ROOM_HEIGHT / block.height, 1.0)
        file = io.BytesIO(base64.b64decode(block.picture))
        width, height = Pt(0.75 * block.width * room), Pt(0.75 * block.height * room)
        self.new("").append(_drawing(self.document.part.new_pic_inline(file, width, height), block.words))

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
        element = self.new(self._style)
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
                self._run(holder, one, colour if holder is element else _COLOURS["link"])
            if to.startswith(blocks.SOURCE) and holder is not element:
                self._run(holder, blocks.Span(f" [{to.removeprefix(blocks.SOURCE)}]"), _COLOURS["link"])

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
        head, *body = [[blocks.plain(cell) for cell in row] for row in rows]
        longest, broken = [], []
        for place, title in enumerate(head):
            column = [row[place] for row in body if place < len(row)]
            title_words = _longest(title.split())
            longest.append(max(_longest(column), title_words))  # a title may take several lines
            broken.append(max(_longest(word for text in column for word in text.split()), title_words))
        widths = column_widths(longest, broken)
        table = _new_table(widths, ("top", "bottom", "insideH"))
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

    def _cell(
        self,
        words: blocks.Spans,
        width: int,
        *,
        head: bool = False,
        right: bool = False,
        colour: str = "",
        style: str = _CELL_STYLE,
    ) -> BaseOxmlElement:
        cell, features, element = OxmlElement("w:tc"), OxmlElement("w:tcPr"), OxmlElement("w:p")
        features.append(with_values(OxmlElement("w:tcW"), w=str(width), type="dxa"))
        if head:
            features.append(with_values(OxmlElement("w:shd"), val="clear", color="auto", fill=_SHADE))
        cell.append(features)
        element.get_or_add_pPr().get_or_add_pStyle().val = style.replace(" ", "")
        if right:
            element.get_or_add_pPr().append(with_values(OxmlElement("w:jc"), val="right"))
        shown = tuple(blocks.Span(one.text, True, to=one.to) for one in words) if head else words
        self.fill(element, shown, _COLOURS.get(colour, ""))
        cell.append(element)
        return cell


def column_widths(longest: Sequence[int], words: Sequence[int]) -> list[int]:
    """The widths of the columns of a table in twips, together as wide as the text of a page.

    `longest` has the characters of the longest cell of each column, and `words` those of its longest word. If all texts
    fit on one line, the columns are widened in proportion. Otherwise columns of short texts are as wide as these, and
    the others share the rest, none narrower than its words. If not even these fit, all columns are as wide as their
    words, in proportion.
    """
    widths = [_width(size) for size in longest]
    if sum(widths) > _TEXT_WIDTH:
        least = [_width(min(word, _SHORT)) for word in words]
        given = {place: _width(size) for place, size in enumerate(longest) if size <= _SHORT}
        shares = {place: min(size, _LONG) for place, size in enumerate(longest) if size > _SHORT}
        while shares:
            each = (_TEXT_WIDTH - sum(given.values())) / sum(shares.values())
            narrow = [place for place, share in shares.items() if each * share < least[place]]
            if not narrow:
                given |= {place: each * share for place, share in shares.items()}
                break
            given |= {place: least[place] for place in narrow}
            shares = {place: share for place, share in shares.items() if place not in narrow}
        widths = [given[place] for place in range(len(longest))]
        widths = least if sum(widths) > _TEXT_WIDTH + 1 else widths
    return [Mm(width * _TEXT_WIDTH / sum(widths)).twips for width in widths]


def _width(characters: int) -> float:
    """Millimetres of a column for so many characters on a line."""
    return _CELL_MARGIN + _CHARACTER * max(characters, 1)


def _longest(texts: Iterable[str]) -> int:
    return max(map(len, texts), default=0)


def _new_table(widths: list[int], lines: Iterable[str]) -> BaseOxmlElement:
    """A table without rows. `widths` are in twips; `lines` names its sides, or `insideH`, that have a line."""
    table, looks, grid = OxmlElement("w:tbl"), OxmlElement("w:tblPr"), OxmlElement("w:tblGrid")
    looks.append(with_values(OxmlElement("w:tblW"), w=str(sum(widths)), type="dxa"))
    borders = OxmlElement("w:tblBorders")
    for side in lines:
        borders.append(with_values(OxmlElement(f"w:{side}"), val="single", sz="4", space="0", color=_LINE))
    looks.append(borders)
    looks.append(with_values(OxmlElement("w:tblLayout"), type="fixed"))
    table.append(looks)
    for width in widths:
        grid.append(with_values(OxmlElement("w:gridCol"), w=str(width)))
    table.append(grid)
    return table


def _field_part(kind: str) -> BaseOxmlElement:
    """A part of a field that has several paragraphs: its begin, separate or end mark, or else its instruction."""
    run = OxmlElement("w:r")
    if kind in {"begin", "separate", "end"}:
        run.append(with_values(OxmlElement("w:fldChar"), fldCharType=kind))
        return run
    instruction = OxmlElement("w:instrText")
    instruction.text = f" {kind} "
    instruction.set(qn("xml:space"), "preserve")
    run.append(instruction)
    return run


def _drawing(inline: BaseOxmlElement, words: str) -> BaseOxmlElement:
    """A run with a picture. `words` describes it to people who cannot see it."""
    inline.docPr.set("descr", NO_XML.sub("\ufffd", words))
    run, drawing = OxmlElement("w:r"), OxmlElement("w:drawing")
    drawing.append(inline)
    run.append(drawing)
    return run


def _logo(part: StoryPart, picture: io.BytesIO) -> BaseOxmlElement:
    _, image = part.get_or_add_image(picture)
    room = min(Mm(_LOGO_HEIGHT) / image.height, Mm(_MAX_LOGO_WIDTH) / image.width)
    return part.new_pic_inline(picture, Emu(int(image.width * room)), Emu(int(image.height * room)))


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
    properties.author = properties.last_modified_by = NO_XML.sub("\ufffd", report.author or "pevsite")[:255]
    properties.comments, properties.language = "", "en"
    at = datetime.fromisoformat(report.at) if report.at else datetime(1980, 1, 1)
    properties.created = properties.modified = at
    paper = document.sections[0]
    paper.orientation, paper.page_width, paper.page_height = WD_ORIENT.PORTRAIT, Mm(_PAGE_WIDTH), Mm(_PAGE_HEIGHT)
    paper.left_margin = paper.right_margin = Mm(_SIDE_MARGIN)
    paper.top_margin = paper.bottom_margin = Mm(18)
    styles = document.styles
    for name in (*_HEADING_SIZES, "Normal", "Header", "Footer", "Quote"):
        style = styles[name]
        style.font.name = "Calibri"
        style.element.rPr.rFonts.attrib.pop(qn("w:asciiTheme"), None)  # a theme's font would win
        style.element.rPr.rFonts.attrib.pop(qn("w:hAnsiTheme"), None)
        style.font.color.rgb = RGBColor(0x1D, 0x21, 0x26)
        style.paragraph_format.space_after = Pt(4)
    for name, size in _HEADING_SIZES.items():
        styles[name].font.size = Pt(size)
        styles[name].paragraph_format.space_before = Pt(size)
        styles[name].paragraph_format.keep_with_next = True
    styles["Title"].element.pPr.remove(styles["Title"].element.pPr.find(qn("w:pBdr")))
    styles["Normal"].font.size = Pt(10)
    styles["Header"].font.size = styles["Footer"].font.size = Pt(8)
    styles["Quote"].font.italic = False
    for name, points, space in (
        (_CELL_STYLE, 8.5, 2),
        (_NOTICE_STYLE, 10, 2),
        (_CODE_STYLE, 8.5, 4),
        (_CONTENTS_STYLE, 9, 0),
        (_LETTERHEAD_STYLE, 12, 0),
    ):
        style = styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        style.base_style, style.font.size = styles["Normal"], Pt(points)
        style.paragraph_format.space_before = style.paragraph_format.space_after = Pt(space)
    styles[_LETTERHEAD_STYLE].font.bold = True
    for name, with_line in (("Quote", True), (_NOTICE_STYLE, True), (_CODE_STYLE, False)):
        _mark_off(styles[name].element, with_line=with_line, shaded=name != "Quote")


def _mark_off(style: BaseOxmlElement, *, with_line: bool, shaded: bool) -> None:
    """Set the paragraphs of a style off by a line at their left and a ground."""
    looks = style.get_or_add_pPr()
    if with_line:
        borders = OxmlElement("w:pBdr")
        borders.append(with_values(OxmlElement("w:left"), val="single", sz="12", space="6", color=_LINE))
        looks.insert_element_before(borders, "w:shd", "w:tabs", "w:spacing", "w:ind", "w:jc")
    if shaded:
        ground = with_values(OxmlElement("w:shd"), val="clear", color="auto", fill=_SHADE)
        looks.insert_element_before(ground, "w:tabs", "w:spacing", "w:ind", "w:jc")


def _undated(package: bytes) -> bytes:
    """Sets the same time on each part, so that the same report gives the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as given, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for info in given.infolist():
            made.writestr(zipfile.ZipInfo(info.filename), given.read(info), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
