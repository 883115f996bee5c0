"""The messages to subscribers of a tab of a run: small parts of its page as they are now, and names of larger ones.

The larger ones are fetched by the pages that show them (`runs/web/frame/run_tab.py`). Nothing here depends on who
looks, and what it reads does not grow with the plan: the newest events, the steps that they name, and sums that the
database makes.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q
from django.template.loader import render_to_string

from runs.enums import EventKind, StepStatus
from runs.models import Event, Gate, Run, Step
from runs.readmodel.status_words import step_mark, words
from runs.web.files.file_list import FILES
from runs.web.frame.run_frame import FRAME, RunFrame
from runs.web.frame.run_tab import CONTROLS, EVERYTHING, RunTab
from runs.web.history.history_page import HISTORY
from runs.web.history.history_rows import sums_with
from runs.web.plan_editor.plan_page import PLAN
from runs.web.run.overview import COST, OVERVIEW, STEPS

TABS: Mapping[str, RunTab] = {tab.name: tab for tab in (OVERVIEW, PLAN, STEPS, FILES, HISTORY, COST)}


_CONTROLLING = frozenset({EventKind.PAUSED, EventKind.RESUMED, EventKind.FINISHED})
"""The events that change the controls, which each page fetches for its person."""
MAX_LINES = 200
"""Events that are sent one by one. A page that has missed more gets a message that everything has changed."""


class Part(NamedTuple):
    """A small part of a page. Two with the same `key` look the same, though a clock in it may have gone on."""

    key: object
    text: str


type Shown = Mapping[str, Part]
"""The small parts that a page shows, by their names: what has not changed is not sent again."""


@dataclass(frozen=True)
class News:
    """`text` is the message; `shown` what a page shows that has had it. Empty for nothing to tell. `since`: when the
    first of the events happened that it tells of.
    """

    seq: int
    text: str
    shown: Shown = field(default_factory=dict)
    since: datetime | None = None


def news(run: Run, tab: str, seen: int, shown: Shown) -> News:
    """What happened since event number `seen`, for pages of this tab that show `shown` of the small parts."""
    frame = RunFrame(run, tab)
    events = list(run.events.after(seen).filter(seq__lte=run.event_count)[: MAX_LINES + 1])
    kinds = {event.kind for event in events}
    only_calls = kinds <= _BY_CALLS.keys()
    names = {name for kind in kinds for name in _BY_CALLS[kind]} if only_calls else None
    small = {**shown, **small_parts(frame, names if shown and len(events) <= MAX_LINES else None)}
    new = {name: part.text for name, part in small.items() if name not in shown or shown[name].key != part.key}
    message: dict[str, object] = {name: new.pop(name) for name in ("title", "icon") if name in new}
    content = list(new.values())
    if tab:
        touched = _steps_named_by(run, events) if tab == "steps" or not only_calls else {}
        changed = _changed_regions(tab, events, touched)
        if touched:
            statuses = {str(step.pk): step_mark(step.status, asked) for step, asked in touched.items()}
            message |= {"steps": statuses, "words": {status: words(status) for status in set(statuses.values())}}
        if tab == "history" and "tree" not in changed:
            for calls in sums_with(run, events):
                changed.append(f"calls-{calls.work}")
                content.append(render_to_string("history/history.html#sum", {"folded": calls, "oob": True}).strip())
        if changed:
            message["changed"] = changed
    if content:
        message["content"] = "".join(content)
    if not tab and not message:
        return News(run.event_count, "", small)
    text = json.dumps({"seq": run.event_count, **message}, ensure_ascii=False, separators=(",", ":"))
    return News(run.event_count, text, small, events[0].at if events else None)


def small_parts(frame: RunFrame, names: Collection[str] | None = None) -> Shown:
    """Title, icon and the pieces of the header as they are now, or those of these names."""
    made = {**_HEAD, **(_PIECES if frame.tab else {})}
    return {name: make(frame) for name, make in made.items() if names is None or name in names}


def _part_of_text(text: str) -> Part:
    return Part(text, text)


def _clocks(frame: RunFrame) -> Part:
    clocks = frame.clocks
    # Only the clock that stands still is compared: the other one goes on in the browser by itself.
    key = (clocks.working, clocks.waited if clocks.working else clocks.worked)
    return Part(key, _render("clocks", frame=frame))


def _header_piece(name: str) -> Callable[[RunFrame], Part]:
    return lambda frame: _part_of_text(_render(name, frame=frame))


def _tab_count(tab: str) -> Callable[[RunFrame], Part]:
    return lambda frame: _part_of_text(_render("count", tab=frame.tab_called(tab)))


_HEAD: Mapping[str, Callable[[RunFrame], Part]] = {
    "title": lambda frame: _part_of_text(frame.title),
    "icon": lambda frame: _part_of_text(frame.icon),
}
_PIECES: Mapping[str, Callable[[RunFrame], Part]] = {
    "clocks": _clocks,
    **{name: _header_piece(name) for name in ("now", "progress", "spent", "ended")},
    **{f"count-{tab}": _tab_count(tab) for tab in TABS},
}
_BY_CALLS: Mapping[str, Collection[str]] = {
    EventKind.MODEL_CALLED: {"spent", "count-cost", "count-history"},
    EventKind.TOOL_CALLED: {"count-history"},
}
"""What calls change of the small parts. Nearly all events are calls, so that the rest is not read again for them."""


def _render(part: str, **context: object) -> str:
    return render_to_string(f"{FRAME}#{part}", {**context, "oob": True}).strip()


_QUESTIONS = frozenset({EventKind.GATE_OPENED, EventKind.GATE_DECIDED, EventKind.GATE_WITHDRAWN})


def _steps_named_by(run: Run, events: Sequence[Event]) -> dict[Step, bool]:
    """The steps of the newest version of the plan that these events are about, and whether each waits for an answer."""
    keys = {str(event.data["step"]) for event in events if event.data.get("step")}
    newest = run.plans.order_by("-version").values("pk")[:1]
    which = Q(key__in=keys)
    if any(event.kind in _QUESTIONS for event in events):  # it may be about all of the run
        which |= Q(status=StepStatus.RUNNING)
    elif not keys:
        return {}
    named = Step.objects.filter(which, plan__in=newest).only("key", "status", "plan")
    asked = Exists(Gate.objects.open().holding(OuterRef("pk"), OuterRef("plan")))
    return {step: step.asked for step in named.annotate(asked=asked)}  # type: ignore[attr-defined]  # the annotation


def _changed_regions(tab: str, events: Sequence[Event], touched: Iterable[Step]) -> list[str]:
    """The names of the regions of this tab that have changed."""
    kinds = {event.kind for event in events}
    if len(events) > MAX_LINES:
        return [CONTROLS, *TABS[tab].regions]
    names = [CONTROLS] if kinds & _CONTROLLING else []
    names += [name for name, by in TABS[tab].regions.items() if kinds & by]
    if tab == "steps" and not kinds & EVERYTHING:
        names += [f"step-{step.pk}" for step in touched]
    return names
