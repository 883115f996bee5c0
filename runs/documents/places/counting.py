"""What formats count: pages, slides, sheets."""

from runs.documents.formats import format_of
from runs.documents.places.document import Document


def units_in(document: Document, start: int, end: int) -> str:
    """Such as "pages 3-5 of 12" or "sheet Rents of 4"; empty where the format counts nothing."""
    layout = document.layout
    blocks = document.blocks_in(start, end)
    if not (layout.unit and blocks):
        return ""
    unit_of = format_of(layout.format).anchors.unit_of
    names = [unit_of(block.anchor) for block in (blocks[0], blocks[-1])]
    of = f" of {layout.units}" if layout.units else ""
    if not all(names):
        return ""
    if names[0] == names[1]:
        return f"{layout.unit} {names[0]}{of}"
    return f"{layout.unit}s {'-'.join(names) if ''.join(names).isdecimal() else ' to '.join(names)}{of}"


def unit_at(document: Document, place: int) -> str:
    """Such as "page 3" or "sheet Rents", of the block there; empty where the format counts nothing."""
    block = document.block_at(place)
    layout = document.layout
    name = format_of(layout.format).anchors.unit_of(block.anchor) if layout.unit and block else ""
    return f"{layout.unit} {name}" if name else ""
