"""Styles of Word, each of which may rest on another one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runs.documents.formats.docx.looks import NOTHING_SAID, UNKNOWN, Look, first, look, shading
from runs.documents.formats.docx.names import W, number, switch, val
from runs.documents.formats.package_parts import Element

MAX_CHAIN = 30
_MAX_OUTLINE = 9


@dataclass(frozen=True)
class Style:
    """What one style says by itself: None where it says nothing. `outline`: the level of a heading, from 1."""

    id: str
    based_on: str | None = None
    num_id: str | None = None
    level: int | None = None
    outline: int | None = None
    is_hidden: bool | None = None
    look: Look = NOTHING_SAID
    ground: str | None = None
    """The shading of its paragraphs; of a table, UNKNOWN if any of its parts has one."""


class Styles:
    def __init__(self, root: Element | None) -> None:
        self._styles: dict[str, Style] = {}
        self._chains: dict[str, Sequence[Style]] = {}
        self.numbering: dict[str, str] = {}
        """The list of each list style."""
        defaults = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr") if root is not None else None
        self._look = look(defaults)
        self.default: str | None = None
        """The style of paragraphs that name none."""
        for element in root.findall(f"{W}style") if root is not None else ():
            style = _style(element)
            self._styles[style.id] = style
            if element.get(f"{W}type") == "numbering" and style.num_id:
                self.numbering[style.id] = style.num_id
            if element.get(f"{W}type") == "paragraph" and element.get(f"{W}default") in {"1", "true", "on"}:
                self.default = style.id

    def paragraph(self, style_id: str | None) -> Sequence[Style]:
        """The style of a paragraph and those it rests on, itself first."""
        return self.chain(style_id if style_id in self._styles else self.default)

    def chain(self, style_id: str | None) -> Sequence[Style]:
        if style_id is None:
            return ()
        if style_id not in self._chains:
            self._chains[style_id] = _chain(self._styles, style_id)
        return self._chains[style_id]

    def look_of(self, chain: Sequence[Style]) -> Look:
        """What words in a paragraph of these styles look like if they say nothing themselves."""
        return first([*(style.look for style in chain), self._look])


def hides(chain: Sequence[Style]) -> bool:
    """Whether text in this style is hidden: the first that says something about it decides."""
    return next((style.is_hidden for style in chain if style.is_hidden is not None), False)


def ground_of(chain: Sequence[Style]) -> str | None:
    """The shading that styles give; None where they say nothing."""
    return next((style.ground for style in chain if style.ground is not None), None)


def outline_level(properties: Element | None) -> int | None:
    """The level of a heading, from 1; 0 where a paragraph is said to be none, None where nothing is said."""
    element = properties.find(f"{W}outlineLvl") if properties is not None else None
    if element is None:
        return None
    level = number(element, _MAX_OUTLINE)
    return level + 1 if level < _MAX_OUTLINE else 0


def list_of(properties: Element | None) -> tuple[str | None, int | None]:
    """The list and the level in it that are said here; None where nothing is."""
    element = properties.find(f"{W}numPr") if properties is not None else None
    if element is None:
        return None, None
    level = element.find(f"{W}ilvl")
    return val(element.find(f"{W}numId")), None if level is None else number(level, high=8)


def _style(element: Element) -> Style:
    properties = element.find(f"{W}pPr")
    num_id, level = list_of(properties)
    return Style(
        id=element.get(f"{W}styleId", ""),
        based_on=val(element.find(f"{W}basedOn")),
        num_id=num_id,
        level=level,
        outline=outline_level(properties),
        is_hidden=switch(element.find(f"{W}rPr/{W}vanish")),
        look=look(element.find(f"{W}rPr")),
        ground=_ground(element, properties),
    )


def _ground(element: Element, properties: Element | None) -> str | None:
    if element.get(f"{W}type") == "table":
        return UNKNOWN if any(shading(one) for one in element.iter(f"{W}shd")) else None
    return shading(properties.find(f"{W}shd")) if properties is not None else None


def _chain(styles: Mapping[str, Style], style_id: str) -> Sequence[Style]:
    found: dict[str, Style] = {}
    next_id: str | None = style_id
    while next_id and next_id in styles and next_id not in found and len(found) < MAX_CHAIN:
        found[next_id] = styles[next_id]
        next_id = styles[next_id].based_on
    return tuple(found.values())
