"""The properties that a task expects of its run, and how each is judged over the JSON report and the texts of files.

A field of `Expected` declares a kind of property, and `_JUDGES` has the function that judges it. Each property has a
name that stays the same from run to run, so that results can be compared, and says what was found.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Self

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema, model_validator

from runs.contracts.base import Contract, StepId
from runs.enums import Outcome, StepStatus
from runs.errors import InvalidInput
from runs.reports.contract import Report
from runs.text.normalisation import Sought
from runs.text.numbers import Number, numbers_in
from runs.text.paths import selected
from runs.text.plural import pluralize
from runs.text.truncate import truncate

MAX_ITEMS = 200
"""Figures, words, patterns or steps in one list."""
MAX_FOUND = 300
"""Characters of what was found."""

_SCALAR = {"type": ["string", "number"]}
_Item = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400), WithJsonSchema(_SCALAR)]
_Items = Annotated[tuple[_Item, ...], Field(max_length=MAX_ITEMS)]
_Count = Annotated[int, Field(ge=0, le=1_000_000)]


class Finder(Protocol):
    """Finds a text in a content: its first character, and what is written there. `is_proof`: whether an occurrence
    proves something. Then a doubtful one does not count; where the absence is what counts, it does.
    """

    def __call__(self, text: str, content: str, *, is_proof: bool) -> tuple[int, str] | None: ...


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _one_or_more(words: type[StrEnum]) -> WithJsonSchema:
    """The schema of a word or a list of them."""
    word = {"enum": [*words]}
    return WithJsonSchema({"anyOf": [word, {"type": "array", "items": word, "minItems": 1}]})


_Statuses = Annotated[tuple[StepStatus, ...], BeforeValidator(_as_list), _one_or_more(StepStatus)]


class Judged(Contract):
    """A property of a run: whether the run has it, and what was found."""

    name: str
    held: bool
    found: str


class Delivered(NamedTuple):
    """What a run has delivered: its report, and the texts of the files that it made. Files without a text are left
    out.
    """

    report: Report
    texts: Mapping[str, str]


class _Several(Contract):
    """Properties of one kind. One that names nothing could not fail, so it is refused."""

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not any(getattr(self, name) not in (None, ()) for name in type(self).model_fields):
            raise ValueError(f"name at least one of {', '.join(type(self).model_fields)}")
        return self


class Occurrences(_Several):
    """What must occur in the answer, in the answer or a file that the run made, or in neither."""

    in_answer: _Items = ()
    anywhere: _Items = ()
    nowhere: _Items = ()


class ExpectedFigures(Occurrences):
    """Figures. `7567`, `7,567` and `7 567` are the same figure; a unit counts if it is given."""

    @model_validator(mode="after")
    def _are_figures(self) -> Self:
        for text in (*self.in_answer, *self.anywhere, *self.nowhere):
            if len(list(numbers_in(text))) != 1:
                raise ValueError(f"“{text}” is not one figure")
        return self


class ExpectedCitations(_Several):
    """Citations that are found in their sources, and those that are not (`broken`) or prove little (`weak`)."""

    at_least: _Count | None = None
    broken_at_most: _Count | None = None
    weak_at_most: _Count | None = None


class ExpectedFiles(_Several):
    """Paths or patterns of files that the run must have made, or must not have made."""

    made: _Items = ()
    not_made: _Items = ()

    @model_validator(mode="after")
    def _are_patterns(self) -> Self:
        for pattern in (*self.made, *self.not_made):
            if problem := problem_with_pattern(pattern):
                raise ValueError(f"“{pattern}” cannot be used: {problem}")
        return self


def problem_with_pattern(pattern: str) -> str:
    """Why files cannot be selected with a pattern; empty if they can."""
    try:
        selected([pattern], [])
    except InvalidInput as error:
        return str(error)
    return ""


class Expected(Contract):
    """The properties of a run that is right. Without `outcome` every outcome is.

    `criteria_met`: how many of the success criteria at least, or all. `steps`: the statuses that a step may end with,
    by its id; a step that the plan does not have has none.
    """

    outcome: Annotated[tuple[Outcome, ...], BeforeValidator(_as_list), _one_or_more(Outcome)] = ()
    criteria_met: Literal["all"] | _Count | None = None
    open_points_at_most: _Count | None = None
    figures: ExpectedFigures | None = None
    words: Occurrences | None = None
    citations: ExpectedCitations | None = None
    files: ExpectedFiles | None = None
    steps: dict[StepId, _Statuses] = Field({}, max_length=MAX_ITEMS)
    cost_usd_at_most: Annotated[Decimal, Field(ge=0, le=1_000_000), WithJsonSchema({"type": "number"})] | None = None
    calls_at_most: _Count | None = None

    def judge(self, delivered: Delivered) -> list[Judged]:
        """Every property, in the order of the fields."""
        return [
            judged.model_copy(update={"found": truncate(judged.found, MAX_FOUND)})
            for field, judge in _JUDGES.items()
            if (wanted := getattr(self, field)) not in (None, (), {})
            for judged in judge(wanted, delivered)
        ]


def _outcome(wanted: Sequence[Outcome], delivered: Delivered) -> Iterator[Judged]:
    report = delivered.report
    found = f"{report.outcome or report.status}"
    reason = report.failure or "; ".join(report.gaps)
    yield Judged(
        name=f"outcome: {' or '.join(wanted)}",
        held=report.outcome in wanted,
        found=f"{found}: {reason}" if reason and report.outcome not in wanted else found,
    )


def _criteria(wanted: Literal["all"] | int, delivered: Delivered) -> Iterator[Judged]:
    results = delivered.report.success_criteria
    unmet = [one.text for one in results if not one.passed]
    met = len(results) - len(unmet)
    held = bool(results) and not unmet if wanted == "all" else met >= wanted
    unmet_words = f"; not met: {'; '.join(f'“{text}”' for text in unmet)}" if unmet else ""
    yield Judged(name=f"criteria met: {wanted}", held=held, found=f"{met} of {len(results)} met{unmet_words}")


def _open_points(wanted: int, delivered: Delivered) -> Iterator[Judged]:
    points = delivered.report.open_points
    found = "; ".join(point.sentence for point in points)
    yield Judged(name=f"open points: at most {wanted}", held=len(points) <= wanted, found=found or "no open point")


def _figures(wanted: ExpectedFigures, delivered: Delivered) -> Iterator[Judged]:
    yield from _occurrences("figure", wanted, delivered, _figure_at)


def _words(wanted: Occurrences, delivered: Delivered) -> Iterator[Judged]:
    yield from _occurrences("words", wanted, delivered, _words_at)


def _occurrences(what: str, wanted: Occurrences, delivered: Delivered, find: Finder) -> Iterator[Judged]:
    answer = [("the answer", delivered.report.judged_answer)]
    everything = [*answer, *delivered.texts.items()]
    for text in wanted.in_answer:
        place = _first_place(text, answer, find, is_proof=True)
        yield Judged(name=f"{what} in the answer: {text}", held=bool(place), found=place or "not in the answer")
    for text in wanted.anywhere:
        place = _first_place(text, everything, find, is_proof=True)
        found = place or f"not in the answer, and not in {pluralize(len(delivered.texts), 'file')}"
        yield Judged(name=f"{what} somewhere: {text}", held=bool(place), found=found)
    for text in wanted.nowhere:
        place = _first_place(text, everything, find, is_proof=False)
        yield Judged(name=f"{what} nowhere: {text}", held=not place, found=place or "does not occur")


def _first_place(text: str, texts: Iterable[tuple[str, str]], find: Finder, *, is_proof: bool) -> str:
    """Where a text occurs first, with what is written there; empty if it does not."""
    for name, content in texts:
        if hit := find(text, content, is_proof=is_proof):
            at, written = hit
            return f"“{written}” in {name}, line {content.count(chr(10), 0, at) + 1}"
    return ""


def _figure_at(text: str, content: str, *, is_proof: bool) -> tuple[int, str] | None:
    """A figure with two readings, such as 1,234, is found by each of them, whatever is to be proven."""
    (wanted,) = numbers_in(text)
    for number in numbers_in(content):
        if _is_same_figure(wanted, number):
            return number.start, content[number.start : number.end]
    return None


def _is_same_figure(wanted: Number, number: Number) -> bool:
    same_unit = not wanted.unit or wanted.unit == number.unit
    return same_unit and not set(wanted.values).isdisjoint(number.values)


def _words_at(text: str, content: str, *, is_proof: bool) -> tuple[int, str] | None:
    found = Sought(content).first(text)
    if found is None or (found.doubt and is_proof):
        return None
    return found.start, content[found.start : found.end]


def _citations(wanted: ExpectedCitations, delivered: Delivered) -> Iterator[Judged]:
    found = delivered.report.citations
    if wanted.at_least is not None:
        words = f"{found.found} found in their sources"
        yield Judged(name=f"citations: at least {wanted.at_least}", held=found.found >= wanted.at_least, found=words)
    if wanted.broken_at_most is not None:
        held = len(found.broken) <= wanted.broken_at_most
        words = "; ".join(found.broken) or "none is broken"
        yield Judged(name=f"broken citations: at most {wanted.broken_at_most}", held=held, found=words)
    if wanted.weak_at_most is not None:
        held = found.weak <= wanted.weak_at_most
        yield Judged(name=f"weak citations: at most {wanted.weak_at_most}", held=held, found=f"{found.weak} weak")


def _files(wanted: ExpectedFiles, delivered: Delivered) -> Iterator[Judged]:
    paths = [file.path for file in delivered.report.files]
    listed = ", ".join(paths) or "no file"
    for pattern in wanted.made:
        matching = _matching(pattern, paths)
        found = ", ".join(matching) or f"the run made {listed}"
        yield Judged(name=f"file made: {pattern}", held=bool(matching), found=found)
    for pattern in wanted.not_made:
        matching = _matching(pattern, paths)
        yield Judged(name=f"file not made: {pattern}", held=not matching, found=", ".join(matching) or "not made")


def _matching(pattern: str, paths: Sequence[str]) -> list[str]:
    """The path that is written exactly so, even if it has brackets, and otherwise those that the pattern selects."""
    return [pattern] if pattern in paths else selected([pattern], paths)


def _steps(wanted: Mapping[str, Sequence[StepStatus]], delivered: Delivered) -> Iterator[Judged]:
    statuses = {step.step_id: step.status for step in delivered.report.steps}
    for step_id, allowed in wanted.items():
        status = statuses.get(step_id)
        found = status or f"there is no such step; there are: {', '.join(statuses) or 'none'}"
        yield Judged(name=f"step {step_id}: {' or '.join(allowed)}", held=status in allowed, found=found)


def _cost(wanted: Decimal, delivered: Delivered) -> Iterator[Judged]:
    totals = delivered.report.totals
    held = not totals.unpriced and Decimal(totals.cost_usd) <= wanted
    unpriced = f", and {pluralize(totals.unpriced, 'call')} without a known price" if totals.unpriced else ""
    yield Judged(name=f"cost: at most ${wanted}", held=held, found=f"${totals.cost_usd}{unpriced}")


def _calls(wanted: int, delivered: Delivered) -> Iterator[Judged]:
    calls = delivered.report.totals.calls
    yield Judged(name=f"calls: at most {wanted}", held=calls <= wanted, found=f"{calls}")


_JUDGES: Mapping[str, Callable[[Any, Delivered], Iterator[Judged]]] = {
    "outcome": _outcome,
    "criteria_met": _criteria,
    "open_points_at_most": _open_points,
    "figures": _figures,
    "words": _words,
    "citations": _citations,
    "files": _files,
    "steps": _steps,
    "cost_usd_at_most": _cost,
    "calls_at_most": _calls,
}
"""By the field of `Expected`, in the same order."""
