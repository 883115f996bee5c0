"""Word files (.docx): the text as it is when all tracked changes are accepted, with the numbers of its clauses."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runs.documents.readers.building import Builder, Made
from runs.documents.readers.docx.formats import written
from runs.documents.readers.docx.looks import WHITE, colour_of
from runs.documents.readers.docx.names import W, is_on, val
from runs.documents.readers.docx.numbering import Numbering
from runs.documents.readers.docx.story import Counting, Place, Story
from runs.documents.readers.docx.styles import Styles
from runs.documents.readers.docx.words import Change, Piece
from runs.documents.readers.parts import Element, Package, whole_number
from runs.errors import InvalidInput
from runs.pev.documents.layout import BlockKind, MarkKind

_NO_NOTES = frozenset({"separator", "continuationSeparator", "continuationNotice"})
_NO_DOCUMENT = "is not a Word document, or is damaged; open it in Word and save it again"


def read(data: bytes) -> bytes:
    """For guarded processes: a Word file to its text and layout, packed."""
    return make(data).packed()


def make(data: bytes) -> Made:
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
        self._builder = Builder("docx")
        self._story = Story(self._builder, styles, Numbering(self._part("numbering"), styles))

    def made(self) -> Made:
        settings = self._part("settings")
        ground = _ground(self._root, settings)
        place = Place("", BlockKind.PARAGRAPH, Counting.of_clauses(), ground=ground)
        self._story.walk(self._body, place)
        self._notes("footnote", "fn", BlockKind.FOOTNOTE, _signs(self._body, settings, "footnotePr", "decimal"))
        self._notes("endnote", "en", BlockKind.ENDNOTE, _signs(self._body, settings, "endnotePr", "lowerRoman"))
        self._comments()
        for kind, prefix in ((BlockKind.HEADER, "hd"), (BlockKind.FOOTER, "ft")):
            for at, name in enumerate(self._targets.get(kind.value, ()), 1):
                if (root := self._package.xml(name)) is not None:
                    self._story.walk(root, Place(f"{prefix}{at}.", kind, Counting()))
        return self._builder.made("paragraph", place.paragraphs)

    def source(self) -> Source:
        pieces: list[Piece] = []
        self._story.pieces = pieces
        self._story.walk(self._body, Place("", BlockKind.PARAGRAPH, Counting.of_clauses()))
        return Source(self._main, self._root, pieces)

    def _part(self, kind: str) -> Element | None:
        name = next(iter(self._targets.get(kind, ())), None)
        return self._package.xml(name) if name else None

    def _notes(self, name: str, prefix: str, kind: BlockKind, signs: str | None) -> None:
        """The notes in the order in which the text refers to them, which is how they are numbered."""
        root = self._part(f"{name}s")
        if root is None:
            return
        notes = {note.get(f"{W}id", ""): note for note in root if note.get(f"{W}type", "") not in _NO_NOTES}
        counting, counted = Counting(), 0
        for at, (note, has_sign, change) in enumerate(self._in_order(name, notes), 1):
            is_counted = has_sign and not (change and change.is_deletion)
            counted += is_counted
            label = written(counted, signs) if is_counted and signs else ""
            self._story.walk(note, Place(f"{prefix}{at}.", kind, counting, label), change)

    def _in_order(self, name: str, notes: dict[str, Element]) -> Iterator[tuple[Element, bool, Change | None]]:
        for reference in list(self._story.references):
            if reference.tag == f"{W}{name}Reference" and (note := notes.pop(reference.id, None)) is not None:
                yield note, not reference.has_own_sign, reference.change
        for note in notes.values():  # nothing in the text leads to them
            yield note, False, None

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


def _signs(body: Element, settings: Element | None, name: str, usual: str) -> str | None:
    """How notes are numbered; None where they begin again on each page, so that their numbers cannot be known."""
    found = body.find(f"{W}sectPr/{W}{name}")
    if found is None and settings is not None:
        found = settings.find(f"{W}{name}")
    if found is None:
        return usual
    if (val(found.find(f"{W}numRestart")) or "continuous") != "continuous":
        return None
    return val(found.find(f"{W}numFmt")) or usual
