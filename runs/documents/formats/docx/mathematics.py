"""Formulas of Word in a line: a half is 1/2, and not 12."""

import re

from runs.documents.formats.docx.names import M, W
from runs.documents.formats.package_parts import MAX_DEPTH, Element

_WORD = re.compile(r"\w*")


def formula(element: Element, depth: int = 0) -> str:
    """What stands in it, from left to right; beyond MAX_DEPTH nothing is read."""
    if element.tag == f"{M}t":
        return element.text or ""
    if depth > MAX_DEPTH or element.tag in {f"{W}del", f"{W}moveFrom"}:
        return ""

    def part(name: str) -> str:
        found = element.find(f"{M}{name}")
        return "" if found is None else formula(found, depth + 1)

    match element.tag.removeprefix(M):
        case "f":
            return f"{_grouped(part('num'))}/{_grouped(part('den'))}"
        case "sSup":
            return f"{part('e')}^{_grouped(part('sup'))}"
        case "sSub":
            return f"{part('e')}_{_grouped(part('sub'))}"
        case "sSubSup":
            return f"{part('e')}_{_grouped(part('sub'))}^{_grouped(part('sup'))}"
        case "rad":
            return f"{part('deg')}√{_grouped(part('e'))}"
        case "d":
            begin, end = _sign(element, "dPr", "begChr", "("), _sign(element, "dPr", "endChr", ")")
            return f"{begin}{_inside(element, depth)}{end}"
        case "nary":
            return f"{_sign(element, 'naryPr', 'chr', '∫')}{_limits(part('sub'), part('sup'))}{part('e')}"
        case _:
            return _inside(element, depth)


def _inside(element: Element, depth: int) -> str:
    return "".join(formula(child, depth + 1) for child in element)


def _sign(element: Element, properties: str, name: str, default: str) -> str:
    found = element.find(f"{M}{properties}/{M}{name}")
    return default if found is None else found.get(f"{M}val", "")[:1]


def _limits(low: str, high: str) -> str:
    return (f"_{_grouped(low)}" if low else "") + (f"^{_grouped(high)}" if high else "")


def _grouped(text: str) -> str:
    return text if _WORD.fullmatch(text) else f"({text})"
