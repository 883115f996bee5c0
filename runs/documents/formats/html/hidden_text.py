"""Finds text of a page that its style sheets hide: not displayed, transparent, in the colour of its ground, too small,
clipped, or moved off the screen.

Nothing is laid out, so text that is hidden only by the layout, such as covered text, is not found.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tinycss2 import parse_one_component_value
from tinycss2.ast import Node

from runs.documents.formats.html.css import (
    CURRENT,
    GLOBAL,
    MAX_DEPTH,
    VIEW_WIDTH,
    Colour,
    Length,
    Value,
    colour,
    colours_in,
    degrees,
    length,
    solid,
    split,
    taken_apart,
    words,
)
from runs.documents.formats.html.style_sheets import TOO_MANY, Declared, Linked, StyledElement, StyleSheets
from runs.documents.reading.colours import Rgb, are_alike, over
from runs.documents.reading.package_parts import Element
from runs.errors import InvalidInput

MIN_PIXELS = 4
"""Font size. Smaller letters cannot be read."""
MIN_OPACITY = 0.1  # fainter text cannot be read
MAX_BOX = 2
"""Pixels. A box of at most this size shows no text."""
AWAY = 500
"""Pixels to the left of or above the page. Menus and pictures are not moved as far."""
FAR_AWAY = 9_000
"""Pixels to the right."""
MAX_LOOKS = 500_000
"""Different looks of the elements of a page."""
MAX_TOKENS = 1_000
"""Of a value after its variables were replaced."""
_WHITE, _BLACK = (255.0, 255.0, 255.0), (0.0, 0.0, 0.0)
_PICTURES = frozenset({"img", "picture", "video", "canvas", "svg", "iframe", "object", "embed"})
_INLINE = frozenset(
    """a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub
    sup time tt u var""".split()  # noqa: SIM905
)
_BOXES_OF_PARTS = frozenset({"flex", "inline-flex", "grid", "inline-grid"})
_NOT_SHOWN = frozenset({"none", "table-column", "table-column-group"})
_MATH_NOTES = frozenset({"annotation", "annotation-xml"})
_GROUNDS: Mapping[str, Colour] = {"mark": Colour((255.0, 255.0, 0.0)), "button": Colour((239.0, 239.0, 239.0))}
"""The default backgrounds of elements."""
_DARK = (18.0, 18.0, 18.0)
_BLACK_INK, _NOTHING = Colour(_BLACK), Length()


class Scope:
    """A box.

    `has_pictures`: something in it may be behind its words. `is_painted_over`: a positioned element in it has a ground
    of its own. `above`: the enclosing box, if it has the same ground.
    """

    __slots__ = ("_is_doubtful", "above", "has_pictures", "is_painted_over")

    def __init__(self, above: "Scope | None") -> None:
        self.above = above
        self.has_pictures = self.is_painted_over = False
        self._is_doubtful: bool | None = None

    def is_doubtful(self) -> bool:
        """Whether its words may be on something other than its ground. Known only at the end of the page."""
        chain: list[Scope] = []
        one: Scope | None = self
        while one is not None and one._is_doubtful is None and not one.is_painted_over:
            chain.append(one)
            one = one.above
        found = one is not None and (one.is_painted_over or bool(one._is_doubtful))
        for each in chain:
            each._is_doubtful = found
        return found


class Variables(NamedTuple):
    """The variables that an element declares, and those of enclosing elements."""

    own: Mapping[str, Value]
    above: "Variables | None" = None

    def value(self, name: str) -> Value | None:
        one: Variables | None = self
        while one is not None:
            if name in one.own:
                return one.own[name]
            one = one.above
        return None


_NO_VARIABLES = Variables({})


@dataclass(frozen=True, eq=False)
class TextLook:
    """The look of an element's text. `ground`: the colour behind it, None if unknown."""

    is_gone: bool = False
    is_invisible: bool = False
    is_masked: bool = False
    font: float = 16.0
    scale: float = 1.0
    opacity: float = 1.0
    colour: Colour = _BLACK_INK
    fill: Colour | None = None
    ground: Rgb | None = _WHITE
    spacing: float = 0.0
    indent: Length = _NOTHING
    is_outlined: bool = False
    shows_ground: bool = False
    is_folded: bool = False
    display: str = "block"
    position: str = "static"
    floats: bool = False
    paints: bool = False
    is_on_paint: bool = False
    """Whether an enclosing box paints a ground that covers what is placed behind it."""
    variables: Variables = _NO_VARIABLES

    @property
    def is_hidden(self) -> bool:
        """Whether its text is invisible on any ground."""
        ink = self.fill or self.colour
        return (
            self.is_gone
            or self.is_invisible
            or self.is_masked
            or self.is_folded
            or self.font * self.scale < MIN_PIXELS
            or self.opacity < MIN_OPACITY
            or self.spacing <= -0.5 * self.font
            or self.indent.pixels <= -AWAY
            or self.indent.percent <= -100
            or (ink.alpha < MIN_OPACITY and not self.is_outlined and not self.shows_ground)
        )

    @property
    def is_like_ground(self) -> bool:
        ink = self.fill or self.colour
        if self.ground is None or ink.rgb is None or self.is_outlined or self.shows_ground:
            return False
        return are_alike(over(ink.rgb, ink.alpha * self.opacity, self.ground), self.ground)


