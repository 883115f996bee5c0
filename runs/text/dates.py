"""Dates as people write them in texts, and in columns of tables.

| written | read as |
|---|---|
| `2026-03-05` `2026/3/5` `2026.03.05` `2026-03-05T10:15` | 5 March 2026 |
| `05.03.2026` `5/3/2026` `3-5-26` | both days that it can mean, where both exist |
| `5 March 2026` `5. März 2026` `5 mars 2026` `5 de marzo de 2026` `5th of March, 2026` | 5 March 2026 |
| `March 5th, 2026` `Mar 5 2026` | 5 March 2026 |
| `2026年3月5日` `2026 年 3 月 5 日` `2026년 3월 5일` | 5 March 2026 |
| `March 2026` `2026-03` `2026年3月` | the month: there is no day |
| `5 March` `March 5` `3月5日` `3월 5일` | the day in any year |
| `3月` | the month in any year |

`dates_in` finds them in a text, `moment` reads a cell that is nothing but a date, perhaps with a time of day, and
`Moments` decides for a whole column whether the day or the month comes first.

Names of months in English, German, French, Spanish, Italian, Portuguese and Dutch; numbers of months in Chinese,
Japanese and Korean. Linear in the length of the text.
"""

import re
from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

_MONTHS = (
    "january jan januar janvier janv enero ene gennaio gen janeiro januari",
    "february feb februar février févr febrero febbraio fevereiro fev februari",
    "march mar märz mär mars marzo março maart mrt",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag maio mei",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août agosto ago augustus",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro",
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_MONTH = rf"(?P<month>(?i:{'|'.join(sorted(_MONTH_OF, key=len, reverse=True))}))(?![^\W\d_])\.?"
_SHORT_NAMES = ("may", "mai", "june", "juni", "july", "juli", "märz")
_WHOLE_NAMES = [name for name in _MONTH_OF if len(name) > 4 or name in _SHORT_NAMES]
_LONG_NAME = re.compile(rf"(?<![^\W_])(?=[A-ZÀ-Ý])(?i:{'|'.join(_WHOLE_NAMES)})(?![^\W_])")
_NAMED_FIRST = rf"(?<![^\W_])(?=[A-ZÀ-Ý]){_MONTH}"
YEAR_DIGITS = r"(?:[1１][5-9５-９]|[2２][01０１])\d{2}"
_YEAR = rf"(?P<year>{YEAR_DIGITS})(?!\d)"
_ITS_YEAR = _YEAR.replace("year", "its_year")
_DAY = r"(?P<day>[0-3]?\d)"
_MONTH_SIGNED = r"[ ]?(?P<month>[01０１]?\d)[ ]?(?:月(?![亮供光租色薪額额餅饼])|월(?![간급드세요]))"
_DAY_SIGNED = r"[ ]?(?P<day>[0-3０-３]?\d)[ ]?[日号號일]"
_APART = r"(?<!\d)(?<!\d[.,])"
_FREE = r"(?<!\d)(?<!\d\.)(?<![/-])"
"""The start of a date: other characters before its first digit would be part of the same number. A comma between two
cells is allowed, and before a date of three numbers it can be nothing else.
"""
_DIGITS = re.compile(r"\d+")
_BY_NUMBERS = re.compile(
    rf"{_FREE}(?P<month>[0-3]?\d)(?P<mark>[./-]){_DAY}(?P=mark)(?P<year>(?:1[5-9]|20|21)\d{{2}}|\d{{2}})(?![./-]?\d)"
)
"""Dates in which the order of month and day is not known."""
_FORMS = (
    re.compile(rf"{_FREE}{_YEAR}(?P<mark>[-/.])(?P<month>[01]?\d)(?P=mark){_DAY}(?!\d)"),
    re.compile(rf"{_FREE}{_YEAR}[ ]?[年년]{_MONTH_SIGNED}(?:{_DAY_SIGNED})?"),
    _BY_NUMBERS,
    re.compile(rf"{_APART}{_DAY}(?:st|nd|rd|th|er|\.|º)?\s(?:of\s|de\s)?{_MONTH}(?:,?\s(?:de\s|del\s)?{_YEAR})?"),
    re.compile(rf"{_FREE}{_YEAR}-(?P<month>0[1-9]|1[0-2])(?![\d-])"),
    re.compile(rf"{_APART}{_MONTH_SIGNED}(?:{_DAY_SIGNED})?"),
)
"""Forms that begin with digits, and are searched for only there."""
_MONTH_FIRST = re.compile(rf"{_NAMED_FIRST}(?:,?\s{_YEAR}|\s{_DAY}(?:st|nd|rd|th)?(?!\d)(?:,?\s{_ITS_YEAR})?)")


@dataclass(frozen=True, slots=True)
class Day:
    """A day, or a month without a `day`, or a day of any `year`; 0 stands for an unknown part."""

    year: int
    month: int
    day: int

    def is_same(self, other: "Day") -> bool:
        """Whether both can mean the same day. A part that only one of them has makes no difference."""
        return all(
            not mine or not theirs or mine == theirs for mine, theirs in zip(self.parts, other.parts, strict=True)
        )

    @property
    def parts(self) -> tuple[int, int, int]:
        return self.year, self.month, self.day


@dataclass(frozen=True, slots=True)
class Date:
    """A date in a text: its characters from `start` to before `end`, and the days that it can mean, one or two."""

    start: int
    end: int
    days: tuple[Day, ...]


def names_month(text: str) -> bool:
    """Whether a text has the whole name of a month with a capital."""
    return bool(_LONG_NAME.search(text))


def dates_in(text: str) -> list[Date]:
    """Every date in a text, in order."""
    found: dict[int, Date] = {}
    taken = bytearray(len(text))
    starts = [run.start() for run in _DIGITS.finditer(text)]
    by_digits = (form.match(text, start) for form in _FORMS for start in starts)
    for match in chain(filter(None, by_digits), _MONTH_FIRST.finditer(text)):
        if days := _days(match):
            start, end = match.span()
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                found[start] = Date(start, end, days)
    return [found[start] for start in sorted(found)]


def _days(match: re.Match[str]) -> tuple[Day, ...]:
    parts = match.groupdict()
    written = parts.get("year") or parts.get("its_year") or ""
    year = int(written or 0) + (2000 if len(written) == 2 else 0)
    month = _MONTH_OF.get(parts["month"].casefold()) or int(parts["month"])
    day = int(parts.get("day") or 0)
    either = [Day(year, month, day)]
    if match.re is _BY_NUMBERS:
        either.append(Day(year, day, month))
    return tuple(dict.fromkeys(one for one in either if _exists(one, parts.get("day"))))


def _exists(day: Day, written: str | None) -> bool:
    if not 1 <= day.month <= 12:
        return False
    return not written or 1 <= day.day <= monthrange(day.year or 2000, day.month)[1]


MAX_CELL_CHARACTERS = 60
ORDERS = ("day first", "month first")
_ISO = re.compile(r"\d{4}-(?:0\d|1[0-2])(?:-[0-3]\d(?:[T ]\d\S{0,20})?)?")
_TIME = re.compile(r"(?:[T ,]\s?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?)?\Z")


@dataclass(frozen=True, slots=True)
class Moment:
    """A date that fills a cell. `days`: the day that it means in each of the ORDERS in which it can be read; `time`:
    its hours, minutes and seconds. `is_iso`: texts of this form sort as the days do.
    """

    text: str
    days: Mapping[str, Day]
    time: tuple[int, int, int] = (0, 0, 0)
    is_iso: bool = False

    def at(self, order: str) -> tuple[int, ...]:
        return (*self.days[order].parts, *self.time)

    @property
    def has_day(self) -> bool:
        return all(day.day for day in self.days.values())


def moment(cell: str) -> Moment | None:
    """The date that a cell is; None for any other text, for a date without its year, and for a year of two digits."""
    return _moment(cell) if len(cell) <= MAX_CELL_CHARACTERS else None  # no long text is kept


@lru_cache(maxsize=8_192)
def _moment(cell: str) -> Moment | None:
    for form in (*_FORMS, _MONTH_FIRST):
        match = form.match(cell)
        time = _TIME.match(cell, match.end()) if match else None
        if match and time and (days := _by_order(match)):
            clock = (int(time["hour"] or 0), int(time["minute"] or 0), int(time["second"] or 0))
            return Moment(cell, days, clock, bool(_ISO.fullmatch(cell)))
    return Moment(cell, {}, is_iso=True) if _ISO.fullmatch(cell) else None


def _by_order(match: re.Match[str]) -> dict[str, Day]:
    parts = match.groupdict()
    written = parts.get("year") or parts.get("its_year") or ""
    if len(written) != 4:
        return {}
    if match.re is not _BY_NUMBERS:
        return dict.fromkeys(ORDERS, day) if (day := next(iter(_days(match)), None)) else {}
    first, second = int(parts["month"]), int(parts["day"])
    days = zip(ORDERS, (Day(int(written), second, first), Day(int(written), first, second)), strict=True)
    return {order: day for order, day in days if _exists(day, "day")}


class NotDates(ValueError):
    """Dates cannot be compared. The message names one or two of them, and says why."""


class Moments:
    """The dates of a column. How one of them is read depends on the others: 01.06.2026 is a day in June where another
    date is 20.01.2026.
    """

    def __init__(self) -> None:
        self._first: Moment | None = None
        self._not_iso: Moment | None = None
        self._either: Moment | None = None
        self._only: dict[str, Moment] = {}
        """For each order the first date that cannot be read in the other one."""

    def add(self, one: Moment) -> None:
        self._first = self._first or one
        if not one.is_iso:
            self._not_iso = self._not_iso or one
        if len(one.days) == 1:
            self._only.setdefault(next(iter(one.days)), one)
        elif len(set(one.days.values())) > 1:
            self._either = self._either or one

    def compare(self, one: Moment, wanted: Moment) -> int:
        """Less than 0, 0 or more than 0, as a date of the column is before, on or after the wanted one. Raises NotDates
        where the column does not decide how its dates are read, or the wanted date could mean two days.
        """
        if not self._not_iso and wanted.is_iso:
            return (one.text > wanted.text) - (one.text < wanted.text)
        order = self._order(wanted)
        if not one.days or not wanted.days:
            raise NotDates(f"“{wanted.text if one.days else one.text}” has a time that is not compared with others")
        if one.has_day is not wanted.has_day:
            raise NotDates(f"“{one.text}” and “{wanted.text}” are not compared: only one of them has a day")
        mine, other = one.at(order), wanted.at(order)
        return (mine > other) - (mine < other)

    def _order(self, wanted: Moment) -> str:
        if len(self._only) == len(ORDERS):
            day, month = (self._only[order] for order in ORDERS)
            raise NotDates(f"“{day.text}” has the day first and “{month.text}” the month")
        if not self._only and self._either:
            raise NotDates(f"“{self._either.text}” can be read with the day or with the month first")
        order = next(iter(self._only), "")
        if wanted.days and (order or ORDERS[0]) not in wanted.days and order:
            raise NotDates(f"“{wanted.text}” cannot be read like “{self._only[order].text}”; write it as 2026-03-05")
        if not order and len(set(wanted.days.values())) > 1:
            raise NotDates(f"“{wanted.text}” can be read with the day or with the month first; write it as 2026-03-05")
        return order or next(iter(wanted.days), ORDERS[0])
