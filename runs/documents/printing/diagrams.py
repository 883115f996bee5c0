"""Draws Mermaid diagrams as PNG from untrusted sources, in an isolated process.

Mermaid makes an SVG whose labels are HTML. It never leaves this module: everything that refers to something outside the
SVG is removed before it is painted, because the renderer would read pictures from the disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import tinycss2
from lxml import etree
from tinycss2.ast import Node

from runs.documents.packed_parts import packed
from runs.errors import InvalidInput
from runs.text.mermaid_diagrams import svg_of

MAX_SIDE = 6_000
"""Pixels. A larger picture would have to be shown so small that it could not be read."""
MAX_PIXELS = 16_000_000  # of a picture
SCALE = 2.0
"""Pixels of the picture for each CSS pixel, so that letters stay sharp on dense screens and on paper."""
_REMOVED = frozenset(
    {
        *("img", "feimage", "script", "iframe", "object", "embed", "link", "video", "audio", "source", "handler"),
        *("animate", "set", "animatemotion", "animatetransform", "animatecolor", "discard"),
    }
)
"""Includes elements that change attributes later: they could replace an address that was checked."""
_ADDRESSED = frozenset({"href", "src", "base", "background", "data", "poster"})
"""Attributes whose whole value is an address."""
_NAMING = frozenset({"srcset", "action", "formaction", "ping", "manifest", "cite", "longdesc"})
"""Attributes that contain addresses and that no diagram needs."""
_WITHIN = ("#", "data:image/png;base64,")
"""Prefixes of addresses within the SVG: its own elements, and pictures that Mermaid embeds."""
_FETCHING = frozenset(
    {"image", "image-set", "-webkit-image-set", "src", "cross-fade", "-webkit-cross-fade", "element", "-moz-element"}
)
"""Functions of style sheets, besides url(), that load something."""
_RULES = frozenset({"import", "font-face", "namespace", "document", "-moz-document"})
_PLAIN = re.compile(r"[\w\s.,;:#%+\-]*", re.ASCII)
"""Matches values that cannot contain an address: most attributes, and paths of thousands of numbers."""
MAX_DEPTH = 30
"""Of blocks and functions in a style sheet."""


def picture(data: bytes) -> bytes:
    """Draws a diagram (UTF-8) as a PNG on white. Returns JSON with `width` and `height` in CSS pixels and the PNG,
    packed.

    The same source gives the same bytes. Raises InvalidInput with Mermaid's message as the end of a sentence.
    """
    # Imported here because only the isolated process needs it, and its engine takes longer to import than everything
    # else.
    from mermaidx.raster import render_png

    svg = safe(svg_of(data.decode()))
    width, height = _size(svg)
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise InvalidInput(f"it would be {width:,.0f} by {height:,.0f} pixels, and {MAX_SIDE:,} a side can be shown")
    scale = min(SCALE, MAX_SIDE / width, MAX_SIDE / height, (MAX_PIXELS / (width * height)) ** 0.5)
    size = {"width": max(1, round(width)), "height": max(1, round(height))}
    try:
        png: bytes = render_png(svg, width=width * scale, height=height * scale, background="#ffffff")
    except (RuntimeError, ValueError) as error:
        raise InvalidInput("what Mermaid makes of it cannot be painted") from error
    return packed((json.dumps(size).encode(), png))


def _size(svg: str) -> tuple[float, float]:
    box = etree.fromstring(svg.encode()).get("viewBox", "").split()
    try:
        return float(box[2]), float(box[3])
    except (IndexError, ValueError) as error:
        raise InvalidInput("what Mermaid makes of it has no size") from error


def safe(svg: str) -> str:
    """Returns the SVG without scripts and without references to anything outside it: links, pictures, styles, fonts.

    Raises InvalidInput if it is not XML.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(svg.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise InvalidInput("what Mermaid makes of it is no whole SVG") from error
    for element in list(root.iter()):
        if not isinstance(element.tag, str) or etree.QName(element).localname.lower() in _REMOVED:
            _remove(element)
            continue
        if etree.QName(element).localname.lower() == "style":
            element.text = _styles_within("".join(element.itertext()))
            for child in list(element):
                element.remove(child)
        for name, value in list(element.attrib.items()):
            local = etree.QName(name).localname.lower()
            if local.startswith("on") or local in _NAMING or (local in _ADDRESSED and not value.startswith(_WITHIN)):
                del element.attrib[name]
            elif local not in _ADDRESSED and not _PLAIN.fullmatch(value):
                element.attrib[name] = _value_within(value)
    return str(etree.tostring(root, encoding="unicode"))


def _styles_within(text: str) -> str:
    """Removes references to anything outside the SVG from a style sheet.

    The style sheet is parsed as browsers do, and written again without escapes.
    """
    nodes = tinycss2.parse_stylesheet(text, skip_comments=True)
    kept = [one for one in nodes if one.type != "error" and not _is_fetching_rule(one)]
    try:
        return str(tinycss2.serialize([_within(one, 0) for one in kept]))
    except RecursionError as error:
        raise InvalidInput("what Mermaid makes of it has styles that are nested too deep") from error


def _value_within(value: str) -> str:
    """Returns the attribute unchanged if it contains no outside address, otherwise without it."""
    nodes = tinycss2.parse_component_value_list(value)
    return str(tinycss2.serialize([_within(one, 0) for one in nodes])) if _names_elsewhere(nodes, 0) else value


def _is_fetching_rule(node: Node) -> bool:
    return node.type == "at-rule" and node.lower_at_keyword in _RULES


def _is_elsewhere(node: Node) -> bool:
    if node.type == "url":
        return not node.value.strip().startswith("#")
    if node.type != "function":
        return False
    if node.lower_name == "url":
        address = next((one.value for one in node.arguments if one.type == "string"), "")
        return not address.strip().startswith("#")
    return node.lower_name in _FETCHING


def _names_elsewhere(nodes: Sequence[Node], depth: int) -> bool:
    if depth > MAX_DEPTH:
        return True
    for one in nodes:
        inside = getattr(one, "arguments", None) or getattr(one, "content", None) or ()
        if _is_elsewhere(one) or _names_elsewhere(inside, depth + 1):
            return True
    return False


def _within(node: Node, depth: int) -> Node:
    """Returns the node with `none` in place of outside addresses. What is nested too deep is left out."""
    if _is_elsewhere(node) or depth > MAX_DEPTH:
        return tinycss2.ast.IdentToken(node.source_line, node.source_column, "none")
    for name in ("prelude", "content", "arguments"):
        inner = getattr(node, name, None)
        if isinstance(inner, list):
            setattr(node, name, _without_rules([_within(one, depth + 1) for one in inner]))
    return node


def _without_rules(nodes: list[Node]) -> list[Node]:
    """Removes nested rules that load something, up to their end."""
    kept: list[Node] = []
    is_left_out = False
    for node in nodes:
        if node.type == "at-keyword" and node.lower_value in _RULES:
            is_left_out = True
        if not is_left_out:
            kept.append(node)
        elif node == ";" or node.type == "{} block":
            is_left_out = False
    return kept


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:  # the text after the element stays
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)
