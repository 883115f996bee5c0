"""The numbers before paragraphs, which no text of Word holds: counted as Word counts them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runs.documents.formats.docx.formats import MAX_NUMBER, written
from runs.documents.formats.docx.names import MC, W, is_on, number, val
from runs.documents.formats.docx.styles import Style, Styles
from runs.documents.formats.package_parts import Element, whole_number

BULLET = "•"
MAX_LEVEL = 8
_MAX_TEXT = 100
_MAX_LINKS = 5
_REFERENCE = re.compile("%([1-9])")


@dataclass(frozen=True)
class Level:
    """One level of a list. `text` is what its numbers look like: "%1.%2". `restarts_after`: a level, from 1, whose
    paragraphs start this one again, as do all above it; 0 for none, and None for the one right above.
    """

    start: int
    format: str
    text: str
    restarts_after: int | None
    is_legal: bool
    style: str | None
    is_hidden: bool


@dataclass(frozen=True)
class NumberList:
    """A list as its paragraphs name it. Those with the same `key` count together; `overrides` are levels that start
    again where this one begins.
    """

    num_id: str
    key: str
    levels: Mapping[int, Level]
    overrides: Mapping[int, int]

    def level_of(self, style_id: str) -> int | None:
        """The level that a style is tied to."""
        return next((number for number, level in self.levels.items() if level.style == style_id), None)


@dataclass(frozen=True)
class Numbered:
    """What stands before a paragraph. `shape`: how its number is made, such as "(%)" of letters; empty for bullets and
    words without a number. `is_whole`: it has the number of a level above in it. `begins`: it is the first there.
    `goes_on`: it counts on whatever is above it, as clauses do under the parts of a contract.
    """

    label: str
    key: str
    level: int
    shape: str = ""
    is_whole: bool = False
    begins: bool = False
    goes_on: bool = False


class Numbering:
    """The lists of a document, and which of them a paragraph is in."""

    def __init__(self, root: Element | None, styles: Styles) -> None:
        self._styles = styles
        self._lists: dict[str, NumberList | None] = {}
        found = root if root is not None else ()
        self._abstract = {one.get(f"{W}abstractNumId", ""): one for one in found if one.tag == f"{W}abstractNum"}
        self._called = {
            name.casefold(): one for one in self._abstract.values() if (name := val(one.find(f"{W}name")) or "")
        }
        self._nums = {one.get(f"{W}numId", ""): one for one in found if one.tag == f"{W}num"}

    def place(self, direct: tuple[str | None, int | None], chain: Sequence[Style]) -> tuple[NumberList, int] | None:
        """The list and the level of a paragraph, by what it says (`list_of`) and by its styles; None without one."""
        num_id, level = direct
        if num_id is not None:
            found = self.named(num_id)
            return (found, level or 0) if found else None
        for at, style in enumerate(chain):
            if style.num_id is not None:
                found = self.named(style.num_id)
                return (found, _level_by_style(found, chain[: at + 1]) if level is None else level) if found else None
        return None

    def named(self, num_id: str) -> NumberList | None:
        """None where there is no such list: 0 means that there is to be none."""
        if num_id not in self._lists:
            self._lists[num_id] = self._list(num_id)
        return self._lists[num_id]

    def called(self, name: str) -> NumberList | None:
        """The list whose definition has this name; None without one."""
        abstract = self._called.get(name.casefold())
        if abstract is None:
            return None
        return NumberList("", abstract.get(f"{W}abstractNumId", ""), _levels(abstract), {})

    def _list(self, num_id: str) -> NumberList | None:
        num = self._nums.get(num_id)
        abstract = self._abstract_of(num) if num is not None and num_id != "0" else None
        if num is None or abstract is None:
            return None
        levels = _levels(abstract)
        overrides: dict[int, int] = {}
        for one in num.findall(f"{W}lvlOverride"):
            if (other := one.find(f"{W}lvl")) is not None:
                levels[_index(one)] = _level(other)
            if (again := one.find(f"{W}startOverride")) is not None:
                overrides[_index(one)] = number(again, 1, high=MAX_NUMBER)
        for index, start in overrides.items():
            if index in levels:
                levels[index] = replace(levels[index], start=start)
        return NumberList(num_id, abstract.get(f"{W}abstractNumId", ""), levels, overrides)

    def _abstract_of(self, num: Element) -> Element | None:
        """The definition of a list; where that only names a style, the one of the style."""
        for _ in range(_MAX_LINKS):
            abstract = self._abstract.get(val(num.find(f"{W}abstractNumId")) or "")
            link = val(abstract.find(f"{W}numStyleLink")) if abstract is not None else None
            if link is None:
                return abstract
            linked = self._nums.get(self._styles.numbering.get(link, ""))
            if linked is None:
                return abstract
            num = linked
        return None


class Counters:
    """How far each list has counted, in the order of the text."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def count(self, place: tuple[NumberList, int], start: int | None = None) -> Numbered | None:
        """Count one more paragraph and give what stands before it; None where its level is not defined. `start`: the
        number that it has, whatever the one before it was.
        """
        numbers, index = place
        level = numbers.levels.get(index)
        if level is None:
            return None
        counts = self._counts.setdefault(numbers.key, {})
        if index in numbers.overrides and (numbers.num_id, index) not in self._begun:
            counts.pop(index, None)
        self._begun.add((numbers.num_id, index))
        for above in range(index):  # levels that were left out count as begun
            if above in numbers.levels:
                counts.setdefault(above, numbers.levels[above].start)
        begins = index not in counts or start is not None
        counts[index] = start if start is not None else level.start if begins else counts[index] + 1
        for below in [other for other in counts if other > index]:
            if _starts_again(numbers.levels.get(below), index):
                del counts[below]
        return replace(_numbered(numbers, index, counts), begins=begins)


