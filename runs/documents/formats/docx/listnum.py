"""LISTNUM fields, whose numbers no file of Word holds: counted by the documented rules."""

from collections.abc import Mapping
from typing import NamedTuple

from runs.documents.formats.docx.formats import MAX_NUMBER
from runs.documents.formats.docx.numbering import MAX_LEVEL, Counters, Level, Numbering, NumberList
from runs.documents.formats.fields import FieldCode

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
"""The lists that every document has: the style and the look of the numbers of each level."""


class _Place(NamedTuple):
    numbers: NumberList
    level: int


class FieldNumbers:
    """Counts the LISTNUM fields of a story, in the order of the text."""

    def __init__(self) -> None:
        self._last: _Place | None = None
        self._paragraph = 0
        """That of the last field."""
        self._levels: dict[str, int] = {}
        """The level that fields have used last, by the keys of lists."""

    def count(
        self,
        code: FieldCode,
        numbering: Numbering,
        counters: Counters,
        own: tuple[NumberList, int] | None,
        paragraph: int,
    ) -> str | None:
        """Returns the number that a field shows. `own`: the list and the level of the paragraph that it is in, whose
        number among the paragraphs is `paragraph`.

        Returns None where the rules do not say which list or which level is meant.
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
        self._last, self._paragraph = _Place(numbers, level), paragraph
        self._levels[numbers.key] = level
        return numbered.label

    def _list(
        self, name: str, numbering: Numbering, before: _Place | None, own: tuple[NumberList, int] | None
    ) -> NumberList | None:
        """The list of this name; without a name the one of the field before it in the paragraph, of the paragraph, or
        of the last field.
        """
        if name:
            return numbering.called(name) or built_in(name)
        if before:
            return before.numbers
        if own:
            return own[0]
        return self._last.numbers if self._last else None

    def _level(
        self, code: FieldCode, numbers: NumberList, before: _Place | None, own: tuple[NumberList, int] | None
    ) -> int | None:
        """The level that the field says; else the one of the field before it in the paragraph, the one below that of
        the paragraph, or the one that fields of the list have used last.
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
    """The list of this name that every document has."""
    name = name.casefold()
    if name not in _BUILT_IN:
        return None
    levels = {
        index: Level(start=1, format=style, text=text, restarts_after=None, is_legal=False, style=None, is_hidden=False)
        for index, (style, text) in enumerate(_BUILT_IN[name])
    }
    return NumberList("", f"field {name}", levels, {})
