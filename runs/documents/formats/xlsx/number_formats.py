"""Formats numbers of cells as Excel shows them.

Supported are decimals, thousands, percent, signs, and dates and times, which are written as in ISO 8601. With other
formats the number is left as it is. Negative numbers always have a sign or brackets, even if Excel only shows them in
red.
"""

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException
from functools import lru_cache
from typing import NamedTuple

from runs.text.numerals import MINUS
from runs.text.quantities import quantity

type Shown = Callable[[str], str]
"""Converts the stored value of a cell to what it shows."""


class ShownCell(NamedTuple):
    """What a cell shows. `stored`: the stored number, if the text does not show it.

    It is `=` for the same number with decimals, and empty for unchanged whole numbers, for dates and for texts.
    """

    text: str
    stored: str = ""


BUILT_IN = (
    {1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%"}
    | dict.fromkeys((14, 15, 16, 17, *range(27, 37), *range(50, 59)), "yyyy-mm-dd")
    | {18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm"}
    | {37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)"}
    | {41: "#,##0", 42: "#,##0", 43: "#,##0.00", 44: "#,##0.00"}
    | {45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss"}
)
"""Built-in formats, which files refer to by number. The currency of some depends on the reader's country."""
_MAX_CODE = 255  # characters; longer formats are not interpreted
_MAX_RAW = 40  # characters; longer values are not numbers
_MAX_EXPONENT = 20  # beyond it a number is shown as it is stored
_PRECISION = Context(prec=15, rounding=ROUND_HALF_UP)
"""Excel calculates with 15 digits. Further digits in a file are errors of binary fractions."""
_WIDE = Context(prec=60, rounding=ROUND_HALF_UP)
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|\[([^\[\]]*)\]|[_*](?:.)|(.)', re.DOTALL)
_LITERAL = re.compile(r"\$([^-]*)")
_ELAPSED = re.compile(r"(h+|m+|s+)", re.IGNORECASE)
_CONDITION = re.compile(r"[<>=]")
_DIGIT = re.compile("[1-9]")
_SIGNED = re.compile(rf"[{MINUS}—] ?[^\w\s]{{0,3}} ?\d|\d ?[{MINUS}—]$|\([^()]*\d[^()]*\)")
_DATE = re.compile("[ymdhs]", re.IGNORECASE)
_SKELETON = re.compile(r"([^0#?.,]*)([0#?.,]*)([^0#?.,]*)", re.DOTALL)
_LAST_DAY = 2_958_465
"""The serial number of 9999-12-31."""
_FALSE_DAY = 60
"""Excel counts 1900-02-29, which did not exist."""


class _Section(NamedTuple):
    """One of the sections of a format, which are separated by semicolons. Literal text is replaced by private
    characters.
    """

    codes: str
    literals: Sequence[str]


def plain(raw: str) -> str:
    """Formats a number as General does in a wide column. Other text is unchanged."""
    if raw.isdigit() and len(raw) <= _PRECISION.prec:
        return raw
    number = _number(raw)
    if number is None:
        return raw
    if number == number.to_integral_value():
        return f"{number.to_integral_value():f}" if number else "0"  # some programs write 31001.0, and -0
    number = number.normalize()
    return f"{number:f}" if number.adjusted() > -7 else f"{number:E}"


class Format:
    """A number format: converts a stored number to what the cell shows."""

    def __init__(self, code: str = "General", *, since_1904: bool = False) -> None:
        self._shown = shown_by(code, since_1904=since_1904)
        self._is_date = is_date(code)
        self._cell = lru_cache(maxsize=8_192)(self._make)  # columns repeat their dates and amounts

    def cell(self, raw: str) -> ShownCell:
        # most cells are whole numbers in the format General, and long text must not fill the cache
        return self._cell(raw) if len(raw) <= _MAX_RAW else ShownCell(raw)

    def _make(self, raw: str) -> ShownCell:
        text = self._shown(raw)
        if self._is_date or _number(raw) is None:
            return ShownCell(text)
        number = plain(raw)
        if text != number:
            return ShownCell(text, number)
        return ShownCell(text, "" if number.lstrip("-").isdigit() else "=")


def is_date(code: str) -> bool:
    parts = _parts(code) if len(code) <= _MAX_CODE else None
    return parts is not None and _is_date(parts[0])


def shown_by(code: str, *, since_1904: bool = False) -> Shown:
    """Returns the function that formats numbers with this format."""
    parts = _parts(code) if len(code) <= _MAX_CODE else None
    if not parts:
        return plain
    if _is_date(parts[0]):
        return _dated(parts[0].codes, since_1904)
    sections = [_NumberSection.of(part) for part in parts[:3]]
    if sections[0] is None:
        return plain
    return lambda raw: _by_sign(raw, sections)


def _number(raw: str) -> Decimal | None:
    if len(raw) > _MAX_RAW:
        return None
    try:
        number = _PRECISION.create_decimal(raw)
    except DecimalException:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _MAX_EXPONENT else None


def _parts(code: str) -> list[_Section] | None:
    """Returns None if a section depends on a condition."""
    found: list[_Section] = []
    codes, literals = "", list[str]()
    for match in _TOKEN.finditer(code):
        quoted, escaped, brackets, char = match.groups()
        literal = quoted if quoted is not None else escaped
        if brackets is not None:
            if _CONDITION.match(brackets):
                return None
            if currency := _LITERAL.match(brackets):
                literal = currency[1]
            elif _ELAPSED.fullmatch(brackets):
                codes += brackets[0].upper()  # upper case means elapsed time from here on
        if literal:
            codes += chr(0xE000 + len(literals))
            literals.append(literal)
        elif char == ";":
            found.append(_Section(codes, literals))
            codes, literals = "", []
        elif char:
            codes += char.lower() if char != "E" else char
    return [*found, _Section(codes, literals)]


def _is_date(part: _Section) -> bool:
    return "general" not in part.codes and bool(_DATE.search(part.codes))


class _NumberSection(NamedTuple):
    """How to show a number: the digits between two texts."""

    before: str
    after: str
    digits: bool
    whole: int
    decimals: int
    min_decimals: int
    thousands: bool
    shift: int
    unit: Decimal

    @classmethod
    def of(cls, part: _Section) -> "_NumberSection | None":
        """Returns None for formats other than decimals, thousands and percent, such as fractions and exponents."""
        found = _SKELETON.fullmatch(part.codes)
        if not found or not part.codes or re.search("[/@Ee]|general", part.codes):
            return None
        before, skeleton, after = found.groups()
        whole, _, decimals = skeleton.partition(".")
        bare = skeleton.rstrip(",")
        shift = 2 * part.codes.count("%") - 3 * (len(skeleton) - len(bare))
        if "." in skeleton:
            decimals = decimals.rstrip(",")
        if "." in decimals or "," in decimals:
            return None
        return cls(
            before=_with_literals(before, part.literals),
            after=_with_literals(after, part.literals),
            digits=bool(bare),
            whole=whole.count("0"),
            decimals=len(decimals),
            min_decimals=decimals.rfind("0") + 1,
            thousands="," in whole.rstrip(","),
            shift=shift,
            unit=Decimal(1).scaleb(-len(decimals)),
        )

    def text(self, number: Decimal) -> str:
        """Formats a number that is not negative."""
        if not self.digits:
            return f"{self.before}{self.after}".strip()
        rounded = _WIDE.quantize(number.scaleb(self.shift) if self.shift else number, self.unit)
        digits = f"{rounded:,f}" if self.thousands else f"{rounded:f}"
        if self.decimals != self.min_decimals or self.whole > 1:
            whole, point, decimals = digits.partition(".")
            decimals = decimals[: self.min_decimals] + decimals[self.min_decimals :].rstrip("0")
            digits = f"{whole.rjust(self.whole, '0')}{point if decimals else ''}{decimals}"
        if not rounded and not self.whole and not self.decimals:
            digits = ""  # as in accounting formats, which show a dash instead of zero
        return f"{self.before}{digits}{self.after}".strip()


def _with_literals(codes: str, literals: Sequence[str]) -> str:
    return "".join(literals[ord(char) - 0xE000] if 0 <= ord(char) - 0xE000 < len(literals) else char for char in codes)


def _by_sign(raw: str, sections: Sequence[_NumberSection | None]) -> str:
    number = _number(raw)
    if number is None:
        return raw
    negative = number.is_signed()
    which = 1 if negative and len(sections) > 1 else 2 if not number and len(sections) > 2 else 0
    section = sections[which]
    text = section.text(abs(number) if negative else number) if section else ""
    if not text:  # the format shows nothing, but the number is there
        return plain(raw)
    return f"-{text}" if negative and _DIGIT.search(text) and not (which and _is_signed(text)) else text


def _is_signed(text: str) -> bool:
    found = quantity(text)
    return any(value < 0 for value in found.values.values()) if found else bool(_SIGNED.search(text))


def _dated(codes: str, since_1904: bool) -> Shown:
    """Returns a function for dates and times, with seconds if the format has them."""
    letters = set(codes)
    elapsed = bool(letters & set("HMS"))
    has_time = bool(letters & set("hs")) or elapsed
    has_date = bool(letters & set("yd")) or not has_time
    seconds = bool(letters & set("sS"))

    def shown(raw: str) -> str:
        number = _number(raw)
        if number is None or not 0 <= number <= _LAST_DAY:
            return plain(raw)
        total = int((number * 86_400).to_integral_value(ROUND_HALF_UP))
        days, rest = divmod(total, 86_400)
        if not has_time and (days or since_1904):
            return _day(days, since_1904)
        clock = _clock(total if elapsed and not has_date else rest, seconds) if has_time else ""
        if not has_date:
            return clock
        return f"{_day(days, since_1904)} {clock}".rstrip() if days or since_1904 else clock or plain(raw)

    return shown


def _clock(seconds: int, with_seconds: bool) -> str:
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}" if with_seconds or second else f"{hour:02}:{minute:02}"


def _day(serial: int, since_1904: bool) -> str:
    if since_1904:
        return (date(1904, 1, 1) + timedelta(min(serial, _LAST_DAY - 1_462))).isoformat()
    if serial == _FALSE_DAY:
        return "1900-02-29"
    first = date(1899, 12, 31) if serial < _FALSE_DAY else date(1899, 12, 30)
    return (first + timedelta(min(serial, _LAST_DAY))).isoformat()
