"""Word field codes, such as `REF _Ref42 \\r \\h`, and the text of fields without a stored result."""

import re
from collections.abc import Mapping

_PRIVATE = 0xF0
"""Symbol fonts have their characters at U+F020 to U+F0FF."""
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
FONTS: Mapping[str, Mapping[int, str]] = {"wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2, "symbol": _SYMBOL}
"""By font name in lower case."""
_UNKNOWN = "\ufffd"


def sign_of(font: str, code: int) -> str:
    """Returns the character that a symbol font shows for a code. Unknown characters keep their code."""
    known = FONTS.get(font.casefold(), {}).get(code & 0xFF if code >> 8 == _PRIVATE else code)
    return known or (chr(code) if 0x20 <= code <= 0x10_FFFF else _UNKNOWN)


def text_in(font: str, text: str) -> str:
    """Returns the text that bytes in a symbol font show.

    Unknown characters become the font's private code, because the letter with the same code is not what is shown.
    """
    known = FONTS[font.casefold()]
    return "".join(
        known.get(ord(letter), letter if _is_plain(font, letter) else chr(_PRIVATE << 8 | ord(letter) & 0xFF))
        for letter in text
    )


def _is_plain(font: str, letter: str) -> bool:
    """Whether a symbol font shows the character like other fonts: Symbol has the usual digits and brackets."""
    return letter.isspace() or (font.casefold() == "symbol" and letter in _PLAIN_IN_SYMBOL)


_PLAIN_IN_SYMBOL = frozenset("!#%&()+,./0123456789:;<=>?[]_{|}")


MAX_CODE = 2_000
"""Characters of a field code that are examined."""
_WORD = re.compile(r'"([^"]*)"?|\\([A-Za-z*#@!])|([^\s"\\]+)')
_BUTTON = re.compile(r"\s*(?:MACROBUTTON|GOTOBUTTON)\s+\S+\s(.*)", re.IGNORECASE | re.DOTALL)
_LEFT_OUT = {
    **dict.fromkeys(("LISTNUM", "AUTONUM", "AUTONUMLGL", "AUTONUMOUT"), "number that Word counts"),
    "EQ": "formula",
}
"""Fields that show a result but do not store it, with the name of what they show."""


class FieldCode:
    """A parsed field code: its name in capitals, its first argument, and its switches with their values."""

    def __init__(self, code: str) -> None:
        self._code = code[:MAX_CODE]
        self.name = self.argument = ""
        self.switches: dict[str, str] = {}
        switch = ""
        for quoted, letter, word in _WORD.findall(self._code):
            if letter:
                switch = letter.lower()
                self.switches.setdefault(switch, "")
            elif switch:
                self.switches[switch] = self.switches[switch] or quoted or word
                switch = ""
            elif not self.name:
                self.name = word.upper()
            elif not self.argument:
                self.argument = quoted or word

    def number(self, switch: str) -> int | None:
        """Returns the whole number after a switch, or None."""
        found = self.switches.get(switch, "")
        return int(found) if found.isdecimal() and found.isascii() and len(found) <= 6 else None

    @property
    def displayed_text(self) -> str:
        """Returns what Word shows for a field without a result, as far as its code says."""
        if self.name == "SYMBOL":
            return sign_of(self.switches.get("f", ""), _code_of(self.argument))
        button = _BUTTON.match(self._code)
        return button[1].strip() if button else ""

    @property
    def left_out(self) -> str:
        """Returns the name of what only Word can compute for a field without a result, such as "formula", or an empty
        string.
        """
        return _LEFT_OUT.get(self.name, "")


def left_out_at(thing: str, place: str) -> str:
    """Returns a sentence for the notes of a document about something that `FieldCode.left_out` names."""
    return f"The {thing} at {place} was left out: the file does not hold it. Look at it in Word."


def _code_of(argument: str) -> int:
    try:
        return int(argument[:10], 16 if argument[:2].lower() == "0x" else 10)
    except ValueError:
        return -1