def _starts_again(level: Level | None, after: int) -> bool:
    return level is None or level.restarts_after is None or after < level.restarts_after


def _numbered(numbers: NumberList, index: int, counts: Mapping[int, int]) -> Numbered:
    level = numbers.levels[index]
    if level.is_hidden:
        return Numbered("", numbers.key, index)
    if level.format == "bullet":
        return Numbered(BULLET, numbers.key, index)

    def one(found: re.Match[str]) -> str:
        other = int(found[1]) - 1
        if other not in counts or other not in numbers.levels:
            return ""
        style = numbers.levels[other].format
        if style in _WITHOUT_NUMBER:
            return ""
        return written(counts[other], "decimal" if level.is_legal and style not in _KEPT else style)

    named = {int(found) - 1 for found in _REFERENCE.findall(level.text)}
    shown = {
        other for other in named if other in numbers.levels and numbers.levels[other].format not in _WITHOUT_NUMBER
    }
    shape = f"{level.format} {_REFERENCE.sub('%', level.text)}" if shown else ""
    label = _REFERENCE.sub(one, level.text).strip()
    return Numbered(label, numbers.key, index, shape, is_whole=bool(shown - {index}), goes_on=level.restarts_after == 0)


_WITHOUT_NUMBER = frozenset({"bullet", "none"})
"""Formats of levels that show no number, wherever the text of another level refers to them."""
_KEPT = frozenset({"decimal", "decimalZero"})
"""Formats that legal numbering leaves as they are."""


def _levels(abstract: Element) -> dict[int, Level]:
    return {_index(one): _level(one) for one in abstract.findall(f"{W}lvl")}


def _level_by_style(numbers: NumberList, chain: Sequence[Style]) -> int:
    """The level of a paragraph that is in a list by its style: a level that is tied to a style comes first."""
    for style in chain:
        if (tied := numbers.level_of(style.id)) is not None:
            return tied
        if style.level is not None:
            return style.level
    return 0


def _index(element: Element) -> int:
    return whole_number(element.get(f"{W}ilvl"), high=MAX_LEVEL)


def _level(element: Element) -> Level:
    restart = element.find(f"{W}lvlRestart")
    return Level(
        start=number(element.find(f"{W}start"), 0, high=MAX_NUMBER),
        format=_format(element),
        text=(val(element.find(f"{W}lvlText")) or "")[:_MAX_TEXT],
        restarts_after=None if restart is None else number(restart, high=MAX_LEVEL + 1),
        is_legal=is_on(element.find(f"{W}isLgl")),
        style=val(element.find(f"{W}pStyle")),
        is_hidden=is_on(element.find(f"{W}rPr/{W}vanish")),
    )


def _format(element: Element) -> str:
    """The style of its numbers; newer ones stand in an alternative, and are described: "001, 002, 003, ..."."""
    found = element.find(f"{W}numFmt")
    if found is None:
        found = element.find(f"{MC}AlternateContent/{MC}Choice/{W}numFmt")
    if found is None:
        return "decimal"
    return found.get(f"{W}format", "") or "decimal" if val(found) == "custom" else val(found) or "decimal"
