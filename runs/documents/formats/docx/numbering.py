"""Counts the numbers of paragraphs as Word does. Word files do not store them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from runs.documents.formats.docx.names import MC, W, is_on, number, val
from runs.documents.formats.docx.styles import DocxStyles, Style
from runs.documents.reading.fields import FieldCode
from runs.documents.reading.package_parts import Element, whole_number
from runs.text.numerals import ENGLISH, ENGLISH_TENS
from runs.text.plural import ordinal

MAX_NUMBER = 32_767
"""The highest number in Word."""
_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")),
    *((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_MAX_ROMAN = 4_999  # the highest Roman numeral without a bar
_MAX_LETTERS = 780
"""Beyond this a letter would be repeated more than thirty times."""
_TENS = ("", "ten", *ENGLISH_TENS)
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_FOOTNOTE_SIGNS = "*†‡§"


def format_number(number: int, style: str) -> str:
    """Formats a number in one of Word's styles (`numFmt`), or in digits if the style is unknown."""
    if style.startswith("0"):  # written as "001, 002, 003, ..."
        return f"{number:0{min(len(style.partition(',')[0]), 9)}}"
    write = _STYLES.get(style)
    return write(number) if write and number >= 0 else str(number)


def _roman(number: int) -> str:
    if number > _MAX_ROMAN:
        return str(number)
    found = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        found += sign * times
    return found


def _letters(number: int) -> str:
    """Formats with letters: after z come aa and bb."""
    if not 1 <= number <= _MAX_LETTERS:
        return str(number) if number else ""
    times, letter = divmod(number - 1, 26)
    return chr(ord("A") + letter) * (times + 1)


def _words(number: int) -> str:
    if number >= 1_000:
        return str(number)
    hundreds, rest = divmod(number, 100)
    words = [f"{ENGLISH[hundreds]} hundred"] if hundreds else []
    if rest >= 20:
        tens, ones = divmod(rest, 10)
        words.append(_TENS[tens] + (f"-{ENGLISH[ones]}" if ones else ""))
    elif rest or not hundreds:
        words.append(ENGLISH[rest])
    return " ".join(words)


def ordinal_words(number: int) -> str:
    if number >= 1_000:
        return ordinal(number)
    words = _words(number)
    at = max(words.rfind("-"), words.rfind(" ")) + 1
    last = words[at:]
    ending = _ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return words[:at] + ending


def _repeated(signs: str, number: int) -> str:
    times, sign = divmod(number - 1, len(signs))
    return signs[sign] * min(times + 1, 30) if number else ""


def _circled(number: int) -> str:
    return _CIRCLED[number - 1] if 1 <= number <= len(_CIRCLED) else str(number)


_STYLES: Mapping[str, Callable[[int], str]] = {
    "none": lambda number: "",
    "decimalZero": lambda number: f"{number:02}",
    "upperRoman": _roman,
    "lowerRoman": lambda number: _roman(number).lower(),
    "upperLetter": _letters,
    "lowerLetter": lambda number: _letters(number).lower(),
    "ordinal": ordinal,
    "cardinalText": lambda number: _words(number).capitalize(),
    "ordinalText": lambda number: ordinal_words(number).capitalize(),
    "decimalEnclosedParen": lambda number: f"({number})",
    "decimalEnclosedFullstop": lambda number: f"{number}.",
    "decimalEnclosedCircle": _circled,
    "numberInDash": lambda number: f"- {number} -",
    "hex": lambda number: f"{number:X}",
    "chicago": partial(_repeated, _FOOTNOTE_SIGNS),
}


BULLET = "•"
MAX_LEVEL = 8  # lists have nine levels, counted from 0
_MAX_TEXT = 100  # characters of a level's pattern
_MAX_LINKS = 5  # definitions that only refer to the list of a style, which may be circular
_REFERENCE = re.compile("%([1-9])")


