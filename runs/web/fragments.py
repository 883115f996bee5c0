"""What a browser that follows a run is sent: the lines it has not seen, and the regions that they changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.template.loader import render_to_string

from runs.enums import EventKind
from runs.errors import NotAllowed
from runs.models import Event, Run
from runs.permissions import visible_runs
from runs.web.presenters.feed import line
from runs.web.presenters.frame import RunFrame
from runs.web.presenters.gates import Problem
from runs.web.presenters.page import RunPage, run_page

FRAME = "runs/frame.html"
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
TABS: Mapping[str, Mapping[str, frozenset[EventKind]]] = {
    "overview": {
        "gates": _EVERYTHING | {EventKind.GATE_OPENED, EventKind.GATE_DECIDED},
        "result": frozenset({EventKind.FINISHED}),
        "graph": frozenset(EventKind) - _CALLS,
    },
    "plan": {"plan": _EVERYTHING},
    "steps": {"steps": _EVERYTHING},
    "files": {"files": _EVERYTHING | {EventKind.STEP_PASSED, EventKind.STEP_ACCEPTED}},
    "history": {},
    "cost": {"costs": frozenset(EventKind) - {EventKind.TOOL_CALLED}},
}
"""By tab, which of its regions change by which events. A gate in which somebody types changes by gate events only."""
_WHOLE = {"history": ["missed"]}
"""Regions that a browser is sent when it has missed much, where that is more than what events change."""
MAX_LINES = 200
"""Events that are sent at once."""


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


def update(person_id: int | None, run_id: int, tab: str, seen: int) -> Update:
    """What happened after event number `seen`, for a page that shows this tab. Raises NotAllowed."""
    run = followed(person_id, run_id)
    seen = min(seen, run.event_count)
    if run.event_count == seen:
        return Update(seen, "")
    page, above = run_page(run), head(RunFrame(run, tab))
    events = list(run.events.after(seen).filter(seq__lte=run.event_count)[: MAX_LINES + 1])
    if len(events) > MAX_LINES:
        return Update(run.event_count, above + regions(page, tab, _WHOLE.get(tab, TABS[tab])))
    return Update(events[-1].seq, above + _changed(page, tab, events))


def head(frame: RunFrame) -> str:
    """State and controls, and the tabs if it is known which one is open, to be put in place of those on a page."""
    names = ["state", "controls", *(["tabs"] if frame.tab else [])]
    context = {"frame": frame, "oob": True}
    return "".join(render_to_string(f"{FRAME}#{name}", context) for name in names)


def regions(page: RunPage, tab: str, names: Iterable[str], problem: Problem | None = None) -> str:
    """These regions of a tab, to be put in place of those that a browser shows."""
    context = {"page": page, "problem": problem, "oob": True}
    return "".join(render_to_string(f"runs/{tab}.html#{name}", context) for name in names)


def _changed(page: RunPage, tab: str, events: Sequence[Event]) -> str:
    kinds = {event.kind for event in events}
    changed = [name for name, by in TABS[tab].items() if kinds & by]
    if tab == "history":
        lines = [line(event, page.step_names) for event in events]
        return render_to_string("runs/history.html#lines", {"lines": lines, "run": page.run, "oob": True})
    if tab != "steps" or changed:
        return regions(page, tab, changed)
    touched = {str(event.data["step"]) for event in events if event.data.get("step")}
    steps = [step for step in page.steps if step.row.key in touched]
    context = {"page": page, "oob": True}
    return "".join(render_to_string("runs/steps.html#step", {**context, "step": step}) for step in steps)
