"""Reads PowerPoint files slide by slide: shapes, charts, diagrams, speaker notes and comments."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from runs.documents.formats.pptx import FORMAT
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument
from runs.documents.reading.package_parts import MAX_DEPTH, Element, Package, whole_number
from runs.errors import InvalidInput

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
MARGINS = frozenset({"dt", "ftr", "hdr", "sldNum"})
"""Placeholders of date, footer, header and slide number."""
_TITLES = frozenset({"title", "ctrTitle"})
_SIGNS = {f"{A}br": "\n", f"{A}tab": "\t"}
_WITH_TEXT = frozenset({f"{P}sp", f"{P}cxnSp"})
_SHAPES = _WITH_TEXT | {f"{P}pic", f"{P}grpSp", f"{P}graphicFrame", f"{_MC}AlternateContent"}
_NAMES = tuple(f"{P}{name}/{P}cNvPr" for name in ("nvSpPr", "nvCxnSpPr", "nvGrpSpPr", "nvGraphicFramePr"))
_MAX_LEVEL = 8  # PowerPoint has nine levels, counted from 0


def words(paragraph: Element) -> str:
    """Returns the text of a paragraph with line breaks."""
    found = paragraph.iter(f"{A}t", f"{_M}t", *_SIGNS)
    return "".join(_SIGNS.get(one.tag) or one.text or "" for one in found)


def paragraphs(element: Element) -> Iterator[str]:
    return (words(one) for one in element.iter(f"{A}p"))


class Shapes:
    """Adds the text of shapes to `builder`."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def walk(self, tree: Element, prefix: str, depth: int = 0) -> None:
        """Adds each shape. The anchor is its number after `prefix`; numbering restarts in groups."""
        if depth > MAX_DEPTH:
            raise InvalidInput("is nested deeper than any presentation")
        for number, shape in enumerate((one for one in tree if one.tag in _SHAPES), 1):
            start = self._builder.begin()
            self._shape(shape, f"{prefix}.sh{number}", depth)
            found = next((properties for name in _NAMES if (properties := shape.find(name)) is not None), None)
            if found is not None and found.get("hidden") in {"1", "true"}:
                self._builder.mark(MarkKind.HIDDEN, start, self._builder.begin() - 1, note="hidden shape")

    def _shape(self, shape: Element, anchor: str, depth: int) -> None:
        if shape.tag in _WITH_TEXT:
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
        elif shape.tag == f"{P}grpSp":
            self.walk(shape, anchor, depth + 1)
        elif shape.tag == f"{P}graphicFrame":
            for row_number, row in enumerate(shape.iter(f"{A}tr"), 1):
                for column, cell in enumerate(row.findall(f"{A}tc"), 1):
                    text = "\n".join(paragraphs(cell))
                    if text.strip():
                        self._builder.add(f"{anchor}.r{row_number}c{column}", BlockKind.CELL, text)
        elif shape.tag == f"{_MC}AlternateContent":
            start = self._builder.begin()
            for name in ("Choice", "Fallback"):
                chosen = shape.find(f"{_MC}{name}")
                if chosen is not None and self._builder.begin() == start:  # the fallback repeats the same text
                    self.walk(chosen, anchor, depth + 1)


class SlideComment(NamedTuple):
    text: str
    by: str


def names_in(root: Element | None) -> dict[str, str]:
    """Returns people by id."""
    people = root.iter(*_any("cmAuthor", "author")) if root is not None else ()
    return {one.get("id", ""): one.get("name", "") for one in people}


def comments_in(root: Element, names: Mapping[str, str]) -> Iterator[SlideComment]:
    """Yields each comment followed by its replies."""
    for one in root.iter(*_any("cm", "reply")):
        old = one.find(f"{P}text")
        new = one.find("{*}txBody")
        text = (old.text or "") if old is not None else "\n".join(paragraphs(new)) if new is not None else ""
        if text.strip():
            yield SlideComment(text.strip(), names.get(one.get("authorId", ""), ""))


def _any(*names: str) -> tuple[str, ...]:
    """Returns patterns for these names in any namespace, because that of the newer format depends on its version."""
    return tuple(f"{{*}}{name}" for name in names)


