"""Two hundred runs at once, each of which waits for its plan to be approved; and what the processes hold after it."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median, quantiles

from django.db.models import Min, Q, QuerySet

from runs.enums import ApprovalPolicy, EventKind, GateKind, GateStatus, Outcome, RunStatus, Verb
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Attempt, Event, Gate, Run
from tests.bench.figures import Figure, ShapeBroken
from tests.bench.scale.models import STEPS, Models
from tests.bench.site import submitted
from tests.factories import alice
from tests.services.cluster import Cluster

TIMEOUT = 600.0


def measure(models: Models, *, short: bool) -> list[Figure]:
    runs = 6 if short else 200
    models.seconds = 1.0
    before = set(Run.objects.values_list("pk", flat=True))
    began = time.monotonic()
    for _ in range(runs):
        submitted(plan_approval=ApprovalPolicy.ALWAYS, reuse=False)
    ours = Run.objects.exclude(pk__in=before)
    planned = _until(ours, Q(status=RunStatus.AWAITING_APPROVAL), began)
    for gate in Gate.objects.open().filter(run__in=ours, kind=GateKind.PLAN).order_by("pk"):
        decide(gate.pk, alice(), Decision(Verb.APPROVE, gate.digest))
    ended = _until(ours, Q(status=RunStatus.FINISHED, outcome=Outcome.SUCCEEDED), began)
    models.seconds = 0.0
    tried = Attempt.objects.filter(step__plan__run__in=ours).count()
    if tried != runs * STEPS:
        raise ShapeBroken(f"There were {tried} attempts at {runs * STEPS} steps.")
    waits = _waits(ours)
    per_step = ended / (runs * STEPS) * 1_000
    return [
        Figure(f"{runs} runs submitted and planned", planned, "s"),
        Figure(f"{runs * STEPS} steps of a second, from the first submission", ended, "s"),
        Figure("for each step", per_step, "ms"),
        Figure("from approval to the first attempt, half of them", median(waits), "s"),
        Figure("from approval to the first attempt, 95 of 100", quantiles(waits, n=20)[-1], "s"),
    ]


def _until(ours: QuerySet[Run], wanted: Q, began: float) -> float:
    """Seconds until all are so."""
    runs = Run.objects.filter(pk__in=ours)
    while runs.exclude(wanted).exists():
        if Gate.objects.open().filter(run__in=runs).exclude(kind=GateKind.PLAN).exists():
            gate = Gate.objects.filter(status=GateStatus.OPEN, run__in=runs).exclude(kind=GateKind.PLAN)[0]
            raise ShapeBroken(f"{gate.run} waits: {gate.question}")
        if time.monotonic() - began > TIMEOUT:
            raise ShapeBroken(f"{runs.exclude(wanted).count()} runs are not there yet.")
        time.sleep(0.2)
    return time.monotonic() - began


def _waits(ours: QuerySet[Run]) -> list[float]:
    events = Event.objects.filter(run__in=ours)
    approved = dict(events.filter(kind=EventKind.GATE_DECIDED).values_list("run").annotate(at=Min("at")))
    begun = dict(events.filter(kind=EventKind.ATTEMPT_STARTED).values_list("run").annotate(at=Min("at")))
    return [(begun[run] - approved[run]).total_seconds() for run in approved]


def memory(cluster: Cluster) -> list[Figure]:
    """The most that each held so far. Not shared with others is most of it."""
    return [
        Figure(f"{kind} {number}, at its peak", _peak(process.pid), "MB")
        for kind, group in (("web", cluster.serving), ("worker", cluster.working))
        for number, process in enumerate(group, 1)
    ]


def _peak(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1_000
