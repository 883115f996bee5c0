"""Reads Word files (.docx) with all tracked changes accepted and with the numbers of their clauses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from runs.documents.formats.docx import FORMAT
from runs.documents.formats.docx.crossreferences import CrossReferences
from runs.documents.formats.docx.names import MC, W, chosen, is_on, number, switch, val
from runs.documents.formats.docx.notes import NoteCounter, NoteKind
from runs.documents.formats.docx.numbering import Clauses, Counters, FieldNumbers, Numbered, Numbering
from runs.documents.formats.docx.styles import (
    UNKNOWN,
    WHITE,
    DocxStyles,
    Style,
    colour_of,
    ground_of,
    hides,
    list_of,
    outline_level,
    shading,
)
from runs.documents.formats.docx.words import (
    BOOKMARK,
    DELETED,
    INSERTED,
    RANGES,
    TOO_DEEP,
    Comments,
    DocxWords,
    NoteMention,
    TextOrigin,
    TrackedChange,
    change_in,
)
from runs.documents.model.anchors import IN_TEXTS
from runs.documents.model.layout import Block, BlockKind, MarkKind
from runs.documents.reading.building import MAX_BLOCKS, Builder, BuiltDocument
from runs.documents.reading.fields import FieldCode, left_out_at
from runs.documents.reading.package_parts import MAX_DEPTH, Element, Package, whole_number
from runs.errors import InvalidInput

_NO_DOCUMENT = "is not a Word document, or is damaged; open it in Word and save it again"


def read(data: bytes) -> bytes:
    """Entry point of the isolated process: a Word file to its text and layout, packed."""
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """Reads a Word file. Raises InvalidInput with a clause that continues the file's name."""
    return _DocxReader(Package(data)).build()


class DocxSource(NamedTuple):
    """The main part of a Word file: its name, its root, and the elements that the words of the text come from."""

    name: str
    root: Element
    pieces: Sequence[TextOrigin]


def source(data: bytes) -> DocxSource:
    """Returns the origin of the words in the main text, without notes, comments, headers and footers."""
    return _DocxReader(Package(data)).source()


