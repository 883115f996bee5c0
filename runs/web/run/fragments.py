"""The regions of a run's tabs: which events change each, and each by itself, to be put in place of the one shown."""

from collections.abc import Iterable, Mapping

from django.template.loader import render_to_string

from runs.enums import EventKind
from runs.web.gates.presenter import Problem
from runs.web.run.frame import RunFrame
from runs.web.run.overview import RunPage

FRAME = "run/frame.html"
EVERYTHING = frozenset(
    {
        EventKind.PLAN_PROPOSED,
        EventKind.PLAN_APPROVED,
        EventKind.REPLANNING,
        EventKind.NOTHING_NEW,
        EventKind.FINISHED,
    }
)
_CALLS = frozenset({EventKind.MODEL_CALLED, EventKind.TOOL_CALLED})
_ANSWERS = frozenset({EventKind.GATE_OPENED, EventKind.GATE_DECIDED, EventKind.GATE_WITHDRAWN})
_ENDS = frozenset(
    {EventKind.STEP_PASSED, EventKind.STEP_ACCEPTED, EventKind.STEP_NOT_APPLICABLE, EventKind.STEP_FAILED}
)
TABS: Mapping[str, Mapping[str, frozenset[EventKind]]] = {
    "overview": {
        "unread": _ANSWERS | {EventKind.DOCUMENTS_READ},
        "gates": EVERYTHING | _ANSWERS,
        "result": frozenset({EventKind.FINISHED}),
        "graph": EVERYTHING,
        "timeline": frozenset(EventKind) - _CALLS,
        "table": frozenset(EventKind) - _CALLS,
    },
    "plan": {"plan": EVERYTHING | _ANSWERS | _ENDS | {EventKind.ATTEMPT_REUSED, EventKind.VERDICT}},
    "steps": {"steps": EVERYTHING},
    "files": {"files": EVERYTHING | _ENDS},
    "history": {
        "tree": frozenset(EventKind) - _CALLS,
        "lines": frozenset(EventKind),
        "filter": EVERYTHING | _ANSWERS,
    },
    "cost": {"costs": frozenset(EventKind) - {EventKind.TOOL_CALLED}},
}
"""By tab, which of its regions change by which events. A gate in which somebody types changes by gate events only.

A history that shows calls as `lines` changes with each; in its `tree` their sums are a small part of their own.
"""

TEMPLATES: Mapping[str, str] = {
    "overview": "run/overview.html",
    "plan": "plan_editor/plan.html",
    "steps": "steps/steps.html",
    "files": "files/files.html",
    "history": "history/history.html",
    "cost": "run/cost.html",
}
"""By tab, the template with its regions."""


def head(frame: RunFrame) -> str:
    """State and controls, and the tabs if it is known which one is open, to be put in place of those on a page."""
    names = ["state", "controls", *(["tabs"] if frame.tab else [])]
    context = {"frame": frame, "oob": True}
    return "".join(render_to_string(f"{FRAME}#{name}", context) for name in names)


def regions(page: RunPage, tab: str, names: Iterable[str], problem: Problem | None = None) -> str:
    """These regions of a tab, to be put in place of those that a browser shows."""
    context = {"page": page, "problem": problem, "oob": True}
    return "".join(render_to_string(f"{TEMPLATES[tab]}#{name}", context) for name in names)
