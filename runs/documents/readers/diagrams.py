"""Mermaid diagrams drawn as PNG: what the guarded process does with a hostile source.

Mermaid makes an SVG of it, in which labels are HTML. Nothing outside of this module ever has that SVG: it is taken for
hostile, rid of all that names something elsewhere, since what paints it would read pictures from the disk, and painted.
"""

from __future__ import annotations

import json
import re

from lxml import etree

from runs.documents.packing import packed
from runs.errors import InvalidInput
from runs.pev.texts.diagrams import svg_of

MAX_SIDE = 6_000
"""Pixels of a picture: what is larger would have to be shown so small that nobody could read it."""
MAX_PIXELS = 16_000_000
SCALE = 2.0
"""Pixels for one of a page: letters stay sharp on dense screens and on paper."""
_REMOVED = frozenset({"img", "feimage", "script", "iframe", "object", "embed", "link", "video", "audio"})
_WITHIN = ("#", "data:image/png;base64,")
"""How addresses begin of what is in the SVG itself: its parts, and the pictures that Mermaid brings along."""
_ELSEWHERE = re.compile(r"@import[^;]*;?|@font-face\s*\{[^}]*\}|url\(\s*[\"']?(?!#)[^)]*\)", re.IGNORECASE)


def picture(data: bytes) -> bytes:
    """A diagram, in UTF-8, as PNG on white, behind JSON with its `width` and `height` in pixels of a page, packed.

    Raises InvalidInput with what Mermaid says, as the end of a sentence; the same bytes for the same source.
    """
    # Only the guarded process needs it: with its engine it takes longer to import than all else.
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
    """The SVG without scripts, and without anything that names what is not in it: links, pictures, styles, fonts.

    Raises InvalidInput for what is no XML.
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
        if element.text and etree.QName(element).localname.lower() == "style":
            element.text = _ELSEWHERE.sub("", element.text.replace("\\", ""))  # an escape is another way to write url
        for name, value in list(element.attrib.items()):
            local = etree.QName(name).localname.lower()
            if local.startswith("on") or (local in {"href", "src"} and not value.startswith(_WITHIN)):
                del element.attrib[name]
            elif _ELSEWHERE.search(value):
                element.attrib[name] = _ELSEWHERE.sub("none", value)
    return str(etree.tostring(root, encoding="unicode"))


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:  # words behind it stay
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)