class _DocxReader:
    def __init__(self, package: Package) -> None:
        self._package = package
        kinds = {relation.kind: relation.target for relation in package.relations()}
        main = kinds.get("officeDocument", "word/document.xml")
        root = package.xml(main)
        body = root.find(f"{W}body") if root is not None else None
        if root is None or body is None:
            raise InvalidInput(_NO_DOCUMENT)
        self._main, self._root, self._body = main, root, body
        self._targets: dict[str, dict[str, None]] = {}
        for relation in package.relations(main):
            self._targets.setdefault(relation.kind, {})[relation.target] = None  # without duplicates, in order
        styles = DocxStyles(self._part("styles"))
        self._settings = self._part("settings")
        self._notes = NoteCounter(
            {
                f"{W}{name}Reference": NoteKind.of(self._part(f"{name}s"), body, self._settings, f"{name}Pr", usual)
                for name, usual in (("footnote", "decimal"), ("endnote", "lowerRoman"))
            }
        )
        self._builder = Builder(FORMAT.name)
        self._story = DocxStory(self._builder, styles, Numbering(self._part("numbering"), styles), self._notes)

    def build(self) -> BuiltDocument:
        ground = _ground(self._root, self._settings)
        place = DocxPosition("", BlockKind.PARAGRAPH, StoryCounters.of_clauses(), ground=ground)
        self._story.walk(self._body, place)
        self._add_notes("footnote", "fn", BlockKind.FOOTNOTE)
        self._add_notes("endnote", "en", BlockKind.ENDNOTE)
        self._comments()
        for kind, prefix in ((BlockKind.HEADER, "hd"), (BlockKind.FOOTER, "ft")):
            for at, name in enumerate(self._targets.get(kind.value, ()), 1):
                if (root := self._package.xml(name)) is not None:
                    self._story.walk(root, DocxPosition(f"{prefix}{at}.", kind, StoryCounters()))
        sentences, clauses = self._story.cross_references.check()
        for sentence in sentences:
            self._builder.caution(sentence)
        for clause in clauses:
            self._builder.mark(MarkKind.DISPUTED, clause.start, clause.end, note=clause.number.strip())
        return self._builder.build(FORMAT.unit, place.paragraphs)

    def source(self) -> DocxSource:
        pieces: list[TextOrigin] = []
        self._story.pieces = pieces
        self._story.walk(self._body, DocxPosition("", BlockKind.PARAGRAPH, StoryCounters.of_clauses()))
        return DocxSource(self._main, self._root, pieces)

    def _part(self, kind: str) -> Element | None:
        name = next(iter(self._targets.get(kind, ())), None)
        return self._package.xml(name) if name else None

    def _add_notes(self, name: str, prefix: str, kind: BlockKind) -> None:
        """Adds the notes in the order of their references, which is how they are numbered."""
        counting = StoryCounters()
        for at, (note, label, change) in enumerate(self._in_order(f"{W}{name}Reference"), 1):
            self._story.walk(note, DocxPosition(f"{prefix}{at}.", kind, counting, label), change)

    def _in_order(self, tag: str) -> Iterator[tuple[Element, str, TrackedChange | None]]:
        notes = dict(self._notes.kinds[tag].notes)
        for reference, change in list(self._story.references):
            if reference.tag == tag and (note := notes.pop(reference.id, None)) is not None:
                yield note, reference.label, change
        for note in notes.values():  # without a reference in the text
            yield note, "", None

    def _comments(self) -> None:
        root = self._part("comments")
        counting = StoryCounters()
        for comment in root.findall(f"{W}comment") if root is not None else ():
            number = comment.get(f"{W}id", "")
            place = DocxPosition(f"cm{whole_number(number)}.", BlockKind.COMMENT, counting)
            self._story.walk(comment, place)
            if span := self._story.comments.spans.pop(number, None):
                by, on = comment.get(f"{W}author", ""), comment.get(f"{W}date", "")
                self._builder.mark(MarkKind.COMMENTED, *span, by=by, on=on, note=place.first)


def _ground(root: Element, settings: Element | None) -> str:
    """Returns the colour of the page, which Word shows only if the settings say so."""
    background = root.find(f"{W}background")
    if background is None or settings is None or not is_on(settings.find(f"{W}displayBackgroundShape")):
        return WHITE
    return colour_of(background.get(f"{W}color")) or WHITE


_MAX_COLUMNS = 100  # a cell may claim to span any number
_WRAPPERS = INSERTED | DELETED | {f"{W}customXml", f"{W}smartTag"}
_MARKS_GONE = tuple(f"{W}rPr/{tag}" for tag in sorted(DELETED))
_NO_WORDS = Block("", BlockKind.PARAGRAPH, 0, 0)


@dataclass
class StoryCounters:
    """The counters of one story. Each story counts by itself.

    Only the main text has clauses. `markup` counts them with deleted paragraphs included.
    """

    counters: Counters = field(default_factory=Counters)
    fields: FieldNumbers = field(default_factory=FieldNumbers)
    clauses: Clauses | None = None
    markup: "StoryCounters | None" = None

    @classmethod
    def of_clauses(cls) -> "StoryCounters":
        return cls(clauses=Clauses(), markup=cls(clauses=Clauses()))


@dataclass
class DocxPosition:
    """The place where blocks are added.

    Anchors begin with `prefix`. `label` precedes the first block, whose anchor is `first`. `ground` is the background
    colour.
    """

    prefix: str
    kind: BlockKind
    counting: StoryCounters
    label: str = ""
    paragraphs: int = 0
    tables: int = 0
    first: str = ""
    ground: str = WHITE


