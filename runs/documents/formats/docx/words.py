"""Reads the words of one Word paragraph: visible and hidden text, tracked changes, and elements between the words."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from runs.documents.formats.docx.names import MC, M, W, chosen, is_on, number, outermost, switch, val
from runs.documents.formats.docx.notes import NoteCounter, NoteReference
from runs.documents.formats.docx.styles import WHITE, DocxStyles, RunLook, first, hides, is_unseen, look, raise_digits
from runs.documents.model.layout import Deletion, Mark, MarkKind
from runs.documents.reading.fields import MAX_CODE, FieldCode, sign_of
from runs.documents.reading.package_parts import MAX_DEPTH, Element, whole_number
from runs.errors import InvalidInput

_WORD = re.compile(r"\w*")


def formula(element: Element, depth: int = 0) -> str:
    """Returns the text of a formula from left to right. Nested elements beyond MAX_DEPTH are not read."""
    if element.tag == f"{M}t":
        return element.text or ""
    if depth > MAX_DEPTH or element.tag in {f"{W}del", f"{W}moveFrom"}:
        return ""

    def part(name: str) -> str:
        found = element.find(f"{M}{name}")
        return "" if found is None else formula(found, depth + 1)

    match element.tag.removeprefix(M):
        case "f":
            return f"{_grouped(part('num'))}/{_grouped(part('den'))}"
        case "sSup":
            return f"{part('e')}^{_grouped(part('sup'))}"
        case "sSub":
            return f"{part('e')}_{_grouped(part('sub'))}"
        case "sSubSup":
            return f"{part('e')}_{_grouped(part('sub'))}^{_grouped(part('sup'))}"
        case "rad":
            return f"{part('deg')}√{_grouped(part('e'))}"
        case "d":
            begin, end = _sign(element, "dPr", "begChr", "("), _sign(element, "dPr", "endChr", ")")
            return f"{begin}{_inside(element, depth)}{end}"
        case "nary":
            return f"{_sign(element, 'naryPr', 'chr', '∫')}{_limits(part('sub'), part('sup'))}{part('e')}"
        case _:
            return _inside(element, depth)


def _inside(element: Element, depth: int) -> str:
    return "".join(formula(child, depth + 1) for child in element)


def _sign(element: Element, properties: str, name: str, default: str) -> str:
    found = element.find(f"{M}{properties}/{M}{name}")
    return default if found is None else found.get(f"{M}val", "")[:1]


def _limits(low: str, high: str) -> str:
    return (f"_{_grouped(low)}" if low else "") + (f"^{_grouped(high)}" if high else "")


def _grouped(text: str) -> str:
    return text if _WORD.fullmatch(text) else f"({text})"


def symbol(element: Element) -> str:
    try:
        code = int(element.get(f"{W}char", "")[:8], 16)
    except ValueError:
        code = -1
    return sign_of(element.get(f"{W}font", ""), code)


def form_field(element: Element) -> str:
    """Returns what a form field without text shows: a box, ticked or not, or the chosen list entry."""
    if (box := element.find(f"{W}checkBox")) is not None:
        state = box.find(f"{W}checked")
        return "☒" if is_on(box.find(f"{W}default") if state is None else state) else "☐"
    if (choices := element.find(f"{W}ddList")) is not None:
        entries = choices.findall(f"{W}listEntry")
        chosen = choices.find(f"{W}result")
        at = number(choices.find(f"{W}default") if chosen is None else chosen)
        return (val(entries[at]) or "") if at < len(entries) else ""
    return ""


_SPACE = re.compile(r"[\t\r\n]")
INSERTED = frozenset({f"{W}ins", f"{W}moveTo"})
DELETED = frozenset({f"{W}del", f"{W}moveFrom", f"{W}cellDel"})
RANGES = frozenset({f"{W}commentRangeStart", f"{W}commentRangeEnd"})
BOOKMARK = f"{W}bookmarkStart"
_FORMULAS = frozenset({f"{M}oMath", f"{M}oMathPara"})
_NOTES = frozenset({f"{W}footnoteReference", f"{W}endnoteReference"})
_THROUGH = frozenset(f"{W}{name}" for name in ("hyperlink", "smartTag", "customXml", "dir", "bdo"))
_BOX = f"{W}txbxContent"
_CHART, _DIAGRAM = (f"{{http://schemas.openxmlformats.org/drawingml/2006/{name}}}" for name in ("chart", "diagram"))
_OBJECTS: Mapping[str, str] = {
    f"{_CHART}chart": "chart",
    "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart": "chart",
    f"{_DIAGRAM}relIds": "diagram",
    "{urn:schemas-microsoft-com:office:office}OLEObject": "embedded file",
}
"""Elements that may contain words but are not read."""
_EXTENT = "*/{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}extent"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/picture}pic"
_CENTIMETRE = 360_000  # in EMU, the unit of sizes in drawings
_OF_A_SCAN = 12 * _CENTIMETRE, 15 * _CENTIMETRE
"""Minimum width and height of a picture that counts as a scanned page. Smaller ones are logos and figures."""
_SIGNS: Mapping[str, str] = {
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "\u2011",
    f"{W}softHyphen": "\u00ad",
}
TOO_DEEP = f"has contents that are nested more than {MAX_DEPTH} times"


class TrackedChange(NamedTuple):
    """A tracked change, with author and date according to the file."""

    is_deletion: bool
    by: str
    on: str


class NoteMention(NamedTuple):
    """A reference to a note, and the tracked change that contains it."""

    reference: NoteReference
    change: TrackedChange | None


class TextOrigin(NamedTuple):
    """The origin of the characters from `start` to before `end` of the whole text.

    It is one `child` of a run (`element`), or a whole element outside runs, such as a formula.
    """

    start: int
    end: int
    element: Element
    child: Element | None = None


class CrossReference(NamedTuple):
    """A field that shows the number of a paragraph: its code, and the range of the whole text that it shows."""

    code: FieldCode
    start: int
    end: int


@dataclass
class _Field:
    """An open field that begins before the character `begin` of the paragraph. Its result begins at `result`, if it has
    one.
    """

    begin: int
    code: str = ""
    result: int | None = None


class Comments:
    """The range of the whole text that each comment refers to, by id of the comment."""

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}
        self.spans: dict[str, tuple[int, int]] = {}

    def follow(self, element: Element, at: int) -> None:
        """Records where the words of a comment begin or end."""
        comment = element.get(f"{W}id", "")
        if element.tag == f"{W}commentRangeStart":
            self._begun.setdefault(comment, at)
        elif element.tag == f"{W}commentRangeEnd" and self._begun.get(comment, at) < at:
            self.spans.setdefault(comment, (self._begun[comment], at))


def change_in(element: Element | None, before: TrackedChange | None = None) -> TrackedChange | None:
    """Returns the tracked change of an element inside another change. A deletion stays a deletion."""
    if element is None or (before and before.is_deletion):
        return before
    return TrackedChange(element.tag in DELETED, element.get(f"{W}author", ""), element.get(f"{W}date", ""))


def _is_scan(drawing: Element) -> bool:
    extent = drawing.find(_EXTENT)
    if extent is None:
        return False
    width, height = (whole_number(extent.get(name), high=10**9) for name in ("cx", "cy"))
    return width >= _OF_A_SCAN[0] and height >= _OF_A_SCAN[1]


class DocxWords:
    """One paragraph, or several whose paragraph marks were deleted. `begin` is its offset in the whole text."""

    def __init__(self, styles: DocxStyles, notes: NoteCounter, begin: int) -> None:
        self._styles, self._notes, self.begin = styles, notes, begin
        self._parts: list[str] = []
        self._size = 0
        self._last = ""  # the last character of the text so far
        self._fields: list[_Field] = []  # open fields
        self._codes = 0  # how many open fields have no result yet
        self._count: Callable[[FieldCode], str | None] = _count_nothing
        self._is_hidden = False
        self._look, self._ground = RunLook(), WHITE
        self.marks: list[Mark] = []
        self.deletions: list[Deletion] = []
        self.references: list[NoteMention] = []
        self.comments: list[str] = []
        self.bounds: list[tuple[Element, int]] = []  # of the words that comments refer to
        self.boxes: list[tuple[Element, TrackedChange | None]] = []
        self.objects: list[str] = []
        self.left_out: list[str] = []  # results that Word shows and the file does not hold
        self.bookmarks: list[str] = []
        self.cross_references: list[CrossReference] = []
        self.has_field_numbers = False
        self._is_drawn_on = False
        self.pieces: list[TextOrigin] = []

    def join(self, change: TrackedChange) -> None:
        """Continues with the next paragraph, because the paragraph mark between them is deleted."""
        self._add("\n", change, is_hidden=False)

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def is_hidden(self) -> bool:
        """Whether all words are hidden."""
        hidden = sum(mark.end - mark.start for mark in self.marks if mark.kind is MarkKind.HIDDEN)
        return 0 < self._size == hidden

    @property
    def is_blank(self) -> bool:
        """Whether nothing is shown when changes are accepted: neither words nor a picture."""
        return not self._size and not self._is_drawn_on

    def read(
        self,
        paragraph: Element,
        change: TrackedChange | None,
        *,
        is_hidden: bool,
        words: RunLook,
        ground: str,
        count: Callable[[FieldCode], str | None],
    ) -> None:
        """Adds a paragraph on this ground.

        `is_hidden` and `words` are what its style states. `count` returns the number of a LISTNUM field, or None if it
        is unknown.
        """
        self._is_hidden, self._look, self._ground, self._count = is_hidden, words, ground, count
        self._inside(paragraph, change, 0)

    def _inside(self, element: Element, change: TrackedChange | None, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise InvalidInput(TOO_DEEP)
        for child in element:
            tag = child.tag
            if tag == f"{W}r":
                self._run(child, change)
            elif tag in INSERTED or tag in DELETED:
                self._inside(child, change_in(child, change), depth + 1)
            elif tag == f"{W}fldSimple":
                begin = self._size
                self._inside(child, change, depth + 1)
                field = _Field(begin, child.get(f"{W}instr", ""), begin)
                if text := self._end_field(field, begin != self._size, self._size, change):
                    self._piece_of(child, None, text, change)
                    self._add(text, change, is_hidden=False)
            elif tag in _THROUGH:
                self._inside(child, change, depth + 1)
            elif tag in {f"{W}sdt", f"{MC}AlternateContent"}:
                content = child.find(f"{W}sdtContent") if tag == f"{W}sdt" else chosen(child)
                if content is not None:
                    self._inside(content, change, depth + 1)
            elif tag in _FORMULAS:
                self._piece_of(child, None, text := formula(child), change)
                self._add(text, change, is_hidden=False)
            elif tag in RANGES:
                self.bounds.append((child, self.begin + self._size))
            elif tag == BOOKMARK:
                self.bookmarks.append(child.get(f"{W}name", ""))

    def _run(self, run: Element, change: TrackedChange | None) -> None:
        properties = run.find(f"{W}rPr")
        look = self._looks(properties)
        is_hidden = self._hides(properties) or is_unseen(look, self._ground)
        found, signs = list[str](), list[Mark]()
        size = 0
        for child in run:
            if child.tag == f"{W}fldChar":
                text = self._field(child, self._size + size, change)
            elif child.tag == f"{W}instrText":
                text = ""
                if self._fields and self._fields[-1].result is None:
                    self._fields[-1].code = (self._fields[-1].code + (child.text or ""))[:MAX_CODE]
            else:
                text = self._piece(child, change) if not self._codes else ""
            start = self.begin + self._size + size
            if text and child.tag in _NOTES:  # not part of the sentence, and comments cannot be attached to it
                signs.append(Mark(MarkKind.RUNNING, start, start + len(text)))
            elif text:
                self._piece_of(run, child, text, change, size)
            found.append(raise_digits(text, look.position))
            self._last = found[-1][-1:] or self._last
            size += len(text)
        self._add("".join(found), change, is_hidden=is_hidden, is_struck=bool(look.is_struck))
        for sign in signs:
            self._mark(sign)

    def _piece_of(
        self, element: Element, child: Element | None, text: str, change: TrackedChange | None, before: int = 0
    ) -> None:
        if text and not (change and change.is_deletion):
            start = self.begin + self._size + before
            self.pieces.append(TextOrigin(start, start + len(text), element, child))

    def _hides(self, properties: Element | None) -> bool:
        """Whether a run is hidden. Its own property takes precedence; a character style toggles what the paragraph
        style states.
        """
        if properties is None:
            return self._is_hidden
        said = switch(properties.find(f"{W}vanish"))
        if said is not None:
            return said
        style = val(properties.find(f"{W}rStyle"))
        return self._is_hidden != hides(self._styles.chain(style)) if style else self._is_hidden

    def _looks(self, properties: Element | None) -> RunLook:
        if properties is None:
            return self._look
        styles = self._styles.chain(val(properties.find(f"{W}rStyle")))
        return first([look(properties), *(style.look for style in styles), self._look])

    def _field(self, sign: Element, at: int, change: TrackedChange | None) -> str:
        """Follows a field through its parts, and returns the text of a field without a result.

        `at`: the offset of the next character in the paragraph.
        """
        kind = sign.get(f"{W}fldCharType")
        if kind == "begin" and len(self._fields) < MAX_DEPTH:
            self._fields.append(_Field(at))
            self._codes += 1
            form = sign.find(f"{W}ffData")
            return form_field(form) if form is not None and self._codes == 1 else ""
        if kind == "separate" and self._fields and self._fields[-1].result is None:
            self._fields[-1].result = at
            self._codes -= 1
        elif kind == "end" and self._fields:
            field = self._fields.pop()
            self._codes -= field.result is None
            if not self._codes:
                return self._end_field(field, field.begin != at, at, change)
        return ""

    def _end_field(self, field: _Field, has_result: bool, end: int, change: TrackedChange | None) -> str:
        """Returns the text of a field without a result in the file."""
        code = FieldCode(field.code)
        if change and change.is_deletion:
            return ""
        number = None
        if code.name == "LISTNUM":
            number = self._count(code)
            self.has_field_numbers = True
        if has_result:
            if code.name == "REF" and field.result is not None:
                self.cross_references.append(CrossReference(code, self.begin + field.result, self.begin + end))
            return ""
        if number is None and code.left_out:
            self.left_out.append(code.left_out)
        return code.displayed_text if number is None else number

    def _piece(self, element: Element, change: TrackedChange | None) -> str:
        tag = element.tag
        if tag in {f"{W}t", f"{W}delText"}:
            return _SPACE.sub(" ", element.text or "")
        if tag in _SIGNS:
            return _SIGNS[tag]
        if handle := _OTHERS.get(tag):
            return handle(self, element, change)
        return ""

    def refer(self, element: Element, change: TrackedChange | None) -> str:
        reference, sign = self._notes.refer(element, before=self._last, is_deleted=bool(change and change.is_deletion))
        self.references.append(NoteMention(reference, change))
        return sign

    def refer_to_comment(self, element: Element, _: TrackedChange | None) -> str:
        self.comments.append(element.get(f"{W}id", ""))
        return ""

    def drawing(self, element: Element, change: TrackedChange | None) -> str:
        """Keeps text boxes. They are read after the paragraph that they are anchored to."""
        self._is_drawn_on = self._is_drawn_on or not (change and change.is_deletion)
        for one in outermost(element, _BOX, _PICTURE, *_OBJECTS):
            if one.tag == _BOX:
                self.boxes.append((one, change))
            elif not (change and change.is_deletion) and (one.tag != _PICTURE or _is_scan(element)):
                self.objects.append(_OBJECTS.get(one.tag, "picture of a page"))
        return ""

    def alternative(self, element: Element, change: TrackedChange | None) -> str:
        choice = chosen(element)
        return "".join(self._piece(child, change) for child in choice) if choice is not None else ""

    def ruby(self, element: Element, change: TrackedChange | None) -> str:
        """Returns the base text without its pronunciation."""
        base = element.find(f"{W}rubyBase")
        runs = base.findall(f"{W}r") if base is not None else ()
        return "".join(self._piece(child, change) for run in runs for child in run if child.tag != f"{W}ruby")

    def _add(self, text: str, change: TrackedChange | None, *, is_hidden: bool, is_struck: bool = False) -> None:
        if not text:
            return
        start = self.begin + self._size
        if change and change.is_deletion:
            last = self.deletions[-1] if self.deletions else None
            # a deletion that was divided by other properties
            if last and (last.at, last.by, last.on) == (start, change.by, change.on):
                self.deletions[-1] = last._replace(text=last.text + text)
            else:
                self.deletions.append(Deletion(start, text, change.by, change.on))
            return
        self._parts.append(text)
        self._size += len(text)
        if change:
            self._mark(Mark(MarkKind.INSERTED, start, start + len(text), change.by, change.on))
        if is_hidden:
            self._mark(Mark(MarkKind.HIDDEN, start, start + len(text)))
        if is_struck:
            self._mark(Mark(MarkKind.STRUCK, start, start + len(text)))

    def _mark(self, mark: Mark) -> None:
        last = next((at for at in range(len(self.marks) - 1, -1, -1) if self.marks[at].kind is mark.kind), None)
        before = None if last is None else self.marks[last]
        if last is not None and before and before.end == mark.start and (before.by, before.on) == (mark.by, mark.on):
            self.marks[last] = before._replace(end=mark.end)
        else:
            self.marks.append(mark)


def _count_nothing(_: FieldCode) -> str | None:
    return None


_OTHERS: Mapping[str, Callable[[DocxWords, Element, TrackedChange | None], str]] = {
    f"{W}sym": lambda words, element, change: symbol(element),
    f"{W}footnoteReference": DocxWords.refer,
    f"{W}endnoteReference": DocxWords.refer,
    f"{W}commentReference": DocxWords.refer_to_comment,
    f"{W}drawing": DocxWords.drawing,
    f"{W}pict": DocxWords.drawing,
    f"{W}object": DocxWords.drawing,
    f"{MC}AlternateContent": DocxWords.alternative,
    f"{W}ruby": DocxWords.ruby,
}
