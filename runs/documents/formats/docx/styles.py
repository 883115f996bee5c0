"""Word styles and their inheritance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runs.documents.formats.docx.names import W, number, switch, val
from runs.documents.reading.colours import are_alike
from runs.documents.reading.package_parts import Element

WHITE = "FFFFFF"
UNKNOWN = "unknown"
"""A background that is not examined, such as a picture or a pattern. Words on it count as visible."""
MIN_SIZE = 3
"""In half points. Text of one point is illegible."""
_PAPER = frozenset({"background1", "light1"})
_RAISED: Mapping[str | None, Mapping[int, int]] = {
    "superscript": str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"),
    "subscript": str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"),
}
_HIGHLIGHTS: Mapping[str, str] = {"white": WHITE, "black": "000000", "none": ""}


class RunLook(NamedTuple):
    """The look of words, None where it is not stated.

    A colour is six hexadecimal digits, or empty for Word's automatic colour. `ground` is the shading or highlight
    behind the words. `position` has Word's value.
    """

    colour: str | None = None
    size: int | None = None
    ground: str | None = None
    position: str | None = None
    is_struck: bool | None = None


NOTHING_SAID = RunLook()


def look(properties: Element | None) -> RunLook:
    """Returns what the properties of a run state."""
    if properties is None:
        return NOTHING_SAID
    colour, size = properties.find(f"{W}color"), properties.find(f"{W}sz")
    highlight = val(properties.find(f"{W}highlight"))
    ground = shading(properties.find(f"{W}shd"))
    struck = [switch(properties.find(f"{W}{name}")) for name in ("strike", "dstrike")]
    return RunLook(
        None if colour is None else _colour(colour, "val", "Color"),
        None if size is None else number(size, 20),
        _HIGHLIGHTS.get(highlight, UNKNOWN) or ground if highlight else ground,
        val(properties.find(f"{W}vertAlign")),
        None if struck == [None, None] else any(struck),
    )


def raise_digits(text: str, position: str | None) -> str:
    """Replaces digits above or below the line by raised or lowered ones, so that they do not merge with a figure before
    them.
    """
    return text.translate(_RAISED[position]) if position in _RAISED else text


def first(looks: Iterable[RunLook]) -> RunLook:
    """Returns the first stated value of each property."""
    colour, size, ground, position, is_struck = NOTHING_SAID
    for one in looks:
        colour = one.colour if colour is None else colour
        size = one.size if size is None else size
        ground = one.ground if ground is None else ground
        position = one.position if position is None else position
        is_struck = one.is_struck if is_struck is None else is_struck
    return RunLook(colour, size, ground, position, is_struck)


def shading(element: Element | None) -> str | None:
    """Returns the background colour of a shading. A pattern of two indistinguishable colours is a plain colour."""
    if element is None:
        return None
    pattern = val(element) or "clear"
    if pattern in {"clear", "nil"}:
        return _colour(element, "fill", "Fill")
    colour = _colour(element, "color", "Color")
    if pattern == "solid":
        return colour
    fill = _colour(element, "fill", "Fill") or WHITE
    return fill if UNKNOWN not in {colour, fill} and colour and _are_alike(colour, fill) else UNKNOWN


def is_unseen(words: RunLook, ground: str) -> bool:
    """Whether words with this look are invisible on a ground, unless they have a ground of their own."""
    if words.size is not None and words.size < MIN_SIZE:
        return True
    below = words.ground or ground
    if not words.colour or UNKNOWN in {below, words.colour}:
        return False
    return _are_alike(words.colour, below)


def _are_alike(colour: str, other: str) -> bool:
    return are_alike(_rgb(colour), _rgb(other))


def _colour(element: Element, name: str, theme: str) -> str:
    """Returns a colour. The theme colour takes precedence over the one that is stored for older programs."""
    changed = any(element.get(f"{W}theme{what}{how}") for what in ("", "Fill") for how in ("Shade", "Tint"))
    if element.get(f"{W}theme{theme}") in _PAPER and not changed:
        return WHITE
    return colour_of(element.get(f"{W}{name}"))


def colour_of(text: str | None) -> str:
    """Returns the colour, or an empty string for Word's automatic colour."""
    if text in {None, "", "auto"}:
        return ""
    digits = str(text).upper()
    return digits if len(digits) == len(WHITE) and set(digits) <= set("0123456789ABCDEF") else UNKNOWN


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour)
    return red, green, blue


