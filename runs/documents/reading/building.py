"""Builds a document block by block for a reader. The result is limited in size and always valid."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from runs.documents.model.layout import MAX_MARKS, Block, BlockKind, Box, Deletion, Layout, Mark, MarkKind, Rendered
from runs.documents.packed_parts import packed
from runs.errors import InvalidInput
from runs.text.truncate import truncate

MAX_CHARACTERS = 5_000_000
"""Per document, some 1,500 pages."""
MAX_BLOCKS = 200_000
MAX_NOTES = 20  # further ones are counted
_MAX_SHORT = 300  # characters of labels and authors, as in the contract of a layout
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")


class WorkBudget:
    """Measures the processor time, in seconds, since a reading began."""

    def __init__(self) -> None:
        self._begun = time.process_time()

    @property
    def seconds_spent(self) -> float:
        return time.process_time() - self._begun

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stops the clock for the time of the context."""
        spent = self.seconds_spent
        try:
            yield
        finally:
            self._begun = time.process_time() - spent


class BuiltDocument(NamedTuple):
    """What a reader returns: the text and the layout with notes and cautions."""

    text: str
    rendered: Rendered

    def packed(self) -> bytes:
        """Returns the layout as JSON and then the text, as the isolated process sends them."""
        return packed((self.rendered.model_dump_json().encode(), self.text.encode()))


class Builder:
    """Adds blocks one after the other, joined by `joint`. Raises InvalidInput when a limit is exceeded."""

    def __init__(
        self, kind: str, *, joint: str = "\n", max_blocks: int = MAX_BLOCKS, max_characters: int = MAX_CHARACTERS
    ) -> None:
        self._format, self._joint = kind, joint
        self._max_blocks, self._max_characters = max_blocks, max_characters
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._marks: list[Mark] = []
        self._deletions: list[Deletion] = []
        self._boxes: list[Box] = []
        self._notes: list[str] = []
        self._cautions: list[str] = []
        self._left_notes = 0
        self._size = self._deleted = 0

    def begin(self) -> int:
        """Returns the offset at which the next block will begin. Marks inside it are counted from there."""
        return self._size + (len(self._joint) if self._blocks else 0)

    def add(
        self,
        anchor: str,
        kind: BlockKind,
        text: str,
        *,
        label: str = "",
        clause: str = "",
        level: int = 0,
        markup: str = "",
        stored: str = "",
    ) -> Block:
        """Adds a block. Forbidden characters are replaced one by one, so that offsets stay valid."""
        start = self.begin()
        if len(self._blocks) == self._max_blocks:
            raise InvalidInput(f"has more than {self._max_blocks:,} paragraphs or rows; split it")
        if start + len(text) > self._max_characters:
            raise InvalidInput(f"has more than {self._max_characters:,} characters of text; split it")
        if self._blocks:
            self._parts.append(self._joint)
        self._parts.append(cleaned(text))
        self._size = start + len(text)
        names = _short(label), _short(clause)
        block = Block(_short(anchor), kind, start, self._size, *names, min(level, 100), _short(markup), stored)
        self._blocks.append(block)
        return block

    def mark(self, kind: MarkKind, start: int, end: int, *, by: str = "", on: str = "", note: str = "") -> None:
        """Adds a mark to characters of the whole text. An empty range is ignored."""
        if start < end:
            _check_room(self._marks)
            self._marks.append(Mark(kind, start, end, _short(by), _short(on), _short(note)))

    def delete(self, at: int, text: str, *, by: str = "", on: str = "") -> None:
        """Adds text that a tracked change has deleted before the character `at` of the whole text."""
        self._deleted += len(text)
        if self._deleted > MAX_CHARACTERS:
            raise InvalidInput(f"has more than {MAX_CHARACTERS:,} characters of deleted text; accept its changes")
        _check_room(self._deletions)
        self._deletions.append(Deletion(at, cleaned(text), _short(by), _short(on)))

    def place(self, box: Box) -> None:
        _check_room(self._boxes)
        self._boxes.append(box)

    def note(self, sentence: str) -> None:
        """Adds a sentence on what could not be read. Beyond a limit, sentences are only counted."""
        if len(self._notes) < MAX_NOTES:
            self._notes.append(_short(sentence))
        else:
            self._left_notes += 1

    def caution(self, sentence: str) -> None:
        """Adds a sentence on what to know before relying on the text."""
        if len(self._cautions) < MAX_NOTES:
            self._cautions.append(_short(sentence))

    def build(self, unit: str = "", units: int = 0, pictorial: Sequence[int] = ()) -> BuiltDocument:
        """Returns the text and its layout. `pictorial`: numbers of pages. Raises InvalidInput if the document has no
        text.
        """
        text = "".join(self._parts)
        if not text.strip():
            raise InvalidInput("has no text in it")
        more = [f"{self._left_notes} more places could not be read."] if self._left_notes else []
        layout = Layout(
            format=self._format,
            unit=unit,
            units=units,
            blocks=tuple(self._blocks),
            marks=tuple(sorted((mark for mark in self._marks if mark.end <= len(text)), key=lambda mark: mark.start)),
            deletions=tuple(one._replace(at=min(one.at, len(text))) for one in self._deletions),
            boxes=tuple(self._boxes),
            pictorial=tuple(pictorial),
        )
        return BuiltDocument(text, Rendered(layout=layout, notes=(*self._notes, *more), cautions=tuple(self._cautions)))


def cleaned(text: str) -> str:
    """Returns the text as it can be stored, in the same length. A byte order mark would be lost when the text is
    decoded.
    """
    return _NO_CHARACTER.sub("\ufffd", text).replace("\ufeff", "\u200b")


def _check_room(found: Sequence[Mark] | Sequence[Deletion] | Sequence[Box]) -> None:
    if len(found) == MAX_MARKS:  # the maximum in the contract of a layout
        raise InvalidInput(f"has more than {MAX_MARKS:,} tracked changes, comments or marks; split it")


def _short(text: str) -> str:
    if not text:  # most are empty, and this runs for each row of a workbook
        return text
    return cleaned(truncate(text, _MAX_SHORT))
