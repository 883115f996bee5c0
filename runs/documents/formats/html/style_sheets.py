"""Applies the style sheets of a page: finds the declarations for an element, of properties that can hide text.

Style sheets are untrusted. tinycss2 and cssselect2 parse and match them, and each step of a match is counted: a page
that needs more than MAX_STEPS is refused.
"""

import base64
import binascii
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast
from urllib.parse import unquote_to_bytes

import cssselect2
import tinycss2
from tinycss2.ast import Node

from runs.documents.formats.html.css import MAX_DEPTH, VIEW_HEIGHT, VIEW_WIDTH, Value, length, longhands, solid, split
from runs.documents.reading.package_parts import Element
from runs.errors import InvalidInput

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
"""Answers of a common browser to media queries. Unknown features do not match, as in browsers."""
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
    """Whether the condition of `@media` or `@container` holds, or of `@supports`, where each
    declaration is supported.
    """
    parts = [part for part in split(condition) if part]
    return not parts or any(_query(part, supports, 0) for part in parts)


def _query(tokens: Sequence[Node], supports: bool, depth: int) -> bool:
    """Evaluates one query from left to right: conditions with `and`, `or` and `not`."""
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
    """Evaluates `(width)`, `(min-width: 600px)`, `(600px <= width < 900px)` or `(hover: none)`."""
    if not tokens:
        return False
    if tokens[0].type == "ident" and (len(tokens) == 1 or tokens[1] == ":"):
        return _feature_holds(tokens[0].lower_value, tokens[2:])
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


def _feature_holds(name: str, value: Sequence[Node]) -> bool:
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
    """Returns a comparison operator, whose characters are separate tokens."""
    return "".join(one.value for one in tokens if one.type == "literal")


def _number(tokens: Sequence[Node]) -> float | None:
    """Returns a length, a number, a ratio or a resolution."""
    if not tokens:
        return None
    if len(tokens) == 3 and tokens[1] == "/" and all(one.type == "number" for one in (tokens[0], tokens[2])):
        return float(tokens[0].value / tokens[2].value) if tokens[2].value else None
    one = tokens[0]
    if one.type == "dimension" and one.lower_unit in {"dppx", "x", "dpi", "dpcm"}:
        return float(one.value / {"dpi": 96, "dpcm": 96 / 2.54}.get(one.lower_unit, 1))
    found = length(one, 16)
    return found.pixels if found is not None else None


MAX_CHARACTERS = 4_000_000
"""Of all style sheets and all different style attributes of a page. Large sites have a million."""
MAX_STEPS = 5_000_000
"""Comparisons of a selector with an element, and elements visited by them."""
MAX_RULES = 50_000  # of all style sheets of a page
MAX_SELECTOR = 4_000
"""Characters of a selector, including the selectors that it is nested in."""
MAX_SHEETS = 1_000
"""Per page, including imported ones."""
TOO_MANY = "has style sheets that are longer or more complex than those of any page; save it as PDF"
_FOLDED = 60
"""A multiple of all numbers up to 6. Of more than twice as many siblings, only the remainder is counted."""
_CHARACTERS_A_STEP = 32  # comparing a longer selector counts as several steps
_LONG_NUMBER = re.compile(r"\d{300,}")
_STRUCTURAL = re.compile(r"[+~]|:(?:first|last|only|nth|empty|has)\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\[\s*([^\s=\]~|^$*]{1,200})")
_ALWAYS = re.compile(r"(?<![:\\]):(?:defined|read-only|dir\(\s*ltr\s*\))(?![\w-])", re.IGNORECASE)
"""Pseudo-classes that cssselect2 does not know and that apply to every element with text."""
_ANY_OF = re.compile(r"(?<![:\\]):(?:matches|-webkit-any|-moz-any)\(", re.IGNORECASE)
_OPEN = re.compile(r"(?<![:\\]):open(?![\w-])", re.IGNORECASE)
_CDATA = re.compile(r"<!\[CDATA\[|\]\]>")
"""Found around style sheets in chapters of e-books, which are XHTML."""
_DATA = re.compile(r"\s*data:([^,]{0,200}),(.*)", re.IGNORECASE | re.DOTALL)
_OF_HTML = frozenset(
    {"bgcolor", "color", "text", "link", "background", "hidden", "open", "popover", "style", "class", "id", "href"}
)
"""Attributes that matter for every selector."""
_OUTSIDE_OF_LAYERS = 1_000_000  # above the number of any cascade layer
_OF_ATTRIBUTE = 2_000_000  # style attributes override all style sheets
_REFUSED = (cssselect2.SelectorError, NotImplementedError, SyntaxError, ValueError, TypeError, AttributeError, KeyError)
"""Raised by cssselect2 on selectors that it cannot parse, as found by fuzzing."""
_UNREADABLE = (RecursionError, MemoryError)
type Linked = Callable[[str], str | None]
"""Returns the style sheet at an address in the page, or None if it is not available."""
type Declared = Mapping[str, Value]
"""The values that apply to an element, by property. Variables are included."""


