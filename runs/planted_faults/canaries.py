"""Canaries: faults that are planted in a copy of a real result, to see whether its verifier notices them.

A canary is a *consistent* fault, as if the executor had misread its sources: a wrong figure or name stands wherever the
result has the right one, outside of quotes, so that it does not contradict itself.

Linear in the length of the result and its sources, which are limited: it runs in a thread of a process that also
answers people.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from runs.contracts.base import OUTPUT
from runs.documents.content import text_of
from runs.enums import FaultKind
from runs.evidence.facts import FigurePlace, KnownFigures
from runs.evidence.results import Judgement, named
from runs.evidence.tracing import trace
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.untraced import unknown_names_in, untraced_in
from runs.planted_faults.claims import INVENTED
from runs.text.csv_tables import is_csv
from runs.text.names import names_in, words_of_names
from runs.text.numbers import numbers_in, value_keys
from runs.text.truncate import truncate

_TEXTS = (".md", ".markdown", ".txt", ".csv")
"""The results in which a fault can be planted. Other documents would have to be written again."""
_NOTES = "@notes"
"""The name of the executor's notes among the texts that change. No fault is planted for them alone."""
MAX_SHOWN = 200
"""Characters that are kept of what was planted, and of what stood there."""
_MAX_RESULT, _MAX_SOURCES = 200_000, 2_000_000
"""Characters of the result, and of its sources."""
_MAX_TRIES = 20
"""Figures, or citations, that are tried until a fault fits."""
_MAX_LINES = 200
"""Lines of a source that are tried as an irrelevant quote."""
_LINK = re.compile(r"\[[^\]\n]{0,600}\]\([^)\n]{0,600}\)")
_CITATION = re.compile(r"\[“([^”\n]{4,400})”\]\(([^)\s#]{1,400})#L(\d{1,7})\)")
_PATH_BEFORE = re.compile(r"[/\\_]\Z|[^\W\d_][-.]\Z")
_PATH_AFTER = re.compile(r"\.[A-Za-z]|[-/\\_][\w/\\-]{1,100}\.[a-z]{1,5}\b")
_MIN_DIGITS = 2
_MIN_WORDS, _MIN_LETTERS, _MAX_QUOTE = 3, 4, 120

type _Texts = Mapping[str, str]
"""What is judged, by the name of its source, and the notes."""
type _Facts = Sequence[tuple[FigurePlace, str]]
"""The texts of the sources, each with its place."""


@dataclass(frozen=True)
class PlantedResult:
    """The copy to judge. The real result has `was` at `place`, and the copy has `planted` there."""

    kind: FaultKind
    case: VerificationInput
    was: str
    planted: str
    place: str


@dataclass(frozen=True)
class _Change:
    """`planted` instead of `was`, which stands first at `start` in the text `name`. `texts`: all texts after it."""

    was: str
    planted: str
    name: str
    start: int
    texts: _Texts


def plant(case: VerificationInput, random: Random) -> PlantedResult | str:
    """A copy of a result with a fault of a kind that it has room for, or why there is none, as a sentence. The same
    `random` plants the same fault.
    """
    if any(one.check and one.check.commands for one in case.criteria):
        return "A check of the result runs a command, and no command is run on a copy."
    texts = _texts_of(case)
    if isinstance(texts, str):
        return texts
    facts: list[tuple[FigurePlace, str]] = []
    left = _MAX_SOURCES
    for place, text in _facts_of(case):
        left -= len(text)
        if left < 0:
            return f"The sources of the result have more than {_MAX_SOURCES:,} characters."
        facts.append((place, text))
    kinds = list(_PLANTERS)
    random.shuffle(kinds)
    for kind in kinds:
        if change := _PLANTERS[kind](case, texts, facts, random):
            return _planted(kind, case, texts, change)
    return (
        "The result has nothing in which a fault can be planted: no figure and no name of the sources, and no citation "
        "of a given file."
    )


def marks_of(judgement: Judgement) -> set[str]:
    """What people would see next to a result that has passed."""
    figures = {f"{one.text} is in no source" for one in judgement.untraced if one.kind != "name"}
    return figures | {f"weak evidence for {one.label}" for one in judgement.results if one.weak or one.uncounted}


def _texts_of(case: VerificationInput) -> _Texts | str:
    """The texts to change, or why they cannot be changed."""
    texts: dict[str, str] = {}
    left = _MAX_RESULT - len(case.output) - len(case.notes)
    for path in case.judged_files:
        if path not in case.files:  # a file that the step has removed
            continue
        text = text_of(case.files[path]) if path.lower().endswith(_TEXTS) else None
        if text is None:
            return (
                f"“{truncate(_storable(path), MAX_SHOWN)}” is not plain text, and faults are planted in nothing else."
            )
        left -= len(text)
        texts[path] = text
    others = {OUTPUT: case.output, _NOTES: case.notes}
    return texts | others if left >= 0 else f"The result has more than {_MAX_RESULT:,} characters."


