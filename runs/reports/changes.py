"""What a version of the plan changed, in short, for the annex of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runs.contracts.feedback import Comment
from runs.documents.printing.blocks import Block, Items, Paragraph, Span, Spans, said, span, spans
from runs.readmodel.plan_differences import CriterionChange, StepChange
from runs.readmodel.plan_view import PlanReading
from runs.reports import parts
from runs.text.diff import TextChange
from runs.text.normalisation import one_spaced
from runs.text.truncate import cut_after

MAX_CHANGES = 40
"""Steps and criteria of one version that are told; the JSON report has all."""
MAX_TEXT = 240
"""Characters of a text before or after a change."""


def account(plan: PlanReading) -> tuple[Block, ...]:
    """Who changed what against the version before, each change with the requests that led to it."""
    changes = plan.changes
    if changes is None:
        return ()
    by = f"edited by {plan.row.author}" if plan.row.author else "by the planner"
    whole = _requests(changes.comments)
    lead = said(f"Against version {changes.before}, {by}: {changes.summary}", *whole, ".", tone="muted")
    rows = [(Paragraph(_step(one)), *parts.listed(_details(one))) for one in changes.steps]
    rows += [(Paragraph(spans(_criterion(one, "Success criterion"))),) for one in changes.criteria]
    rows += [(said(_text(one)),) for one in changes.whole]
    more = len(rows) - MAX_CHANGES
    rows = [*rows[:MAX_CHANGES], *([(said(f"and {more:,} more, which stand in the JSON report"),)] if more > 0 else [])]
    return (lead, Items(tuple(rows))) if rows else (lead,)


def _step(one: StepChange) -> Spans:
    less = ", asks for less" if one.less and one.kind != "removed" else ""
    moved = f", was step {one.was}" if one.was not in {0, one.number} and one.kind != "removed" else ""
    return spans(
        f"Step {one.number} ", span(one.name, strong=True), f": {one.kind}{moved}{less}", *_requests(one.comments)
    )


def _details(one: StepChange) -> Iterator[str]:
    """Of a removed step only its name is told: nothing of it is left."""
    if one.kind != "removed":
        yield from map(_text, one.changes)
        yield from (_criterion(criterion, "Criterion") for criterion in one.criteria)


def _criterion(one: CriterionChange, what: str) -> str:
    less = ", asks for less" if one.relaxed else ""
    changed = "; ".join(map(_text, one.changes)) if one.kind == "changed" else ""
    told = changed or f"“{_short(one.text)}”"
    return f"{what} {one.number} {one.kind}{less}: {told}"


def _text(one: TextChange) -> str:
    before, after = _short(one.before), _short(one.after)
    if before and after:
        return f"{one.what}: “{before}” became “{after}”"
    return f"{one.what}: “{after}” is new" if after else f"{one.what}: “{before}” is gone"


def _short(text: str) -> str:
    """Its first characters on one line."""
    return cut_after(one_spaced(text), MAX_TEXT)


def _requests(comments: Iterable[Comment]) -> list[str | Span]:
    """They stand with what became of them; here they are named."""
    numbers = [one.request for one in comments if one.request]
    found: list[str | Span] = []
    for number in numbers:
        found += [", after " if not found else ", ", span(f"request R{number}", to="#requests")]
    return found
