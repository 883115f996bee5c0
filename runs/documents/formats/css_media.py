"""Conditions in style sheets: which rules count on a screen of the usual size."""

import operator
from collections.abc import Callable, Mapping, Sequence

from tinycss2.ast import Node

from runs.documents.formats.css_values import MAX_DEPTH, VIEW_HEIGHT, VIEW_WIDTH, length, solid, split

_SIZES: Mapping[str, float] = {
    "width": VIEW_WIDTH,
    "inline-size": VIEW_WIDTH,
    "device-width": VIEW_WIDTH,
    "height": VIEW_HEIGHT,
    "block-size": VIEW_HEIGHT,
    "device-height": VIEW_HEIGHT,
    "aspect-ratio": VIEW_WIDTH / VIEW_HEIGHT,
    "device-aspect-ratio": VIEW_WIDTH / VIEW_HEIGHT,
    "resolution": 1.0,
    "device-pixel-ratio": 1.0,
    "color": 8.0,
    "color-index": 0.0,
    "monochrome": 0.0,
    "grid": 0.0,
}
_KEYWORDS: Mapping[str, frozenset[str]] = {
    "orientation": frozenset({"landscape"}),
    "hover": frozenset({"hover"}),
    "any-hover": frozenset({"hover"}),
    "pointer": frozenset({"fine"}),
    "any-pointer": frozenset({"fine"}),
    "scripting": frozenset({"enabled"}),
    "update": frozenset({"fast"}),
    "overflow-block": frozenset({"scroll"}),
    "overflow-inline": frozenset({"scroll"}),
    "color-gamut": frozenset({"srgb"}),
    "dynamic-range": frozenset({"standard"}),
    "scan": frozenset({"progressive"}),
    "display-mode": frozenset({"browser"}),
    "prefers-color-scheme": frozenset({"light"}),
    **dict.fromkeys(
        ("prefers-reduced-motion", "prefers-contrast", "prefers-reduced-data", "prefers-reduced-transparency"),
        frozenset({"no-preference"}),
    ),
    **dict.fromkeys(("forced-colors", "inverted-colors"), frozenset({"none"})),
}
"""What a usual browser answers. A feature that is not here does not hold, as in browsers."""
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_TYPES = frozenset({"all", "screen"})


def holds(condition: Sequence[Node], *, supports: bool = False) -> bool:
    """Whether the condition of `@media` or `@container` holds, or that of `@supports`: then each declaration does."""
    parts = [part for part in split(condition) if part]
    return not parts or any(_query(part, supports, 0) for part in parts)


def _query(tokens: Sequence[Node], supports: bool, depth: int) -> bool:
    """Of one query, from left to right: conditions with `and`, `or` and `not` before them."""
    result, joint, negated = True, "and", False
    for token in tokens:
        if token.type == "ident" and token.lower_value in {"and", "or"}:
            joint = token.lower_value
        elif token.type == "ident" and token.lower_value == "not":
            negated = not negated
        elif token.type == "ident" and token.lower_value == "only":
            continue
        else:
            value = _condition(token, supports, depth) != negated
            result = (result and value) if joint == "and" else (result or value)
            negated = False
    return result


def _condition(token: Node, supports: bool, depth: int) -> bool:
    if depth > MAX_DEPTH:
        return False
    if token.type == "ident":
        return supports or token.lower_value in _TYPES
    if token.type != "() block":
        return supports
    inside = solid(token.content)
    if inside and (inside[0].type == "() block" or (inside[0].type == "ident" and inside[0].lower_value == "not")):
        return _query(inside, supports, depth + 1)
    return supports or _feature(inside)


def _feature(tokens: Sequence[Node]) -> bool:
    """`(width)`, `(min-width: 600px)`, `(600px <= width < 900px)` or `(hover: none)`."""
    if not tokens:
        return False
    if tokens[0].type == "ident" and (len(tokens) == 1 or tokens[1] == ":"):
        return _named(tokens[0].lower_value, tokens[2:])
    at = next((number for number, one in enumerate(tokens) if one.type == "ident"), None)
    size = _SIZES.get(tokens[at].lower_value) if at is not None else None
    if at is None or size is None:
        return False
    before, behind = tokens[:at], tokens[at + 1 :]
    sign, bound = _sign(before[1:]), _number(before[:1])
    if before and (sign not in _COMPARE or bound is None or not _COMPARE[_TURNED[sign]](size, bound)):
        return False
    sign = _sign(behind)
    bound = _number(behind[-1:])
    return not behind or (sign in _COMPARE and bound is not None and _COMPARE[sign](size, bound))


def _named(name: str, value: Sequence[Node]) -> bool:
    bare = name.removeprefix("-webkit-")
    for prefix, sign in (("min-", ">="), ("max-", "<=")):
        if bare.startswith(prefix):
            size, bound = _SIZES.get(bare.removeprefix(prefix)), _number(value)
            return size is not None and bound is not None and _COMPARE[sign](size, bound)
    if bare in _KEYWORDS:
        return value[0].lower_value in _KEYWORDS[bare] if value and value[0].type == "ident" else not value
    size, bound = _SIZES.get(bare), _number(value)
    return size is not None and (size == bound if value else size > 0)


def _sign(tokens: Sequence[Node]) -> str:
    """A comparison, whose characters are tokens of their own."""
    return "".join(one.value for one in tokens if one.type == "literal")


def _number(tokens: Sequence[Node]) -> float | None:
    """A length, a number, a ratio or a resolution."""
    if not tokens:
        return None
    if len(tokens) == 3 and tokens[1] == "/" and all(one.type == "number" for one in (tokens[0], tokens[2])):
        return float(tokens[0].value / tokens[2].value) if tokens[2].value else None
    one = tokens[0]
    if one.type == "dimension" and one.lower_unit in {"dppx", "x", "dpi", "dpcm"}:
        return float(one.value / {"dpi": 96, "dpcm": 96 / 2.54}.get(one.lower_unit, 1))
    found = length(one, 16)
    return found.pixels if found is not None else None