def _facts_of(case: VerificationInput) -> Iterator[tuple[FigurePlace, str]]:
    yield from case.sources.facts()
    yield from case.sources.given_facts()


@dataclass(frozen=True)
class _Figure:
    """A figure of the sources that a text of the result repeats. `start`: where its digits begin."""

    name: str
    start: int
    digits: str
    values: frozenset[str]
    unit: str

    @property
    def every_digit(self) -> str:
        return re.sub(r"\D", "", self.digits)

    @property
    def significant(self) -> str:
        """Its digits without zeros at both ends. They are the same for 1,200 and 1,200.00 and 1.2 million."""
        return self.every_digit.strip("0")

    def written(self, significant: str) -> str:
        """Another figure in the same notation."""
        zeros = len(self.every_digit) - len(self.every_digit.lstrip("0"))
        others = iter("0" * zeros + significant.ljust(len(self.every_digit), "0"))
        return re.sub(r"\d", lambda _: next(others), self.digits)


def _wrong_figure(case: VerificationInput, texts: _Texts, facts: _Facts, random: Random) -> _Change | None:
    """A figure of the sources becomes another figure of the result, or an invented one, in every notation."""
    known = KnownFigures(facts, days=case.days)
    figures = [one for name, text in texts.items() for one in _figures_in(name, text, known)]
    same_value: dict[str, list[_Figure]] = defaultdict(list)
    for one in figures:
        for value in one.values:
            same_value[value].append(one)
    first: dict[str, _Figure] = {}
    for one in figures:
        if one.name != _NOTES and len(one.every_digit) >= _MIN_DIGITS and one.significant:
            first.setdefault(one.digits, one)
    chosen = list(first.values())
    random.shuffle(chosen)
    for was in chosen[:_MAX_TRIES]:
        places = {place for value in was.values for place in same_value[value] if _may_be_same(place, was)}
        if any(place.significant != was.significant for place in places):  # such as 1.5 and 1½
            continue
        planted = _other_digits(was, chosen, random)
        edits: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for place in places:
            span = place.start, place.start + len(place.digits)
            edits[place.name].append((*span, place.written(planted)))
        changed = {name: _edited(text, edits[name]) for name, text in texts.items()}
        return _Change(was.digits, was.written(planted), was.name, was.start, changed)
    return None


def _figures_in(name: str, text: str, known: KnownFigures) -> Iterator[_Figure]:
    free = _outside_links(text)
    # “Step 12” and “page 12” are traced where the sources have a 12, though they say nothing of it.
    alone = trace(text, KnownFigures([]), is_csv=is_csv(name))
    said_nothing = {one.start for one in alone if one.status == "exempt" and one.why != "a count"}
    for figure in trace(text, known, is_csv=is_csv(name)):
        if figure.status != "traced" or figure.kind != "number" or figure.start in said_nothing:
            continue
        if not free(figure.start) or _is_in_path(text, figure.start, figure.end):
            continue
        number = next(numbers_in(figure.text), None)
        if number and number.values:
            start = figure.start + figure.text.index(number.digits)
            found = _Figure(name, start, number.digits, frozenset(value_keys(number)), number.unit)
            if found.every_digit.isascii():  # digits of other scripts would be replaced with Latin ones
                yield found


def _may_be_same(one: _Figure, other: _Figure) -> bool:
    """Whether figures of the same value may be about the same. One without a unit may have it in its column."""
    return not one.unit or not other.unit or one.unit == other.unit


def _other_digits(was: _Figure, known: Iterable[_Figure], random: Random) -> str:
    """The significant digits of another figure that has as many digits, or invented ones."""
    length = len(was.significant)
    others = [
        one.significant.ljust(length, "0")
        for one in known
        if len(one.every_digit) == len(was.every_digit) and len(one.significant) <= length
    ]
    others = [digits for digits in others if digits != was.significant]
    if others and random.random() < 0.5:
        return random.choice(others)
    while (invented := "".join(str(random.randrange(1, 10)) for _ in range(length))) == was.significant:
        pass
    return invented


