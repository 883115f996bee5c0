"""When a run worked on what, and when it waited for people: bars on one axis. Long waits are drawn shorter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from runs.accounting.usage import Span, waits_of
from runs.enums import OPEN_ATTEMPTS, AttemptStatus, WorkKind
from runs.lifecycle.gates.registry import type_of
from runs.models import Attempt, Gate, ModelCall, Run, Step
from runs.readmodel.plan_view import StepReading

CUT = 12
"""A wait takes at most one part in this many of the time worked, and the axis says how long it was."""
TICKS = 5
_MIN_CUT = timedelta(seconds=1)
_ROUND = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 18_000, 36_000, 86_400)


@dataclass(frozen=True)
class Bar:
    """A bar from `x` on, `width` wide, in percent of the axis. `kind` is waiting, or the status of an attempt."""

    x: float
    width: float
    kind: str
    words: str
    ms: int


@dataclass(frozen=True)
class TimelineLine:
    """What bars belong to: a step, or planning and the final answer, which have no step. `mark` is that of the step."""

    name: str
    step: Step | None
    bars: tuple[Bar, ...]
    mark: str = ""


@dataclass(frozen=True)
class Tick:
    """A place of the axis, `ms` of work after its beginning."""

    x: float
    ms: int


@dataclass(frozen=True)
class Timeline:
    """`cuts` are the waits of the whole run; `now` is the present of a run that is not finished."""

    lines: tuple[TimelineLine, ...]
    ticks: tuple[Tick, ...]
    cuts: tuple[Bar, ...]
    now: float | None


class _Axis:
    """Moments in percent. A wait that is longer than a part of the work is drawn as long as that part."""

    def __init__(self, begin: datetime, end: datetime, waits: Sequence[Span]) -> None:
        self._worked = (end - begin) - sum((until - since for since, until in waits), timedelta(0))
        self._limit = max(self._worked / CUT, _MIN_CUT)
        self._begin, self._waits = begin, waits
        self._length = max(self._along(end), timedelta(milliseconds=1))

    def _along(self, moment: datetime) -> timedelta:
        saved = timedelta(0)
        for since, until in self._waits:
            passed = min(max(moment - since, timedelta(0)), until - since)
            drawn = min(until - since, self._limit)
            saved += passed - passed / max(until - since, timedelta(microseconds=1)) * drawn
        return moment - self._begin - saved

    def at(self, moment: datetime) -> float:
        return round(min(100.0, max(0.0, 100 * (self._along(moment) / self._length))), 2)

    def bar(self, begin: datetime, end: datetime, kind: str, words: str) -> Bar:
        x, ms = self.at(begin), round((end - begin) / timedelta(milliseconds=1))
        return Bar(x, round(max(self.at(end) - x, 0.4), 2), kind, words, ms)

    def ticks(self) -> Iterator[Tick]:
        """Ticks at round times of work. The clock of work stands still while the run waits, so a tick comes after the
        wait.
        """
        worked = self._worked.total_seconds()
        apart = next((one for one in _ROUND if worked / one <= TICKS), worked / TICKS)
        for number in range(int(worked / apart) + 1):
            moment = self._begin + timedelta(seconds=number * apart)
            for since, until in self._waits:
                moment += until - since if since < moment else timedelta(0)
            yield Tick(self.at(moment), round(number * apart * 1_000))


def timeline_of(run: Run, steps: Sequence[StepReading], gates: Sequence[Gate]) -> Timeline:
    """The attempts at these steps with their waits for people, planning and the final answer, with two queries."""
    now = timezone.now()
    end = run.finished_at or now
    attempts = Attempt.objects.of_run(run).order_by().values_list("created_at", "finished_at")
    waits = waits_of([(one.kind, one.opened_at, one.decided_at or one.withdrawn_at) for one in gates], attempts, end)
    axis = _Axis(run.created_at, end, waits)
    calls = _calls(run, axis)
    by_step: dict[int, list[Gate]] = defaultdict(list)
    for gate in gates:
        by_step[gate.step_id or 0].append(gate)
    planning = sorted([*calls[WorkKind.PLAN], *_asked(axis, by_step[0], end)], key=lambda bar: bar.x)
    lines = [TimelineLine("Planning", None, tuple(planning))]
    for step in steps:
        bars = [*_tried(axis, step.own, end), *_asked(axis, by_step[step.row.pk], end)]
        lines.append(TimelineLine(step.name, step.row, tuple(bars), step.mark))
    lines.append(TimelineLine("Final answer", None, tuple(calls[WorkKind.FINALISE])))
    cuts = tuple(axis.bar(since, until, "waiting", "waited") for since, until in waits)
    return Timeline(tuple(lines), tuple(axis.ticks()), cuts, None if run.finished_at else axis.at(now))


def _calls(run: Run, axis: _Axis) -> dict[str, list[Bar]]:
    """The first to the last call of a piece of work that belongs to no step, by its kind."""
    spans: dict[tuple[int, str], list[datetime]] = defaultdict(list)
    found = ModelCall.objects.filter(run=run, attempt=None).order_by("pk")
    for work, kind, at, ms in found.values_list("work", "work__kind", "created_at", "duration_ms"):
        spans[work, kind] += [at - timedelta(milliseconds=ms), at]
    bars: dict[str, list[Bar]] = defaultdict(list)
    for (_, kind), moments in spans.items():
        bars[kind].append(axis.bar(max(min(moments), run.created_at), max(moments), AttemptStatus.PASSED, "worked"))
    return bars


def _tried(axis: _Axis, attempts: Iterable[Attempt], end: datetime) -> Iterator[Bar]:
    for one in attempts:
        if one.reused_from_id:
            continue
        until = one.finished_at or (end if one.status in OPEN_ATTEMPTS else one.created_at)
        yield axis.bar(one.created_at, until, one.status, f"attempt {one.number}")


def _asked(axis: _Axis, gates: Iterable[Gate], end: datetime) -> Iterator[Bar]:
    for one in gates:
        yield axis.bar(one.opened_at, one.decided_at or one.withdrawn_at or end, "waiting", type_of(one).waiting)
