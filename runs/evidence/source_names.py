"""What a text names: files, and phrases as whole words. Linear in the text, however many names there are."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

import regex

from runs.contracts.base import RESULT
from runs.text.normalisation import Markup, caseless, spelled
from runs.text.numbers import Number, number_at, numbers_in
from runs.text.numerals import CJK_MULTIPLES, HANGUL_MULTIPLES, MORE_THAN, MULTIPLE, SCALES, SPACES, either
from runs.text.patterns import Budget
from runs.text.scripts import UNSPACED, touches

_PATH = re.compile(r"[^\s()\[\]<>{}“”„‟«»\"'`|,;:!?*#]+")
"""A run of characters that most paths consist of. A path with other characters is found by the first such run in it."""
_GOES_ON = re.compile(r"[\w/-]|\.\w")
_UNSPACED_LETTERS = rf"[[{UNSPACED}]&&[\p{{L}}\p{{M}}]]"
_WORD = regex.compile(
    rf"(?V1)[[{UNSPACED}]&&\p{{L}}]|\p{{Hangul}}+|[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED_LETTERS}--\p{{Hangul}}]+"
)
"""Each letter is a word in scripts without spaces. In Korean a word ends at digits."""
_UNSPACED_LETTER = regex.compile(rf"(?V1){_UNSPACED_LETTERS}")
_SIGN = re.compile("[-<>≤≥±(]")
_SIGN_REACH = 8
"""Characters before a number in which its sign may be, with a currency between."""
_MULTIPLES = CJK_MULTIPLES + HANGUL_MULTIPLES
_TOUCHING_SCALES = either(dict.fromkeys(word for word in SCALES if touches(word[0])))
_MULTIPLE_NEXT = re.compile(
    rf"[{MORE_THAN}]?(?:{MULTIPLE}|[십백천만억])|[{SPACES}]?(?:{_TOUCHING_SCALES})"
    rf"|(?<=[{_MULTIPLES}])[\d.,]{{1,6}}[{_MULTIPLES}]"
)
_MULTIPLE_BEFORE = re.compile(rf"\d[{_MULTIPLES}]{{1,3}}\Z")
"""Parts of one number, such as 500 and 만 in 500만, and 1億 and 2000万 in 1億2000万."""
_MULTIPLE_REACH = 8
_WORDS_AT_ONCE = 10_000
"""Words between two looks at the clock."""


class Paths:
    """The sources that a text may name, by the whole path or, where only one has it, by the last part of the path."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = dict.fromkeys(names)
        self._written: dict[str, str] = {name: name for name in self._exact}
        last: dict[str, list[str]] = {}
        for name in self._exact:
            if not name.startswith(RESULT):
                last.setdefault(name.rpartition("/")[2], []).append(name)
        self._written |= {part: paths[0] for part, paths in last.items() if len(paths) == 1 and part not in self._exact}
        self._by_run: dict[str, list[tuple[str, int]]] = {}
        for written in self._written:
            if match := _PATH.search(written):
                self._by_run.setdefault(match[0].rstrip("."), []).append((written, match.start()))

    def named_in(self, text: str, budget: Budget) -> Iterator[str]:
        """The sources in the order in which the text names them, some more than once."""
        for number, match in enumerate(_PATH.finditer(text)):
            if number % _WORDS_AT_ONCE == 0:
                budget.left()
            run, start = match[0], match.start()
            while run.startswith("./"):
                run, start = run[2:], start + 2
            if "%" in run and unquote(run) in self._written:
                yield self._written[unquote(run)]
            for written, offset in self._by_run.get(run.rstrip("."), ()):
                budget.left()
                end = start - offset + len(written)
                if text.startswith(written, start - offset) and not _GOES_ON.match(text, end):
                    yield self._written[written]


def worded(text: str) -> bool:
    """Whether the text has a letter or digit by which it could be found."""
    return _WORD.search(text) is not None


class _Phrase(NamedTuple):
    """A phrase as it is compared, the `place` of its first word in that, and the number that it begins with."""

    phrase: str
    folded: str
    place: int
    number: Number | None


