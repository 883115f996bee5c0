"""Regions of a run's tabs by themselves, for pages that were told of a change: rendered once for all who ask."""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404
from django.template.loader import render_to_string

from runs.models import Run, Step
from runs.web.files.file_list import files_page
from runs.web.history.call_rows import calls_of
from runs.web.history.presenter import history_page
from runs.web.plan_editor.plan_page import plan_page
from runs.web.run.fragments import TABS, TEMPLATES
from runs.web.run.frame import RunFrame
from runs.web.run.overview import run_page
from runs.web.steps.presenter import step_of
from runs.web.steps.step_rows import row_of

_CALLS = re.compile(r"calls-(?P<work>[0-9]{1,18})")
_STEP = re.compile(r"step-(?P<step>[0-9]{1,18})(?P<body>-body)?")
MAX_KEPT = 64
"""Regions that are kept; one of a large plan has some ten kilobytes."""


MAX_ASKED = 200
"""Characters that are read of each thing an address asks for."""
_ASKED: Mapping[str, tuple[str, ...]] = {
    "plan": ("version", "against"),
    "files": ("to", "from", "path", "made", "given"),
    "history": ("show", "step", "person", "q", "before", "after", "event", "open"),
}
"""By tab, what of the query of its address says what is shown."""


def asked_in(tab: str, query: Mapping[str, str]) -> dict[str, str]:
    """What an address of this tab asks for, and nothing else that may stand in it."""
    return {name: query[name][:MAX_ASKED] for name in _ASKED.get(tab, ()) if name in query}


def tab_context(run: Run, tab: str, asked: Mapping[str, str]) -> dict[str, Any]:
    """What the template of a tab is given, for the whole of it and for each of its regions. Raises Http404 for what is
    not there.
    """
    page: object
    match tab:
        case "plan":
            page = plan_page(run, asked)
        case "files":
            page = files_page(run, asked)
        case "history":
            page = history_page(run, asked)
        case _:
            page = run_page(run)
    return {"frame": RunFrame(run, tab), "page": page}


def part(run: Run, tab: str, name: str, query: Mapping[str, str]) -> str:
    """The region of this name, as of the number of the run's newest event. Raises Http404 where there is none."""
    asked = asked_in(tab, query)
    key = (run.pk, run.event_count, tab, name, *asked.items())
    if tab == "steps" and (of_step := _STEP.fullmatch(name)):
        return _rendered.get(key, lambda: _render_step(run, int(of_step["step"]), body=bool(of_step["body"])))
    if tab == "history" and (of_work := _CALLS.fullmatch(name)):
        return _rendered.get(key, lambda: _render_calls(run, int(of_work["work"])))
    if name not in TABS[tab]:
        raise Http404("This tab has no such region.")
    template = f"{TEMPLATES[tab]}#{'tree' if name == 'lines' else name}"
    return _rendered.get(key, lambda: render_to_string(template, tab_context(run, tab, asked)).strip())


def _render_calls(run: Run, work: int) -> str:
    """The calls of a fold that is open."""
    calls = calls_of(run, work)
    if calls is None:
        raise Http404("This run has no such work.")
    return render_to_string("history/history.html#calls", {"calls": calls}).strip()


def _render_step(run: Run, step_id: int, *, body: bool) -> str:
    """The line of a step, by queries that do not grow with the plan, or what stands below it."""
    if body:
        return render_to_string("steps/steps.html#body", {"step": step_of(run, step_id)}).strip()
    step = Step.objects.filter(plan__run=run, pk=step_id).first()
    if step is None:
        raise Http404("The plan has no such step any more.")
    return render_to_string("steps/steps.html#line", {"row": row_of(step)}).strip()


@dataclass
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    text: str | None = None


class _Rendered:
    """The texts that were asked for last. Who asks for one while it is rendered waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[object, _Entry] = OrderedDict()

    def get(self, key: object, render: Callable[[], str]) -> str:
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            if len(self._entries) > MAX_KEPT:
                self._entries.popitem(last=False)
        with entry.lock:
            if entry.text is None:
                entry.text = render()
            return entry.text


_rendered = _Rendered()