class DocxStory:
    """Adds the blocks of a story to `builder`, and collects what they refer to."""

    def __init__(self, builder: Builder, styles: DocxStyles, numbering: Numbering, notes: NoteCounter) -> None:
        self._builder, self._styles, self._numbering, self._notes = builder, styles, numbering, notes
        self._boxes = StoryCounters()
        self._paragraphs = 0
        self._pending_bookmarks: list[str] = []  # found before the paragraph that they belong to
        self._numbered: tuple[Numbered | None, str] | None = (
            None  # of the current paragraph, computed when a field needs it
        )
        self.cross_references = CrossReferences()
        self.comments = Comments()
        self.references: list[NoteMention] = []
        self.pieces: list[TextOrigin] | None = None  # collected only if the caller asks for them

    def walk(self, element: Element, place: DocxPosition, change: TrackedChange | None = None, depth: int = 0) -> None:
        """Adds all blocks in an element. `change` is the tracked change that contains it."""
        if depth > MAX_DEPTH:
            raise InvalidInput(TOO_DEEP)
        words: DocxWords | None = None
        last: Element | None = None
        for child in element:
            if child.tag == f"{W}p":
                words = words or DocxWords(self._styles, self._notes, self._builder.begin())
                if self._read(words, child, place, change):
                    self._add(words, child, place, depth)
                    words = None
                last = child
            elif child.tag == BOOKMARK:
                self._pending_bookmarks.append(child.get(f"{W}name", ""))
            elif child.tag in RANGES:
                self.comments.follow(child, self._builder.begin())
            elif child.tag in _BLOCKS:
                if words and last is not None:
                    self._add(words, last, place, depth, is_gone=not words.text)
                words = None
                self._other(child, place, change, depth)
        if words and last is not None:
            self._add(words, last, place, depth, is_gone=not words.text)

    def _read(self, words: DocxWords, paragraph: Element, place: DocxPosition, change: TrackedChange | None) -> bool:
        """Returns whether the paragraph ends here. If its paragraph mark is deleted, the next one continues it."""
        place.paragraphs += 1
        self._paragraphs += 1
        if self._paragraphs > MAX_BLOCKS:  # empty paragraphs take time too
            raise InvalidInput(f"has more than {MAX_BLOCKS:,} paragraphs; split it")
        properties = paragraph.find(f"{W}pPr")
        chain = self._chain(properties)
        said = shading(properties.find(f"{W}shd")) if properties is not None else None
        ground = (ground_of(chain) if said is None else said) or place.ground
        look = self._styles.look_of(chain)
        words.bookmarks += self._pending_bookmarks
        self._pending_bookmarks.clear()

        def count(code: FieldCode) -> str | None:
            # Word counts a LISTNUM field after the number of its paragraph.
            if hides(chain) and _hides_mark(properties, chain):
                return None
            if self._numbered is None:
                self._numbered = self._number(properties, chain, place), self._markup(properties, chain, place)
            own = self._numbering.place(list_of(properties), chain)
            markup = place.counting.markup
            if markup:
                markup.fields.count(code, self._numbering, markup.counters, own, self._paragraphs)
            return place.counting.fields.count(code, self._numbering, place.counting.counters, own, self._paragraphs)

        words.read(paragraph, change, is_hidden=hides(chain), words=look, ground=ground, count=count)
        mark = change
        if properties is not None and not (change and change.is_deletion):
            gone = next((found for path in _MARKS_GONE if (found := properties.find(path)) is not None), None)
            mark = change_in(gone)
        if mark is None or not mark.is_deletion:
            return True
        words.join(mark)
        if not _hides_mark(properties, chain) and self._numbered is None:
            self._markup(properties, chain, place)
        return False

    def _other(self, element: Element, place: DocxPosition, change: TrackedChange | None, depth: int) -> None:
        if element.tag == f"{W}tbl":
            self._table(element, place, change, depth)
        elif element.tag == f"{W}sdt":
            if (content := element.find(f"{W}sdtContent")) is not None:
                self.walk(content, place, change, depth + 1)
        elif element.tag == f"{MC}AlternateContent":
            if (choice := chosen(element)) is not None:
                self.walk(choice, place, change, depth + 1)
        elif element.tag in _WRAPPERS:
            self.walk(element, place, _inner(element, change), depth + 1)
        else:  # content in another format, or from another file
            self._builder.note(f"What comes from another file after paragraph {place.paragraphs} was not read.")

    def _table(self, table: Element, place: DocxPosition, change: TrackedChange | None, depth: int) -> None:
        place.tables += 1
        ground = self._ground(table.find(f"{W}tblPr")) or place.ground
        for row_number, (row, row_change) in enumerate(_members(table, f"{W}tr", change), 1):
            properties = row.find(f"{W}trPr")
            row_change = _change_of(properties, row_change, "ins", "del")
            column = 1
            if properties is not None:
                column += number(properties.find(f"{W}gridBefore"), high=_MAX_COLUMNS)
            for cell, cell_change in _members(row, f"{W}tc", row_change):
                properties = cell.find(f"{W}tcPr")
                prefix = f"{place.prefix}t{place.tables}r{row_number}c{column}."
                kind = BlockKind.CELL if place.kind is BlockKind.PARAGRAPH else place.kind
                shade = shading(properties.find(f"{W}shd")) if properties is not None else None
                inner = DocxPosition(prefix, kind, place.counting, ground=shade or ground)
                self.walk(cell, inner, _change_of(properties, cell_change, "cellIns", "cellDel"), depth + 1)
                span = properties.find(f"{W}gridSpan") if properties is not None else None
                column += max(number(span, 1, high=_MAX_COLUMNS), 1)

    def _add(
        self, words: DocxWords, paragraph: Element, place: DocxPosition, depth: int, *, is_gone: bool = False
    ) -> None:
        """Adds the block of a paragraph, if it shows anything, and everything that belongs to it."""
        properties = paragraph.find(f"{W}pPr")
        chain = self._chain(properties)
        numbered, markup = self._count(words, properties, chain, place, is_gone=is_gone)
        anchor = f"{place.prefix}p{place.paragraphs}"
        is_shown = bool(words.text.strip() or (numbered and numbered.shape))
        for deletion in words.deletions:
            if text := deletion.text.strip("\n"):
                at = deletion.at if is_shown else words.begin
                self._builder.delete(at, text, by=deletion.by, on=deletion.on)
        for element, at in words.bounds:
            self.comments.follow(element, at if is_shown else words.begin)
        if is_shown:
            block = self._block(anchor, words.text, place, numbered, markup, _outline(properties, chain))
            for mark in words.marks:
                self._builder.mark(mark.kind, mark.start, mark.end, by=mark.by, on=mark.on)
            if place.counting.clauses:
                self.cross_references.add(block, words.text, words.bookmarks, has_own_numbers=words.has_field_numbers)
            self.cross_references.refer(block, words.text, words.cross_references)
            if self.pieces is not None:
                self.pieces += words.pieces
            for comment in words.comments:  # a comment without words refers to the paragraph
                self.comments.spans.setdefault(comment, (block.start, block.end))
        self.references += words.references
        where = IN_TEXTS.words_for(_NO_WORDS._replace(anchor=anchor))
        for thing in words.objects:
            self._builder.note(f"The {thing} at {where} was not read.")
        for thing in words.left_out:
            self._builder.note(left_out_at(thing, where))
        kind = BlockKind.TEXT_BOX if place.kind in {BlockKind.PARAGRAPH, BlockKind.CELL} else place.kind
        inner = DocxPosition(f"{anchor}x.", kind, self._boxes, ground=UNKNOWN)
        for box, change in words.boxes:
            self.walk(box, inner, change, depth + 1)

    def _block(
        self, anchor: str, text: str, place: DocxPosition, numbered: Numbered | None, markup: str, outline: int
    ) -> Block:
        label, level = (numbered.label, numbered.level + 1) if numbered else ("", 0)
        clauses = place.counting.clauses
        clause = clauses.clause(numbered) if clauses and numbered else ""
        label = label or ("" if place.first else place.label)
        place.first = place.first or anchor
        kind = BlockKind.HEADING if outline and place.kind is BlockKind.PARAGRAPH else place.kind
        markup = markup if clause and markup != clause else ""
        return self._builder.add(anchor, kind, text, label=label, clause=clause, level=outline or level, markup=markup)

    def _count(
        self,
        words: DocxWords,
        properties: Element | None,
        chain: Sequence[Style],
        place: DocxPosition,
        *,
        is_gone: bool,
    ) -> tuple[Numbered | None, str]:
        """Returns the number of a paragraph, and its clause while changes are shown.

        Word does not count paragraphs that it does not show: hidden ones, and empty ones whose mark is hidden or only
        breaks the section.
        """
        known, self._numbered = self._numbered, None
        if known is not None:
            return known
        is_break = properties is not None and properties.find(f"{W}sectPr") is not None
        hides_mark = _hides_mark(properties, chain)
        if is_gone or (words.is_hidden and hides_mark):
            return None, ""
        if words.is_blank and (is_break or hides_mark):  # its deleted words are visible while changes are shown
            return None, self._markup(properties, chain, place) if words.deletions else ""
        return self._number(properties, chain, place), self._markup(properties, chain, place)

    def _number(self, properties: Element | None, chain: Sequence[Style], place: DocxPosition) -> Numbered | None:
        found = self._numbering.place(list_of(properties), chain)
        return place.counting.counters.count(found) if found else None

    def _markup(self, properties: Element | None, chain: Sequence[Style], place: DocxPosition) -> str:
        """Returns the clause of a paragraph while changes are shown, even if the paragraph is deleted."""
        counting = place.counting.markup
        found = self._numbering.place(list_of(properties), chain) if counting else None
        numbered = counting.counters.count(found) if counting and found else None
        return counting.clauses.clause(numbered) if counting and counting.clauses and numbered else ""

    def _ground(self, table: Element | None) -> str | None:
        """Returns the shading of a table, its own or its style's."""
        if table is None:
            return None
        return shading(table.find(f"{W}shd")) or ground_of(self._styles.chain(val(table.find(f"{W}tblStyle"))))

    def _chain(self, properties: Element | None) -> Sequence[Style]:
        return self._styles.paragraph(val(properties.find(f"{W}pStyle")) if properties is not None else None)