class PageLooks:
    """Computes the looks of a page's elements, which are entered and left in document order.

    Elements with equal attributes inside elements with equal looks look the same, so each look is computed once.
    """

    def __init__(self, root: Element, linked: Linked | None = None) -> None:
        self._sheets = StyleSheets(root, linked)
        self.is_elsewhere = self._sheets.is_elsewhere
        self._known: dict[Any, TextLook] = {}
        self._top = TextLook(variables=Variables(self._sheets.defaults))
        # A page may be declared for dark colour schemes only.
        schemes = [one.get("content", "") for one in root.iter("meta") if one.get("name", "").lower() == "color-scheme"]
        if any(one.lower().split() in (["dark"], ["only", "dark"], ["dark", "only"]) for one in schemes):
            self._top = replace(self._top, ground=_DARK, colour=Colour(_WHITE))
        self._stack: list[TextLook] = []
        self._elements: list[Element] = []
        self._places: list[StyledElement | None] = []
        self._previous: list[StyledElement | None] = [None]
        self._scopes: list[Scope] = []

    @property
    def look(self) -> TextLook:
        return self._stack[-1] if self._stack else self._top

    def enter(self, element: Element) -> None:
        parent = self.look
        self._elements.append(element)
        self._places.append(None)
        attributes = self._sheets.attributes(element)
        structural: list[Any] = []
        if self._sheets.has_structure:
            place = self._previous[-1] = self._place(len(self._elements) - 1)
            structural = self._sheets.structural(place)
        # Of several summaries, only the first is visible when its parent is folded.
        is_summary = (
            parent.is_folded
            and element.tag == "summary"
            and next((one for one in self._elements[-2] if one.tag == "summary"), None) is element
        )
        key = id(parent), element.tag, attributes, tuple(one[3].order for one in structural), is_summary
        look = self._known.get(key)
        if look is None:
            if len(self._known) == MAX_LOOKS:
                raise InvalidInput(TOO_MANY)
            look = self._known[key] = self._computed(element, parent, dict(attributes), structural, is_summary)
        self._stack.append(look)
        self._previous.append(None)
        self._scopes.append(Scope(None if look.paints or not self._scopes else self._scopes[-1]))
        if look.paints or element.tag in _PICTURES:
            self.paint(is_free=look.position in {"absolute", "fixed"})

    def leave(self) -> None:
        for kept in (self._stack, self._elements, self._places, self._previous, self._scopes):
            kept.pop()

    def skip(self, element: Element) -> None:
        """Passes over an element whose text is not read. It may be a picture, and counts among its siblings."""
        if element.tag in _PICTURES:
            self.paint(is_free="absolute" in (element.get("style") or ""))
        if self._sheets.has_structure:
            self._elements.append(element)
            self._places.append(None)
            self._previous[-1] = self._place(len(self._elements) - 1)
            self._elements.pop()
            self._places.pop()

    def paint(self, *, is_free: bool) -> None:
        """Records a picture or an element with a ground of its own, over which positioned words may be."""
        for scope in reversed(self._scopes[:-1] if self._scopes else []):
            if scope.has_pictures and not is_free:
                break
            scope.has_pictures = True
        if is_free and (container := self._container()) is not None:
            container.is_painted_over = True

    def scope(self) -> Scope:
        return self._scopes[-1]

    def floating(self) -> Scope | None:
        """Returns the box that contains positioned words without a ground of their own, or None for
        words in the flow.
        """
        if not self.look.floats:
            return None
        at = len(self._stack) - 1
        while at > 0 and self._stack[at].position not in {"absolute", "fixed"}:
            at -= 1
        while at > 0:
            at -= 1
            if self._stack[at].position != "static":
                break
        return self._scopes[at]

    def _container(self) -> Scope | None:
        for at in range(len(self._stack) - 2, 0, -1):
            if self._stack[at].position != "static":
                return self._scopes[at]
        return None

    def _place(self, at: int) -> StyledElement:
        place = self._places[at]
        if place is None:
            parent = self._place(at - 1) if at else None
            previous = self._previous[at] if self._sheets.has_structure else None
            place = self._places[at] = self._sheets.place(self._elements[at], parent, previous)
        return place

    def _computed(
        self, element: Element, parent: TextLook, attributes: Mapping[str, str], structural: list[Any], is_summary: bool
    ) -> TextLook:
        matches = list(structural)
        if self._sheets.has_rules:
            matches += self._sheets.plain(self._place(len(self._elements) - 1))
        declared = dict(self._sheets.declared(matches, attributes.get("style", "")))
        declared = {**declared, **self._ends(declared)}
        return _Computing(element.tag, parent, attributes, declared, is_summary=is_summary).look()

    def _ends(self, declared: Declared) -> Declared:
        """Returns the declarations that an animation leaves behind if it keeps its final state."""
        found: dict[str, Value] = {}
        for part in split(declared["animation"].tokens) if "animation" in declared else ():
            names = [one.value for one in part if one.type in {"ident", "string"}]
            if {"forwards", "both"} & {name.lower() for name in names}:
                for name in names:
                    found |= {one.name: one.value for one in self._sheets.animations.get(name, ())}
        return found


