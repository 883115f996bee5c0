"""Cells that are one number, with everything around the digits that changes the value. `quantity` reads a cell,
`Figures` adds up quantities of one kind.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import NamedTuple

from runs.text.ignorable import IGNORABLES
from runs.text.numerals import (
    ABOUT,
    APART_FROM_MONEY,
    CJK_COMPOUND,
    CJK_DIGITS,
    CJK_MULTIPLES,
    CJK_NUMERAL,
    CODES,
    COMPARISONS,
    CURRENCIES,
    DIGITS,
    EXACT,
    FRACTION_DIGITS,
    FRACTIONS,
    LETTER_SCALES,
    MAX_DIGITS,
    MINUS,
    NAME_OF,
    POWER,
    SCALED_CURRENCY,
    SCALES,
    SPACES,
    SUPERSCRIPTS,
    THOUSANDS,
    cjk_value,
    either,
    in_digits,
    read,
    read_digits,
)

MAX_CELL_CHARACTERS = 80
_CODES_OF_MONEY = """
AED AFN ALL AMD ANG AOA ARS AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BSD BTN BWP BYN BZD CDF CLP COP CRC CUP CVE DJF
DOP DZD EGP ERN ETB FJD FKP GEL GHS GIP GMD GNF GTQ GYD HNL HTG IDR IQD IRR ISK JMD JOD KES KGS KHR KMF KWD KYD KZT LAK
LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MYR MZN NAD NGN NIO NPR OMR PAB PEN PGK PHP PKR PYG QAR
RON RSD RWF SAR SBD SCR SDG SLE SOS SRD SSP STN SYP SZL TJS TMT TND TOP TTD TZS UAH UGX UYU UZS VES VND VUV WST XAF
XCD XOF XPF YER ZMW
"""
"""Codes of currencies. Some are words in texts, so they count in cells only."""
_ISO_CURRENCIES = frozenset(_CODES_OF_MONEY.split())
_SYMBOLS = "¢؋₡₢₣₤₥₦₧₨₫₭₮₯₰₱₲₳₴₵₶₷₸₻₼₾₿"
_MONEY = frozenset(CURRENCIES) | _ISO_CURRENCIES | frozenset(_SYMBOLS)
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0xFFE5: "¥", 0xFFE1: "£", 0xFFE6: "₩", 0xFFE0: "¢"}
_CELL_SIGN = rf"[{MINUS}—+]"
_LEADING = dict.fromkeys([*CODES, *_ISO_CURRENCIES, *_SYMBOLS, "%"])
_OWN_UNIT = r"[^\W\d_]{1,20}(?:[.·][^\W\d_]{1,10}){0,2}[²³]?\.?"
"""A unit without a name in this module."""
_CELL = re.compile(
    rf"(?:(?P<comparison>[<>]=?|[≤≥⩽⩾]|(?i:{either(dict.fromkeys(ABOUT))})) ?)?(?:(?P<side>(?i:DR|CR)\.?) )?"
    rf"(?P<sign>{_CELL_SIGN})? ?(?:(?P<scaled>{SCALED_CURRENCY})?(?P<currency>{either(_LEADING)}) ?)?"
    rf"(?P<inner>{_CELL_SIGN})? ?"
    rf"(?P<digits>{CJK_COMPOUND.pattern}(?!\d)|{CJK_NUMERAL}|{DIGITS.pattern})"
    rf"(?P<power>{POWER.pattern})?(?P<part>[{SPACES}]?[{''.join(FRACTIONS)}])?(?P<cents>[.,][-–—]{{1,2}}|\.(?!\w))?"
    rf"(?P<tail>.*)",
    re.DOTALL,
)
_CELL_TAIL = re.compile(
    rf"(?:(?P<letter>[kKMBm만억](?![^\W\d_])| ?{SCALED_CURRENCY})| ?(?P<scale>{either(SCALES)}))?"
    rf"(?: ?(?!(?i:[DC]R)\b)(?P<unit>{either(NAME_OF)}|[{_SYMBOLS}]|{_OWN_UNIT}))?"
    rf"(?P<per> ?/ ?[^\W\d_]{{1,12}}[²³]?)?"
    rf"(?: ?(?P<side>(?i:[DC]R)\.?))? ?(?P<behind>[{MINUS}—])?",
)
_APART = re.compile(rf" {APART_FROM_MONEY}.*", re.DOTALL)
_SCALE_FIRST = re.compile(rf"^(?:[kKMBm만억]|\s*{SCALED_CURRENCY}|\s*(?:{either(SCALES)}))")
_BARE_CELL = re.compile(r"-?[0-9][0-9.,]{0,40}")
_PLAIN_CELL = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_AVERAGE = Context(prec=12, rounding=ROUND_HALF_UP)


class QuantityKind(NamedTuple):
    """What belongs to the digits of a quantity and changes its size. Quantities of one kind can be added up."""

    comparison: str = ""
    scale: int = 0
    unit: str = ""


_NO_KIND = QuantityKind()
PARTS = {"%": 2, "‰": 3}
"""How many places the decimal mark of a share moves, as from 25 % to 0.25."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that fills a cell.

    `values`: by the decimal mark with which it can be read, what its digits and its sign come to, without its scale.
    `side`: DR or CR, or empty. `lead` and `tail`: how its currency, scale and unit are written before and behind the
    digits. `is_stored`: the value is the one that a workbook holds, and not the one that it shows.
    """

    text: str
    values: Mapping[str, Decimal]
    kind: QuantityKind = _NO_KIND
    side: str = ""
    lead: str = ""
    tail: str = ""
    is_stored: bool = False

    @property
    def has_leading_zero(self) -> bool:
        """Whether it is more likely a name, such as 007, than a number."""
        digits = self.text.lstrip(f"{MINUS}+ ")
        return len(digits) > 1 and digits[0] == "0" and digits[1].isdecimal()

    def value(self, mark: str) -> Decimal:
        """The value with this decimal mark, including the scale."""
        return self.values[mark].scaleb(self.kind.scale, EXACT)

    def plain(self, mark: str) -> Decimal:
        """The value as a bare number: a workbook holds 0.25 for 25 %."""
        return self.value(mark).scaleb(-PARTS.get(self.kind.unit, 0) if self.is_stored else 0, EXACT)


def quantity(cell: str) -> Quantity | None:
    """The number that a cell is; None for any other text, and for what can be understood in two ways.

    1,234 has a value with a point as the decimal mark, and another with a comma.
    """
    return _quantity(cell) if len(cell) <= MAX_CELL_CHARACTERS else None  # no long text is kept


@lru_cache(maxsize=8_192)
def _quantity(cell: str) -> Quantity | None:
    if _BARE_CELL.fullmatch(cell) and (bare := _by_mark(cell.lstrip("-"), is_negative=cell[0] == "-")):
        return Quantity(cell, bare)  # most of them
    text = " ".join(IGNORABLES.sub("", cell).translate(_WIDE).split())
    inside = _without_brackets(text)
    found = _CELL.fullmatch(inside)
    tail = _CELL_TAIL.fullmatch(found["tail"]) if found else None
    if not found or not tail:
        return None
    is_in_brackets = inside != text
    if found["currency"] and (apart := _APART.fullmatch(found["tail"])):
        tail = _CELL_TAIL.fullmatch(apart[0].lstrip()) or tail
    signs = [sign for sign in (found["sign"], found["inner"], tail["behind"]) if sign]
    values = _cell_values(found)
    sides = {side.upper().rstrip(".") for side in (found["side"], tail["side"]) if side}
    letter = (found["scaled"] or tail["letter"] or "").strip()
    unit = _cell_unit(found["currency"], tail["unit"], letter)
    if found["scaled"] and (tail["letter"] or tail["scale"]):
        return None
    if not values or len(signs) + is_in_brackets > 1 or len(sides) > 1 or unit is None:
        return None
    scale = SCALES.get(tail["scale"] or "", 0) or _scale_of(letter, unit)
    unit += re.sub(r"\s", "", tail["per"] or "")
    is_negative = is_in_brackets or bool(signs and signs[0] != "+")
    comparison = found["comparison"] or ""
    currency = (found["scaled"] or "") + (found["currency"] or "")
    return Quantity(
        cell,
        {mark: value.copy_negate() if is_negative else value for mark, value in values.items()},
        QuantityKind(COMPARISONS.get(comparison, "~" if comparison else ""), scale, unit),
        side=next(iter(sides), ""),
        lead=f"{currency} " if currency[-1:].isalpha() else currency,
        tail=tail[0][: max(0, *(tail.end(name) for name in ("letter", "scale", "unit", "per")))],
    )


def stored_quantity(shown: str, stored: str) -> Quantity | None:
    """The stored number of a cell of a workbook. The unit is the one that is shown; a scale that it shows is none of
    the value.
    """
    if shown == stored and _PLAIN_CELL.fullmatch(shown):
        value = Decimal(shown)
        return Quantity(shown, dict.fromkeys(THOUSANDS, value), is_stored=True)
    try:
        value = Decimal(stored)
    except ArithmeticError:
        return None
    found = quantity(shown)
    if found is None:
        unit = re.sub(r"[\d.,\s]+", " ", shown).strip(f" {MINUS}+()")
        return Quantity(shown, dict.fromkeys(THOUSANDS, value), QuantityKind(unit=unit), is_stored=True)
    value = value.scaleb(PARTS.get(found.kind.unit, 0))
    written = found.values.get(".", Decimal(0)).scaleb(found.kind.scale)
    exponent = found.values.get(".", Decimal(0)).as_tuple().exponent
    step = Decimal(1).scaleb(found.kind.scale + min(int(exponent), 0))
    # 5 t for 5000 kg: the unit belongs to what is shown, and not to what is stored
    is_unit_true = bool(written) and abs(written - value) <= step
    tail = _SCALE_FIRST.sub("", found.tail) if found.kind.scale else found.tail
    return Quantity(
        shown,
        dict.fromkeys(THOUSANDS, value),
        found.kind._replace(scale=0),
        lead=found.lead if is_unit_true else "",
        tail=tail if is_unit_true else "",
        is_stored=True,
    )


def _by_mark(digits: str, *, is_negative: bool = False) -> dict[str, Decimal]:
    found = {mark: value for mark in THOUSANDS if (value := read(digits, mark)) is not None}
    return {mark: value.copy_negate() for mark, value in found.items()} if is_negative else found


def _without_brackets(text: str) -> str:
    """The text without the one pair of brackets around its number, which stands for a minus sign."""
    opened, closed = text.find("("), text.rfind(")")
    if opened < 0 or closed < opened or text.count("(") + text.count(")") != 2:
        return text
    if any(character.isdecimal() for character in text[:opened] + text[closed:]):
        return text
    return f"{text[:opened]}{text[opened + 1 : closed]}{text[closed + 1 :]}"


def _cell_values(found: re.Match[str]) -> dict[str, Decimal]:
    """By the decimal mark, without a sign. Fractions that no decimal number is equal to have no value."""
    digits, part, power = found["digits"], found["part"], found["power"]
    if digits in FRACTIONS or "/" in digits or "⁄" in digits:
        values = dict.fromkeys(THOUSANDS, read_digits(digits)[0][0]) if read_digits(digits)[0] else {}
    elif any(character in CJK_DIGITS or character in CJK_MULTIPLES for character in digits):
        values = {mark: value for mark in THOUSANDS if (value := cjk_value(digits, mark)) is not None}
    else:
        values = _by_mark(digits)
    if part:
        values = {mark: value + FRACTIONS[part.strip()] for mark, value in values.items() if value == int(value)}
    if (part or digits in FRACTIONS or "/" in digits or "⁄" in digits) and not all(map(_is_exact, values.values())):
        return {}
    if power:
        match = POWER.fullmatch(power)
        exponent = int((match[1] or match[2] or match[3]).translate(SUPERSCRIPTS)) if match else 0
        values = (
            {mark: value.scaleb(exponent, EXACT) for mark, value in values.items()}
            if abs(exponent) <= MAX_DIGITS
            else {}
        )
    return values


def _is_exact(value: Decimal) -> bool:
    return int(value.as_tuple().exponent) > -FRACTION_DIGITS


def _cell_unit(currency: str | None, unit: str | None, letter: str) -> str | None:
    """The one name of what is written before and behind the digits; None where they contradict each other."""
    if (
        unit
        and unit not in NAME_OF
        and any(unicodedata.numeric(letter, None) is not None for letter in unit.rstrip("²³") or unit)
    ):
        return None  # 10² is another number
    first = NAME_OF.get(currency or "", currency or "")
    second = NAME_OF.get(unit or "", unit or "")
    if letter == "m" and first not in _MONEY and second not in _MONEY:
        return None if first or second else "m"
    if not first or not second or first == second:
        return first or second
    if currency == "¥" and second == "CNY":  # the sign is that of yen and of yuan
        return second
    return None if second in _MONEY or first not in _MONEY else f"{first} {second}"


def _scale_of(letter: str, unit: str) -> int:
    return 0 if not letter or unit == "m" else LETTER_SCALES.get(letter, 6)


class Unlike(ValueError):
    """Quantities cannot be calculated with together. The message names two of them, and says why."""


class Figures:
    """What quantities come to. They are of one kind and one decimal mark, or `add` raises Unlike.

    Where there are debits and credits, credits are less than nothing.
    """

    __slots__ = ("_first", "_like", "_only", "_sides")

    def __init__(self) -> None:
        self._first: Quantity | None = None
        self._like: Quantity | None = None
        self._only: dict[str, Quantity] = {}
        """By each decimal mark the first quantity that cannot be read with the other one."""
        self._sides: dict[str, dict[str, _Tally]] = {}

    def add(self, one: Quantity) -> None:
        if self._first is None or self._like is None:
            self._first = self._like = one
        if one.kind != self._first.kind or bool(one.side) != bool(self._first.side):
            raise Unlike(
                f"{_quoted(self._first)} and {_quoted(one)} are not of one kind: their comparison signs, scales, units "
                "or currencies differ"
            )
        if not (self._like.lead or self._like.tail):
            self._like = one
        only = dict.fromkeys(one.values, one) if len(one.values) < len(THOUSANDS) else {}
        if other := next((self._only[mark] for mark in self._only if only and mark not in only), None):
            raise Unlike(f"{_quoted(other)} and {_quoted(one)} have different decimal marks")
        self._only = only | self._only
        tallies = self._sides.setdefault(one.side, {})
        for mark, value in one.values.items():
            tallies.setdefault(mark, _Tally()).add(value)

    @property
    def kind(self) -> QuantityKind:
        return self._first.kind if self._first else _NO_KIND

    @property
    def has_both_sides(self) -> bool:
        return len(self._sides) > 1

    @property
    def marks(self) -> tuple[str, ...]:
        """The decimal marks with which all of them can be read; empty if there is no quantity."""
        return tuple(self._only or THOUSANDS) if self._first else ()

    @property
    def one_mark(self) -> str:
        """The decimal mark that they decide on, or any if it makes no difference; empty if that is unclear."""
        marks = self.marks
        same = len({tuple((side, *tallies[mark]) for side, tallies in self._sides.items()) for mark in marks}) == 1
        return marks[0] if same else ""

    def sum(self, mark: str) -> Decimal:
        """The sum with its scale."""
        return self._tally(mark).total.scaleb(self.kind.scale, EXACT)

    def figure(self, of: str, mark: str) -> str:
        """The `sum`, `average`, `min` or `max`, as a person writes it."""
        tally = self._tally(mark)
        value = {"sum": tally.total, "min": tally.least, "max": tally.greatest}.get(of)
        return self._written(tally.average if value is None else value)

    def _tally(self, mark: str) -> "_Tally":
        if not self.has_both_sides:
            return next((tallies[mark] for tallies in self._sides.values()), _Tally())
        return self._sides["DR"][mark].less(self._sides["CR"][mark])

    def _written(self, value: Decimal) -> str:
        like = self._like
        if like is None:
            return ""
        side = like.side
        if self.has_both_sides:
            side, value = ("CR" if value < 0 else "DR"), value.copy_abs()
        plain = value.scaleb(self.kind.scale, EXACT)
        if like.is_stored:
            plain = value.scaleb(-PARTS.get(self.kind.unit, 0), EXACT)
        note = f" ({in_digits(plain)})" if plain != value else ""
        sign = "-" if value < 0 else ""
        digits = f"{sign}{like.lead}{in_digits(value.copy_abs())}{like.tail}"
        return f"{self.kind.comparison}{digits}{f' {side}' if side else ''}{note}"


class _Tally:
    __slots__ = ("count", "greatest", "least", "total")

    def __init__(self) -> None:
        self.count, self.total = 0, Decimal(0)
        self.least = self.greatest = Decimal(0)

    def __iter__(self) -> Iterator[Decimal]:
        return iter((self.total, self.least, self.greatest))

    def add(self, value: Decimal) -> None:
        self.least = min(self.least, value) if self.count else value
        self.greatest = max(self.greatest, value) if self.count else value
        self.total = EXACT.add(self.total, value)
        self.count += 1

    def less(self, other: "_Tally") -> "_Tally":
        """The tally of these numbers and of the others, which are subtracted."""
        both = _Tally()
        both.count, both.total = self.count + other.count, EXACT.subtract(self.total, other.total)
        both.least, both.greatest = (
            min(self.least, other.greatest.copy_negate()),
            max(self.greatest, other.least.copy_negate()),
        )
        return both

    @property
    def average(self) -> Decimal:
        return _AVERAGE.divide(self.total, Decimal(self.count))


def _quoted(one: Quantity) -> str:
    return f"“{' '.join(one.text.split())}”"
