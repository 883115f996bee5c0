"""What a new version of a plan changes, in the few words of one line: what is gone or asks for less stands first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runs.readmodel.plan_differences import Comparison, CriterionChange, Kind, StepChange
from runs.text.diff import TextChange
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted, truncate

MAX_NAMED = 3
"""Steps of one kind, and parts of one step, that are named; the others are counted."""
_NAME = 60
_QUOTE = 90
_KINDS: tuple[Kind, ...] = ("removed", "changed", "added", "moved")


@dataclass(frozen=True)
class News:
    """Such as “1 step removed: Draft the notices”. `less`: whether less is asked for than before."""

    words: str
    less: bool = False


def news_of(changes: Comparison) -> list[News]:
    """A part for each kind of change, never empty: that nothing changed is news for who asked for changes."""
    if changes.only_noted:
        return [News("No step or criterion changed")]
    found = [
        News(_of_steps(kind, steps, first=not place), any(step.less for step in steps))
        for place, (kind, steps) in enumerate(_by_kind(changes))
    ]
    if changes.criteria:
        words = ", ".join(_of_criteria(changes.criteria, "success criterion", "success criteria"))
        found.append(News(words, any(one.relaxed for one in changes.criteria)))
    named = [one for one in changes.whole if not one.what.startswith("context ")]
    return [*found, *(News(f"{_of_text(one)} changed") for one in named)]


def _by_kind(changes: Comparison) -> Iterator[tuple[Kind, Sequence[StepChange]]]:
    for kind in _KINDS:
        if steps := [step for step in changes.steps if step.kind == kind]:
            yield kind, steps


def _of_steps(kind: Kind, steps: Sequence[StepChange], *, first: bool) -> str:
    count = pluralize(len(steps), "step") if first else str(len(steps))
    return f"{count} {kind}: {_listed([_named(step) for step in steps])}"


def _named(step: StepChange) -> str:
    name = truncate(step.name, _NAME)
    if step.kind != "changed":
        return name
    parts = [*_of_criteria(step.criteria, "criterion", "criteria"), *map(_of_text, step.changes)]
    return f"{name} ({_listed(parts)})" if parts else name


def _of_criteria(criteria: Sequence[CriterionChange], one: str, more: str) -> Iterator[str]:
    """What asks for less first."""
    weaker = [its for its in criteria if its.kind == "changed" and its.relaxed]
    counted = (
        (sum(its.kind == "removed" for its in criteria), "removed"),
        (len(weaker), word_for(len(weaker), "asks for less", "ask for less")),
        (sum(its.kind == "changed" for its in criteria) - len(weaker), "changed"),
        (sum(its.kind == "added" for its in criteria), "added"),
    )
    yield from (f"{pluralize(count, one, more)} {what}" for count, what in counted if count)


def _of_text(change: TextChange) -> str:
    """Its name, with the words that are new or gone where it is only those."""
    pieces = [piece for piece in change.pieces if piece.kind != "same"]
    if len(pieces) != 1 or len(change.pieces) == 1:
        return change.what
    return f"{change.what} {'+' if pieces[0].kind == 'added' else '−'} {quoted(pieces[0].text.strip(), _QUOTE)}"


def _listed(words: Sequence[str]) -> str:
    more = len(words) - MAX_NAMED
    return f"{', '.join(words[:MAX_NAMED])}{f' and {more} more' if more > 0 else ''}"
