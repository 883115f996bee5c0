"""The shapes of a slide: titles, text with its levels, tables, groups."""

from collections.abc import Iterator

from runs.documents.formats.building import Builder
from runs.documents.formats.package_parts import MAX_DEPTH, Element, whole_number
from runs.documents.model.layout import BlockKind, MarkKind
from runs.errors import InvalidInput

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
MARGINS = frozenset({"dt", "ftr", "hdr", "sldNum"})
"""Placeholders of the date, the footer, the header and the number."""
_TITLES = frozenset({"title", "ctrTitle"})
_SIGNS = {f"{A}br": "\n", f"{A}tab": "\t"}
_WITH_TEXT = frozenset({f"{P}sp", f"{P}cxnSp"})
_SHAPES = _WITH_TEXT | {f"{P}pic", f"{P}grpSp", f"{P}graphicFrame", f"{_MC}AlternateContent"}
_NAMES = tuple(f"{P}{name}/{P}cNvPr" for name in ("nvSpPr", "nvCxnSpPr", "nvGrpSpPr", "nvGraphicFramePr"))
_MAX_LEVEL = 8


def words(paragraph: Element) -> str:
    """The text of a paragraph, its breaks as such."""
    found = paragraph.iter(f"{A}t", f"{_M}t", *_SIGNS)
    return "".join(_SIGNS.get(one.tag) or one.text or "" for one in found)


def paragraphs(element: Element) -> Iterator[str]:
    return (words(one) for one in element.iter(f"{A}p"))


class Shapes:
    """Adds what shapes say to `builder`."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def walk(self, tree: Element, prefix: str, depth: int = 0) -> None:
        """Each shape, whose anchors are its number behind `prefix`; groups count from 1 again."""
        if depth > MAX_DEPTH:
            raise InvalidInput("is nested deeper than any presentation")
        for number, shape in enumerate((one for one in tree if one.tag in _SHAPES), 1):
            start = self._builder.begin()
            self._shape(shape, f"{prefix}.sh{number}", depth)
            if _is_hidden(shape):
                self._builder.mark(MarkKind.HIDDEN, start, self._builder.begin() - 1, note="hidden shape")

    def _shape(self, shape: Element, anchor: str, depth: int) -> None:
        if shape.tag in _WITH_TEXT:
            self._text(shape, anchor)
        elif shape.tag == f"{P}grpSp":
            self.walk(shape, anchor, depth + 1)
        elif shape.tag == f"{P}graphicFrame":
            self._table(shape, anchor)
        elif shape.tag == f"{_MC}AlternateContent":
            start = self._builder.begin()
            for name in ("Choice", "Fallback"):
                chosen = shape.find(f"{_MC}{name}")
                if chosen is not None and self._builder.begin() == start:  # the fallback says the same again
                    self.walk(chosen, anchor, depth + 1)

    def _text(self, shape: Element, anchor: str) -> None:
        place = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        role = place.get("type", "") if place is not None else ""
        kind = BlockKind.TITLE if role in _TITLES else BlockKind.FOOTER if role in MARGINS else BlockKind.PARAGRAPH
        for number, paragraph in enumerate(shape.iter(f"{A}p"), 1):
            text = words(paragraph)
            if text.strip():
                properties = paragraph.find(f"{A}pPr")
                level = whole_number(properties.get("lvl"), high=_MAX_LEVEL) if properties is not None else 0
                level = 1 if kind is BlockKind.TITLE else level + 1 if level else 0
                self._builder.add(f"{anchor}.p{number}", kind, text, level=level)

    def _table(self, frame: Element, anchor: str) -> None:
        for row_number, row in enumerate(frame.iter(f"{A}tr"), 1):
            for column, cell in enumerate(row.findall(f"{A}tc"), 1):
                text = "\n".join(paragraphs(cell))
                if text.strip():
                    self._builder.add(f"{anchor}.r{row_number}c{column}", BlockKind.CELL, text)


def _is_hidden(shape: Element) -> bool:
    found = next((one for name in _NAMES if (one := shape.find(name)) is not None), None)
    return found is not None and found.get("hidden") in {"1", "true"}