class _Computing:
    """Computes the look of one element from its declarations."""

    def __init__(
        self, tag: str, parent: TextLook, attributes: Mapping[str, str], declared: Declared, *, is_summary: bool
    ) -> None:
        self._tag, self._parent, self._attributes = tag, parent, attributes
        self._declared, self._is_summary = declared, is_summary
        own = {name: value for name, value in declared.items() if name.startswith("--")}
        self._variables = Variables(own, parent.variables) if own else parent.variables

    def look(self) -> TextLook:
        font = self._font()
        parent = self._parent
        display, position = self._display(), self._word("position", "static").removeprefix("-webkit-")
        is_free = position in {"absolute", "fixed"}
        ground, paints, is_picture = self._ground(is_free=is_free)
        ink = self._colour("color", parent.colour, self._colour_of_tag())
        fill = self._fill(parent.fill, ink)
        visibility = self._word("visibility", "")
        security = self._word("-webkit-text-security", "")
        scale = parent.scale * self._scale(font)
        layer = self._layer(position)
        is_stacked = not math.isnan(layer) or parent.opacity > parent.opacity * self._opacity() or scale != parent.scale
        is_gone = (
            (parent.is_gone or (parent.is_folded and not self._is_summary))
            or display in _NOT_SHOWN
            or self._is_away(font, position)
            or self._is_clipped(font, position)
            or self._has_no_room(font, display, position)
            or self._is_veiled()
            or (layer < 0 and parent.is_on_paint)
            or scale < 0.01
        )
        return TextLook(
            is_gone=is_gone,
            is_invisible=visibility in {"hidden", "collapse"} if visibility else parent.is_invisible,
            is_masked=security != "none" if security else parent.is_masked,
            font=font,
            scale=scale,
            opacity=parent.opacity * self._opacity(),
            colour=ink,
            fill=fill,
            ground=ground,
            spacing=self._inherited("letter-spacing", font, Length(parent.spacing)).pixels,
            indent=self._inherited("text-indent", font, parent.indent),
            is_outlined=self._is_outlined() or parent.is_outlined,
            shows_ground=self._shows_ground(is_picture=is_picture) or (parent.shows_ground and not paints),
            is_folded=self._tag == "details" and "open" not in self._attributes,
            display=display,
            position=position,
            floats=(is_free or parent.floats) and not paints,
            paints=paints,
            is_on_paint=self._tag not in {"html", "body"} and ((parent.is_on_paint or paints) and not is_stacked),
            variables=self._variables,
        )

    def _tokens(self, name: str) -> Sequence[Node]:
        value = self._declared.get(name)
        if value is None:
            return ()
        replaced = _replaced(value.tokens, self._variables, 0, [MAX_TOKENS])
        if replaced is None:
            return ()
        if value.shorthand:
            return solid(dict(taken_apart(value.shorthand, replaced)).get(name, Value(())).tokens)
        return solid(replaced)

    def _word(self, name: str, default: str) -> str:
        found = words(self._tokens(name))
        if not found or found[0] in GLOBAL:
            return default
        return found[0]

    def _length(self, name: str, font: float) -> Length | None:
        tokens = self._tokens(name)
        return length(tokens[0], font) if tokens else None

    def _inherited(self, name: str, font: float, above: Length) -> Length:
        tokens = self._tokens(name)
        if not tokens:
            return above
        if tokens[0].type == "ident":
            return Length() if tokens[0].lower_value in {"initial", "normal"} else above
        return length(tokens[0], font) or Length()

    def _display(self) -> str:
        found = words(self._tokens("display"))
        if found and found[0] not in GLOBAL:
            return found[0]
        is_hidden = "hidden" in self._attributes or "popover" in self._attributes or self._tag in _MATH_NOTES
        if is_hidden or (self._tag == "dialog" and "open" not in self._attributes):
            return "none"
        return "inline" if self._tag in _INLINE else "block"

    def _font(self) -> float:
        tokens, above = self._tokens("font-size"), self._parent.font
        if not tokens:
            return above
        one = tokens[0]
        if one.type == "ident":
            return above if one.lower_value in {"inherit", "unset", "smaller", "larger"} else 16.0
        size = length(one, above)
        return max(0.0, size.pixels + size.percent * above / 100) if size else above

    def _layer(self, position: str) -> float:
        """Returns the z-index, or NaN if there is none."""
        tokens = self._tokens("z-index") if position != "static" else ()
        return float(tokens[0].value) if tokens and tokens[0].type == "number" else math.nan

    def _opacity(self) -> float:
        tokens = self._tokens("opacity")
        size = length(tokens[0], 16) if tokens else None
        return max(0.0, min(1.0, size.pixels + size.percent / 100)) if size else 1.0

    def _colour_of_tag(self) -> Colour | None:
        written = self._attributes.get({"font": "color", "body": "text"}.get(self._tag, ""))
        if written is not None:
            return _of_attribute(written)
        if self._tag == "a" and "href" in self._attributes:
            return Colour((0.0, 0.0, 238.0))
        return Colour(_BLACK) if self._tag in {"mark", "button"} else None

    def _colour(self, name: str, above: Colour, default: Colour | None) -> Colour:
        tokens = self._tokens(name)
        found = colour(tokens[0]) if tokens else None
        if isinstance(found, Colour):
            return found
        if found == CURRENT or not tokens:
            return above if found == CURRENT or default is None else default
        return Colour(_BLACK) if tokens[0].type == "ident" and tokens[0].lower_value == "initial" else above

    def _fill(self, above: Colour | None, ink: Colour) -> Colour | None:
        tokens = self._tokens("-webkit-text-fill-color")
        if not tokens:
            return above
        found = colour(tokens[0])
        if isinstance(found, Colour):
            return found
        if found == CURRENT:
            return ink
        return above if tokens[0].type == "ident" and tokens[0].lower_value in {"inherit", "unset"} else None

    def _ground(self, *, is_free: bool) -> tuple[Rgb | None, bool, bool]:
        """Returns what is behind the text, whether the element paints it, and whether it is a picture."""
        ground = self._parent.ground
        written = self._attributes.get("bgcolor")
        shade = Colour(None) if "background" in self._attributes else _of_attribute(written) if written else None
        shade = shade or _GROUNDS.get(self._tag)
        tokens = self._tokens("background-color")
        found = colour(tokens[0]) if tokens else None
        if isinstance(found, Colour):
            shade = found
        elif found == CURRENT:
            shade = self._colour("color", self._parent.colour, self._colour_of_tag())
        pictures = [one for one in self._tokens("background-image") if one.type in {"url", "function"}]
        if pictures:
            shades = [one for each in pictures if each.type == "function" for one in colours_in(each.arguments)]
            first = shades[0] if shades and not any(one.type == "url" for one in pictures) else Colour(None)
            is_one = first.rgb is not None and all(
                one.rgb is not None and one.alpha == first.alpha and are_alike(one.rgb, first.rgb) for one in shades
            )
            return (
                (over(first.rgb, first.alpha, ground), True, True)
                if is_one and first.rgb and ground
                else (None, True, True)
            )
        if shade is None or shade.alpha == 0:
            return ground, False, False
        if shade.rgb is None:
            return None, True, False
        if shade.alpha == 1:
            return shade.rgb, True, False
        return (over(shade.rgb, shade.alpha, ground) if ground is not None else None), not is_free, False

    def _is_outlined(self) -> bool:
        """Whether letters have a visible outline or shadow."""
        stroke = [*self._tokens("-webkit-text-stroke"), *self._tokens("-webkit-text-stroke-width")]
        widths = [size for one in stroke if (size := length(one, 16)) is not None]
        if any(size.pixels > 0 for size in widths) and not any(one.alpha == 0 for one in colours_in(stroke)):
            return True
        shadow = self._tokens("text-shadow")
        shades = list(colours_in(shadow))
        return (len(shadow) > 1 and any(one.alpha > MIN_OPACITY and one.rgb is None for one in shades)) or any(
            one.alpha > MIN_OPACITY
            and one.rgb is not None
            and (self._parent.ground is None or not are_alike(one.rgb, self._parent.ground))
            for one in shades
        )

    def _shows_ground(self, *, is_picture: bool) -> bool:
        """Whether the letters are filled with a picture or a gradient."""
        return is_picture and "text" in words(self._tokens("background-clip"))

    def _is_away(self, font: float, position: str) -> bool:
        """Whether the element is moved off the page."""
        sides = {name: self._length(name, font) or Length() for name in ("left", "top", "right", "bottom")}
        if position == "static":
            sides = dict.fromkeys(sides, Length())
        moves = self._moves(font)
        margin = {side: (self._length(f"margin-{side}", font) or Length()).pixels for side in ("left", "top")}
        padding = {side: (self._length(f"padding-{side}", font) or Length()).pixels for side in ("left", "top")}
        is_free = position in {"absolute", "fixed"}
        width = self._length("width", font)
        room = width.pixels if width is not None and not width.percent else 0.0
        away = {side: sides[side].pixels + margin[side] + max(0.0, padding[side]) for side in ("left", "top")}
        share = sides["left"].percent * VIEW_WIDTH / 100 if is_free else 0.0
        x, y = away["left"] + share + moves[0].pixels, away["top"] + moves[1].pixels
        if x <= -AWAY and x + room <= 0:
            return True
        if y <= -AWAY or x >= FAR_AWAY or moves[1].pixels >= 10 * FAR_AWAY:
            return True
        if is_free and (sides["left"].percent <= -100 or sides["top"].percent <= -100):
            return True
        if position == "fixed" and (moves[0].percent <= -100 or moves[1].percent <= -100):
            return True
        beyond = sides["right"].pixels, sides["bottom"].pixels
        far = any(abs(one.percent) >= 300 for one in (*moves, *sides.values()))
        return (position != "static" and (far or any(one <= -AWAY for one in beyond) or beyond[0] >= FAR_AWAY)) or (
            any(abs(one.percent) >= 300 for one in moves)
        )

    def _moves(self, font: float) -> tuple[Length, Length]:
        x, y = Length(), Length()
        for name, arguments in self._functions("transform"):
            sizes = [length(part[0], font) if part else None for part in split(arguments)]
            first = next(iter(sizes), None) or Length()
            second = sizes[1] if len(sizes) > 1 and sizes[1] else Length()
            if name == "translatex" or name in {"translate", "translate3d"}:
                x = Length(x.pixels + first.pixels, x.percent + first.percent)
            if name == "translatey":
                y = Length(y.pixels + first.pixels, y.percent + first.percent)
            if name in {"translate", "translate3d"}:
                y = Length(y.pixels + second.pixels, y.percent + second.percent)
            if name == "matrix" and len(sizes) == 6 and sizes[4] and sizes[5]:
                x, y = Length(x.pixels + sizes[4].pixels, x.percent), Length(y.pixels + sizes[5].pixels, y.percent)
        own = [size for one in self._tokens("translate") if (size := length(one, font)) is not None]
        for at, size in enumerate(own[:2]):
            if at == 0:
                x = Length(x.pixels + size.pixels, x.percent + size.percent)
            else:
                y = Length(y.pixels + size.pixels, y.percent + size.percent)
        return x, y

    def _functions(self, name: str) -> Sequence[tuple[str, Sequence[Node]]]:
        return [(one.lower_name, one.arguments) for one in self._tokens(name) if one.type == "function"]

    def _scale(self, font: float) -> float:
        """Returns the scale in the direction in which it is smallest."""
        factor = 1.0
        for name, arguments in self._functions("transform"):
            sizes = [length(part[0], font) if part else None for part in split(arguments)]
            numbers = [abs(one.pixels + one.percent / 100) for one in sizes if one is not None]
            if name in {"scale", "scalex", "scaley"} and numbers:
                factor *= min(numbers)
            elif name == "scale3d" and len(numbers) == 3:
                factor *= min(numbers[:2])
            elif name == "matrix" and len(numbers) == 6:
                signed = [one.pixels for one in sizes if one is not None]
                factor *= min(1.0, abs(signed[0] * signed[3] - signed[1] * signed[2]))
            elif name in {"rotatex", "rotatey", "skew", "skewx", "skewy"} and (turn := _turn(arguments)) is not None:
                factor *= 0.0 if abs(turn % 180 - 90) < 1 else 1.0
        own = [
            one.pixels + one.percent / 100 for each in self._tokens("scale") if (one := length(each, font)) is not None
        ]
        factor *= min(map(abs, own[:2])) if own else 1.0
        zoom = self._length("zoom", font)
        if zoom is not None and (zoom.pixels or zoom.percent):
            factor *= abs(zoom.pixels + zoom.percent / 100)
        return factor

    def _is_clipped(self, font: float, position: str) -> bool:
        for name, arguments in self._functions("clip") if position in {"absolute", "fixed"} else ():
            edges = [length(one, font) for one in solid(arguments) if one != ","]
            if name == "rect" and len(edges) == 4:
                top, right, bottom, left = edges
                if top and bottom and bottom.pixels - top.pixels <= 1:
                    return True
                if left and right and right.pixels - left.pixels <= 1:
                    return True
        return any(_is_empty(name, arguments, font) for name, arguments in self._functions("clip-path"))

    def _has_no_room(self, font: float, display: str, position: str) -> bool:
        """Whether it is a box without size that clips its content."""
        if self._tag in {"html", "body"}:
            return False
        floats = self._word("float", "none") != "none"
        is_box = display not in {"inline", "contents"} or floats or position in {"absolute", "fixed"}
        if not is_box and self._parent.display not in _BOXES_OF_PARTS:
            return False
        cuts = {axis: self._word(f"overflow-{axis}", "visible") not in {"visible"} for axis in ("x", "y")}
        if not any(cuts.values()):
            return False
        for size, sides in (("height", ("top", "bottom")), ("width", ("left", "right"))):
            bounds = [self._length(name, font) for name in (size, f"max-{size}")]
            is_tiny = any(one is not None and one.pixels <= MAX_BOX and one.percent <= 0 for one in bounds)
            padding = [self._length(f"padding-{side}", font) or Length() for side in sides]
            if is_tiny and all(one.pixels <= MAX_BOX and not one.percent for one in padding):
                return True
        indent = self._length("text-indent", font)
        if indent is not None and (indent.percent >= 100 or indent.pixels >= AWAY):
            return True
        line = self._length("line-height", font)
        return line is not None and line.pixels <= 1 and not line.percent and _is_pixels(self._tokens("line-height"))

    def _is_veiled(self) -> bool:
        """Whether a filter, a mask or a property keeps it from being painted."""
        if self._word("content-visibility", "") == "hidden":
            return True
        for name, arguments in self._functions("filter"):
            tokens = solid(arguments)
            size = length(tokens[0], 16) if tokens else None
            if name == "opacity" and size is not None and size.pixels + size.percent / 100 < MIN_OPACITY:
                return True
        masks = self._functions("mask-image")
        shades = [one for _, arguments in masks for one in colours_in(arguments)]
        return bool(shades) and all(one.alpha < MIN_OPACITY for one in shades)