MAX_SLIDES = 5_000
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_NO_NOTES = MARGINS | {"sldImg"}


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """Reads all slides in order. Hidden ones are marked."""
    package = Package(data)
    main = next((one.target for one in package.relations() if one.kind == "officeDocument"), "ppt/presentation.xml")
    presentation = package.xml(main)
    if presentation is None:
        raise InvalidInput("is not a PowerPoint presentation, because it has no list of slides")
    relations = package.relations(main)
    names: dict[str, str] = {}
    for one in relations:
        if one.kind in {"commentAuthors", "authors"}:
            names |= names_in(package.xml(one.target))
    slides = {one.id: one.target for one in relations if one.kind == "slide"}
    parts = [slides.get(one.get(f"{_R}id", "")) for one in presentation.iter(f"{P}sldId")]
    if len(parts) > MAX_SLIDES:
        raise InvalidInput(f"has more than {MAX_SLIDES:,} slides; split it")
    builder = Builder(FORMAT.name)
    for number, part in enumerate(parts, 1):
        root = package.xml(part) if part else None
        if part is None or root is None:
            builder.note(f"Slide {number} of {len(parts)} is missing in the file.")
        else:
            _Slide(builder, package, number, part, names).read(root)
    return builder.build(FORMAT.unit, len(parts))


class _Slide:
    """Adds the blocks of one slide. Their anchors begin with its number, such as `s4`."""

    def __init__(self, builder: Builder, package: Package, number: int, part: str, names: Mapping[str, str]) -> None:
        self._builder, self._package, self._number, self._names = builder, package, number, names
        self._relations = package.relations(part)

    def read(self, root: Element) -> None:
        start = self._builder.begin()
        tree = root.find(f"{P}cSld/{P}spTree")
        if tree is not None:
            Shapes(self._builder).walk(tree, f"s{self._number}")
        for number, part in enumerate(self._parts("diagramData"), 1):
            self._add_lines(f"dg{number}", BlockKind.PARAGRAPH, list(paragraphs(part)))
        for number, part in enumerate(self._parts("chart"), 1):
            self._add_lines(f"ch{number}", BlockKind.CHART, list(_chart(part)))
        for number, part in enumerate(self._parts("chartEx"), 1):
            self._add_lines(f"cx{number}", BlockKind.CHART, [*paragraphs(part), *_values(part, f"{_CX}pt")])
        if self._builder.begin() == start and tree is not None and next(tree.iter(f"{P}pic"), None) is not None:
            self._builder.note(f"Slide {self._number} has a picture and no text; what is on the picture was not read.")
        for part in self._parts("notesSlide"):
            self._add_lines("notes", BlockKind.SPEAKER_NOTES, list(_notes(part)))
        comments = [one for part in self._parts("comments") for one in comments_in(part, self._names)]
        for number, comment in enumerate(comments, 1):
            by = f"{comment.by}:" if comment.by else ""
            self._builder.add(f"s{self._number}.cm{number}", BlockKind.COMMENT, comment.text, label=by)
        if root.get("show") in {"0", "false"}:
            self._builder.mark(MarkKind.HIDDEN, start, self._builder.begin() - 1, note="hidden slide")

    def _parts(self, kind: str) -> Iterator[Element]:
        for one in self._relations:
            if one.kind == kind and (root := self._package.xml(one.target)) is not None:
                yield root

    def _add_lines(self, place: str, kind: BlockKind, lines: Sequence[str]) -> None:
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._builder.add(f"s{self._number}.{place}.p{number}", kind, line)


def _notes(root: Element) -> Iterator[str]:
    """Yields the speaker notes, without the picture of the slide and without headers and footers."""
    for shape in root.iter(f"{P}sp"):
        place = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        if place is None or place.get("type") not in _NO_NOTES:
            yield from paragraphs(shape)


def _chart(root: Element) -> Iterator[str]:
    """Yields titles, and each series as a line: its name, and its values with their categories."""
    for series_or_text in root.iter(f"{A}p", f"{_C}ser"):
        if series_or_text.tag == f"{A}p":
            yield words(series_or_text)
        else:
            yield _series(series_or_text)


def _series(series: Element) -> str:
    name = " ".join(_values(series.find(f"{_C}tx"), f"{_C}v"))
    categories, values = (_points(series, tags) for tags in (("cat", "xVal"), ("val", "yVal")))
    shown = "; ".join(f"{categories.get(at, '')} {value}".strip() for at, value in values.items())
    return f"{name}: {shown}" if name and shown else name or shown


def _points(series: Element, names: Sequence[str]) -> Mapping[str, str]:
    """Returns the values of a series by position."""
    found = next((one for name in names if (one := series.find(f"{_C}{name}")) is not None), None)
    if found is None:
        return {}
    return {point.get("idx", ""): " ".join(_values(point, f"{_C}v")) for point in found.iter(f"{_C}pt")}


def _values(element: Element | None, tag: str) -> list[str]:
    return [" ".join((one.text or "").split()) for one in element.iter(tag)] if element is not None else []
