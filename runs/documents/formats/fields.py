"""Field codes as Word writes them, such as `REF _Ref42 \\r \\h`, and what is shown of fields that keep no result."""

import re

from runs.documents.formats.symbols import sign_of

MAX_CODE = 2_000
"""Characters of a field code that are looked at."""
_WORD = re.compile(r'"([^"]*)"?|\\([A-Za-z*#@!])|([^\s"\\]+)')
_BUTTON = re.compile(r"\s*(?:MACROBUTTON|GOTOBUTTON)\s+\S+\s(.*)", re.IGNORECASE | re.DOTALL)
_LEFT_OUT = {
    **dict.fromkeys(("LISTNUM", "AUTONUM", "AUTONUMLGL", "AUTONUMOUT"), "number that Word counts"),
    "EQ": "formula",
}
"""Fields that keep no result and show one, by what that is."""


class FieldCode:
    """The name of a field in capitals, its first argument, and its switches with what stands behind each of them."""

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
        """The whole number behind a switch; None without one."""
        found = self.switches.get(switch, "")
        return int(found) if found.isdecimal() and found.isascii() and len(found) <= 6 else None

    @property
    def shown(self) -> str:
        """What Word shows of a field without a result, where its code says that."""
        if self.name == "SYMBOL":
            return sign_of(self.switches.get("f", ""), _code_of(self.argument))
        button = _BUTTON.match(self._code)
        return button[1].strip() if button else ""

    @property
    def left_out(self) -> str:
        """What only Word can compute of a field without a result, such as "formula"; empty for other fields."""
        return _LEFT_OUT.get(self.name, "")


def left_out_at(thing: str, place: str) -> str:
    """Returns a sentence for the notes of a document on what `FieldCode.left_out` names."""
    return f"The {thing} at {place} was left out: the file does not hold it. Look at it in Word."


def _code_of(argument: str) -> int:
    try:
        return int(argument[:10], 16 if argument[:2].lower() == "0x" else 10)
    except ValueError:
        return -1
