"""Regions of a run's tabs by themselves, for pages that were told of a change: rendered once for all who ask."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404
from django.template.loader import render_to_string

from runs.models import Run
from runs.web.fragments import TABS
from runs.web.presenters.frame import RunFrame
from runs.web.presenters.page import run_page

MAX_KEPT = 64
"""Regions that are kept; one of a large plan has some ten kilobytes."""


def tab_context(run: Run, tab: str) -> dict[str, Any]:
    """What the template of a tab is given, for the whole of it and for each of its regions."""
    return {"frame": RunFrame(run, tab), "page": run_page(run)}


def part(run: Run, tab: str, name: str) -> str:
    """The region of this name, as of the number of the run's newest event. Raises Http404 where there is none."""
    key, step = (name, "") if name in TABS[tab] else name.rsplit("-", 1) if name.startswith("step-") else ("", "")
    if not key or (step and tab != "steps"):
        raise Http404("This tab has no such region.")
    return _rendered.get((run.pk, run.event_count, tab, name), lambda: _render(run, tab, key, step))


def _render(run: Run, tab: str, name: str, step: str) -> str:
    context = tab_context(run, tab)
    if step:
        context["step"] = next((each for each in context["page"].steps if str(each.row.pk) == step), None)
        if context["step"] is None:
            raise Http404("The plan has no such step any more.")
    return render_to_string(f"runs/{tab}.html#{name}", context).strip()


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
