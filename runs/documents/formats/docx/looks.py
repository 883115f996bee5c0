"""How words of Word look: white on white and the smallest print are as good as hidden, what is struck through is as
good as deleted, and a raised 1 behind 500 makes no 5001.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from runs.documents.formats.colours import are_alike
from runs.documents.formats.docx.names import W, number, switch, val
from runs.documents.formats.package_parts import Element

WHITE = "FFFFFF"
UNKNOWN = "unknown"
"""A ground that is not looked at, such as a picture or a pattern: words on it are taken as shown."""
MIN_SIZE = 3
"""In half points; print of one point is a line of dust."""
_PAPER = frozenset({"background1", "light1"})
_RAISED: Mapping[str | None, Mapping[int, int]] = {
    "superscript": str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"),
    "subscript": str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"),
}
_HIGHLIGHTS: Mapping[str, str] = {"white": WHITE, "black": "000000", "none": ""}


class Look(NamedTuple):
    """What is said of words: None where nothing is. A colour is six hexadecimal digits, or empty where Word chooses;
    `ground` is that of the shading or the highlight behind the words. `position`: as Word names it.
    """

    colour: str | None = None
    size: int | None = None
    ground: str | None = None
    position: str | None = None
    is_struck: bool | None = None


NOTHING_SAID = Look()


def look(properties: Element | None) -> Look:
    """What the properties of a run say."""
    if properties is None:
        return NOTHING_SAID
    colour, size = properties.find(f"{W}color"), properties.find(f"{W}sz")
    highlight = val(properties.find(f"{W}highlight"))
    ground = shading(properties.find(f"{W}shd"))
    return Look(
        None if colour is None else _colour(colour, "val", "Color"),
        None if size is None else number(size, 20),
        _HIGHLIGHTS.get(highlight, UNKNOWN) or ground if highlight else ground,
        val(properties.find(f"{W}vertAlign")),
        _struck(properties),
    )


def _struck(properties: Element) -> bool | None:
    said = [switch(properties.find(f"{W}{name}")) for name in ("strike", "dstrike")]
    return None if said == [None, None] else any(said)


def raised(text: str, position: str | None) -> str:
    """The text with its digits above or below the line, so that they join no figure before them."""
    return text.translate(_RAISED[position]) if position in _RAISED else text


def first(looks: Iterable[Look]) -> Look:
    """Of each property, the first that is said."""
    colour, size, ground, position, is_struck = NOTHING_SAID
    for one in looks:
        colour = one.colour if colour is None else colour
        size = one.size if size is None else size
        ground = one.ground if ground is None else ground
        position = one.position if position is None else position
        is_struck = one.is_struck if is_struck is None else is_struck
    return Look(colour, size, ground, position, is_struck)


def shading(element: Element | None) -> str | None:
    """The ground that a shading gives: a pattern of two colours that cannot be told apart is none."""
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


def is_unseen(words: Look, ground: str) -> bool:
    """Whether words with this look cannot be read on a ground, over which they may have their own."""
    if words.size is not None and words.size < MIN_SIZE:
        return True
    below = words.ground or ground
    if not words.colour or UNKNOWN in {below, words.colour}:
        return False
    return _are_alike(words.colour, below)


def _are_alike(colour: str, other: str) -> bool:
    return are_alike(_rgb(colour), _rgb(other))


def _colour(element: Element, name: str, theme: str) -> str:
    """The colour of the theme goes before the one that is written beside it for older programs."""
    changed = any(element.get(f"{W}theme{what}{how}") for what in ("", "Fill") for how in ("Shade", "Tint"))
    if element.get(f"{W}theme{theme}") in _PAPER and not changed:
        return WHITE
    return colour_of(element.get(f"{W}{name}"))


def colour_of(text: str | None) -> str:
    """A colour as it is written; empty where Word chooses."""
    if text in {None, "", "auto"}:
        return ""
    digits = str(text).upper()
    return digits if len(digits) == len(WHITE) and set(digits) <= set("0123456789ABCDEF") else UNKNOWN


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour)
    return red, green, blue