_BLOCKS = _WRAPPERS | {f"{W}tbl", f"{W}sdt", f"{MC}AlternateContent", f"{W}altChunk", f"{W}subDoc"}


def _outline(properties: Element | None, chain: Sequence[Style]) -> int:
    own = outline_level(properties)
    return own if own is not None else next((style.outline for style in chain if style.outline is not None), 0)


def _hides_mark(properties: Element | None, chain: Sequence[Style]) -> bool:
    said = switch(properties.find(f"{W}rPr/{W}vanish")) if properties is not None else None
    return hides(chain) if said is None else said


def _inner(element: Element, change: TrackedChange | None) -> TrackedChange | None:
    return change_in(element, change) if element.tag in INSERTED | DELETED else change


def _change_of(properties: Element | None, change: TrackedChange | None, *names: str) -> TrackedChange | None:
    """Returns the tracked change in the properties of a row or cell, within the enclosing change."""
    for name in names:
        if properties is not None and (found := properties.find(f"{W}{name}")) is not None:
            return change_in(found, change)
    return change


def _members(
    element: Element, tag: str, change: TrackedChange | None
) -> Iterator[tuple[Element, TrackedChange | None]]:
    """Yields the rows of a table or the cells of a row, including those inside wrapper elements."""
    for child in element:
        if child.tag == tag:
            yield child, change
        elif child.tag == f"{W}sdt":
            if (content := child.find(f"{W}sdtContent")) is not None:
                yield from _members(content, tag, change)
        elif child.tag in _WRAPPERS:
            yield from _members(child, tag, _inner(child, change))