def _invented_name(case: VerificationInput, texts: _Texts, facts: _Facts, random: Random) -> _Change | None:
    """A name of the sources becomes a name that is nowhere."""
    known = {word for _, text in facts for word in words_of_names(text)}
    invented = [name for name in INVENTED if not words_of_names(name) <= known]
    places: dict[str, tuple[str, int]] = {}
    for name, text in texts.items():
        free = _outside_links(text)
        for one in names_in(text) if not is_csv(name) and name != _NOTES else ():
            if free(one.start) and not _is_in_path(text, one.start, one.end) and words_of_names(one.text) <= known:
                places.setdefault(one.text, (name, one.start))
    if not invented or not places:
        return None
    was, planted = random.choice(list(places)), random.choice(invented)
    whole = re.compile(rf"(?<![^\W_]){re.escape(was)}(?![^\W_])")
    changed: dict[str, str] = {}
    for name, text in texts.items():
        free = _outside_links(text)
        spans = [match.span() for match in whole.finditer(text) if free(match.start())]
        changed[name] = _edited(text, [(*span, planted) for span in spans if not _is_in_path(text, *span)])
    return _Change(was, planted, *places[was], changed)


def _irrelevant_quote(case: VerificationInput, texts: _Texts, facts: _Facts, random: Random) -> _Change | None:
    """A citation of a given file quotes another line, which says nothing of what is stated."""
    citations = [(name, one) for name, text in texts.items() if name != _NOTES for one in _CITATION.finditer(text)]
    random.shuffle(citations)
    lines: dict[str, list[str]] = {}
    for name, citation in citations[:_MAX_TRIES]:
        path = citation[2]
        if path not in lines:
            source = text_of(case.inputs.files[path]) if path in case.inputs.files else None
            lines[path] = (source or "")[:_MAX_SOURCES].splitlines()
        start = texts[name].rfind("\n", 0, citation.start()) + 1
        if other := _unrelated_line(lines[path], texts[name][start : citation.end()], random):
            number, quote = other
            was, planted = citation[0], f"[“{quote}”]({path}#L{number})"
            changed = {key: text.replace(was, planted) for key, text in texts.items()}
            return _Change(was, planted, name, citation.start(), changed)
    return None


def _unrelated_line(lines: Sequence[str], statement: str, random: Random) -> tuple[int, str] | None:
    """The number and the beginning of a line that shares no longer word with a statement."""
    said = _longer_words(statement)
    for number in random.sample(range(len(lines)), min(len(lines), _MAX_LINES)):
        quote = lines[number].strip()[:_MAX_QUOTE].rstrip()
        plain = not re.search(r"[\[\]()“”\"#*|`<>]", quote)
        if plain and len(quote.split()) >= _MIN_WORDS and not _longer_words(quote) & said:
            return number + 1, quote
    return None


def _longer_words(text: str) -> set[str]:
    return {word for word in words_of_names(text) if len(word) >= _MIN_LETTERS}


_PLANTERS: Mapping[FaultKind, Callable[[VerificationInput, _Texts, _Facts, Random], _Change | None]] = {
    FaultKind.WRONG_FIGURE: _wrong_figure,
    FaultKind.INVENTED_NAME: _invented_name,
    FaultKind.IRRELEVANT_QUOTE: _irrelevant_quote,
}


def _outside_links(text: str) -> Callable[[int], bool]:
    """Whether a place is neither in a quote with its source nor in another link."""
    spans = [match.span() for match in _LINK.finditer(text)]
    starts = [start for start, _ in spans]

    def is_outside(place: int) -> bool:
        before = bisect_right(starts, place)
        return before == 0 or place >= spans[before - 1][1]

    return is_outside


def _is_in_path(text: str, start: int, end: int) -> bool:
    """Whether it is a part of a path, such as the 1250 of `letter-1250.md`."""
    return bool(_PATH_BEFORE.search(text[max(start - 2, 0) : start]) or _PATH_AFTER.match(text, end))


def _edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with other characters from each start to before each end."""
    parts, at = list[str](), 0
    for start, end, new in sorted(edits):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _planted(kind: FaultKind, case: VerificationInput, texts: _Texts, change: _Change) -> PlantedResult:
    changed = dict(change.texts)
    output, notes = changed.pop(OUTPUT), changed.pop(_NOTES)
    contents = {name: text.encode() for name, text in changed.items() if text != texts[name]}
    files = _PlantedFiles(case.files, contents)
    copy = replace(case, files=files, output=output, notes=notes, untraced=(), command=None)
    copy = replace(copy, untraced=[*untraced_in(copy), *unknown_names_in(copy)])
    line = texts[change.name].count("\n", 0, change.start) + 1
    shown = (change.was, change.planted, f"{named(change.name)}, line {line}")
    return PlantedResult(kind, copy, *(truncate(_storable(one), MAX_SHOWN) for one in shown))


def _storable(text: str) -> str:
    """The text without what databases refuse, which models may write."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


class _PlantedFiles(Mapping[str, bytes]):
    """The files of a result, some of them with other contents."""

    def __init__(self, files: Mapping[str, bytes], changed: Mapping[str, bytes]) -> None:
        self._files = files
        self._changed = changed

    def __getitem__(self, path: str) -> bytes:
        return self._changed[path] if path in self._changed else self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)
