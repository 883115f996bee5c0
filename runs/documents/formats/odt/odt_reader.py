"""Reads OpenDocument texts with all tracked changes accepted, then notes, comments, headers and footers.

Each story is read block by block: paragraphs, cells of tables, text boxes.
"""

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from runs.documents.formats.docx.numbering import Clauses, Numbered
from runs.documents.formats.odt import FORMAT
from runs.documents.formats.odt.numbering import (
    DC,
    DRAW,
    MAX_DEPTH,
    OFFICE,
    STYLE,
    TABLE,
    TEXT,
    TOO_DEEP,
    OdtCounters,
    OdtStyles,
)
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument
from runs.documents.reading.package_parts import NEEDS_PASSWORD, Element, Package, whole_number
from runs.errors import InvalidInput

_NO_WORDS = frozenset({f"{TEXT}number", f"{TEXT}ruby-text", f"{TEXT}tracked-changes", f"{OFFICE}event-listeners"})


_LEFT_OUT = frozenset({f"{TEXT}tracked-changes", f"{OFFICE}forms", f"{TEXT}note-citation", f"{TEXT}number"})
_SPACES = re.compile(r"[ \t\r\n]+")
_MAX_SPACES = 1_000  # a file may claim any number of spaces in one tag
_SIGNS = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
_MARKS = frozenset({f"{TEXT}change", f"{TEXT}change-start", f"{TEXT}change-end", f"{OFFICE}annotation-end"})


@dataclass
class OdtChange:
    """A tracked change. `start`: the offset of an insertion in the whole text, once it is known."""

    is_deletion: bool
    text: str
    by: str
    on: str
    is_open: bool
    start: int = 0


@dataclass
class OdtNote:
    """A note or a comment that is added after the text. `kind` is footnote, endnote or comment."""

    kind: str
    element: Element
    name: str
    start: int
    end: int = 0