def _turn(arguments: Sequence[Node]) -> float | None:
    tokens = solid(arguments)
    return degrees(tokens[0]) if tokens else None


def _is_pixels(tokens: Sequence[Node]) -> bool:
    return (bool(tokens) and tokens[0].type == "dimension") or (tokens[0].type == "number" and not tokens[0].value)


def _is_empty(name: str, arguments: Sequence[Node], font: float) -> bool:
    """Whether a shape of clip-path is empty."""
    if name == "inset":
        sizes = [size for one in solid(arguments) if (size := length(one, font)) is not None][:4]
        if not sizes:
            return False
        right = sizes[1] if len(sizes) > 1 else sizes[0]
        bottom = sizes[2] if len(sizes) > 2 else sizes[0]
        left = sizes[3] if len(sizes) > 3 else right
        pairs = (sizes[0], bottom), (left, right)
        return any(one.percent + two.percent >= 100 or one.pixels + two.pixels >= 4 * AWAY for one, two in pairs)
    if name in {"circle", "ellipse"}:
        radii = [length(one, font) for one in solid(arguments)[: 1 if name == "circle" else 2]]
        return any(one is not None and one.pixels <= 1 and one.percent <= 0 for one in radii)
    if name == "polygon":
        points = [[length(one, font) or Length() for one in part if one.type != "ident"] for part in split(arguments)]
        corners = [(one[0].pixels + one[0].percent, one[1].pixels + one[1].percent) for one in points if len(one) == 2]
        pairs_of = zip(corners, corners[1:] + corners[:1], strict=True)
        return bool(corners) and abs(sum(a * d - c * b for (a, b), (c, d) in pairs_of)) < 1
    return False


