"""Canaries: faults that are planted in a copy of a real result, to see whether its verifier notices them.

A canary is a *consistent* fault, as if the executor had misread its sources: a wrong figure or name stands wherever the
result has the right one, outside of quotes, so that it does not contradict itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from runs.contracts.base import OUTPUT
from runs.documents.content import text_of
from runs.enums import FaultKind
from runs.evidence.facts import KnownFigures
from runs.evidence.results import Judgement, named
from runs.evidence.tracing import trace
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.untraced import unknown_names_in, untraced_in
from runs.planted_faults.claims import INVENTED
from runs.text.csv_tables import is_csv
from runs.text.names import names_in, words_of_names
from runs.text.numbers import numbers_in
from runs.text.truncate import truncate

_TEXTS = (".md", ".markdown", ".txt", ".csv")
"""The results in which a fault can be planted. Other documents would have to be written again."""
MAX_SHOWN = 200
"""Characters that are kept of what was planted, and of what stood there."""
_LINK = re.compile(r"\[[^\]\n]{0,2000}\]\([^)\n]{0,2000}\)")
_CITATION = re.compile(r"\[“([^”\n]{4,400})”\]\(([^)\s#]{1,400})#L(\d{1,7})\)")
_MIN_DIGITS = 2
_MIN_WORDS, _MIN_LETTERS, _MAX_QUOTE = 3, 4, 120

type _Texts = Mapping[str, str]
"""What is judged, by the name of its source."""


@dataclass(frozen=True)
class PlantedResult:
    """The copy to judge. `was` stands in the real result at `place`, and `planted` in the copy."""

    kind: FaultKind
    case: VerificationInput
    was: str
    planted: str
    place: str


@dataclass(frozen=True)
class _Change:
    """`planted` replaces `was`, which occurs `at` this place. `in_links`: it is a whole citation."""

    was: str
    planted: str
    at: tuple[str, int]
    in_links: bool = False


def plant(case: VerificationInput, random: Random) -> PlantedResult | None:
    """A copy of a result with a fault of a kind that it has room for; None if it has none, or if the result is not all
    plain text, or a command would have to judge the copy. The same `random` plants the same fault.
    """
    texts = _texts_of(case)
    if texts is None or any(one.check and one.check.commands for one in case.criteria):
        return None
    kinds = list(_PLANTERS)
    random.shuffle(kinds)
    for kind in kinds:
        changes = [one for one in _PLANTERS[kind](case, texts, random) if _is_there(one, texts)]
        if changes:
            return _planted(kind, case, texts, random.choice(changes))
    return None


def _is_there(change: _Change, texts: _Texts) -> bool:
    return any(_with_change(text, change) != text for text in texts.values())


def marks_of(judgement: Judgement) -> set[str]:
    """What people would see next to a result that has passed."""
    figures = {f"{one.text} is in no source" for one in judgement.untraced if one.kind != "name"}
    return figures | {f"weak evidence for {one.label}" for one in judgement.results if one.weak or one.uncounted}


def _texts_of(case: VerificationInput) -> _Texts | None:
    texts: dict[str, str] = {}
    for path in case.judged_files:
        if path not in case.files:  # a file that the step has removed
            continue
        text = text_of(case.files[path]) if path.lower().endswith(_TEXTS) else None
        if text is None:
            return None
        texts[path] = text
    return texts | {OUTPUT: case.output}


def _wrong_figures(case: VerificationInput, texts: _Texts, random: Random) -> list[_Change]:
    """Figures of the sources that the result repeats: each as another figure of the result, or as an invented one."""
    facts = KnownFigures([*case.sources.facts(), *case.sources.given_facts()], days=case.days)
    places: dict[str, tuple[str, int]] = {}
    for name, text in texts.items():
        free = _outside_links(text)
        for figure in trace(text, facts, is_csv=is_csv(name)):
            if figure.status != "traced" or figure.kind != "number" or not free(figure.start):
                continue
            digits = next((number.digits for number in numbers_in(figure.text)), "")
            if len(_value(digits)) >= _MIN_DIGITS:
                places.setdefault(digits, (name, figure.start))
    return [_Change(was, _other_figure(was, list(places), random), at) for was, at in places.items()]


def _other_figure(was: str, known: Sequence[str], random: Random) -> str:
    others = [one for one in known if _value(one) != _value(was)]
    if others and random.random() < 0.5:
        return random.choice(others)
    while _value(other := re.sub(r"\d", lambda _: str(random.randrange(1, 10)), was)) == _value(was):
        pass
    return other


def _value(digits: str) -> str:
    return re.sub(r"\D", "", digits)


def _invented_names(case: VerificationInput, texts: _Texts, random: Random) -> list[_Change]:
    """Names of the sources that the result repeats, each as a name that is nowhere."""
    known = {word for _, text in (*case.sources.facts(), *case.sources.given_facts()) for word in words_of_names(text)}
    invented = [name for name in INVENTED if not words_of_names(name) <= known]
    places: dict[str, tuple[str, int]] = {}
    for name, text in texts.items():
        free = _outside_links(text)
        for one in names_in(text) if not is_csv(name) else ():
            if free(one.start) and words_of_names(one.text) <= known:
                places.setdefault(one.text, (name, one.start))
    return [_Change(was, random.choice(invented), at) for was, at in places.items()] if invented else []


def _irrelevant_quotes(case: VerificationInput, texts: _Texts, random: Random) -> list[_Change]:
    """Citations of given files that quote another line, which says nothing of what is stated."""
    found: list[_Change] = []
    for name, text in texts.items():
        for citation in _CITATION.finditer(text):
            path = citation[2]
            source = text_of(case.inputs.files[path]) if path in case.inputs.files else None
            line = text[text.rfind("\n", 0, citation.start()) + 1 : citation.end()]
            others = list(_unrelated_lines(source or "", line))
            if others:
                number, quote = random.choice(others)
                found.append(_Change(citation[0], f"[“{quote}”]({path}#L{number})", (name, citation.start()), True))
    return found


def _unrelated_lines(source: str, statement: str) -> Iterator[tuple[int, str]]:
    """Lines that share no longer word with a statement, with their numbers."""
    said = _longer_words(statement)
    for number, line in enumerate(source.splitlines(), 1):
        quote = line.strip()[:_MAX_QUOTE].rstrip()
        plain = not re.search(r"[\[\]()“”\"#*|`<>]", quote)
        if plain and len(quote.split()) >= _MIN_WORDS and not _longer_words(quote) & said:
            yield number, quote


def _longer_words(text: str) -> set[str]:
    return {word for word in words_of_names(text) if len(word) >= _MIN_LETTERS}


_PLANTERS: Mapping[FaultKind, Callable[[VerificationInput, _Texts, Random], list[_Change]]] = {
    FaultKind.WRONG_FIGURE: _wrong_figures,
    FaultKind.INVENTED_NAME: _invented_names,
    FaultKind.IRRELEVANT_QUOTE: _irrelevant_quotes,
}


def _outside_links(text: str) -> Callable[[int], bool]:
    """Whether a place is neither in a quote with its source nor in another link."""
    spans = [match.span() for match in _LINK.finditer(text)]
    return lambda place: not any(start <= place < end for start, end in spans)


def _planted(kind: FaultKind, case: VerificationInput, texts: _Texts, change: _Change) -> PlantedResult:
    changed = {name: _with_change(text, change) for name, text in texts.items()}
    output = changed.pop(OUTPUT)
    contents = {name: text.encode() for name, text in changed.items() if text != texts[name]}
    copy = replace(
        case,
        files=_PlantedFiles(case.files, contents),
        output=output,
        notes=_with_change(case.notes, change),
        untraced=(),
        command=None,
    )
    copy = replace(copy, untraced=[*untraced_in(copy), *unknown_names_in(copy)])
    name, start = change.at
    line = texts[name].count("\n", 0, start) + 1
    was, planted = (truncate(_storable(one), MAX_SHOWN) for one in (change.was, change.planted))
    return PlantedResult(kind, copy, was, planted, truncate(_storable(f"{named(name)}, line {line}"), MAX_SHOWN))


def _storable(text: str) -> str:
    """The text without what databases refuse, which models may write."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _with_change(text: str, change: _Change) -> str:
    if change.in_links:
        return text.replace(change.was, change.planted)
    # Not within another number or word, but behind letters of a currency.
    before, after = (r"(?<!\d)(?<!\d[.,])", r"(?!\d|[.,]\d)") if change.was[0].isdigit() else (r"(?<!\w)", r"(?!\w)")
    whole = re.compile(f"{before}{re.escape(change.was)}{after}")
    free = _outside_links(text)
    return whole.sub(lambda match: change.planted if free(match.start()) else match[0], text)


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