class Declaration(NamedTuple):
    name: str
    value: Value
    is_important: bool


class StyleRule(NamedTuple):
    """A rule. `layer` is the name of its cascade layer, or empty."""

    selectors: str
    declarations: Sequence[Declaration]
    layer: str


class ParsedStyleSheet(NamedTuple):
    """A parsed style sheet. `imports`: addresses with their layers. `animations`: their final declarations. `defaults`:
    initial values of variables.
    """

    rules: list[StyleRule]
    imports: list[tuple[str, str]]
    layers: list[str]
    animations: dict[str, Sequence[Declaration]]
    defaults: dict[str, Value]


class StepBudget:
    """Counts steps, each multiplied by the length of its selector."""

    def __init__(self, steps: int) -> None:
        self._left = steps
        self.weight = 1

    def take(self, steps: int = 1) -> None:
        self._left -= steps * self.weight
        if self._left < 0:
            raise InvalidInput(TOO_MANY)


class _Siblings(list[Any]):
    """The children of an element.

    cssselect2 asks for siblings before or after an element only to count those with the same tag. So at most twice
    _FOLDED of them are returned, with the same remainder.
    """

    @cached_property
    def _numbers(self) -> tuple[Sequence[int], Mapping[str, int]]:
        totals: dict[str, int] = {}
        numbers = []
        for one in self:
            numbers.append(totals.get(one.tag, 0))
            totals[one.tag] = numbers[-1] + 1
        return numbers, totals

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            return super().__getitem__(key)
        numbers, totals = self._numbers
        at = key.stop if key.start is None else key.start - 1
        one = super().__getitem__(at)
        count = numbers[at] if key.start is None else totals[one.tag] - numbers[at] - 1
        return [one] * (count if count < 2 * _FOLDED else _FOLDED + count % _FOLDED)


class StyledElement(cssselect2.ElementWrapper):  # type: ignore[misc]  # cssselect2 has no types
    """An element as selectors see it. The elements that a selector visits are counted, and not
    copied for each element.
    """

    def __init__(
        self, etree_element: Any, parent: Any, index: int, previous: Any, in_html_document: bool = True
    ) -> None:
        self.budget: StepBudget = parent.budget if parent is not None else StepBudget(0)
        super().__init__(etree_element, parent, index, previous, in_html_document)

    @cached_property
    def etree_children(self) -> _Siblings:
        return _Siblings(one for one in self.etree_element if isinstance(one.tag, str))

    @property
    def ancestors(self) -> Iterator["StyledElement"]:
        return self._follow("parent")

    @property
    def previous_siblings(self) -> Iterator["StyledElement"]:
        return self._follow("previous")

    def iter_children(self) -> Iterator["StyledElement"]:
        for child in super().iter_children():
            self.budget.take()
            yield child

    def _follow(self, way: str) -> Iterator["StyledElement"]:
        one = getattr(self, way)
        while one is not None:
            self.budget.take()
            yield one
            one = getattr(one, way)