def _of_attribute(written: str) -> Colour | None:
    """Parses a colour of an HTML attribute: a name, or six digits with or without `#`."""
    text = written.strip()[:40]
    for tried in (text, f"#{text}"):
        found = colour(parse_one_component_value(tried)) if tried else None
        if isinstance(found, Colour):
            return found
    return None


def _replaced(tokens: Sequence[Node], variables: Variables, depth: int, left: list[int]) -> list[Node] | None:
    """Returns the tokens with variables replaced, or None if a variable has no value or refers to itself."""
    if depth > MAX_DEPTH:
        return None
    found: list[Node] = []
    for token in tokens:
        left[0] -= 1
        if left[0] < 0:
            raise InvalidInput(TOO_MANY)
        if token.type == "function" and token.lower_name == "var":
            name, *fallback = split(token.arguments)
            value = variables.value(name[0].value) if name and name[0].type == "ident" else None
            chosen = value.tokens if value is not None and solid(value.tokens) else None
            if chosen is None and fallback:
                chosen = [one for part in fallback for one in part]
            part = _replaced(chosen, variables, depth + 1, left) if chosen is not None else None
            if part is None:
                return None
            found += part
        elif token.type == "function" and any(one.type == "function" for one in token.arguments):
            part = _replaced(token.arguments, variables, depth + 1, left)
            if part is None:
                return None
            found.append(type(token)(token.source_line, token.source_column, token.name, part))
        else:
            found.append(token)
    return found
