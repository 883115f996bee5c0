"""The status page: processes and their work, waiting work, duties, errors of model services, disk and versions."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import django
from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from pevsite.installation import version
from runs.engine.claim import due
from runs.engine.process_registry import SILENT_AFTER
from runs.enums import WorkKind, WorkStatus
from runs.models import LeaderLock, ModelCall, Process, WorkItem, clock
from runs.web.operations.setup_findings import Finding, findings

SHOWN = 50
"""Pieces of work in a list. The others are counted."""
_LATEST = 10_000
"""Calls that are searched for errors. More of a large journal is not read."""


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
        self.processes = _processes(held, silent_since=self.now - SILENT_AFTER)
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


def _processes(held: Mapping[str, Sequence[WorkItem]], silent_since: datetime) -> list[ProcessRow]:
    """The processes with the work that they hold, those that were seen recently first."""
    rows = [
        ProcessRow(row, tuple(held.get(row.owner, ())), row.seen_at < silent_since)
        for row in Process.objects.order_by("-seen_at")[:SHOWN]
    ]
    return sorted(rows, key=lambda one: (one.is_silent, one.row.started_at))


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
