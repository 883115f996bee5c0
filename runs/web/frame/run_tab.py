"""A tab of the page of a run: what it shows, and which events change which region of it.

A browser that shows a tab replaces a region when an event has changed it. A region is a partial of the very template of
the tab, so that page and region cannot differ.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone

from runs.enums import EventKind
from runs.models import Run
from runs.web.frame.run_frame import FRAME, RunFrame
from runs.web.site.requests import NOTHING_OFFERED, RunRights, rights_in

EVERYTHING = frozenset(
    {
        EventKind.PLAN_PROPOSED,
        EventKind.PLAN_APPROVED,
        EventKind.REPLANNING,
        EventKind.NOTHING_NEW,
        EventKind.FINISHED,
    }
)
"""Events after which most of a run looks different."""
GATE_EVENTS = frozenset(
    {
        EventKind.GATE_OPENED,
        EventKind.GATE_DECIDED,
        EventKind.GATE_WITHDRAWN,
        EventKind.GATE_ASSIGNED,
        EventKind.GATE_OVERDUE,
    }
)
STEP_ENDS = frozenset(
    {EventKind.STEP_PASSED, EventKind.STEP_ACCEPTED, EventKind.STEP_NOT_APPLICABLE, EventKind.STEP_FAILED}
)
CALLS = frozenset({EventKind.MODEL_CALLED, EventKind.TOOL_CALLED})
CONTROLS = "controls"
"""The buttons of the header, which are not the same for everyone: pages fetch them like a region."""
MAX_QUERY_CHARS = 200
"""Characters that are read of each parameter of an address."""
MAX_KEPT = 64
"""Rendered regions in memory; one of a large plan has about ten kilobytes."""

type Detail = Callable[[Run, re.Match[str]], str]
"""Renders a detail of a tab. Raises Http404 if the run has none of this name."""


@dataclass(frozen=True)
class RunTab:
    """One tab.

    `template` has a partial for each region. `read` returns what it shows as `page`, for these parameters of the
    address; it raises Http404 for what is not there. `query`: the parameters that it understands; `page_query`: those
    that change nothing inside a region. `regions`: by name, the events that change each. `partials`: the names of
    partials where they differ from those of the regions. `details`: parts inside a region that change by themselves,
    by a pattern of their names.

    Templates send no queries. `shown_in`: by region, a function that reads what the region shows; needed if the page
    reads lazily. `regions_of`: the regions that the whole tab shows, if it does not show all of them.
    """

    name: str
    template: str
    read: Callable[[Run, Mapping[str, str]], object]
    regions: Mapping[str, frozenset[EventKind]]
    query: tuple[str, ...] = ()
    page_query: tuple[str, ...] = ()
    shown_in: Mapping[str, Callable[[Any], object]] = field(default_factory=dict)
    regions_of: Callable[[Any], Iterable[str]] | None = None
    partials: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[re.Pattern[str], Detail] = field(default_factory=dict)

    def answer(self, request: HttpRequest, run: Run, **more: object) -> HttpResponse:
        """The whole tab, with `more` in its context; with `?part=` one of its regions, for an open page."""
        query = request.GET.dict()
        rights = rights_in(request, run)
        if (name := query.get("part")) is not None:
            return HttpResponse(self.part(run, name, query, rights))
        page = self.read(run, _chosen(query, (*self.query, *self.page_query)))
        return render(request, self.template, self.context(run, page, rights) | more)

    def context(self, run: Run, page: object, rights: RunRights) -> dict[str, Any]:
        """The context of the template for the whole tab."""
        self._read_for(page, self.regions_of(page) if self.regions_of else self.regions)
        return {"frame": RunFrame(run, self.name, rights=rights).read_header(), "page": page}

    def context_of(
        self, region: str, run: Run, query: Mapping[str, str], rights: RunRights = NOTHING_OFFERED
    ) -> dict[str, Any]:
        """The context of the template for one region, without the header."""
        page = self.read(run, _chosen(query, self.query))
        self._read_for(page, [region])
        return {"frame": RunFrame(run, self.name, rights=rights), "page": page}

    def _read_for(self, page: object, regions: Iterable[str]) -> None:
        for name in regions:
            if name in self.shown_in:
                self.shown_in[name](page)

    def part(self, run: Run, name: str, query: Mapping[str, str], rights: RunRights) -> str:
        """The region, detail or controls of this name, rendered once for all who ask in the same time zone and have the
        same rights. Raises Http404 if there is none.
        """
        # Events are numbered: with the number of the newest one in the key, an entry never becomes outdated. The time
        # tells runs apart whose numbers are used again, as after a backup was restored.
        zone = timezone.get_current_timezone_name()
        key = (
            run.pk,
            run.created_at,
            run.event_count,
            self.name,
            name,
            zone,
            rights,
            *_chosen(query, self.query).items(),
        )
        if name == CONTROLS:
            frame = RunFrame(run, self.name, rights=rights)
            return _rendered.get(key, lambda: render_to_string(f"{FRAME}#{CONTROLS}", {"frame": frame}).strip())
        for pattern, detail in self.details.items():
            if found := pattern.fullmatch(name):
                return _rendered.get(key, partial(detail, run, found))
        if name not in self.regions:
            raise Http404("This tab has no such region.")
        template = f"{self.template}#{self.partials.get(name, name)}"
        return _rendered.get(key, lambda: render_to_string(template, self.context_of(name, run, query, rights)).strip())

    def replaced(self, page: object, names: Iterable[str], **context: object) -> str:
        """These regions of `page`, marked to replace those that a browser shows."""
        context = {"page": page, "oob": True, **context}
        regions = list(names)
        self._read_for(page, regions)
        return "".join(render_to_string(f"{self.template}#{name}", context) for name in regions)


def _chosen(query: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: query[name][:MAX_QUERY_CHARS] for name in names if name in query}


@dataclass
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    text: str | None = None


class _Rendered:
    """The most recently used texts. If a text is being rendered, other threads wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[object, _Entry] = OrderedDict()

    def get(self, key: object, render: Callable[[], str]) -> str:
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            if len(self._entries) > MAX_KEPT:
                self._entries.popitem(last=False)
        # Rendered outside of the first lock: a slow region delays only those who want the same one.
        with entry.lock:
            if entry.text is None:
                entry.text = render()
            return entry.text


_rendered = _Rendered()
