"""Regions of a run's tabs by themselves, for pages that were told of a change: rendered once for all who ask."""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404
from django.template.loader import render_to_string

from runs.models import Run, Step
from runs.web.fragments import TABS
from runs.web.presenters.frame import RunFrame
from runs.web.presenters.page import run_page
from runs.web.presenters.step_page import step_of
from runs.web.presenters.step_rows import row_of

_STEP = re.compile(r"step-(?P<step>[0-9]{1,18})(?P<body>-body)?")
MAX_KEPT = 64
"""Regions that are kept; one of a large plan has some ten kilobytes."""


def tab_context(run: Run, tab: str) -> dict[str, Any]:
    """What the template of a tab is given, for the whole of it and for each of its regions."""
    return {"frame": RunFrame(run, tab), "page": run_page(run)}


def part(run: Run, tab: str, name: str) -> str:
    """The region of this name, as of the number of the run's newest event. Raises Http404 where there is none."""
    of_step = _STEP.fullmatch(name) if tab == "steps" else None
    if not of_step and name not in TABS[tab]:
        raise Http404("This tab has no such region.")
    key = (run.pk, run.event_count, tab, name)
    if of_step:
        return _rendered.get(key, lambda: _render_step(run, int(of_step["step"]), body=bool(of_step["body"])))
    return _rendered.get(key, lambda: render_to_string(f"runs/{tab}.html#{name}", tab_context(run, tab)).strip())


def _render_step(run: Run, step_id: int, *, body: bool) -> str:
    """The line of a step, by queries that do not grow with the plan, or what stands below it."""
    if body:
        return render_to_string("runs/steps.html#body", {"step": step_of(run, step_id)}).strip()
    step = Step.objects.filter(plan__run=run, pk=step_id).first()
    if step is None:
        raise Http404("The plan has no such step any more.")
    return render_to_string("runs/steps.html#line", {"row": row_of(step)}).strip()


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
