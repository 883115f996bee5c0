"""The page of status, for administrators: findings, processes and their work, and what can be done with them."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import django
from django import forms
from django.contrib import messages
from django.db.models import Count, Max, Min, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from pevsite.installation import version
from runs.engine import claim, process_registry
from runs.engine.claim import due
from runs.engine.process_registry import SILENT_AFTER
from runs.enums import WorkKind, WorkStatus
from runs.errors import InvalidInput
from runs.logs import about
from runs.models import LeaderLock, ModelCall, Process, WorkItem, clock
from runs.web.operations.setup_findings import Finding, findings
from runs.web.site.posted_fields import PostedForm, verbs
from runs.web.site.requests import about_request, administrators_only

log = logging.getLogger(__name__)
SHOWN = 50
"""Pieces of work in a list. The others are counted."""
_LATEST = 10_000
"""Calls that are searched for errors. More of a large journal is not read."""
_GONE = "This has changed in the meantime. Look at the current state."


class StatusVerb(StrEnum):
    """`drain`: a process takes no new work; `retry`: work does not wait for its time; `release`: another process
    takes work over.
    """

    DRAIN = "drain"
    RESUME = "resume"
    RETRY = "retry"
    RELEASE = "release"


class StatusForm(PostedForm):
    """`of`: the row of the process or of the work."""

    verb = verbs(StatusVerb)
    of = forms.IntegerField(min_value=1, max_value=2**63 - 1, error_messages={"required": "Choose one of the buttons."})


@dataclass(frozen=True)
class ProcessRow:
    row: Process
    work: tuple[WorkItem, ...]
    is_silent: bool

    @property
    def kind(self) -> str:
        if not self.row.threads:
            return "serves"
        return f"{'serves and ' * self.row.serves}works on {self.row.threads} at once"


@dataclass(frozen=True)
class Trouble:
    """Calls of one model by one role that gave no answer: how many recently, and the last one."""

    role: str
    model: str
    count: int
    last_at: datetime
    error: str


class StatusPage:
    """Read by a number of queries that does not depend on how much there is."""

    def __init__(self) -> None:
        self.now = timezone.now()
        self.findings: list[Finding] = sorted(findings(), key=lambda finding: not finding.is_wrong)
        """Problems first."""
        held: dict[str, list[WorkItem]] = {}
        for item in _work().filter(status=WorkStatus.LEASED).order_by("lease_until")[: 10 * SHOWN]:
            held.setdefault(item.lease_owner, []).append(item)
        processes = [
            ProcessRow(row, tuple(held.get(row.owner, ())), is_silent=row.seen_at < self.now - SILENT_AFTER)
            for row in Process.objects.order_by("-seen_at")[:SHOWN]
        ]
        self.processes = sorted(processes, key=lambda one: (one.is_silent, one.row.started_at))
        """With the work that they hold. Those that were seen recently come first."""
        listed = {one.row.owner for one in self.processes}
        self.orphans = [item for owner, items in held.items() if owner not in listed for item in items]
        """Work held by no listed process: by a command, or by a process that was forgotten."""
        self.waiting = list(_work().filter(status=WorkStatus.READY).order_by("due_at")[:SHOWN])
        self.counts = _counts()
        self.duties = [
            (duty.name, duty.owner.rpartition("/")[0], duty.until >= self.now)
            for duty in LeaderLock.objects.order_by("name")
        ]
        """What one process at a time does, which process did it last, and whether it still does."""
        self.troubles = _troubles()

    @property
    def versions(self) -> str:
        python = ".".join(map(str, sys.version_info[:3]))
        return f"pevsite {version()}, Python {python}, Django {django.get_version()}"


def _counts() -> dict[str, object]:
    ready = Q(status=WorkStatus.READY)
    open_work = WorkItem.objects.filter(status__in=[WorkStatus.READY, WorkStatus.LEASED, WorkStatus.SUSPENDED])
    return open_work.aggregate(
        due=Count("pk", filter=due()),
        later=Count("pk", filter=ready & Q(due_at__gt=clock.now())),
        leased=Count("pk", filter=Q(status=WorkStatus.LEASED)),
        suspended=Count("pk", filter=Q(status=WorkStatus.SUSPENDED)),
        oldest=Min("due_at", filter=ready & due()),
    )


def _troubles() -> list[Trouble]:
    """The most recent ones first."""
    newest = ModelCall.objects.aggregate(newest=Max("pk"))["newest"] or 0
    failed = ModelCall.objects.filter(pk__gt=newest - _LATEST).exclude(error="")
    groups = failed.order_by().values("role", "model").annotate(count=Count("pk"), last=Max("pk"))
    last = ModelCall.objects.in_bulk([group["last"] for group in groups])
    found = [(group["count"], last[group["last"]]) for group in groups]
    return sorted(
        (Trouble(call.role, call.model, count, call.created_at, call.error) for count, call in found),
        key=lambda one: one.last_at,
        reverse=True,
    )


def _work() -> QuerySet[WorkItem]:
    small = ("kind", "status", "due_at", "lease_owner", "lease_until", "tries", "losses")
    named = ("run__title", "attempt__number", "attempt__created_at", "attempt__step__key")
    known = WorkItem.objects.filter(kind__in=list(WorkKind))  # the page that says what is left of an upgrade goes on
    return known.select_related("run", "attempt__step").only(*small, *named)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
def status_page(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, "operations/status.html", {"page": StatusPage()})
    try:
        given = StatusForm(request.POST).checked()
    except InvalidInput as error:
        return render(request, "operations/status.html", {"page": StatusPage(), "problem": str(error)}, status=422)
    verb: StatusVerb = given["verb"]
    done = _carry_out(verb, given["of"], request.user.get_username())
    (messages.success if done else messages.warning)(request, done or _GONE)
    sender = about(**about_request(request))
    log.info("status: %s of %s%s", verb, given["of"], "" if done else ", which was not so", extra=sender)
    return redirect("status")


def _carry_out(verb: StatusVerb, number: int, by: str) -> str:
    """The sentence for the person who did it; empty if there was nothing left to do."""
    match verb:
        case StatusVerb.DRAIN | StatusVerb.RESUME:
            drains = verb is StatusVerb.DRAIN
            if not process_registry.drain(number, drains=drains):
                return ""
            return "It takes no new work and finishes what it has." if drains else "It takes new work again."
        case StatusVerb.RETRY:
            return "It is tried again within a second." if claim.hurry(number, by) else ""
        case StatusVerb.RELEASE:
            return "Another process takes it over within a second." if claim.release(number, by) else ""
