"""The words of one paragraph of an OpenDocument text, with what begins and ends between them."""

import re
from collections.abc import Set
from dataclasses import dataclass, field

from runs.documents.formats.odt.names import DRAW, MAX_DEPTH, OFFICE, TEXT, TOO_DEEP
from runs.documents.formats.package_parts import Element, whole_number
from runs.errors import InvalidInput

_SPACES = re.compile(r"[ \t\r\n]+")
_MAX_SPACES = 1_000
_LEFT_OUT = frozenset({f"{TEXT}number", f"{TEXT}ruby-text", f"{TEXT}tracked-changes", f"{OFFICE}event-listeners"})
_SIGNS = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
_MARKS = frozenset({f"{TEXT}change", f"{TEXT}change-start", f"{TEXT}change-end", f"{OFFICE}annotation-end"})


@dataclass
class Change:
    """A tracked change; `start` is where an insertion begins in the whole text, once that is known."""

    is_deletion: bool
    text: str
    by: str
    on: str
    is_open: bool
    start: int = 0


@dataclass
class Later:
    """A note or a comment, whose own blocks come later: `kind` is footnote, endnote or comment."""

    kind: str
    element: Element
    name: str
    start: int
    end: int = 0


@dataclass
class Words:
    """`events`: elements that stand between two words, and how many characters stand before each. `hidden`: from where
    to where the text is not shown.
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
        """All that is in an element, which is a paragraph or a part of one."""
        if depth > MAX_DEPTH:
            raise InvalidInput(TOO_DEEP)
        start = self.size
        self._add(_SPACES.sub(" ", element.text or ""))
        for child in element:
            self._child(child, depth)
            self._add(_SPACES.sub(" ", child.tail or ""))
        if element.get(f"{TEXT}style-name") in self.hidden_styles:
            self.hidden.append((start, self.size))

    def _child(self, child: Element, depth: int) -> None:
        tag = child.tag
        if tag in _SIGNS:
            self._add(_SIGNS[tag])
        elif tag == f"{TEXT}s":
            self._add(" " * whole_number(child.get(f"{TEXT}c"), 1, low=1, high=_MAX_SPACES))
        elif tag in _MARKS or tag in {f"{TEXT}note", f"{OFFICE}annotation"}:
            self.events.append((self.size, child))
        elif tag.startswith(DRAW):
            self.boxes.append(child)
        elif tag not in _LEFT_OUT:
            self.read(child, depth + 1)

    def _add(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.size += len(text)
