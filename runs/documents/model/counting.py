"""What formats count: pages, slides, sheets."""

import re

from runs.documents.model.document import Document
from runs.documents.model.sheets import address_in

_NUMBERED = re.compile(r"(?:page=|s)(\d+)(?=\.|$)")


def units_in(document: Document, start: int, end: int) -> str:
    """Such as "pages 3-5 of 12" or "sheet Rents of 4"; empty where the format counts nothing."""
    layout = document.layout
    blocks = document.blocks_in(start, end)
    if not (layout.unit and blocks):
        return ""
    names = [_unit_of(block.anchor) for block in (blocks[0], blocks[-1])]
    of = f" of {layout.units}" if layout.units else ""
    if not all(names):
        return ""
    if names[0] == names[1]:
        return f"{layout.unit} {names[0]}{of}"
    return f"{layout.unit}s {'-'.join(names) if ''.join(names).isdecimal() else ' to '.join(names)}{of}"


def unit_at(document: Document, place: int) -> str:
    """Such as "page 3" or "sheet Rents", of the block there; empty where the format counts nothing."""
    block = document.block_at(place)
    name = _unit_of(block.anchor) if document.layout.unit and block else ""
    return f"{document.layout.unit} {name}" if name else ""


def _unit_of(anchor: str) -> str:
    numbered = _NUMBERED.match(anchor)
    address = address_in(anchor)
    return numbered[1] if numbered else address.sheet if address else ""
