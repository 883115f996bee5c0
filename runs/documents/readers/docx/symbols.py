"""Signs of fonts that have signs in the places of letters, and form fields, as the characters that they show."""

from collections.abc import Mapping

from runs.documents.readers.docx.names import W, is_on, number, val
from runs.documents.readers.parts import Element

_PRIVATE = 0xF0
"""Where fonts of signs have theirs: U+F020 to U+F0FF."""
_WINGDINGS: Mapping[int, str] = {
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "❑",
    0x75: "◆",
    0x76: "❖",
    0x9F: "•",
    0xA7: "▪",
    0xA8: "☐",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE8: "➔",
    0xF0: "⇨",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
_WINGDINGS_2: Mapping[int, str] = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"}
_GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_SYMBOL: Mapping[int, str] = {
    **{ord("A") + at: letter for at, letter in enumerate(_GREEK)},
    **{ord("a") + at: letter for at, letter in enumerate("αβχδεφγηιϕκλμνοπθρστυϖωξψζ")},
    0xA2: "′",
    0xA3: "≤",
    0xA5: "∞",
    0xB0: "°",
    0xB1: "±",
    0xB2: "″",
    0xB3: "≥",
    0xB4: "×",
    0xB7: "•",
    0xB8: "÷",
    0xB9: "≠",
    0xBA: "≡",
    0xBB: "≈",
    0xBC: "…",
    0xD2: "®",
    0xD3: "©",
    0xD4: "™",
    0xD6: "√",
    0xDE: "⇒",
    0xE5: "∑",
    0xAC: "←",
    0xAD: "↑",
    0xAE: "→",
    0xAF: "↓",
}
_FONTS = {"wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2, "symbol": _SYMBOL}
_UNKNOWN = "\ufffd"


def symbol(element: Element) -> str:
    """One that is not known stays the code that the font has for it."""
    try:
        code = int(element.get(f"{W}char", "")[:8], 16)
    except ValueError:
        return _UNKNOWN
    known = _FONTS.get(element.get(f"{W}font", "").casefold(), {}).get(code & 0xFF if code >> 8 == _PRIVATE else code)
    return known or (chr(code) if 0x20 <= code <= 0x10_FFFF else _UNKNOWN)


def form_field(element: Element) -> str:
    """What a form field shows that has no text of its own: a box, ticked or not, or the chosen one of several words."""
    if (box := element.find(f"{W}checkBox")) is not None:
        state = box.find(f"{W}checked")
        return "☒" if is_on(box.find(f"{W}default") if state is None else state) else "☐"
    if (choices := element.find(f"{W}ddList")) is not None:
        entries = choices.findall(f"{W}listEntry")
        chosen = choices.find(f"{W}result")
        at = number(choices.find(f"{W}default") if chosen is None else chosen)
        return (val(entries[at]) or "") if at < len(entries) else ""
    return ""
