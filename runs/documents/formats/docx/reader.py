"""Word files (.docx): the text as it is when all tracked changes are accepted, with the numbers of its clauses."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runs.documents.formats.docx import FORMAT
from runs.documents.formats.docx.names import W, is_on
from runs.documents.formats.docx.notes import Kind, Notes
from runs.documents.formats.docx.numbering import Numbering
from runs.documents.formats.docx.story import Counting, Place, Story
from runs.documents.formats.docx.styles import WHITE, Styles, colour_of
from runs.documents.formats.docx.words import Change, Piece
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument
from runs.documents.reading.package_parts import Element, Package, whole_number
from runs.errors import InvalidInput

_NO_DOCUMENT = "is not a Word document, or is damaged; open it in Word and save it again"


def read(data: bytes) -> bytes:
    """For guarded processes: a Word file to its text and layout, packed."""
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """A Word file to its text and layout. Raises InvalidInput with a clause behind the file's name."""
    return _Reader(Package(data)).made()


class Source(NamedTuple):
    """The main part of a Word file: its name, its root, and which of its elements the words of the text come from."""

    name: str
    root: Element
    pieces: Sequence[Piece]


def source(data: bytes) -> Source:
    """Where the words of the text come from, before notes, comments, headers and footers."""
    return _Reader(Package(data)).source()


class _Reader:
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
            self._targets.setdefault(relation.kind, {})[relation.target] = None  # each once, in their order
        styles = Styles(self._part("styles"))
        self._settings = self._part("settings")
        self._notes = Notes(
            {
                f"{W}{name}Reference": Kind.of(self._part(f"{name}s"), body, self._settings, f"{name}Pr", usual)
                for name, usual in (("footnote", "decimal"), ("endnote", "lowerRoman"))
            }
        )
        self._builder = Builder(FORMAT.name)
        self._story = Story(self._builder, styles, Numbering(self._part("numbering"), styles), self._notes)

    def made(self) -> BuiltDocument:
        ground = _ground(self._root, self._settings)
        place = Place("", BlockKind.PARAGRAPH, Counting.of_clauses(), ground=ground)
        self._story.walk(self._body, place)
        self._add_notes("footnote", "fn", BlockKind.FOOTNOTE)
        self._add_notes("endnote", "en", BlockKind.ENDNOTE)
        self._comments()
        for kind, prefix in ((BlockKind.HEADER, "hd"), (BlockKind.FOOTER, "ft")):
            for at, name in enumerate(self._targets.get(kind.value, ()), 1):
                if (root := self._package.xml(name)) is not None:
                    self._story.walk(root, Place(f"{prefix}{at}.", kind, Counting()))
        sentences, clauses = self._story.cross_references.check()
        for sentence in sentences:
            self._builder.caution(sentence)
        for clause in clauses:
            self._builder.mark(MarkKind.DISPUTED, clause.start, clause.end, note=clause.number.strip())
        return self._builder.made(FORMAT.unit, place.paragraphs)

    def source(self) -> Source:
        pieces: list[Piece] = []
        self._story.pieces = pieces
        self._story.walk(self._body, Place("", BlockKind.PARAGRAPH, Counting.of_clauses()))
        return Source(self._main, self._root, pieces)

    def _part(self, kind: str) -> Element | None:
        name = next(iter(self._targets.get(kind, ())), None)
        return self._package.xml(name) if name else None

    def _add_notes(self, name: str, prefix: str, kind: BlockKind) -> None:
        """The notes in the order in which the text refers to them, which is how they are numbered."""
        counting = Counting()
        for at, (note, label, change) in enumerate(self._in_order(f"{W}{name}Reference"), 1):
            self._story.walk(note, Place(f"{prefix}{at}.", kind, counting, label), change)

    def _in_order(self, tag: str) -> Iterator[tuple[Element, str, Change | None]]:
        notes = dict(self._notes.kinds[tag].notes)
        for reference, change in list(self._story.references):
            if reference.tag == tag and (note := notes.pop(reference.id, None)) is not None:
                yield note, reference.label, change
        for note in notes.values():  # nothing in the text leads to them
            yield note, "", None

    def _comments(self) -> None:
        root = self._part("comments")
        counting = Counting()
        for comment in root.findall(f"{W}comment") if root is not None else ():
            number = comment.get(f"{W}id", "")
            place = Place(f"cm{whole_number(number)}.", BlockKind.COMMENT, counting)
            self._story.walk(comment, place)
            if span := self._story.comments.spans.pop(number, None):
                by, on = comment.get(f"{W}author", ""), comment.get(f"{W}date", "")
                self._builder.mark(MarkKind.COMMENTED, *span, by=by, on=on, note=place.first)


def _ground(root: Element, settings: Element | None) -> str:
    """The colour of the page, which Word shows only if the settings say so."""
    background = root.find(f"{W}background")
    if background is None or settings is None or not is_on(settings.find(f"{W}displayBackgroundShape")):
        return WHITE
    return colour_of(background.get(f"{W}color")) or WHITE