class Phrases:
    """Phrases that are looked for as whole words of the same text; capitals, and marks of Markdown, do not count, but
    signs of numbers do.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_word: dict[str, list[_Phrase]] = {}
        for phrase in dict.fromkeys(phrases):
            folded = caseless(phrase)
            if match := _WORD.search(folded):
                number = next(numbers_in(spelled(phrase)), None)
                begins = number is not None and not any(map(str.isalnum, spelled(phrase)[: number.start]))
                found = _Phrase(phrase, folded, match.start(), number if begins else None)
                self._by_word.setdefault(match[0], []).append(found)

    def missing_in(self, text: str, budget: Budget) -> set[str]:
        """The phrases that do not occur. Raises TooSlow when the budget is used up."""
        left = {word: list(phrases) for word, phrases in self._by_word.items()}
        for markup in (Markup.PLAIN, Markup.MARKDOWN):
            folded = caseless(text, markup)
            for number, match in enumerate(_WORD.finditer(folded)):
                if number % _WORDS_AT_ONCE == 0:
                    budget.left()
                if waiting := left.get(match[0]):
                    budget.left()
                    left[match[0]] = [one for one in waiting if not _stands(one, folded, match.start() - one.place)]
            if not any(left.values()):
                break
        return {one.phrase for phrases in left.values() for one in phrases}


def _stands(one: _Phrase, text: str, start: int) -> bool:
    """Whether the phrase is at this place and not part of a longer word or number, such as 4.2 in 4.2.1 or 5 in -5."""
    phrase = one.folded
    if start < 0 or not text.startswith(phrase, start):
        return False
    end = start + len(phrase)
    before, after = text[max(0, start - 2) : start][::-1], text[end : end + 2]
    return not (
        _runs_on(phrase[0], before)
        or _runs_on(phrase[-1], after)
        or _cuts_multiple(phrase, text, start)
        or _has_other_sign(one, text, start)
    )


def _cuts_multiple(phrase: str, text: str, start: int) -> bool:
    """Whether the phrase ends or begins inside a number such as 500만 or 1億2000万."""
    end = start + len(phrase)
    is_cut = phrase[-1].isdecimal() or phrase[-1] in _MULTIPLES
    if is_cut and _MULTIPLE_NEXT.match(text, end, end + _MULTIPLE_REACH):
        return True
    return phrase[0].isdecimal() and _MULTIPLE_BEFORE.search(text[max(0, start - _MULTIPLE_REACH) : start]) is not None


def _has_other_sign(one: _Phrase, text: str, start: int) -> bool:
    """Whether the number that the phrase begins with has another sign here, or is compared."""
    own, end = one.number, start + len(one.folded)
    before = text[max(0, start - _SIGN_REACH) : start]
    if own is None or not (own.is_negative or own.comparison or _SIGN.search(before) or text[end : end + 1] == "-"):
        return False  # nearly everywhere
    at = start + one.folded.index(own.digits)
    is_minus = end == at + len(own.digits) and text[end : end + 1] == "-" and not text[end + 1 : end + 2].isalnum()
    if is_minus or before.rstrip().endswith("±"):
        return True
    lead = text[max(0, start - _SIGN_REACH) : at].upper()  # codes of currencies are read in capitals only
    there = number_at(lead + text[at : end + _SIGN_REACH], len(lead), len(lead) + len(own.digits))
    if there is None:  # a part of a name, as in A-500
        return False
    return there.is_negative is not own.is_negative or there.comparison not in {own.comparison, "~"}


def _runs_on(edge: str, beyond: str) -> bool:
    """Whether a word or number goes on at this character, given what comes after it."""
    if not edge.isalnum() or not beyond or _UNSPACED_LETTER.match(edge):
        return False
    if edge.isdecimal() is not beyond[0].isdecimal() and (touches(edge) or touches(beyond[0])):
        return False  # a figure in Korean
    if beyond[0] == "_" or (beyond[0] in ".," and edge.isdigit()):
        return beyond[1:].isalnum() if beyond[0] == "_" else beyond[1:].isdigit()
    return beyond[0].isalnum() and not _UNSPACED_LETTER.match(beyond[0])
