"""The properties that can hide text, with what their values may be. Shorthands are taken apart into them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tinycss2.ast import Node

from runs.documents.formats.css_values import colour, length, solid, split, words

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
    """The tokens of a value. `shorthand`: the property whose value it is, as long as there are variables in it."""

    tokens: Sequence[Node]
    shorthand: str = ""


def longhands(name: str, tokens: Sequence[Node]) -> Iterator[tuple[str, Value]]:
    """What a declaration says of the properties that matter here; nothing where its value is not valid."""
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
    """Whether browsers take this value; what they do not know they leave out."""
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
            top, right, bottom, left = (tokens[0], *_others(tokens))
            for part, token in zip(parts, (top, right, bottom, left), strict=True):
                if is_valid(part, [token]):
                    yield part, Value([token])


def _others(tokens: Sequence[Node]) -> tuple[Node, Node, Node]:
    """Right, bottom and left of up to four values, of which those that are missing are those opposite."""
    right = tokens[1] if len(tokens) > 1 else tokens[0]
    bottom = tokens[2] if len(tokens) > 2 else tokens[0]
    return right, bottom, tokens[3] if len(tokens) > 3 else right


def _font(tokens: Sequence[Node]) -> Iterator[tuple[str, Value]]:
    """The size is the first length, or the word for one; behind a slash is the height of the line."""
    for at, token in enumerate(tokens):
        is_size = token.type in {"dimension", "percentage"} or (token.type == "number" and token.value == 0)
        is_word = token.type == "ident" and token.lower_value in _SIZES
        if is_size or is_word or (token.type == "function" and length(token, 16) is not None):
            yield "font-size", Value([token])
            if tokens[at + 1 : at + 2] and tokens[at + 1] == "/" and tokens[at + 2 : at + 3]:
                yield "line-height", Value([tokens[at + 2]])
            return


def _background(tokens: Sequence[Node]) -> Iterator[tuple[str, Value]]:
    """The colour is that of the last layer."""
    layers = split(tokens)
    shades = [one for one in layers[-1] if colour(one) is not None]
    pictures = [one for layer in layers for one in layer if one.type == "url" or _is_picture(one)]
    clips = [one for layer in layers for one in layer if one.type == "ident" and one.lower_value in _CLIPS]
    yield "background-color", Value(shades[-1:])
    yield "background-image", Value(pictures)
    yield "background-clip", Value(clips)


def _is_picture(token: Node) -> bool:
    return token.type == "function" and colour(token) is None and token.lower_name not in {"calc", "var"}
