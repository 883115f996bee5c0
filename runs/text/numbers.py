"""Numbers as people write them in texts, with everything around the digits that changes their value.

| written | read as |
|---|---|
| `1,234.50` `1.234,50` `1 234,50` `1'234.50` | 1234.5: apostrophes and all kinds of spaces separate thousands |
| `1,234` | 1234 or 1.234: a text decides which decimal mark it uses, so both readings are kept |
| `-5` `−5` `-$5` `$-5` `($5)` | minus five |
| `2.5 million` `2.5M` `€2.5m` `2,5 Mio.` `50k` `億` | the scale belongs to the value |
| `5.2e6` `5.2 × 10^6` `5.2 × 10⁶` | 5200000 |
| `½` `2½` | 0.5, 2.5 |
| `25.5 %` `25.5 percent` `3 ‰` | the unit is `%` or `‰` |
| `CHF 2,400` `$5` `5 EUR` `720.2 km²` `30 days` | the unit has one name for all its spellings |
| `about 7,600` `~7,600` `ca. 7.600` | `is_about`: rounded to the digits that are not zeros at its end |
| `p23` `v2` `COVID-19` `3D` | no numbers: the digits are part of a name |
| `250hp` `100Mbit/s` `6pm` | 250, 100, 6: the unit has no name here |
| `1.2.3` | digits that are no number: there are no `values` |

Decimal digits of all scripts are read. Linear in the length of the text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

MAX_DIGITS = 30
MAX_CELL_CHARACTERS = 80
_BEFORE_CHARACTERS, _AFTER_CHARACTERS = 16, 24
"""How far around the digits is looked for what belongs to them."""
_SPACES = " \u00a0\u2007\u2009\u202f"
_DIGITS = re.compile(rf"\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*|[¼½¾⅓⅔⅛⅜⅝⅞]")
_THOUSANDS = {".": ",", ",": "."}
"""By decimal mark the mark that separates thousands, if not apostrophes or spaces do."""
_FRACTIONS = {
    "¼": Decimal("0.25"),
    "½": Decimal("0.5"),
    "¾": Decimal("0.75"),
    "⅛": Decimal("0.125"),
    "⅜": Decimal("0.375"),
    "⅝": Decimal("0.625"),
    "⅞": Decimal("0.875"),
    "⅓": Decimal("0.333333333333"),
    "⅔": Decimal("0.666666666667"),
}
_CURRENCIES = {
    "USD": "US$|$|dollar|dollars",
    "EUR": "€|euro|euros",
    "GBP": "£|pound|pounds",
    "JPY": "¥|yen|円",
    "CNY": "RMB|yuan|元",
    "CHF": "Fr.|SFr.|francs|Franken",
    "INR": "₹|Rs.|rupees",
    "KRW": "₩|won",
    "RUB": "₽|roubles|rubles",
    "SEK": "",
    "NOK": "",
    "DKK": "",
    "PLN": "zł",
    "CZK": "Kč",
    "HUF": "Ft",
    "TRY": "₺",
    "BRL": "R$",
    "AUD": "A$",
    "CAD": "C$",
    "SGD": "S$",
    "HKD": "HK$",
    "NZD": "NZ$",
    "MXN": "",
    "ZAR": "",
    "ILS": "₪",
    "THB": "฿",
}
_UNITS = {
    "%": "percent|per cent|pct|Prozent|pour cent",
    "‰": "permille|Promille",
    "second": "seconds|sec|s|Sekunden",
    "minute": "minutes|min|mins|Minuten",
    "hour": "hours|hr|hrs|h|Stunde|Stunden|heures",
    "day": "days|Tag|Tage|Tagen|jours",
    "week": "weeks|Woche|Wochen|semaines",
    "month": "months|Monat|Monate|Monaten|mois",
    "year": "years|yr|yrs|Jahr|Jahre|Jahren|ans",
    "mm": "millimetres|millimeters|Millimeter",
    "cm": "centimetres|centimeters|Zentimeter",
    "m": "metre|metres|meter|meters|Meter",
    "km": "kilometre|kilometres|kilometer|kilometers|Kilometer",
    "m²": "m2|sqm|sq m|square metres|square meters|Quadratmeter",
    "km²": "km2|sq km|sq. km|square kilometre|square kilometres|square kilometers|Quadratkilometer",
    "ha": "hectare|hectares|Hektar",
    "l": "L|litre|litres|liter|liters|Liter",
    "mg": "milligrams|Milligramm",
    "g": "gram|grams|Gramm",
    "kg": "kilogram|kilograms|Kilogramm",
    "t": "tonne|tonnes|ton|tons|Tonnen",
    "kW": "",
    "MW": "",
    "GW": "",
    "kWh": "",
    "MWh": "",
    "GWh": "",
    "byte": "bytes|Bytes",
    "kB": "KB|kilobytes",
    "MB": "megabytes",
    "GB": "gigabytes",
    "TB": "terabytes",
    "°C": "℃",
    "°F": "",
}
_SCALES = {
    "thousand": 3,
    "Tausend": 3,
    "Tsd.": 3,
    "million": 6,
    "millions": 6,
    "Million": 6,
    "Millionen": 6,
    "mn": 6,
    "Mio.": 6,
    "Mio": 6,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "Milliarde": 9,
    "Milliarden": 9,
    "milliards": 9,
    "Mrd.": 9,
    "Mrd": 9,
    "trillion": 12,
    "tn": 12,
    "万": 4,
    "億": 8,
    "亿": 8,
}
_LETTER_SCALES = {"k": 3, "K": 3, "M": 6, "B": 9}
"""Only directly behind the digits. A small m is a million next to a currency, and a metre elsewhere."""


def _names(*kinds: Mapping[str, str]) -> dict[str, str]:
    return {
        spelling: name
        for kind in kinds
        for name, spellings in kind.items()
        for spelling in (name, *filter(None, spellings.split("|")))
    }


def _either(words: Mapping[str, object]) -> str:
    longest_first = sorted(words, key=lambda word: -len(word))
    return "|".join(re.escape(word) + (r"(?![^\W\d_])" if word[-1].isalpha() else "") for word in longest_first)


_NAME_OF = _names(_CURRENCIES, _UNITS)
_CODES = {spelling: name for spelling, name in _names(_CURRENCIES).items() if not spelling.islower()}
"""What may stand before an amount: codes and signs. Words such as “won” and “pound” mean something else there."""
_ABOUT = {"about", "approx", "approx.", "approximately", "around", "roughly", "nearly", "almost", "circa", "ca.", "c."}
_ABOUT |= {"rund", "etwa", "zirka", "environ", "~", "≈", "∼"}
_SIGN = r"[-−–﹣－‐‑]"
_BEFORE = re.compile(
    rf"(?:(?<!\S)(?P<about>(?i:{_either(dict.fromkeys(_ABOUT))}))\s?)?(?P<open>\()?(?P<sign>{_SIGN}(?!\s))?"
    rf"(?:(?<![^\W\d_])(?P<currency>{_either(_CODES)})[{_SPACES}]?)?(?P<inner>{_SIGN})?\Z",
)
_LEAD_WORDS = frozenset(_ABOUT | _CODES.keys())
_LEAD_SIGNS = frozenset("-−–﹣－‐‑(~≈∼" + "".join(word for word in _CODES if not word[-1].isalnum())) - {"."}
_POWER = re.compile(
    rf"[eE]([-+]?\d{{1,3}})(?!\w)|[{_SPACES}]?[×x*][{_SPACES}]?10(?:(?:\^|\*\*)([-−]?\d{{1,3}})|([⁻]?[⁰¹²³⁴-⁹]{{1,3}}))"
)
_AFTER = re.compile(
    rf"(?P<part>[{''.join(_FRACTIONS)}])?"
    rf"(?:(?P<letter>[kKMBm])(?![^\W\d_])|[{_SPACES}]?-?(?P<scale>{_either(_SCALES)}))?"
    rf"(?:[{_SPACES}]?-?(?P<unit>{_either(_NAME_OF)}))?"
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|ère|e|ª|º)(?!\w)")
_IN_NAME = re.compile(r"[^\W\d_a-zß-ÿ](?![^\W\d_])")
"""One capital letter behind the digits, as in 3D; several letters are a unit that has no name here, as in 250hp."""
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_MIN_CODE_DIGITS = 4
"""Behind letters and a hyphen fewer digits are part of a name, as in COVID-19."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text. `start` to before `end` are its characters, with sign, scale and unit; `digits` those that
    are written for its value alone.

    `values`: what it can mean, usually one value, two where the decimal mark is not clear, none where the digits are
    no number. `steps`: for each value, what one unit of its last digit is worth. `unit`: the one name of its currency
    or unit, or empty. `is_about`: the text says that it is rounded. `is_negative`: it has a sign, or brackets that
    stand for one.
    """

    start: int
    end: int
    digits: str
    values: tuple[Decimal, ...]
    steps: tuple[Decimal, ...]
    unit: str = ""
    is_about: bool = False
    is_negative: bool = False


def numbers_in(text: str) -> Iterator[Number]:
    """Every number in a text, in order. Digits that are part of a name, such as `p23`, are left out."""
    end = 0
    for match in _DIGITS.finditer(text):
        if match.start() >= end and (number := _number(text, match.start(), match.end())):
            if number.start < end:  # in 0$5 the sign belongs to the first
                number = replace(number, start=match.start())
            end = number.end
            yield number


def amounts_in(text: str) -> Iterator[Decimal]:
    """What the numbers of a text can mean, without their signs, with and without their scale: 2.5 million is both
    2500000 and 2.5, as an expression may use it.
    """
    for number in numbers_in(text):
        yield from map(abs, number.values)
        yield from _read_digits(number.digits)[0]


def _number(text: str, start: int, end: int) -> Number | None:
    before = text[max(start - _BEFORE_CHARACTERS, 0) : start]
    lead = _BEFORE.search(before) if _may_lead(before) else None
    currency = _unit(lead["currency"]) if lead else ""
    if before[-1:].isalpha() and not currency:
        return None
    if before[-1:] == "-" and before[-2:-1].isalpha() and end - start < _MIN_CODE_DIGITS:
        return None
    digits = text[start:end]
    values, steps = _read_digits(digits)
    after, exponent, unit = text[end : end + _AFTER_CHARACTERS], 0, currency
    if before[-1:] == "(" and after[:1] == ")" and (behind := _UNIT_BEHIND.match(after, 1)):
        unit = _unit(behind["unit"])  # thirty (30) days
    if after[:1] not in {"", "\n", ".", ",", ";", ":", ")", "|", '"'}:
        if power := _POWER.match(after):
            exponent = int((power[1] or power[2] or power[3]).translate(_SUPERSCRIPTS))
            end, after = end + power.end(), after[power.end() :]
        tail = _AFTER.match(after)
        assert tail is not None  # each of its parts may be missing
        unit, letter, used = currency or _unit(tail["unit"]), tail["letter"], tail.end()
        if letter == "m" and unit not in _CURRENCIES:
            letter, unit, used = None, "m", tail.end("letter")
        elif not used and _has_case(after[:1]):
            if _IN_NAME.match(after):
                return None
            ordinal = _ORDINAL.match(after)
            used = ordinal.end() if ordinal else 0
        exponent += (_LETTER_SCALES.get(letter, 6) if letter else 0) + _SCALES.get(tail["scale"] or "", 0)
        if tail["part"]:
            values = tuple(value + _FRACTIONS[tail["part"]] for value in values)
            steps = (_STEP_OF_FRACTION,) * len(values)
        end += used
    if 0 < abs(exponent) <= MAX_DIGITS:
        values = tuple(value.scaleb(exponent) for value in values)
        steps = tuple(step.scaleb(exponent) for step in steps)
    if lead is None:
        return Number(start, end, digits, values, steps, unit)
    is_negative = _is_negative(lead, before, digits, text[end : end + 1])
    parts = [name for name in ("sign", "currency", "inner") if lead[name] and (is_negative or name == "currency")]
    first = min((lead.start(name) for name in parts), default=len(before)) + start - len(before)
    values = tuple(-value for value in values) if is_negative else values
    return Number(first, end, digits, values, steps, unit, bool(lead["about"]), is_negative)


def _may_lead(before: str) -> bool:
    """Whether something that belongs to a number may come before it: most numbers have nothing but a word there."""
    word = (before.split() or [""])[-1].lstrip("(-−–")
    return before[-1:] in _LEAD_SIGNS or (
        bool(word) and (word[-1] in _LEAD_SIGNS or word in _LEAD_WORDS or word.casefold() in _ABOUT)
    )


def _is_negative(lead: re.Match[str], before: str, digits: str, after: str) -> bool:
    if lead["open"]:
        return after == ")" and (bool(lead["currency"]) or not digits.isdecimal())
    sign = "sign" if lead["sign"] else "inner"
    # in 10-20 and COVID-19 it is no sign
    return bool(lead[sign]) and not before[: lead.start(sign)][-1:].isalnum()


def _unit(spelling: str | None) -> str:
    return _NAME_OF.get(spelling or "", "")


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()


_STEP_OF_FRACTION = Decimal("0.001")


@lru_cache(maxsize=65_536)
def _read_digits(digits: str) -> tuple[tuple[Decimal, ...], tuple[Decimal, ...]]:
    """Each value that the digits can mean, with what one unit of its last digit is worth."""
    if digits in _FRACTIONS:
        return (_FRACTIONS[digits],), (_STEP_OF_FRACTION,)
    if digits.isdecimal() and len(digits) <= MAX_DIGITS:  # most of them, and the marks do not matter
        return (Decimal(digits),), (Decimal(1),)
    found: dict[Decimal, Decimal] = {}
    for mark in _THOUSANDS:
        value = _read(digits, mark)
        if value is not None:
            decimals = len(digits.rpartition(mark)[2]) if mark in digits else 0
            found.setdefault(value, Decimal(1).scaleb(-decimals))
    return tuple(found), tuple(found.values())


def _read(digits: str, mark: str) -> Decimal | None:
    """The value with this decimal mark; None where the digits cannot be read so."""
    whole, point, rest = digits.partition(mark)
    separators = {character for character in whole if not character.isdigit()}
    first, *groups = re.split(r"\D", whole)
    if len(separators) > 1 or not separators <= {_THOUSANDS[mark], "'", "’", *_SPACES}:
        return None
    if (groups and not (first.strip("0") and len(first) <= 3)) or any(len(group) != 3 for group in groups):
        return None
    joined = "".join([first, *groups])
    if (point and not rest.isdecimal()) or len(joined + rest) > MAX_DIGITS:
        return None
    return Decimal(f"{joined}.{rest or '0'}").normalize()


_CELL = re.compile(rf"(?:(?<![\w.,])[-−])?(?<!\d)(?:{_DIGITS.pattern})")
_ROUND_IT = re.compile(r"[^\w()]*(?:[A-Za-z]{1,3}[^\w()]*)?")
"""A currency sign or code; in brackets accountants mean less than nothing."""


def readings(cell: str) -> dict[str, Decimal]:
    """The number of a cell by the decimal mark with which it can be read: 1,234 is 1.234 with a comma and 1234 with a
    point. Empty where the text is no number, or one of more than 30 digits.
    """
    match = _CELL.search(cell) if len(cell) <= MAX_CELL_CHARACTERS else None
    if match is None or not _ROUND_IT.fullmatch(cell[: match.start()] + cell[match.end() :].replace("+", "")):
        return {}
    sign = -1 if match[0][0] in "-−" else 1
    digits = match[0].lstrip("-−")
    return {mark: sign * number for mark in _THOUSANDS if (number := _read(digits, mark)) is not None}


def whole_number(text: str, start: int, end: int) -> str:
    """The whole number that the characters from `start` to `end` are a part of: 1,046 where a pattern catches 046."""
    first = max(text.rfind("\n", 0, start) + 1, start - MAX_CELL_CHARACTERS)
    for match in _CELL.finditer(text, first, end + MAX_CELL_CHARACTERS):
        if match.start() <= start and end <= match.end():
            return match[0]
    return text[start:end]


_UP_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn",
)
_TENS = (
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
)
_LARGE = {"hundred": 100, "hundert": 100, "thousand": 1_000, "tausend": 1_000, "dozen": 12, "dutzend": 12, "half": 0.5}


def _spelled() -> dict[str, Decimal]:
    """The whole numbers below a hundred in English and German, and a few larger ones."""
    found = {name: Decimal(str(value)) for name, value in _LARGE.items()}
    for words in _UP_TO_TWENTY:
        found |= {word: Decimal(value) for value, word in enumerate(words.split())}
    english, german = (words.split() for words in _UP_TO_TWENTY)
    german[1] = "ein"  # as in einundzwanzig
    for place, (ten, zehn) in enumerate(zip(*(words.split() for words in _TENS), strict=True), 2):
        found |= {ten: Decimal(10 * place), zehn: Decimal(10 * place)}
        for value in range(1, 10):
            found[f"{ten}-{english[value]}"] = found[f"{german[value]}und{zehn}"] = Decimal(10 * place + value)
    return found


_SPELLED = _spelled()
_WORD = re.compile(r"[^\W\d_]{3,20}(?:-[^\W\d_]{3,5})?")
_UNIT_BEHIND = re.compile(rf"[{_SPACES}-]?(?:\(\d+\)[{_SPACES}])?(?P<unit>{_either(_NAME_OF)})")


def spelled_numbers(text: str) -> Iterator[tuple[int, Decimal, str]]:
    """Where a text spells a whole number in words (`thirty`, `twenty-five`, `fünfundzwanzig`), the number, its unit."""
    for match in _WORD.finditer(text):
        value = _SPELLED.get(match[0].casefold())
        if value is not None:
            unit = _UNIT_BEHIND.match(text, match.end())
            yield match.start(), value, _unit(unit["unit"]) if unit else ""
