"""What a browser that follows a run is sent: the lines it has not seen, and the regions that they changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.template.loader import render_to_string

from runs.enums import EventKind
from runs.errors import NotAllowed
from runs.models import Event, Run
from runs.permissions import visible_runs
from runs.web.presenters.feed import SHOWN, feed
from runs.web.presenters.gates import Problem
from runs.web.presenters.page import RunPage, run_page

PAGE = "runs/run.html"
_EVERYTHING = frozenset(
    {
        EventKind.PLAN_PROPOSED,
        EventKind.PLAN_APPROVED,
        EventKind.REPLANNING,
        EventKind.NOTHING_NEW,
        EventKind.FINISHED,
    }
)
_CALLS = frozenset({EventKind.MODEL_CALLED, EventKind.TOOL_CALLED})
_REGIONS = {
    "gates": _EVERYTHING | {EventKind.GATE_OPENED, EventKind.GATE_DECIDED},
    "result": frozenset({EventKind.FINISHED}),
    "plan": frozenset(EventKind) - _CALLS,
    "costs": frozenset(EventKind) - {EventKind.TOOL_CALLED},
    "files": _EVERYTHING | {EventKind.STEP_PASSED, EventKind.STEP_ACCEPTED},
}
"""Which region of the page changes by which events. A gate in which somebody types changes by gate events only."""


@dataclass(frozen=True)
class Update:
    """`seq` is the number of the newest event in it; `content` is empty when there is nothing new."""

    seq: int
    content: str


def followed(person_id: int | None, run_id: int) -> Run:
    """The run, read and permitted now. Raises NotAllowed for anyone who may not see it, or not any more."""
    person = get_user_model().objects.filter(pk=person_id or 0, is_active=True).first()
    run = visible_runs(person).select_related("owner", "inputs", "head").filter(pk=run_id).first() if person else None
    if run is None:
        raise NotAllowed("You may not follow this run.")
    return run


def update(person_id: int | None, run_id: int, seen: int) -> Update:
    """What happened after event number `seen`. Raises NotAllowed."""
    run = followed(person_id, run_id)
    seen = min(seen, run.event_count)
    if run.event_count == seen:
        return Update(seen, "")
    page = run_page(run)
    events = list(run.events.after(seen).filter(seq__lte=run.event_count)[: SHOWN + 1])
    if len(events) > SHOWN:
        return Update(page.feed.last, _rendered(page, ["head", *_REGIONS, "steps", "feed"]))
    return Update(events[-1].seq, _lines(page, events) + _changed(page, events))


def regions(page: RunPage, names: Iterable[str], problem: Problem | None = None) -> str:
    """These regions of the page, to be put in place of those that a browser shows."""
    return _rendered(page, names, problem)


def _lines(page: RunPage, events: Sequence[Event]) -> str:
    return render_to_string(f"{PAGE}#lines", {"lines": feed(events, page.step_names).lines, "oob": True})


def _changed(page: RunPage, events: Sequence[Event]) -> str:
    kinds = {event.kind for event in events}
    names = ["head", *(name for name, by in _REGIONS.items() if kinds & by)]
    if kinds & _EVERYTHING:
        return _rendered(page, [*names, "steps"])
    touched = {str(event.data["step"]) for event in events if event.data.get("step")}
    steps = [step for step in page.steps if step.row.key in touched]
    return _rendered(page, names) + "".join(
        render_to_string(f"{PAGE}#step", {"page": page, "step": step, "oob": True}) for step in steps
    )


def _rendered(page: RunPage, names: Iterable[str], problem: Problem | None = None) -> str:
    context = {"page": page, "problem": problem, "oob": True}
    return "".join(render_to_string(f"{PAGE}#{name}", context) for name in names)