class _Applied(NamedTuple):
    """A rule with its position in the cascade. `cost`: the steps that one comparison counts."""

    declarations: Sequence[Declaration]
    layer: str
    order: int
    cost: int


class _Matcher(cssselect2.Matcher):  # type: ignore[misc]  # cssselect2 has no types
    def __init__(self, budget: StepBudget) -> None:
        super().__init__()
        self._budget = budget

    def add_relevant_selectors(self, element: Any, selectors: Any, relevant_selectors: Any) -> None:
        for test, specificity, order, pseudo, applied in selectors:
            self._budget.weight = applied.cost
            self._budget.take()
            if test(element):
                relevant_selectors.append((specificity, order, pseudo, applied))


class StyleSheets:
    """All style sheets of a page. `is_elsewhere`: the page refers to style sheets that are not available."""

    def __init__(self, root: Element, linked: Linked | None = None) -> None:
        self._budget = StepBudget(MAX_STEPS)
        self._plain, self._structural = _Matcher(self._budget), _Matcher(self._budget)
        self._linked = linked
        self._layers: dict[str, int] = {}
        self._rules = self._sheets = self._characters = 0
        self._names = set(_OF_HTML)
        self._inline: dict[str, Sequence[Declaration]] = {}
        self.has_rules = self.has_structure = self.is_elsewhere = False
        self.animations: dict[str, Sequence[Declaration]] = {}
        self.defaults: dict[str, Value] = {}
        for element in root.iter("style", "link"):
            self._collect(element)

    def attributes(self, element: Element) -> tuple[tuple[str, str], ...]:
        """Returns the attributes of an element that decide its look."""
        return tuple(one for one in cast("Any", element).items() if one[0] in self._names)

    def place(
        self, element: Element, parent: StyledElement | None, previous: StyledElement | None = None
    ) -> StyledElement:
        made = StyledElement(element, parent, previous.index + 1 if previous is not None else 0, previous)
        made.budget = self._budget
        return made

    def plain(self, place: StyledElement) -> list[Any]:
        """Returns the rules that match regardless of the element's siblings."""
        return cast("list[Any]", self._plain.match(place))

    def structural(self, place: StyledElement) -> list[Any]:
        return cast("list[Any]", self._structural.match(place))

    def declared(self, matches: Sequence[Any], style: str) -> Declared:
        """Returns the declarations that apply, from the rules that match an element and from its style attribute."""
        found: dict[str, tuple[Any, Value]] = {}
        for specificity, _, pseudo, applied in matches:
            if pseudo is None:
                layer = self._layers[applied.layer] if applied.layer else _OUTSIDE_OF_LAYERS
                for one in applied.declarations:
                    weight = (one.is_important, -layer if one.is_important else layer, specificity, applied.order)
                    if one.name not in found or weight >= found[one.name][0]:
                        found[one.name] = weight, one.value
        for one in self._attribute(style) if style else ():
            weight = (one.is_important, _OF_ATTRIBUTE, (), 0)
            if one.name not in found or weight >= found[one.name][0]:
                found[one.name] = weight, one.value
        return {name: value for name, (_, value) in found.items()}

    def _attribute(self, style: str) -> Sequence[Declaration]:
        found = self._inline.get(style)
        if found is None:
            self._count_characters(style)
            found = self._inline[style] = declarations(_blocks(style))
        return found

    def _count_characters(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > MAX_CHARACTERS:
            raise InvalidInput(TOO_MANY)

    def _collect(self, element: Element) -> None:
        if not _counts(element):
            return
        if element.tag == "style":
            self._read(_CDATA.sub("", "".join(cast("Any", element).itertext())), "")
        elif (
            "stylesheet" in element.get("rel", "").lower().split() and "alternate" not in element.get("rel", "").lower()
        ):
            self._follow(element.get("href", ""), "", 0)

    def _follow(self, address: str, layer: str, depth: int) -> None:
        text = _in_address(address)
        if text is None and self._linked is not None:
            text = self._linked(address)
        if text is None or depth > MAX_DEPTH:
            self.is_elsewhere |= bool(address.strip())
            return
        self._read(text, layer, depth)

    def _read(self, text: str, layer: str, depth: int = 0) -> None:
        self._sheets += 1
        if self._sheets > MAX_SHEETS:
            raise InvalidInput(TOO_MANY)
        self._count_characters(text)
        sheet = _parse(text)
        for address, imported_layer in sheet.imports:
            self._follow(address, imported_layer or layer, depth + 1)
        for name in sheet.layers:
            self._layers.setdefault(name, len(self._layers))
        self.animations |= sheet.animations
        self.defaults |= sheet.defaults
        for rule in sheet.rules:
            self._add(rule if rule.layer or not layer else rule._replace(layer=layer))

    def _add(self, rule: StyleRule) -> None:
        if rule.layer:
            self._layers.setdefault(rule.layer, len(self._layers))
        for text in _selectors(rule.selectors):
            self._rules += 1
            if self._rules > MAX_RULES or len(text) > MAX_SELECTOR:
                raise InvalidInput(TOO_MANY)
            applied = _Applied(rule.declarations, rule.layer, self._rules, 1 + len(text) // _CHARACTERS_A_STEP)
            is_structural = bool(_STRUCTURAL.search(text))
            for selector in _compile_selectors(text):
                (self._structural if is_structural else self._plain).add_selector(selector, applied)
                self.has_rules = True
                self.has_structure |= is_structural
            self._names.update(name.lower() for name in _ATTRIBUTE.findall(text))


def _counts(element: Element) -> bool:
    """Whether a browser applies it: its type and media are right for screens, and it is not in a template."""
    kind = element.get("type", "").strip().lower()
    if element.tag == "style" and kind not in {"", "text/css"}:
        return False
    if any(one.tag in {"template", "noscript"} for one in cast("Any", element).iterancestors()):
        return False
    media = element.get("media", "")
    return "disabled" not in cast("Any", element).attrib and holds(
        tinycss2.parse_component_value_list(_shorten_numbers(media))
    )


def _in_address(address: str) -> str | None:
    """Returns the content of a data: address."""
    found = _DATA.match(address)
    if not found:
        return None
    try:
        data = unquote_to_bytes(found[2])
        data = base64.b64decode(data) if found[1].lower().rstrip().endswith(";base64") else data
    except (binascii.Error, ValueError):
        return ""
    return data.decode(errors="replace")


def _shorten_numbers(text: str) -> str:
    """Cuts numbers with more digits than Python can parse."""
    return _LONG_NUMBER.sub(lambda found: found[0][:300], text)


def _blocks(content: str | Sequence[Node]) -> Sequence[Node]:
    try:
        given = _shorten_numbers(content) if isinstance(content, str) else content
        return cast("Sequence[Node]", tinycss2.parse_blocks_contents(given, skip_comments=True, skip_whitespace=True))
    except _UNREADABLE as error:
        raise InvalidInput(TOO_MANY) from error


def declarations(nodes: Sequence[Node]) -> Sequence[Declaration]:
    return tuple(
        Declaration(name, value, bool(one.important))
        for one in nodes
        if one.type == "declaration"
        for name, value in longhands(one.name, one.value)
    )


@lru_cache(maxsize=64)
def _parse(text: str) -> ParsedStyleSheet:
    """Parses a style sheet. Cached, because the chapters of a book share theirs."""
    sheet = ParsedStyleSheet([], [], [], {}, {})
    try:
        nodes = tinycss2.parse_stylesheet(_shorten_numbers(text), skip_comments=True, skip_whitespace=True)
        _gather(nodes, sheet, "", "", 0)
    except _UNREADABLE as error:
        raise InvalidInput(TOO_MANY) from error
    return sheet


def _gather(nodes: Sequence[Node], sheet: ParsedStyleSheet, parent: str, layer: str, depth: int) -> None:
    """Collects the rules among these nodes. `parent` is the selector that they are nested in."""
    if depth > MAX_DEPTH:
        raise InvalidInput(TOO_MANY)
    if parent and (loose := declarations(nodes)):
        sheet.rules.append(StyleRule(parent, loose, layer))
    for node in nodes:
        if node.type == "qualified-rule":
            _nest(node, sheet, parent, layer, depth)
        elif node.type == "at-rule":
            _follow_rule(node, sheet, parent, layer, depth)


def _nest(node: Node, sheet: ParsedStyleSheet, parent: str, layer: str, depth: int) -> None:
    selectors = tinycss2.serialize(node.prelude)
    if parent:
        around = f":is({parent})"
        joined = (one.replace("&", around) if "&" in one else f"{around} {one}" for one in _selectors(selectors))
        selectors = ",".join(joined)
    if len(selectors) > 100 * MAX_SELECTOR:
        raise InvalidInput(TOO_MANY)
    _gather(_blocks(node.content), sheet, selectors, layer, depth + 1)


def _follow_rule(node: Node, sheet: ParsedStyleSheet, parent: str, layer: str, depth: int) -> None:
    name, prelude = node.lower_at_keyword.removeprefix("-webkit-").removeprefix("-moz-"), solid(node.prelude)
    if name == "import":
        address = next((one.value for one in prelude if one.type in {"string", "url"}), "")
        address = address or next(
            (two.value for one in prelude if one.type == "function" for two in one.arguments if two.type == "string"),
            "",
        )
        behind = [
            one for one in prelude[1:] if not (one.type == "function" and one.lower_name in {"layer", "supports"})
        ]
        if holds([one for one in behind if not (one.type == "ident" and one.lower_value == "layer")]):
            sheet.imports.append((address, layer))
    elif node.content is None:
        if name == "layer":
            sheet.layers.extend(_layer(layer, one) for one in tinycss2.serialize(prelude).split(","))
    elif name == "keyframes":
        ends = [one for one in _blocks(node.content) if one.type == "qualified-rule" and _is_end(one.prelude)]
        sheet.animations[tinycss2.serialize(prelude).strip("\"'")] = [
            one for end in ends for one in declarations(_blocks(end.content))
        ]
    elif name == "property":
        values = [
            one for one in _blocks(node.content) if one.type == "declaration" and one.lower_name == "initial-value"
        ]
        sheet.defaults.update({tinycss2.serialize(prelude).strip(): Value(one.value) for one in values})
    elif name in {"media", "container", "supports", "layer", "scope"}:
        named = prelude[1:] if name == "container" and prelude and _is_name(prelude[0]) else prelude
        if name in {"media", "container", "supports"} and not holds(named, supports=name == "supports"):
            return
        inner = _layer(layer, tinycss2.serialize(prelude)) if name == "layer" else layer
        within = parent
        if name == "scope" and prelude and prelude[0].type == "() block":
            within = tinycss2.serialize(prelude[0].content)
        _gather(_blocks(node.content), sheet, within, inner, depth + 1)


def _is_name(token: Node) -> bool:
    return token.type == "ident" and token.lower_value not in {"not", "and", "or"}


def _is_end(prelude: Sequence[Node]) -> bool:
    return any(
        one == "to" or (one.type == "percentage" and one.value == 100) for one in prelude if one.type != "ident"
    ) or any(one.lower_value == "to" for one in prelude if one.type == "ident")


def _layer(outer: str, name: str) -> str:
    return ".".join(filter(None, (outer, name.strip() or "anonymous")))


def _selectors(text: str) -> list[str]:
    """Returns the selectors of a list. One that cannot be parsed does not affect the others."""
    parts: list[list[Node]] = [[]]
    for one in tinycss2.parse_component_value_list(text):
        if one == ",":
            parts.append([])
        else:
            parts[-1].append(one)
    return [tinycss2.serialize(part).strip() for part in parts]


def _compile_selectors(selector: str) -> Sequence[Any]:
    known = _OPEN.sub("[open]", _ANY_OF.sub(":is(", _ALWAYS.sub(":not(:hover)", selector)))
    try:
        return cast("Sequence[Any]", cssselect2.compile_selector_list(known))
    except _REFUSED:
        return ()
    except _UNREADABLE as error:
        raise InvalidInput(TOO_MANY) from error
