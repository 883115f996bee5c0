"""Dates as people write them in texts.

| written | read as |
|---|---|
| `2026-03-05` `2026/3/5` `2026.03.05` `2026-03-05T10:15` `2026年3月5日` | 5 March 2026 |
| `05.03.2026` `5/3/2026` `3-5-26` | both days that it can mean, where both exist |
| `5 March 2026` `5. März 2026` `5 mars 2026` `5 de marzo de 2026` `5th of March, 2026` | 5 March 2026 |
| `March 5th, 2026` `Mar 5 2026` | 5 March 2026 |
| `March 2026` `2026-03` `2026年3月` | the month: there is no day |
| `5 March` `March 5` | the day in any year |

Names of months in English, German, French, Spanish, Italian, Portuguese and Dutch. Linear in the length of the text.
"""

import re
from calendar import monthrange
from dataclasses import dataclass
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
_NAMED_FIRST = rf"(?<![^\W_])(?=[A-ZÀ-Ý]){_MONTH}"
_YEAR = r"(?P<year>(?:1[5-9]|20|21)\d{2})(?!\d)"
_ITS_YEAR = _YEAR.replace("year", "its_year")
_DAY = r"(?P<day>[0-3]?\d)"
_APART = r"(?<!\d)(?<!\d[.,])"
_FREE = r"(?<!\d)(?<!\d\.)(?<![/-])"
"""Before the first digit: what comes there would be a part of the same number. A comma between two cells is none, and
in front of a date of three numbers it can be nothing else.
"""
_DIGITS = re.compile(r"\d+")
_BY_NUMBERS = re.compile(
    rf"{_FREE}(?P<month>[0-3]?\d)(?P<mark>[./-]){_DAY}(?P=mark)(?P<year>(?:1[5-9]|20|21)\d{{2}}|\d{{2}})(?![./-]?\d)"
)
"""Whether month or day comes first is not said."""
_FORMS = (
    re.compile(rf"{_FREE}{_YEAR}(?P<mark>[-/.])(?P<month>[01]?\d)(?P=mark){_DAY}(?!\d)"),
    re.compile(rf"{_FREE}{_YEAR}年(?P<month>[01]?\d)月(?:{_DAY}日)?"),
    _BY_NUMBERS,
    re.compile(rf"{_APART}{_DAY}(?:st|nd|rd|th|er|\.|º)?\s(?:of\s|de\s)?{_MONTH}(?:,?\s(?:de\s|del\s)?{_YEAR})?"),
    re.compile(rf"{_FREE}{_YEAR}-(?P<month>0[1-9]|1[0-2])(?![\d-])"),
)
"""Those that begin with digits, and are looked for only there."""
_MONTH_FIRST = re.compile(rf"{_NAMED_FIRST}(?:,?\s{_YEAR}|\s{_DAY}(?:st|nd|rd|th)?(?!\d)(?:,?\s{_ITS_YEAR})?)")


@dataclass(frozen=True, slots=True)
class Day:
    """A day, or a month without a `day`, or a day of any `year`; 0 stands for what is not said."""

    year: int
    month: int
    day: int

    def is_same(self, other: "Day") -> bool:
        """Whether both can mean the same: what only one of them says does not keep them apart."""
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
    written = parts["year"] or parts.get("its_year") or ""
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
