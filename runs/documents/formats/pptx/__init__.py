"""PowerPoint files: slides in their order, each with its shapes, charts, diagrams, speaker notes and comments."""

from collections.abc import Iterator, Mapping, Sequence

from runs.documents.formats.building import Builder, BuiltDocument
from runs.documents.formats.package_parts import Element, Package, Relation
from runs.documents.formats.pptx.comments import comments_in, names_in
from runs.documents.formats.pptx.shapes import MARGINS, A, P, Shapes, paragraphs
from runs.documents.formats.pptx.shapes import words as words_of
from runs.documents.model.layout import BlockKind, MarkKind
from runs.errors import InvalidInput

MAX_SLIDES = 5_000
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_NO_NOTES = MARGINS | {"sldImg"}


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """All slides in their order; hidden ones are marked."""
    package = Package(data)
    main = next((one.target for one in package.relations() if one.kind == "officeDocument"), "ppt/presentation.xml")
    presentation = package.xml(main)
    if presentation is None:
        raise InvalidInput("is no PowerPoint presentation, since it has no list of slides")
    relations = package.relations(main)
    names: dict[str, str] = {}
    for one in relations:
        if one.kind in {"commentAuthors", "authors"}:
            names |= names_in(package.xml(one.target))
    slides = {one.id: one.target for one in relations if one.kind == "slide"}
    parts = [slides.get(one.get(f"{_R}id", "")) for one in presentation.iter(f"{P}sldId")]
    if len(parts) > MAX_SLIDES:
        raise InvalidInput(f"has more than {MAX_SLIDES:,} slides; split it")
    builder = Builder("pptx")
    for number, part in enumerate(parts, 1):
        root = package.xml(part) if part else None
        if part is None or root is None:
            builder.note(f"Slide {number} of {len(parts)} is missing in the file.")
        else:
            _Slide(builder, package, number, part, names).read(root)
    return builder.made("slide", len(parts))


class _Slide:
    """Adds the blocks of one slide, whose anchors begin with `s4`."""

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
        for one in self._in_order(kind):
            if (root := self._package.xml(one.target)) is not None:
                yield root

    def _in_order(self, kind: str) -> Sequence[Relation]:
        return [one for one in self._relations if one.kind == kind]

    def _add_lines(self, place: str, kind: BlockKind, lines: Sequence[str]) -> None:
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._builder.add(f"s{self._number}.{place}.p{number}", kind, line)


def _notes(root: Element) -> Iterator[str]:
    """What the speaker has noted, without the picture of the slide and what stands on the margins of the page."""
    for shape in root.iter(f"{P}sp"):
        place = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        if place is None or place.get("type") not in _NO_NOTES:
            yield from paragraphs(shape)


def _chart(root: Element) -> Iterator[str]:
    """Titles, and each series in a line: its name, and its values with what they are values of."""
    for series_or_text in root.iter(f"{A}p", f"{_C}ser"):
        if series_or_text.tag == f"{A}p":
            yield words_of(series_or_text)
        else:
            yield _series(series_or_text)


def _series(series: Element) -> str:
    name = " ".join(_values(series.find(f"{_C}tx"), f"{_C}v"))
    categories, values = (_points(series, tags) for tags in (("cat", "xVal"), ("val", "yVal")))
    shown = "; ".join(f"{categories.get(at, '')} {value}".strip() for at, value in values.items())
    return f"{name}: {shown}" if name and shown else name or shown


def _points(series: Element, names: Sequence[str]) -> Mapping[str, str]:
    """The values of a series by their places."""
    found = next((one for name in names if (one := series.find(f"{_C}{name}")) is not None), None)
    if found is None:
        return {}
    return {point.get("idx", ""): " ".join(_values(point, f"{_C}v")) for point in found.iter(f"{_C}pt")}


def _values(element: Element | None, tag: str) -> list[str]:
    return [" ".join((one.text or "").split()) for one in element.iter(tag)] if element is not None else []
