"""Values of style sheets: lengths in pixels and colours, from tokens of tinycss2."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tinycss2 import color5
from tinycss2.ast import Node

from runs.documents.reading.colours import Rgb, are_alike

VIEW_WIDTH, VIEW_HEIGHT = 1280.0, 800.0
"""Pixels of the browser window for which style sheets are applied: a common laptop."""
MAX_DEPTH = 12
"""Of nested functions. No page needs more."""
_UNITS: Mapping[str, float] = {
    "px": 1,
    "pt": 4 / 3,
    "pc": 16,
    "in": 96,
    "cm": 96 / 2.54,
    "mm": 9.6 / 2.54,
    "q": 2.4 / 2.54,
    **{f"{of}{unit}": VIEW_WIDTH / 100 for of in ("v", "sv", "lv", "dv", "cq") for unit in ("w", "i", "max")},
    **{f"{of}{unit}": VIEW_HEIGHT / 100 for of in ("v", "sv", "lv", "dv", "cq") for unit in ("h", "b", "min")},
}
"""Pixels per unit."""
_OF_FONT: Mapping[str, float] = {"em": 1, "ex": 0.5, "ch": 0.5, "cap": 0.7, "ic": 1, "lh": 1.2}
_OF_ROOT_FONT = 16.0  # pixels; style sheets seldom change it
_TURN: Mapping[str, float] = {"deg": 1, "grad": 0.9, "rad": 180 / math.pi, "turn": 360}
_WHITE, _BLACK = (255.0, 255.0, 255.0), (0.0, 0.0, 0.0)
_OF_SYSTEM: Mapping[str, Rgb] = {
    **dict.fromkeys(("canvas", "field", "window", "infobackground", "highlighttext", "menu"), _WHITE),
    **dict.fromkeys(("canvastext", "fieldtext", "windowtext", "buttontext", "infotext", "menutext"), _BLACK),
}
_MIXED = frozenset({"color-mix", "light-dark", "contrast-color", "device-cmyk"})
_OTHER = frozenset({"rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color"})


class Length(NamedTuple):
    """A length: pixels, plus percent of something that only a layout can determine."""

    pixels: float = 0.0
    percent: float = 0.0


class Colour(NamedTuple):
    """A colour. `rgb` is None if it is not computed."""

    rgb: Rgb | None
    alpha: float = 1.0


CURRENT = "currentcolor"


def solid(tokens: Sequence[Node]) -> list[Node]:
    """Returns the tokens without white space and comments."""
    return [token for token in tokens if token.type not in {"whitespace", "comment"}]


def words(tokens: Sequence[Node]) -> list[str]:
    """Returns the words of a value in lower case."""
    return [token.lower_value for token in tokens if token.type == "ident"]


def length(token: Node, font: float, depth: int = 0) -> Length | None:
    """Returns a length or a plain number in pixels, or None for anything else. `font` is the font size in pixels."""
    match token.type:
        case "number":
            return Length(_bounded(token.value))
        case "percentage":
            return Length(percent=_bounded(token.value))
        case "dimension":
            unit = token.lower_unit
            if unit in _OF_FONT:
                return Length(_bounded(token.value * _OF_FONT[unit] * font))
            size = _OF_ROOT_FONT * _OF_FONT.get(unit[1:], 0) if unit.startswith("r") else _UNITS.get(unit, 0)
            return Length(_bounded(token.value * size)) if size else None
        case "function" | "() block" if depth < MAX_DEPTH:
            return _evaluate(token, font, depth + 1)
        case _:
            return None


def _evaluate(token: Node, font: float, depth: int) -> Length | None:
    """Evaluates calc(), min(), max() and clamp()."""
    if token.type == "() block":
        return _sum(solid(token.content), font, depth)
    found = [_sum(part, font, depth) for part in split(token.arguments)]
    parts = [one for one in found if one is not None]
    if not parts or len(parts) != len(found):
        return None
    match token.lower_name:
        case "calc" | "-webkit-calc" | "-moz-calc":
            return parts[0]
        case "min":
            return min(parts, key=_size)
        case "max":
            return max(parts, key=_size)
        case "clamp" if len(parts) == 3:
            return max(parts[0], min(parts[1], parts[2], key=_size), key=_size)
        case "abs":
            return Length(abs(parts[0].pixels), abs(parts[0].percent))
        case _:
            return None


def _size(one: Length) -> float:
    return one.pixels + one.percent * VIEW_WIDTH / 100


def _sum(tokens: Sequence[Node], font: float, depth: int) -> Length | None:
    """Evaluates a calculation without brackets from left to right, products first."""
    total, sign, product, operator = Length(), 1.0, None, ""
    for token in tokens:
        if token.type == "literal" and token.value in {"+", "-", "*", "/"} and product is not None:
            if token.value in {"+", "-"}:
                total = Length(total.pixels + sign * product.pixels, total.percent + sign * product.percent)
                sign, product = 1.0 if token.value == "+" else -1.0, None
            operator = token.value
            continue
        value = length(token, font, depth)
        if value is None:
            return None
        if product is None:
            product = value
        elif operator == "*":
            factor, other = (value.pixels, product) if not value.percent else (product.pixels, value)
            product = Length(_bounded(other.pixels * factor), _bounded(other.percent * factor))
        elif operator == "/" and value.pixels:
            product = Length(_bounded(product.pixels / value.pixels), _bounded(product.percent / value.pixels))
        else:
            return None
    if product is None:
        return None
    return Length(total.pixels + sign * product.pixels, total.percent + sign * product.percent)


def _bounded(number: float) -> float:
    return max(-1e9, min(1e9, number)) if number == number else 0.0


def split(tokens: Sequence[Node], at: str = ",") -> list[list[Node]]:
    """Splits a value at commas."""
    parts: list[list[Node]] = [[]]
    for token in solid(tokens):
        if token.type == "literal" and token.value == at:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def degrees(token: Node) -> float | None:
    if token.type == "dimension" and token.lower_unit in _TURN:
        return _bounded(token.value * _TURN[token.lower_unit])
    return 0.0 if token.type == "number" else None


def colour(token: Node, depth: int = 0) -> Colour | str | None:
    """Returns the colour of a token, CURRENT for the colour of the text, or None if it is not a colour."""
    try:
        found = color5.parse_color(token)
    except (ValueError, TypeError, AttributeError, IndexError, AssertionError, KeyError, NotImplementedError):
        found = None  # raised for hostile arguments, which the parser does not expect
    if found == CURRENT:
        return CURRENT
    if found is not None:
        return Colour(_rgb(found), found.alpha)
    if token.type == "ident" and token.lower_value in _OF_SYSTEM:
        return Colour(_OF_SYSTEM[token.lower_value])
    if token.type == "function" and token.lower_name in _MIXED | _OTHER:
        # Several colours count if they are similar; the first stands for all. Other computed colours are unknown.
        named = list(colours_in(token.arguments, depth + 1)) if token.lower_name in _MIXED and depth < MAX_DEPTH else []
        first = named[0] if named else Colour(None)
        rgb = first.rgb
        is_one = rgb is not None and all(
            one.rgb is not None and are_alike(one.rgb, rgb) and one.alpha == first.alpha for one in named
        )
        return first if is_one else Colour(None)
    return None


def colours_in(tokens: Sequence[Node], depth: int = 0) -> Iterator[Colour]:
    """Yields the colours among these tokens."""
    for token in tokens:
        if token.type in {"ident", "hash", "function"}:
            found = colour(token, depth)
            if isinstance(found, Colour):
                yield found
            elif found == CURRENT:
                yield Colour(None)


def _rgb(found: color5.Color) -> Rgb | None:
    space = found.space
    try:
        if space in {"hsl", "hwb"}:
            found, space = found.to("srgb"), "srgb"
        elif space in {"lab", "lch"}:
            found, space = found.to("xyz-d50"), "xyz-d50"
        elif space in {"oklab", "oklch"}:
            found, space = found.to("xyz-d65"), "xyz-d65"
    except (NotImplementedError, ArithmeticError, ValueError):
        return None
    one, two, three = (_bounded(part or 0.0) for part in found.coordinates[:3])
    match space:
        # accurate enough to recognise white on white
        case "srgb" | "display-p3" | "a98-rgb" | "prophoto-rgb" | "rec2020":
            parts = one, two, three
        case "srgb-linear":
            parts = _gamma(one), _gamma(two), _gamma(three)
        case "xyz" | "xyz-d65":
            parts = (
                _gamma(3.24097 * one - 1.53738 * two - 0.49861 * three),
                _gamma(-0.96924 * one + 1.87597 * two + 0.04156 * three),
                _gamma(0.05563 * one - 0.20398 * two + 1.05697 * three),
            )
        case "xyz-d50":
            parts = (
                _gamma(3.13414 * one - 1.61739 * two - 0.49066 * three),
                _gamma(-0.97880 * one + 1.91625 * two + 0.03344 * three),
                _gamma(0.07197 * one - 0.22898 * two + 1.40539 * three),
            )
        case _:
            return None
    red, green, blue = (255 * max(0.0, min(1.0, part)) for part in parts)
    return red, green, blue


def _gamma(part: float) -> float:
    return 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055


GLOBAL = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})

_SIDES = ("top", "right", "bottom", "left")

_LENGTHS = frozenset(
    {
        *("font-size", "text-indent", "letter-spacing", "line-height", "width", "height", "max-width", "max-height"),
        *_SIDES,
        *(f"{box}-{side}" for box in ("margin", "padding") for side in _SIDES),
    }
)

_COLOURS = frozenset({"color", "background-color", "-webkit-text-fill-color"})

_DISPLAYS = frozenset(
    """none contents block inline flow flow-root inline-block list-item flex inline-flex grid inline-grid run-in ruby
    ruby-base ruby-text table inline-table table-row-group table-header-group table-footer-group table-row
    table-cell table-column-group table-column table-caption math -webkit-box -webkit-inline-box -webkit-flex
    -ms-flexbox -moz-box""".split()  # noqa: SIM905
)

_KEYWORDS: Mapping[str, frozenset[str]] = {
    "display": _DISPLAYS,
    "visibility": frozenset({"visible", "hidden", "collapse"}),
    "position": frozenset({"static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky"}),
    "overflow-x": frozenset({"visible", "hidden", "clip", "scroll", "auto", "overlay"}),
    "overflow-y": frozenset({"visible", "hidden", "clip", "scroll", "auto", "overlay"}),
    "content-visibility": frozenset({"visible", "auto", "hidden"}),
    "float": frozenset({"none", "left", "right", "inline-start", "inline-end"}),
    "-webkit-text-security": frozenset({"none", "disc", "circle", "square"}),
    "white-space": frozenset({"normal", "nowrap", "pre", "pre-wrap", "pre-line", "break-spaces"}),
}

_SIZES = frozenset({"xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "larger", "smaller"})

_ANY = frozenset(
    """opacity z-index background-image background-clip clip clip-path transform translate scale rotate filter zoom
    mask-image animation color-scheme text-shadow -webkit-text-stroke -webkit-text-stroke-width""".split()  # noqa: SIM905
)

PROPERTIES = _LENGTHS | _COLOURS | frozenset(_KEYWORDS) | _ANY

_PREFIXED = ("transform", "clip-path", "mask-image", "background-clip", "filter", "animation", "opacity")

_LOGICAL = {"inline-start": "left", "inline-end": "right", "block-start": "top", "block-end": "bottom"}

_OTHER_NAMES: Mapping[str, str] = {
    **{f"{prefix}{name}": name for prefix in ("-webkit-", "-moz-", "-ms-") for name in _PREFIXED},
    "inline-size": "width",
    "block-size": "height",
    "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "inset-inline-start": "left",
    "inset-inline-end": "right",
    "inset-block-start": "top",
    "inset-block-end": "bottom",
    "overflow-inline": "overflow-x",
    "overflow-block": "overflow-y",
    **{f"{box}-{logical}": f"{box}-{side}" for box in ("margin", "padding") for logical, side in _LOGICAL.items()},
    "text-fill-color": "-webkit-text-fill-color",
}

_SHORTHANDS: Mapping[str, tuple[str, ...]] = {
    "font": ("font-size", "line-height"),
    "background": ("background-color", "background-image", "background-clip"),
    "overflow": ("overflow-x", "overflow-y"),
    "inset": _SIDES,
    "margin": tuple(f"margin-{side}" for side in _SIDES),
    "padding": tuple(f"padding-{side}" for side in _SIDES),
    "mask": ("mask-image",),
    "-webkit-mask": ("mask-image",),
}

_CLIPS = frozenset({"text", "border-box", "padding-box", "content-box"})


class Value(NamedTuple):
    """The tokens of a value. `shorthand`: the property that it was declared for, while it contains variables."""

    tokens: Sequence[Node]
    shorthand: str = ""


def longhands(name: str, tokens: Sequence[Node]) -> Iterator[tuple[str, Value]]:
    """Yields the relevant properties that a declaration sets. An invalid declaration sets none."""
    if name.startswith("--"):
        yield name, Value(tokens)
        return
    lower = name.lower()
    lower = _OTHER_NAMES.get(lower, lower)
    tokens = solid(tokens)
    parts = _SHORTHANDS.get(lower)
    if parts is None:
        if lower in PROPERTIES and (has_variables(tokens) or is_valid(lower, tokens)):
            yield lower, Value(tokens)
    elif has_variables(tokens):
        yield from ((part, Value(tokens, lower)) for part in parts)
    else:
        yield from taken_apart(lower, tokens)


def has_variables(tokens: Sequence[Node], depth: int = 0) -> bool:
    return any(
        (one.type == "function" and (one.lower_name in {"var", "env"} or has_variables(one.arguments, depth + 1)))
        or (one.type == "() block" and has_variables(one.content, depth + 1))
        for one in (tokens if depth < 12 else ())
    )


def is_valid(name: str, tokens: Sequence[Node]) -> bool:
    """Whether browsers accept this value. They ignore declarations that they do not understand."""
    if not tokens:
        return False
    first = tokens[0]
    if len(tokens) == 1 and first.type == "ident" and first.lower_value in GLOBAL:
        return True
    if name in _COLOURS:
        return len(tokens) == 1 and colour(first) is not None
    if name in _KEYWORDS:
        return all(word in _KEYWORDS[name] for word in words(tokens)) and all(one.type == "ident" for one in tokens)
    if name in _LENGTHS:
        if first.type == "ident":
            return name != "font-size" or first.lower_value in _SIZES
        if first.type == "number" and first.value and name not in {"line-height"}:
            return False  # except for 0, a length needs a unit
        return first.type == "function" or length(first, 16) is not None
    if name == "opacity":
        return len(tokens) == 1 and length(first, 16) is not None
    return True


def taken_apart(shorthand: str, tokens: Sequence[Node]) -> Iterator[tuple[str, Value]]:
    if not tokens:
        return
    parts = _SHORTHANDS[shorthand]
    if len(tokens) == 1 and tokens[0].type == "ident" and tokens[0].lower_value in GLOBAL:
        yield from ((part, Value(tokens)) for part in parts)
        return
    match shorthand:
        case "font":
            yield from _font(tokens)
        case "background":
            yield from _background(tokens)
        case "overflow":
            yield "overflow-x", Value(tokens[:1])
            yield "overflow-y", Value(tokens[-1:])
        case "mask" | "-webkit-mask":
            yield "mask-image", Value(tokens)
        case _:
            top, right, bottom, left = (tokens[0], *_other_sides(tokens))
            for part, token in zip(parts, (top, right, bottom, left), strict=True):
                if is_valid(part, [token]):
                    yield part, Value([token])


def _other_sides(tokens: Sequence[Node]) -> tuple[Node, Node, Node]:
    """Returns right, bottom and left of one to four values. Missing values equal those on the opposite side."""
    right = tokens[1] if len(tokens) > 1 else tokens[0]
    bottom = tokens[2] if len(tokens) > 2 else tokens[0]
    return right, bottom, tokens[3] if len(tokens) > 3 else right


def _font(tokens: Sequence[Node]) -> Iterator[tuple[str, Value]]:
    """Yields the font size: the first length or size keyword. The line height follows after a slash."""
    for at, token in enumerate(tokens):
        is_size = token.type in {"dimension", "percentage"} or (token.type == "number" and token.value == 0)
        is_word = token.type == "ident" and token.lower_value in _SIZES
        if is_size or is_word or (token.type == "function" and length(token, 16) is not None):
            yield "font-size", Value([token])
            if tokens[at + 1 : at + 2] and tokens[at + 1] == "/" and tokens[at + 2 : at + 3]:
                yield "line-height", Value([tokens[at + 2]])
            return


def _background(tokens: Sequence[Node]) -> Iterator[tuple[str, Value]]:
    """Yields the background. The colour is that of the last layer."""
    layers = split(tokens)
    shades = [one for one in layers[-1] if colour(one) is not None]
    pictures = [one for layer in layers for one in layer if one.type == "url" or _is_picture(one)]
    clips = [one for layer in layers for one in layer if one.type == "ident" and one.lower_value in _CLIPS]
    yield "background-color", Value(shades[-1:])
    yield "background-image", Value(pictures)
    yield "background-clip", Value(clips)


def _is_picture(token: Node) -> bool:
    return token.type == "function" and colour(token) is None and token.lower_name not in {"calc", "var"}