@dataclass
class OdtWords:
    """The words of a paragraph. `events`: elements between words, with the number of characters before each. `hidden`:
    the ranges that are not shown.
    """

    hidden_styles: Set[str]
    parts: list[str] = field(default_factory=list)
    size: int = 0
    events: list[tuple[int, Element]] = field(default_factory=list)
    hidden: list[tuple[int, int]] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def read(self, element: Element, depth: int = 0) -> None:
        """Adds the content of an element, which is a paragraph or a part of one."""
        if depth > MAX_DEPTH:
            raise InvalidInput(TOO_DEEP)
        start = self.size
        self._add(_SPACES.sub(" ", element.text or ""))
        for child in element:
            tag = child.tag
            if tag in _SIGNS:
                self._add(_SIGNS[tag])
            elif tag == f"{TEXT}s":
                self._add(" " * whole_number(child.get(f"{TEXT}c"), 1, low=1, high=_MAX_SPACES))
            elif tag in _MARKS or tag in {f"{TEXT}note", f"{OFFICE}annotation"}:
                self.events.append((self.size, child))
            elif tag.startswith(DRAW):
                self.boxes.append(child)
            elif tag not in _NO_WORDS:
                self.read(child, depth + 1)
            self._add(_SPACES.sub(" ", child.tail or ""))
        if element.get(f"{TEXT}style-name") in self.hidden_styles:
            self.hidden.append((start, self.size))

    def _add(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.size += len(text)


_MAX_REPEATED = 20_000  # a file may claim any number of equal cells
_PARAGRAPHS = frozenset({f"{TEXT}p", f"{TEXT}h"})
_IN_FRAMES = frozenset({f"{DRAW}text-box"})
_ROWS = frozenset({f"{TABLE}table-header-rows", f"{TABLE}table-rows", f"{TABLE}table-row-group"})
_CHANGES = frozenset({f"{TEXT}change", f"{TEXT}change-start", f"{TEXT}change-end"})


@dataclass
class OdtPosition:
    """The place where blocks are added.

    Anchors begin with `prefix`. `label` precedes the first block, whose anchor is `first`. `level`: the depth of list
    nesting. `item`: a list item whose first paragraph has not been read yet.
    """

    prefix: str
    kind: BlockKind
    label: str = ""
    paragraphs: int = 0
    tables: int = 0
    level: int = 0
    first: str = ""
    item: Element | None = None
    boxes: dict[str, "OdtPosition"] = field(default_factory=dict)

    def box(self, prefix: str) -> "OdtPosition":
        """Returns the place of the text boxes of a paragraph or of pages."""
        kind = BlockKind.TEXT_BOX if self.kind in {BlockKind.PARAGRAPH, BlockKind.CELL} else self.kind
        return self.boxes.setdefault(prefix, OdtPosition(prefix, kind))


class OdtStory:
    """Adds the blocks of a story to `builder`, and collects notes and comments."""

    def __init__(
        self, builder: Builder, styles: OdtStyles, hidden_styles: Set[str], changes: Mapping[str, OdtChange]
    ) -> None:
        self._builder, self._hidden_styles, self._changes = builder, hidden_styles, changes
        self._counting, self._clauses = OdtCounters(styles), Clauses()
        self.later: list[OdtNote] = []
        self._comments: dict[str, OdtNote] = {}

    def walk(self, element: Element, place: OdtPosition, depth: int = 0) -> None:
        """Adds all blocks in an element."""
        if depth > MAX_DEPTH:
            raise InvalidInput(TOO_DEEP)
        for child in element:
            if child.tag in _PARAGRAPHS:
                place.paragraphs += 1
                words = OdtWords(self._hidden_styles)
                words.read(child)
                anchor = f"{place.prefix}p{place.paragraphs}"
                start, text = self._builder.begin(), words.text
                numbered = self._count_paragraph(child, place)
                if text.strip():
                    self._add(child, place, anchor, text, numbered)
                    for first, last in words.hidden:
                        self._builder.mark(MarkKind.HIDDEN, start + first, start + last)
                for at, event in words.events:
                    self._event(event, start + at if text.strip() else start)
                for box in words.boxes:
                    self.walk(box, place.box(f"{anchor}x."), depth + 1)
            elif child.tag == f"{TABLE}table":
                self._table(child, place, depth)
            elif child.tag in _CHANGES:
                self._change(child, self._builder.begin())
            elif child.tag.startswith(DRAW):
                self.walk(child, place if child.tag in _IN_FRAMES else place.box("p0x."), depth + 1)
            elif child.tag == f"{TEXT}list":
                self._list(child, place, depth)
            elif child.tag not in _LEFT_OUT:
                # sections and other elements that contain paragraphs
                begun = self._builder.begin()
                self.walk(child, place, depth + 1)
                if child.get(f"{TEXT}display") == "none":
                    self._builder.mark(MarkKind.HIDDEN, begun, self._builder.begin() - 1)

    def _list(self, element: Element, place: OdtPosition, depth: int) -> None:
        place.level += 1
        self._counting.begin(element, place.level)
        for item in element:
            number = item.find(f"{TEXT}number")
            place.label = (number.text or "") if number is not None else ""
            place.item = item if item.tag == f"{TEXT}list-item" else None
            self.walk(item, place, depth + 1)
        self._counting.end()
        place.level -= 1
        place.label, place.item = "", None

    def _count_paragraph(self, paragraph: Element, place: OdtPosition) -> Numbered | None:
        """Counts a paragraph, even an empty one, and returns its number."""
        item, place.item = place.item, None
        if item is not None:
            return self._counting.item(item, paragraph, place.level)
        is_heading = paragraph.tag == f"{TEXT}h" and place.kind is BlockKind.PARAGRAPH and not place.level
        return self._counting.heading(paragraph, _outline_level(paragraph)) if is_heading else None

    def _add(self, paragraph: Element, place: OdtPosition, anchor: str, text: str, numbered: Numbered | None) -> None:
        number = paragraph.find(f"{TEXT}number")
        label = (number.text or "") if number is not None else place.label
        if numbered:
            # the number in the file is the one that was shown
            numbered = replace(numbered, label=label.strip() or numbered.label)
            label = numbered.label
        is_clause = numbered and place.kind in {BlockKind.PARAGRAPH, BlockKind.CELL}
        clause = self._clauses.clause(numbered) if numbered and is_clause else ""
        place.label, place.first = "", place.first or anchor
        kind, level = place.kind, place.level
        if paragraph.tag == f"{TEXT}h" and kind is BlockKind.PARAGRAPH:
            kind, level = BlockKind.HEADING, _outline_level(paragraph)
        self._builder.add(anchor, kind, text, label=label.strip(), clause=clause, level=level)

    def _event(self, event: Element, at: int) -> None:
        if event.tag in _CHANGES:
            self._change(event, at)
        elif event.tag == f"{TEXT}note":
            self.later.append(OdtNote(event.get(f"{TEXT}note-class", "footnote"), event, "", at))
        elif event.tag == f"{OFFICE}annotation":
            comment = OdtNote("comment", event, event.get(f"{OFFICE}name", ""), at)
            self.later.append(comment)
            self._comments[comment.name] = comment
        elif begun := self._comments.get(event.get(f"{OFFICE}name", "")):
            begun.end = at

    def _change(self, event: Element, at: int) -> None:
        change = self._changes.get(event.get(f"{TEXT}change-id", ""))
        if change is None:
            return
        if change.is_deletion:
            if change.text:
                self._builder.delete(at, change.text, by=change.by, on=change.on)
            change.text = ""  # added once, even if it is referenced several times
        elif event.tag == f"{TEXT}change-start":
            change.start, change.is_open = at, True
        elif change.is_open:
            self._builder.mark(MarkKind.INSERTED, change.start, at, by=change.by, on=change.on)
            change.is_open = False

    def _table(self, table: Element, place: OdtPosition, depth: int) -> None:
        place.tables += 1
        kind = BlockKind.CELL if place.kind is BlockKind.PARAGRAPH else place.kind
        row_number = 1
        for row in _rows(table):
            column = 1
            for cell in row:
                if cell.tag == f"{TABLE}table-cell":
                    prefix = f"{place.prefix}t{place.tables}r{row_number}c{column}."
                    self.walk(cell, OdtPosition(prefix, kind), depth + 1)
                column += _repeated(cell, "columns")
            row_number += _repeated(row, "rows")


def _outline_level(heading: Element) -> int:
    return whole_number(heading.get(f"{TEXT}outline-level"), 1, low=1, high=100)


def _rows(table: Element, depth: int = 0) -> Iterator[Element]:
    if depth > MAX_DEPTH:
        raise InvalidInput(TOO_DEEP)
    for child in table:
        if child.tag == f"{TABLE}table-row":
            yield child
        elif child.tag in _ROWS:
            yield from _rows(child, depth + 1)


def _repeated(element: Element, what: str) -> int:
    """Returns how often a cell or row is repeated. Equal ones are stored once, and are read once."""
    return whole_number(element.get(f"{TABLE}number-{what}-repeated"), 1, low=1, high=_MAX_REPEATED)


_NOTES = {"footnote": ("fn", BlockKind.FOOTNOTE), "endnote": ("en", BlockKind.ENDNOTE)}


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """Reads a text. Numbers of lists and headings are taken from the file if it has them, otherwise counted."""
    package = Package(data)
    if b"encryption-data" in (package.read("META-INF/manifest.xml") or b""):
        raise InvalidInput(NEEDS_PASSWORD)
    content, styles = package.xml("content.xml"), package.xml("styles.xml")
    body = content.find(f"{OFFICE}body/{OFFICE}text") if content is not None else None
    if content is None or body is None:
        raise InvalidInput("is not an OpenDocument text, or is damaged; open it and save it again, or save it as .docx")
    builder = Builder(FORMAT.name)
    hidden = {name for root in (content, styles) if root is not None for name in _hidden_styles(root)}
    story = OdtStory(builder, OdtStyles(content, styles), hidden, _changes(body))
    main = OdtPosition("", BlockKind.PARAGRAPH)
    story.walk(body, main)
    for name, (prefix, kind) in _NOTES.items():
        _add_notes(story, [one for one in story.later if one.kind == name], prefix, kind)
    _add_comments(builder, story)
    for kind, prefix in ((BlockKind.HEADER, "hd"), (BlockKind.FOOTER, "ft")):
        parts = styles.iter(f"{STYLE}{kind.value}") if styles is not None else ()
        for number, part in enumerate(parts, 1):
            story.walk(part, OdtPosition(f"{prefix}{number}.", kind))
    return builder.build(FORMAT.unit, main.paragraphs)


def _hidden_styles(root: Element) -> Iterator[str]:
    """Yields the names of styles whose text is not shown."""
    for style in root.iter(f"{STYLE}style"):
        properties = style.find(f"{STYLE}text-properties")
        if properties is not None and properties.get(f"{TEXT}display") == "none":
            yield style.get(f"{STYLE}name", "")


def _changes(body: Element) -> dict[str, OdtChange]:
    """Returns the tracked changes by the name that the text uses to refer to them."""
    found: dict[str, OdtChange] = {}
    for region in body.iter(f"{TEXT}changed-region"):
        name = region.get(f"{TEXT}id") or region.get("{http://www.w3.org/XML/1998/namespace}id", "")
        for kind in ("insertion", "deletion"):
            change = region.find(f"{TEXT}{kind}")
            if change is not None:
                by, on = (change.find(f"{OFFICE}change-info/{DC}{what}") for what in ("creator", "date"))
                paragraphs = ["".join(_all_text(one)) for one in change.iter(f"{TEXT}p", f"{TEXT}h")]
                found[name] = OdtChange(
                    kind == "deletion", "\n".join(paragraphs), _text_of(by), _text_of(on), is_open=False
                )
    return found


def _text_of(element: Element | None) -> str:
    return (element.text or "") if element is not None else ""


def _all_text(element: Element) -> Iterator[str]:
    """Yields all texts of a deletion. Only their words are used."""
    for one in element.iter():
        yield one.text or ""
        if one is not element:
            yield one.tail or ""


def _add_notes(story: OdtStory, notes: list[OdtNote], prefix: str, kind: BlockKind) -> None:
    for number, note in enumerate(notes, 1):
        body = note.element.find(f"{TEXT}note-body")
        sign = note.element.find(f"{TEXT}note-citation")
        if body is not None:
            story.walk(body, OdtPosition(f"{prefix}{number}.", kind, label=_text_of(sign)))


def _add_comments(builder: Builder, story: OdtStory) -> None:
    """Adds the comments, each with a mark on the words that it refers to, or on the character before it."""
    for number, comment in enumerate([one for one in story.later if one.kind == "comment"], 1):
        place = OdtPosition(f"cm{number}.", BlockKind.COMMENT)
        story.walk(comment.element, place)
        by, on = (_text_of(comment.element.find(f"{DC}{what}")) for what in ("creator", "date"))
        end = max(comment.end, comment.start)
        start = comment.start if end > comment.start else max(comment.start - 1, 0)
        builder.mark(MarkKind.COMMENTED, start, end, by=by, on=on, note=place.first)