@dataclass(frozen=True)
class Level:
    """One level of a list. `text` is the pattern of its numbers, such as "%1.%2".

    `restarts_after`: paragraphs of this level (from 1) and of those above it restart the numbering. 0 means never, and
    None the level directly above.
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
    """A list instance. Lists with the same `key` count together, and `overrides` has the levels that restart in this
    one.
    """

    num_id: str
    key: str
    levels: Mapping[int, Level]
    overrides: Mapping[int, int]

    def level_of(self, style_id: str) -> int | None:
        """Returns the level that is linked to a style, or None."""
        return next((number for number, level in self.levels.items() if level.style == style_id), None)


@dataclass(frozen=True)
class Numbered:
    """The number of a paragraph.

    * `label`: the text before the paragraph.
    * `shape`: the pattern of its number, such as "(%)" for letters; empty for bullets and words.
    * `is_whole`: the label includes the number of a higher level.
    * `begins`: it is the first of its level.
    * `goes_on`: its numbering continues across higher levels, like clauses across the parts of a contract.
    """

    label: str
    key: str
    level: int
    shape: str = ""
    is_whole: bool = False
    begins: bool = False
    goes_on: bool = False


class Numbering:
    """The lists of a document, and the assignment of paragraphs to them."""

    def __init__(self, root: Element | None, styles: DocxStyles) -> None:
        self._styles = styles
        self._lists: dict[str, NumberList | None] = {}
        found = root if root is not None else ()
        self._abstract = {one.get(f"{W}abstractNumId", ""): one for one in found if one.tag == f"{W}abstractNum"}
        self._called = {
            name.casefold(): one for one in self._abstract.values() if (name := val(one.find(f"{W}name")) or "")
        }
        self._nums = {one.get(f"{W}numId", ""): one for one in found if one.tag == f"{W}num"}

    def place(self, direct: tuple[str | None, int | None], chain: Sequence[Style]) -> tuple[NumberList, int] | None:
        """Returns the list and level of a paragraph from its own properties (`list_of`) or its styles, or None."""
        num_id, level = direct
        if num_id is not None:
            found = self.list_with_id(num_id)
            return (found, level or 0) if found else None
        for at, style in enumerate(chain):
            if style.num_id is not None:
                found = self.list_with_id(style.num_id)
                return (found, _level_by_style(found, chain[: at + 1]) if level is None else level) if found else None
        return None

    def list_with_id(self, num_id: str) -> NumberList | None:
        """Returns the list, or None if there is no such list. The id 0 means that there is none."""
        if num_id not in self._lists:
            self._lists[num_id] = self._list(num_id)
        return self._lists[num_id]

    def list_named(self, name: str) -> NumberList | None:
        """Returns the list whose definition has this name, or None."""
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
        """Returns the definition of a list. If it only refers to a style, the style's definition is returned."""
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
    """The counters of each list, in text order."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def count(self, place: tuple[NumberList, int], start: int | None = None) -> Numbered | None:
        """Counts a paragraph and returns its number, or None if its level is not defined.

        `start` sets the number regardless of the one before it.
        """
        numbers, index = place
        level = numbers.levels.get(index)
        if level is None:
            return None
        counts = self._counts.setdefault(numbers.key, {})
        if index in numbers.overrides and (numbers.num_id, index) not in self._begun:
            counts.pop(index, None)
        self._begun.add((numbers.num_id, index))
        for above in range(index):  # skipped levels count as begun
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
        return format_number(counts[other], "decimal" if level.is_legal and style not in _KEPT else style)

    named = {int(found) - 1 for found in _REFERENCE.findall(level.text)}
    shown = {
        other for other in named if other in numbers.levels and numbers.levels[other].format not in _WITHOUT_NUMBER
    }
    shape = f"{level.format} {_REFERENCE.sub('%', level.text)}" if shown else ""
    label = _REFERENCE.sub(one, level.text).strip()
    return Numbered(label, numbers.key, index, shape, is_whole=bool(shown - {index}), goes_on=level.restarts_after == 0)


_WITHOUT_NUMBER = frozenset({"bullet", "none"})
"""Formats that show no number, even where another level includes them."""
_KEPT = frozenset({"decimal", "decimalZero"})
"""Formats that legal numbering does not change."""


def _levels(abstract: Element) -> dict[int, Level]:
    return {_index(one): _level(one) for one in abstract.findall(f"{W}lvl")}


def _level_by_style(numbers: NumberList, chain: Sequence[Style]) -> int:
    """Returns the level of a paragraph that is in a list by its style. Levels linked to a style take precedence."""
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
    """Returns the number format. Newer formats are in an alternative, described as "001, 002, 003, ..."."""
    found = element.find(f"{W}numFmt")
    if found is None:
        found = element.find(f"{MC}AlternateContent/{MC}Choice/{W}numFmt")
    if found is None:
        return "decimal"
    return found.get(f"{W}format", "") or "decimal" if val(found) == "custom" else val(found) or "decimal"


_LEGAL = tuple("".join(f"%{above}." for above in range(1, level + 1)) for level in range(1, MAX_LEVEL + 2))

_BUILT_IN: Mapping[str, tuple[tuple[str, str], ...]] = {
    "numberdefault": (
        *(("decimal", "%1)"), ("lowerLetter", "%2)"), ("lowerRoman", "%3)")),
        *(("decimal", "(%4)"), ("lowerLetter", "(%5)"), ("lowerRoman", "(%6)")),
        *(("decimal", "%7."), ("lowerLetter", "%8."), ("lowerRoman", "%9.")),
    ),
    "outlinedefault": (
        *(("upperRoman", "%1."), ("upperLetter", "%2."), ("decimal", "%3."), ("lowerLetter", "%4)")),
        *(("decimal", "(%5)"), ("lowerLetter", "(%6)"), ("lowerRoman", "(%7)")),
        *(("lowerLetter", "(%8)"), ("lowerRoman", "(%9)")),
    ),
    "legaldefault": tuple(("decimal", text) for text in _LEGAL),
}
"""Lists that every document has: format and text of each level."""


class _ListPosition(NamedTuple):
    numbers: NumberList
    level: int


class FieldNumbers:
    """Counts the LISTNUM fields of a story, in text order."""

    def __init__(self) -> None:
        self._last: _ListPosition | None = None
        self._paragraph = 0
        """The list and level of the last field."""
        self._levels: dict[str, int] = {}
        """The level that fields last used, by key of the list."""

    def count(
        self,
        code: FieldCode,
        numbering: Numbering,
        counters: Counters,
        own: tuple[NumberList, int] | None,
        paragraph: int,
    ) -> str | None:
        """Returns the number that a field shows, or None if the rules do not determine a list or a level.

        `own`: the list and level of the paragraph that contains the field, which is number `paragraph`.
        """
        before = self._last if self._paragraph == paragraph else None
        numbers = self._list(code.argument, numbering, before, own)
        level = self._level(code, numbers, before, own) if numbers else None
        if numbers is None or level is None:
            return None
        start = code.number("s")
        numbered = counters.count((numbers, level), start=None if start is None else min(start, MAX_NUMBER))
        if numbered is None:
            return None
        self._last, self._paragraph = _ListPosition(numbers, level), paragraph
        self._levels[numbers.key] = level
        return numbered.label

    def _list(
        self, name: str, numbering: Numbering, before: _ListPosition | None, own: tuple[NumberList, int] | None
    ) -> NumberList | None:
        """Returns the list with this name. Without a name, it is that of the previous field in the paragraph, of the
        paragraph itself, or of the last field.
        """
        if name:
            return numbering.list_named(name) or built_in(name)
        if before:
            return before.numbers
        if own:
            return own[0]
        return self._last.numbers if self._last else None

    def _level(
        self, code: FieldCode, numbers: NumberList, before: _ListPosition | None, own: tuple[NumberList, int] | None
    ) -> int | None:
        """Returns the level that the field states. Otherwise it is that of the previous field in the paragraph, the one
        below the paragraph's level, or the one that fields of the list used last.
        """
        if "l" in code.switches:
            level = code.number("l")
            return level - 1 if level and level <= MAX_LEVEL + 1 else None
        if before and before.numbers.key == numbers.key:
            return before.level
        if own and own[0].key == numbers.key:
            return own[1] + 1
        return self._levels.get(numbers.key)


def built_in(name: str) -> NumberList | None:
    """Returns the built-in list with this name, or None."""
    name = name.casefold()
    if name not in _BUILT_IN:
        return None
    levels = {
        index: Level(start=1, format=style, text=text, restarts_after=None, is_legal=False, style=None, is_hidden=False)
        for index, (style, text) in enumerate(_BUILT_IN[name])
    }
    return NumberList("", f"field {name}", levels, {})


_MAX_OPEN = 20  # clauses that are remembered; parts are not nested deeper

_MAX_CLAUSE = 100  # characters

_WORD = re.compile(r"(?:section|clause|article|paragraph|sec\.|art\.|§+)\s*(?=\S)", re.IGNORECASE)
"""Words that people omit when they name a clause: "Section 4.2" is 4.2. An annex or a schedule keeps its word."""

_PART = re.compile(r"\(\w{1,8}\)|[a-z]{1,8}[.)]|[0-9]{1,3}\)|[A-Z]\)")
"""Labels that are only parts of a number in any list: (a), (1), iv., b), 2), A)."""

_TITLE = re.compile(r"[^\W\d]{3,}\s|§")
"""Labels that begin with a word. They end all open clauses."""


class _OpenClause(NamedTuple):
    """A clause that the next paragraph may be part of. `is_part`: it is itself part of the one before it."""

    key: str
    level: int
    shape: str
    clause: str
    is_part: bool


class Clauses:
    """Finds the whole number of each clause. Must be called for all numbered paragraphs in text order."""

    def __init__(self) -> None:
        self._open: list[_OpenClause] = []

    def clause(self, numbered: Numbered) -> str:
        """Returns the whole number, or an empty string, as for a bullet."""
        if not numbered.shape or not numbered.label:
            return ""
        self._close(numbered)
        own = _WORD.sub("", numbered.label, count=1).rstrip(".")
        above = self._open[-1] if self._open else None
        is_part = above is not None and (
            (above.key == numbered.key and not numbered.goes_on) or _PART.fullmatch(numbered.label) is not None
        )
        clause = _join_clause(above.clause, own) if above and is_part and not numbered.is_whole else own
        if above and not is_part and _TITLE.match(numbered.label):
            self._open.clear()
        self._open.append(_OpenClause(numbered.key, numbered.level, numbered.shape, clause[:_MAX_CLAUSE], is_part))
        del self._open[:-_MAX_OPEN]
        return clause[:_MAX_CLAUSE]

    def _close(self, numbered: Numbered) -> None:
        """Closes the clauses that cannot contain this one.

        Higher levels of its own list stay open, or what was open before its list began. A new list that looks like an
        open one replaces it, unless another clause began in between.
        """
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at].key == numbered.key and self._open[at].level < numbered.level:
                del self._open[at + 1 :]
                return
        for at, one in enumerate(self._open):
            if one.key == numbered.key or one.shape == numbered.shape:
                if not numbered.begins or all(other.is_part for other in self._open[at + 1 :]):
                    del self._open[at:]
                return


def _join_clause(above: str, own: str) -> str:
    if own.startswith("("):
        return f"{above}{own}"
    return f"{above} {own}" if own.endswith(")") else f"{above}.{own}"
