"""Counts footnotes and endnotes. Word does not store their numbers, but counts the references in the text."""

from collections.abc import Mapping
from typing import NamedTuple

from runs.documents.formats.docx.names import W, val
from runs.documents.formats.docx.numbering import format_number
from runs.documents.formats.docx.styles import raise_digits
from runs.documents.reading.package_parts import Element

_NO_NOTES = frozenset({"separator", "continuationSeparator", "continuationNotice"})
_UNKNOWN = "note"


class NoteKind(NamedTuple):
    """Footnotes or endnotes by id. `numbers`: their number format, None if numbering restarts on each page and is
    unknowable.
    """

    notes: dict[str, Element]
    numbers: str | None

    @classmethod
    def of(
        cls, root: Element | None, body: Element, settings: Element | None, properties: str, usual: str
    ) -> "NoteKind":
        notes = () if root is None else (note for note in root if note.get(f"{W}type", "") not in _NO_NOTES)
        return cls({note.get(f"{W}id", ""): note for note in notes}, _numbers(body, settings, properties, usual))


class NoteReference(NamedTuple):
    """A reference in the text: the tag of its mark, and the id and number of the note."""

    tag: str
    id: str
    label: str


class NoteCounter:
    """Counts the notes of each kind, by the tag of their marks, while the text is read."""

    def __init__(self, kinds: Mapping[str, NoteKind]) -> None:
        self.kinds = kinds
        self._left = {tag: set(kind.notes) for tag, kind in kinds.items()}
        self._counted = dict.fromkeys(kinds, 0)

    def refer(self, sign: Element, *, before: str, is_deleted: bool) -> tuple[NoteReference, str]:
        """Returns the reference, and the text of its mark after the character `before`.

        The text is empty if the mark is deleted or is written in the text itself.
        """
        tag, note = sign.tag, sign.get(f"{W}id", "")
        has_own = sign.get(f"{W}customMarkFollows", "0") not in {"0", "false", "off"}
        is_first = note in self._left[tag]
        self._left[tag].discard(note)
        if has_own or is_deleted or not is_first:
            return NoteReference(tag, note, ""), ""
        self._counted[tag] += 1
        numbers = self.kinds[tag].numbers
        label = format_number(self._counted[tag], numbers) if numbers else ""
        # The mark must not merge with a figure before it: 500¹, but 10²[1].
        small = raise_digits(label, "superscript")
        is_small = small != label and not (before.isdigit() and not before.isdecimal())
        return NoteReference(tag, note, label), small if is_small else f"[{label or _UNKNOWN}]"


def _numbers(body: Element, settings: Element | None, properties: str, usual: str) -> str | None:
    found = body.find(f"{W}sectPr/{W}{properties}")
    if found is None and settings is not None:
        found = settings.find(f"{W}{properties}")
    if found is None:
        return usual
    if (val(found.find(f"{W}numRestart")) or "continuous") != "continuous":
        return None
    return val(found.find(f"{W}numFmt")) or usual
