"""Numbers as people write them, with everything around the digits that changes their value.

| written | read as |
|---|---|
| `1,234.50` `1.234,50` `1 234,50` `1'234.50` | 1234.5: apostrophes and all kinds of spaces separate thousands |
| `1,234` | 1234 or 1.234: a text or a column decides which decimal mark it uses, so both readings are kept |
| `12,34,567` | 1234567, in lakhs and crores |
| `.5` | 0.5 |
| `-5` `−5` `－5` `-$5` `$-5` `($5)` | minus five |
| `2.5 million` `2.5M` `€2.5m` `€2.5 m` `2,5 M €` `50k` `5 млн` `5만` `5 TEUR` | the scale belongs to the value |
| `1億2000万` `3千5百万` `1억 2천만` | 120000000, 35000000, 120000000 |
| `1.8万亿` `5 พันล้าน` `12만 3,450원` | 1.8e12, 5e9, 123450 |
| `10多万` `10여만` | more than 100000 |
| `5.2e6` `5.2 × 10^6` `5.2 × 10⁶` | 5200000; an exponent of more than 30 has no value |
| `½` `2½` `5 1⁄2` `5 1/2` | 0.5, 2.5, 5.5, 5.5; `51⁄2` is no number: nothing says where its fraction begins |
| `25.5 %` `25.5 percent` `3 ‰` | the unit is `%` or `‰` |
| `CHF 2,400` `$5` `5 EUR` `720.2 km²` `30 days` | the unit has one name for all its spellings |
| `<10` `≤ 10` `>= 10` | the comparison is kept |
| `about 7,600` `~7,600` `ca. 7.600` | the comparison `~`: rounded to the digits that are not zeros at its end |
| `索赔2777元` `ราคา500บาท` `매출은5만원` | 2777, 500, 50000: such letters make no name of the digits |
| `30日` `3个月` `12개월` `2024年` | 30 days, 3 months, 12 months; a year of the calendar has no unit |
| `约7600人` `百分之5` `人民币500` | about 7600, 5 %, 500 CNY |
| `p23` `v2` `COVID-19` `3D` `5G网络` | no numbers: the digits are part of a name |
| `250hp` `100Mbit/s` `6pm` | 250, 100, 6: the unit has no name here |
| `1.2.3` | digits that are no number: there are no `values` |

Decimal digits of all scripts are read. Linear in the length of the text. `runs.text.quantities` reads cells.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from runs.text.dates import YEAR_DIGITS
from runs.text.numerals import (
    ABOUT,
    ABOUT_IN_FRONT,
    APART_FROM_MONEY,
    CJK_COMPOUND,
    CJK_MULTIPLES,
    CJK_NUMERAL,
    CODES,
    COMPARISONS,
    CURRENCIES,
    DIGITS,
    EXACT,
    FRACTIONS,
    HANGUL_COMPOUND,
    HANGUL_MULTIPLES,
    LETTER_SCALES,
    MAX_DIGITS,
    MINUS,
    MORE_THAN,
    NAME_OF,
    NOT_JOINED,
    NUMBER_WORDS,
    POWER,
    SCALED_CURRENCY,
    SCALES,
    SHARED_SIGNS,
    SHARES,
    SPACES,
    STEP_OF_FRACTION,
    SUPERSCRIPTS,
    THOUSANDS,
    TRUE_MINUS,
    WORD_VALUES,
    cjk_step,
    cjk_value,
    either,
    in_digits,
    read_digits,
    value_of,
)
from runs.text.scripts import JOINED_LETTER, has_touching, touches

MAX_FIGURE_CHARACTERS = 80
_BEFORE_CHARACTERS, _AFTER_CHARACTERS = 16, 24
"""How far around the digits is looked for what belongs to them."""
_SIGN = rf"[{MINUS}]"
_IN_FRONT = CODES | SHARES


def _latin(words: Iterable[str]) -> list[str]:
    return [word for word in words if not touches(word[0])]


def _before(about: str, in_front: Iterable[str]) -> str:
    return (
        rf"(?:(?:(?P<about>(?<!\S)(?i:{either(dict.fromkeys(_latin(ABOUT)))}){about})|(?P<comparison>[<>]=?|[≤≥⩽⩾]))\s?)?"
        rf"(?P<open>\()?(?P<sign>{_SIGN}(?!\s))?"
        rf"(?:(?<!{JOINED_LETTER})(?P<scaled>{SCALED_CURRENCY})?(?P<currency>{either(dict.fromkeys(in_front))})[{SPACES}]?)?"
        rf"(?P<inner>{_SIGN})?\Z"
    )


def _after(units: Iterable[str]) -> str:
    return (
        rf"(?P<part>[{''.join(FRACTIONS)}])?"
        rf"(?:(?P<letter>[kKMBm](?!{JOINED_LETTER})|[{SPACES}]?{SCALED_CURRENCY})|[{SPACES}]?-?(?P<scale>{either(SCALES)}))?"
        rf"(?:[{SPACES}]?-?(?P<unit>{either(dict.fromkeys(units))}))?"
    )


_BEFORE, _BEFORE_LATIN = (
    re.compile(_before(f"|{ABOUT_IN_FRONT}", _IN_FRONT)),
    re.compile(_before("", _latin(_IN_FRONT))),
)
_AFTER, _AFTER_LATIN = re.compile(_after(NAME_OF)), re.compile(_after(_latin(NAME_OF)))
"""The second of each is for texts without letters that touch figures. It is quicker, and finds the same there."""
_ALL_UNITS = NAME_OF | _IN_FRONT
_PLAIN_SIGNS = {sign: sign for sign in SHARED_SIGNS} | {"￥": "¥"} | dict.fromkeys(("dollar", "dollars", "달러"), "$")
_LEAD_WORDS = frozenset(ABOUT | CODES.keys() | {letter + code for letter in "TkKM" for code in CODES})
_LEAD_SIGNS = frozenset(f"{MINUS}(~≈∼<>=≤≥⩽⩾" + "".join(word for word in CODES if not word[-1].isalnum())) - {"."}
_LEAD_LETTERS = frozenset(word[-1] for word in (*ABOUT, *_IN_FRONT) if touches(word[-1]))
_LAST_WORD = re.compile(rf"{JOINED_LETTER}{{1,16}}\.?\Z")
_AFTER_MONEY = re.compile(rf"[{SPACES}](?P<letter>{APART_FROM_MONEY})")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|ère|e|ª|º)(?!\w)")
_IN_NAME = re.compile(rf"[^\W\d_a-zß-ÿ](?!{JOINED_LETTER})")
"""One capital letter behind the digits, as in 3D; several letters are a unit that has no name here, as in 250hp."""
_FIRST = re.compile(rf"[\d{''.join(FRACTIONS)}]")
_BEFORE_POINT = re.compile(r"[\w.,)\]]")
"""A point behind one of these is none of a decimal number."""
_MORE_DIGITS = re.compile(r"\d+")
_CALENDAR_YEAR = re.compile(YEAR_DIGITS)
_OF_YEAR = frozenset("年년")
_MULTIPLES, _MORE_THAN = frozenset(CJK_MULTIPLES + HANGUL_MULTIPLES), frozenset(MORE_THAN)
_MIN_CODE_DIGITS = 4
"""Behind letters and a hyphen fewer digits are part of a name, as in COVID-19."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text. `start` to before `end` are its characters, with sign, scale and unit; `digits` those that
    are written for its value alone.

    `values`: what it can mean, usually one value, two where the decimal mark is not clear, none where the digits are
    no number. `steps`: for each value, what one unit of its last digit is worth. `unit`: the one name of its currency
    or unit, or empty. `comparison`: one of `<`, `≤`, `>`, `≥` and `~`, or empty. `is_negative`: it has a sign, or
    brackets that stand for one. `sign`: the sign of its currency if several currencies share that, or empty.
    """

    start: int
    end: int
    digits: str
    values: tuple[Decimal, ...]
    steps: tuple[Decimal, ...]
    unit: str = ""
    comparison: str = ""
    is_negative: bool = False
    sign: str = ""

    @property
    def is_about(self) -> bool:
        """Whether the text says that it is rounded."""
        return self.comparison == "~"


def numbers_in(text: str) -> Iterator[Number]:
    """Every number in a text, in order. Digits that are part of a name, such as `p23`, are left out."""
    is_ascii = text.isascii()
    end = at = 0
    while first := _FIRST.search(text, at):
        # From the first digit on, with the point before it in .5; nothing before `end`.
        start = first.start()
        has_point = start > end and text[start - 1] == "." and (start < 2 or not _BEFORE_POINT.match(text[start - 2]))
        match = (DIGITS.match(text, start - 1) if has_point else None) or DIGITS.match(text, start)
        assert match is not None  # there is a digit
        at = match.end()
        is_touching = not is_ascii and has_touching(text[max(start - _BEFORE_CHARACTERS, 0) : at + _AFTER_CHARACTERS])
        if number := _number(text, match.start(), at, end, is_touching=is_touching):
            if number.start < end:  # in 0$5 the sign belongs to the first
                number = replace(number, start=match.start())
            end = at = number.end
            yield number


def value_keys(number: Number) -> set[str]:
    """Each value that a number can mean, without its sign, in one spelling; its digits, where they mean none."""
    return {in_digits(value.copy_abs()) for value in number.values} or {number.digits}


def amounts_in(text: str) -> Iterator[Decimal]:
    """What the numbers of a text can mean, without their signs, with and without their scale: 2.5 million is both
    2500000 and 2.5, as an expression may use it.
    """
    for number in numbers_in(text):
        yield from map(abs, number.values)
        yield from read_digits(number.digits)[0]


def _number(text: str, start: int, end: int, free: int, *, is_touching: bool) -> Number | None:
    """The number of these digits, which comes after another one that ends at `free`. `is_touching`: there are
    letters that touch figures near it.
    """
    first = max(start - _BEFORE_CHARACTERS, 0)
    before = text[first:start]
    lead = _lead(before, is_touching=is_touching)
    currency = (lead["currency"] or "") if lead else ""
    if before[-1:].isalpha() and not currency and _belongs_to_word(before[-1]):
        return None
    if before[-1:] == "-" and _belongs_to_word(before[-2:-1]) and end - start < _MIN_CODE_DIGITS:
        return None
    digits = text[start:end]
    values, steps = read_digits(digits)
    after, unit = text[end : end + _AFTER_CHARACTERS], currency
    exponent = _exponent(lead["scaled"]) if lead else 0  # as in TEUR 5
    if before[-1:] == "(" and after[:1] == ")" and (behind := _UNIT_BEHIND.match(after, 1)):
        unit = behind["unit"]  # thirty (30) days
    is_more = after[:1] in _MORE_THAN and after[1:2] in _MULTIPLES
    if is_more:
        values, steps, length = _compound(digits + after[1:], 0, len(digits))
        end = start + length + (length > len(digits))
        after = text[end : end + _AFTER_CHARACTERS]
    elif after[:1] in _MULTIPLES:
        values, steps, end = _compound(text, start, end)
        after = text[end : end + _AFTER_CHARACTERS]
    if after[:1] not in {"", "\n", ".", ",", ";", ":", ")", "|", '"'}:
        if power := POWER.match(after):
            exponent += int((power[1] or power[2] or power[3]).translate(SUPERSCRIPTS))
            end, after = end + power.end(), after[power.end() :]
        tail = _AFTER.match(after) if is_touching else _AFTER_LATIN.match(after)
        assert tail is not None  # each of its parts may be missing
        unit, letter, used = _behind(tail, digits, after, currency)
        if not used and _has_case(after[:1]):
            if _IN_NAME.match(after):
                return None
            ordinal = _ORDINAL.match(after)
            used = ordinal.end() if ordinal else 0
        exponent += _exponent(letter) + SCALES.get(tail["scale"] or "", 0)
        if tail["part"]:
            values = tuple(value + FRACTIONS[tail["part"]] for value in values)
            steps = (STEP_OF_FRACTION,) * len(values)
        end += used
    if abs(exponent) > MAX_DIGITS:
        values = steps = ()
    elif exponent:
        values = tuple(value.scaleb(exponent, EXACT) for value in values)
        steps = tuple(step.scaleb(exponent) for step in steps)
    sign = _PLAIN_SIGNS.get(unit, "")
    if lead is None:
        return Number(start, end, digits, values, steps, _unit(unit), ">" if is_more else "", sign=sign)
    is_negative = _is_negative(lead, before, free - first, digits, text[end : end + 1])
    names = ("sign", "scaled", "currency", "inner") if is_negative else ("scaled", "currency")
    parts = [name for name in names if lead[name]]
    first += min((lead.start(name) for name in parts), default=len(before))
    values = tuple(value.copy_negate() for value in values) if is_negative else values
    comparison = _comparison(lead, before) or (">" if is_more else "")
    return Number(first, end, digits, values, steps, _unit(unit), comparison, is_negative, sign)


def _comparison(lead: re.Match[str], before: str) -> str:
    sign = lead["comparison"]
    if not sign:
        return "~" if lead["about"] else ""
    at = lead.start("comparison")
    line = before[:at].rpartition("\n")[2]
    is_quote = sign == ">" and not line.strip()  # as Markdown marks a quoted line
    is_apart = not line or line[-1].isspace() or line[-1] in "([|" or touches(line[-1])
    return COMPARISONS[sign] if is_apart and not is_quote else ""


def _belongs_to_word(letter: str) -> bool:
    """Whether digits behind this character are part of its word."""
    return letter.isalpha() and not touches(letter)


def _compound(text: str, start: int, end: int) -> tuple[tuple[Decimal, ...], tuple[Decimal, ...], int]:
    """The values, the steps and the end of a numeral of digits and Chinese, Japanese or Korean multiples."""
    is_hangul = text[end] in HANGUL_MULTIPLES
    match = HANGUL_COMPOUND.match(text, start) if is_hangul else CJK_COMPOUND.match(text, start)
    if match is None or match.end() <= end:
        return *read_digits(text[start:end]), end
    steps: dict[Decimal, Decimal] = {}
    for mark in THOUSANDS:
        if (value := cjk_value(match[0], mark)) is not None:
            steps.setdefault(value, cjk_step(match[0], mark))
    if digits := _MORE_DIGITS.match(text, match.end()):  # in 3万5 the last digit may mean thousands
        return (), (), digits.end()
    return tuple(steps), tuple(steps.values()), match.end()


def _lead(before: str, *, is_touching: bool) -> re.Match[str] | None:
    """What belongs to a number before its digits."""
    if not _may_lead(before, is_touching=is_touching):
        return None
    return _BEFORE.search(before) if is_touching else _BEFORE_LATIN.search(before)


def _may_lead(before: str, *, is_touching: bool) -> bool:
    """Whether something that belongs to a number may come before it: most numbers have nothing but a word there."""
    word = (before.split() or [""])[-1].lstrip("(-−–")
    if is_touching and not before.isascii():
        if before.rstrip()[-1:] in _LEAD_LETTERS:
            return True
        word = last[0] if (last := _LAST_WORD.search(word)) else word
    return before[-1:] in _LEAD_SIGNS or (
        bool(word) and (word[-1] in _LEAD_SIGNS or word in _LEAD_WORDS or word.casefold() in ABOUT)
    )


def _is_negative(lead: re.Match[str], before: str, free: int, digits: str, after: str) -> bool:
    if lead["open"]:
        return after == ")" and (bool(lead["currency"]) or not digits.isdecimal())
    sign = "sign" if lead["sign"] else "inner"
    at = lead.start(sign)
    if not lead[sign] or 0 < at == free:  # in 10-20 and 5%-10% it is no sign
        return False
    letter = before[:at][-1:]  # nor is it in COVID-19
    return not letter.isalnum() or (lead[sign] in TRUE_MINUS and touches(letter))


def _behind(tail: re.Match[str], digits: str, after: str, currency: str) -> tuple[str, str, int]:
    """How the unit is written, the letter that is a scale, and how many characters behind the digits belong to the
    number.
    """
    if tail["unit"] in _OF_YEAR and _CALENDAR_YEAR.fullmatch(digits):
        return currency, "", 0
    unit, letter = currency or tail["unit"] or "", (tail["letter"] or "").strip()
    if currency in _PLAIN_SIGNS and _unit(tail["unit"]) in CURRENCIES:  # ¥5元
        unit = tail["unit"]
    if currency and not letter and not tail["scale"] and (apart := _AFTER_MONEY.match(after)):
        return unit, apart["letter"], apart.end()
    if letter == "m" and _unit(unit) not in CURRENCIES:
        return "m", "", tail.end("letter")
    return unit, letter, tail.end()


def _exponent(letter: str | None) -> int:
    """Of a letter that is a scale; a small m is a million."""
    return LETTER_SCALES.get(letter, 6) if letter else 0


def _unit(spelling: str | None) -> str:
    return _ALL_UNITS.get(spelling or "", "")


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()


def number_at(text: str, start: int, end: int) -> Number | None:
    """The whole number that the characters from `start` to `end` are a part of: 1,046 where a pattern catches 046, with
    its sign, scale and unit. None if they are no part of one.
    """
    first = max(text.rfind("\n", 0, start) + 1, start - MAX_FIGURE_CHARACTERS)
    last = text.find("\n", end)
    line = text[first : min(len(text) if last < 0 else last, end + MAX_FIGURE_CHARACTERS)]
    for number in numbers_in(line):
        if number.start + first <= start and end <= number.end + first:
            return replace(number, start=number.start + first, end=number.end + first)
    return None


_CJK_WORD = re.compile(CJK_NUMERAL)
_RARELY_ALONE = frozenset("参參伍陆陸拾")
"""Formal numerals that alone are parts of ordinary words, such as 参见."""
_COUNTED_BY = frozenset(
    "个個箇ヶか人名位份家户戶社件条條项項款章节節页頁行列段句字号號篇册冊本卷张張枚幅次回遍届期批层層级級种種类類组組队隊套台臺"
    "辆輛架艘只隻头頭匹块塊根支笔筆元円圆圓角美欧年月日天周週时時小秒岁歳歲世倍成割折米克升吨噸亩畝公"
    "国國省市县縣区區州校院室所店间間栋棟大方者点點つ"
)
_IN_FRONT_OF_ONE = frozenset("第之约約近共计計达達至为為是")
_WORD = re.compile(r"[^\W\d_]{3,20}(?:-[^\W\d_]{3,5})?")
_JOINT = re.compile(r"[\s-]{1,5}(?:(?:and|und)\s{1,5})?", re.IGNORECASE)
_AND = frozenset(("and", "und"))
_FIGURE_BEFORE = re.compile(r"\d[.,]?[\s-]?\Z")
_MAX_WORDS = 20
_UNIT_BEHIND = re.compile(rf"[{SPACES}-]?(?:\(\d+\)[{SPACES}])?(?P<unit>{either(NAME_OF)})")


class SpelledNumber(NamedTuple):
    """A number in words: its characters from `start` to before `end`, and the one name of the unit behind it."""

    start: int
    end: int
    value: Decimal
    unit: str


def spelled_numbers(text: str) -> Iterator[SpelledNumber]:
    """The numbers that a text spells in words: `thirty`, `fünfundzwanzig`, `one hundred and twenty`, `二十五`. Words
    behind a figure belong to it, as in `5 million`.
    """
    for words in _number_words(text):
        yield from _spelled_by(text, words)
    for match in _CJK_WORD.finditer(text):
        value = cjk_value(match[0], ".")
        if value is not None and match[0] not in _RARELY_ALONE and not _is_in_word(text, match):
            yield _spelled(text, match.start(), match.end(), value)


def _is_in_word(text: str, match: "re.Match[str]") -> bool:
    """Whether a single numeral is a part of a word, as in 统一意见 and 十分重要, and counts nothing."""
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 2]
    if len(match[0]) > 1 or not after[:1].isalpha() or after[0] in _COUNTED_BY or _UNIT_BEHIND.match(text, match.end()):
        return False
    return after[0] == "分" or (before.isalpha() and before not in _IN_FRONT_OF_ONE)


def spelled_values(text: str) -> set[str]:
    """The values of the numbers that a text spells in words, as `value_keys` writes them."""
    return {in_digits(number.value) for number in spelled_numbers(text)}


def _number_words(text: str) -> Iterator[list["re.Match[str]"]]:
    """Number words that follow one another. Those behind a figure belong to it."""
    found, of_figure = list["re.Match[str]"](), False
    for match in _WORD.finditer(text):
        parts = _parts(match)
        if not parts and not found:
            continue
        is_joined = bool(found) and _JOINT.fullmatch(text, found[-1].end(), match.start()) is not None
        if is_joined and (parts or match[0].casefold() in _AND) and len(found) < _MAX_WORDS:
            found += [match] if parts else []
            continue
        if found and not of_figure:
            yield found
        of_figure = bool(_FIGURE_BEFORE.search(text, max(match.start() - 4, 0), match.start()))
        found = [match] if parts else []
    if found and not of_figure:
        yield found


def _spelled_by(text: str, words: Sequence["re.Match[str]"]) -> Iterator[SpelledNumber]:
    """The one number of words that follow one another; or those on both sides of each `and`, of most words first."""
    parts = [part for match in words for part in _parts(match)]
    if len(words) > 1 and not NOT_JOINED.isdisjoint(parts):
        return  # "half million" is no whole number of millions
    at = 0
    while at < len(words):
        end = len(words)
        while (value := value_of([part for match in words[at:end] for part in _parts(match)])) is None and end - at > 1:
            apart = (place for place in range(end - 1, at, -1) if _has_and(text, words, place))
            end = next(apart, end - 1)
        if value is None:
            value = WORD_VALUES.get(words[at][0].casefold())
        if value is not None:
            yield _spelled(text, words[at].start(), words[end - 1].end(), value)
        at = end


def _has_and(text: str, words: Sequence["re.Match[str]"], place: int) -> bool:
    return any(map(str.isalpha, text[words[place - 1].end() : words[place].start()]))


def _parts(match: "re.Match[str]") -> list[str]:
    """The number words of a word such as `twenty-five` or `thirty-day`; nothing where it begins with none."""
    word = match[0].casefold()
    if word in NUMBER_WORDS:
        return [word]
    first, *others = word.split("-") if "-" in word else ("",)
    return [first, *(part for part in others if part in NUMBER_WORDS)] if first in NUMBER_WORDS else []


def _spelled(text: str, start: int, end: int, value: Decimal) -> SpelledNumber:
    unit = _UNIT_BEHIND.match(text, end)
    return SpelledNumber(start, end, value, _unit(unit["unit"]) if unit else "")


_AMOUNT = re.compile(r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})")
_KEY = re.compile(r"[0-9]{1,18}")


def amount(text: str) -> Decimal:
    """The number in digits. Raises ValueError for any other text.

    Without an exponent, of which seven characters are enough to hold a processor for half a minute: 1e999990.
    """
    if not _AMOUNT.fullmatch(text.strip()):
        raise ValueError("write it in digits, such as 5 or 2.50")
    return Decimal(text.strip())


def key(text: object) -> int:
    """The number of a row. Raises ValueError for what no database takes as one."""
    if not _KEY.fullmatch(str(text)):
        raise ValueError("no row has this number")
    return int(str(text))