MAX_CHAIN = 30  # styles that are based on each other may be circular
_MAX_OUTLINE = 9  # Word has headings of nine levels


@dataclass(frozen=True)
class Style:
    """The properties of one style, None where it states nothing. `outline`: the level of a heading, from 1."""

    id: str
    based_on: str | None = None
    num_id: str | None = None
    level: int | None = None
    outline: int | None = None
    is_hidden: bool | None = None
    look: RunLook = NOTHING_SAID
    ground: str | None = None
    """The shading of its paragraphs. For a table style, UNKNOWN if any part of it has a shading."""


class DocxStyles:
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
            properties = element.find(f"{W}pPr")
            num_id, level = list_of(properties)
            style = Style(
                id=element.get(f"{W}styleId", ""),
                based_on=val(element.find(f"{W}basedOn")),
                num_id=num_id,
                level=level,
                outline=outline_level(properties),
                is_hidden=switch(element.find(f"{W}rPr/{W}vanish")),
                look=look(element.find(f"{W}rPr")),
                ground=_ground(element, properties),
            )
            self._styles[style.id] = style
            if element.get(f"{W}type") == "numbering" and style.num_id:
                self.numbering[style.id] = style.num_id
            if element.get(f"{W}type") == "paragraph" and element.get(f"{W}default") in {"1", "true", "on"}:
                self.default = style.id

    def paragraph(self, style_id: str | None) -> Sequence[Style]:
        """Returns the style of a paragraph, followed by the styles it is based on."""
        return self.chain(style_id if style_id in self._styles else self.default)

    def chain(self, style_id: str | None) -> Sequence[Style]:
        if style_id is None:
            return ()
        if style_id not in self._chains:
            found: dict[str, Style] = {}
            next_id: str | None = style_id
            while next_id and next_id in self._styles and next_id not in found and len(found) < MAX_CHAIN:
                found[next_id] = self._styles[next_id]
                next_id = self._styles[next_id].based_on
            self._chains[style_id] = tuple(found.values())
        return self._chains[style_id]

    def look_of(self, chain: Sequence[Style]) -> RunLook:
        """Returns the look of words in a paragraph with these styles if the run states nothing."""
        return first([*(style.look for style in chain), self._look])


def hides(chain: Sequence[Style]) -> bool:
    """Whether text in this style is hidden. The first style that states it decides."""
    return next((style.is_hidden for style in chain if style.is_hidden is not None), False)


def ground_of(chain: Sequence[Style]) -> str | None:
    """Returns the shading that the styles state, or None."""
    return next((style.ground for style in chain if style.ground is not None), None)


def outline_level(properties: Element | None) -> int | None:
    """Returns the level of a heading, from 1; 0 if the paragraph is stated to be none; None if nothing is stated."""
    element = properties.find(f"{W}outlineLvl") if properties is not None else None
    if element is None:
        return None
    level = number(element, _MAX_OUTLINE)
    return level + 1 if level < _MAX_OUTLINE else 0


def list_of(properties: Element | None) -> tuple[str | None, int | None]:
    """Returns the list and the level that are stated here, None where nothing is stated."""
    element = properties.find(f"{W}numPr") if properties is not None else None
    if element is None:
        return None, None
    level = element.find(f"{W}ilvl")
    return val(element.find(f"{W}numId")), None if level is None else number(level, high=8)


def _ground(element: Element, properties: Element | None) -> str | None:
    if element.get(f"{W}type") == "table":
        return UNKNOWN if any(shading(one) for one in element.iter(f"{W}shd")) else None
    return shading(properties.find(f"{W}shd")) if properties is not None else None
