"""The figures that a run may use: those of everything it was given, has read, observed and calculated, and of what
people said. They are collected in one pass over the texts.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from runs.text.dates import Day, dates_in
from runs.text.domains import addresses_in, normal_address
from runs.text.numbers import Number, numbers_in, spelled_numbers
from runs.text.numerals import SHARED_SIGNS

MIN_ROUNDED = 10
"""Units of its last digit that a rounded number must have. Fewer would match too much: many numbers round to 3."""
FIRST_YEAR, LAST_YEAR = 1500, 2199
MAX_NEAR = 100
"""Neighbours that a rounded number is compared with, because their units may differ."""


class FigurePlace(NamedTuple):
    """A place in a source: its name, and the offset at which a figure begins."""

    source: str
    start: int


class KnownFigures:
    """Where each figure of the sources occurs first. `texts`: each with the place in its source at which it begins;
    none of them was written by a model of the run. `days`: those on which the run took place. `counts`: whole numbers
    that code has counted, such as how many files were given.
    """

    def __init__(
        self, texts: Iterable[tuple[FigurePlace, str]], *, days: Collection[Day] = (), counts: Collection[Decimal] = ()
    ) -> None:
        self.days, self.counts = tuple(days), frozenset(counts)
        self._texts = list(texts)
        self._numbers: dict[Decimal, dict[str, FigurePlace]] = {}
        self._digits: dict[str, FigurePlace] = {}
        self._dates: dict[tuple[int, int, int], FigurePlace] = {}
        self._addresses: dict[str, FigurePlace] = {}
        self._known: dict[object, FigurePlace | None] = {}
        """Earlier look-ups, because deliverables repeat their figures."""
        for place, text in self._texts:
            self._add(place, text)

    def _add(self, place: FigurePlace, text: str) -> None:
        def at(start: int) -> FigurePlace:
            return FigurePlace(place.source, place.start + start)

        addresses = list(addresses_in(text))
        for start, end in addresses:
            self._addresses.setdefault(normal_address(text[start:end]), at(start))
        text = blanked(text, addresses)
        dates = dates_in(text)
        text = blanked(text, [(date.start, date.end) for date in dates])
        for date in dates:
            for day in date.days:
                month, year = (0, day.month, 0), (day.year, 0, 0)
                for key in (day.parts, (day.year, day.month, 0), (0, day.month, day.day), month, year):
                    self._dates.setdefault(key, at(date.start))
        for number in numbers_in(text):
            if not number.values:
                self._digits.setdefault(number.digits, at(number.start))
            for value in number.values:
                self._numbers.setdefault(abs(value), {}).setdefault(number.sign or number.unit, at(number.start))

    def with_counts(self, counts: Collection[Decimal]) -> "KnownFigures":
        """The same facts with more counts."""
        found = copy(self)
        found.counts = self.counts | frozenset(counts)
        return found

    def address(self, written: str) -> FigurePlace | None:
        """Where an address occurs. One without a scheme may occur with either."""
        place = self._addresses.get(normal_address(written))
        return place if place or "://" in written else self._addresses.get(normal_address(f"http://{written}"))

    def date(self, days: Iterable[Day]) -> FigurePlace | None:
        return next((place for day in days if (place := self._dates.get(day.parts))), None)

    def number(self, number: Number) -> FigurePlace | None:
        """Where a number occurs: as it is, in words, as the year of a date, or with more digits that round to it.

        Its sign does not count: a loss of 5 may be written as -5.
        """
        key = (number.values, number.steps, number.sign or number.unit, number.is_about, number.digits)
        if key not in self._known:
            self._known[key] = self._look_up(number)
        return self._known[key]

    def _look_up(self, number: Number) -> FigurePlace | None:
        if not number.values:
            return self._digits.get(number.digits)
        unit = number.sign or number.unit
        for value in map(abs, number.values):
            if place := self._exact(value, unit) or self._year(value) or _with_unit(self._spelled.get(value, {}), unit):
                return place
        for value, step in zip(map(abs, number.values), number.steps, strict=True):
            if place := self._rounded(value, step, number):
                return place
        return None

    def _exact(self, value: Decimal, unit: str) -> FigurePlace | None:
        return _with_unit(self._numbers.get(value, {}), unit) or (
            self._numbers.get(value / 100, {}).get("") if unit == "%" else None
        )

    def _year(self, value: Decimal) -> FigurePlace | None:
        is_year = FIRST_YEAR <= value <= LAST_YEAR and value == int(value)
        return self._dates.get((int(value), 0, 0)) if is_year else None

    def _rounded(self, value: Decimal, step: Decimal, number: Number) -> FigurePlace | None:
        if number.is_about:
            step = max(step, Decimal(1).scaleb(value.normalize().as_tuple().exponent))  # type: ignore[arg-type]
        elif value < MIN_ROUNDED * step:
            return None
        for scale in (1, 100) if number.unit == "%" else (1,):
            low, high = (value - step / 2) / scale, (value + step / 2) / scale
            first = bisect_left(self._sorted, low)
            for other in self._sorted[first : first + MAX_NEAR]:
                if other > high:
                    break
                if place := _with_unit(self._numbers[other], "" if scale == 100 else number.sign or number.unit):
                    return place
        return None

    @cached_property
    def _sorted(self) -> list[Decimal]:
        return sorted(self._numbers)

    @cached_property
    def _spelled(self) -> Mapping[Decimal, Mapping[str, FigurePlace]]:
        found: dict[Decimal, dict[str, FigurePlace]] = {}
        for place, text in self._texts:
            for number in spelled_numbers(text):
                found.setdefault(number.value, {}).setdefault(
                    number.unit, FigurePlace(place.source, place.start + number.start)
                )
        return found


def _with_unit(places: Mapping[str, FigurePlace], unit: str) -> FigurePlace | None:
    """The first place whose unit does not contradict this one. A number without a unit may have it in its column."""
    return next((place for other, place in places.items() if _fit(unit, other)), None)


def _fit(unit: str, other: str) -> bool:
    if not unit or not other or unit == other:
        return True
    return unit in SHARED_SIGNS.get(other, ()) or other in SHARED_SIGNS.get(unit, ())


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces instead of these characters, so that the offsets of all others stay the same."""
    parts, at = list[str](), 0
    for start, end in sorted(spans):
        if start >= at:
            parts += [text[at:start], " " * (end - start)]
            at = end
    return "".join([*parts, text[at:]]) if parts else text
