"""The lines of a history as a tree: the run, its steps, their attempts, and the calls of each. Reads no database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from runs.enums import AttemptStatus, EventKind, StepStatus
from runs.events.kinds import EventData, GateDecided, Tone, read
from runs.models import Event

_IN_ATTEMPTS = frozenset(
    {
        EventKind.MODEL_CALLED,
        EventKind.TOOL_CALLED,
        EventKind.SESSION_RESUMED,
        EventKind.VERIFYING,
        EventKind.VERDICT,
    }
)
_OPEN_STEPS = frozenset({StepStatus.RUNNING, StepStatus.JUDGED, StepStatus.WAITING, StepStatus.FAILED})
MAX_OPEN_STEPS = 6
"""If a page has more steps, settled ones are folded."""


@dataclass(frozen=True)
class HistoryStep:
    """A step of one version of the plan, which exists since `at`."""

    pk: int
    key: str
    name: str
    status: str
    version: int
    at: datetime


@dataclass(frozen=True)
class AttemptRow:
    """`at`: when it began; `ended`: when its verdict was written. `work`: the work item with its own calls."""

    pk: int
    step: int
    key: str
    number: int
    status: str
    at: datetime
    ended: datetime | None
    work: int


@dataclass(frozen=True)
class Calls:
    """The sums of the calls of one work item. `failed` counts both kinds. `ms` adds up calls that ran in parallel."""

    work: int
    models: int
    tools: int
    failed: int
    ms: int
    cost: Decimal
    unpriced: int
    lower_bounds: int
    open: bool = False

    @property
    def any(self) -> bool:
        return self.models + self.tools > 0


@dataclass(frozen=True)
class HistoryLine:
    """One event. `took`: milliseconds since the event that it ends; `waited`: in this time the run waited for a
    person. `by`: who did it, if a person did.
    """

    seq: int
    at: datetime
    kind: str
    tone: Tone
    sentence: str
    took: int | None = None
    waited: bool = False
    calls: Calls | None = None
    by: str = ""

    @property
    def person(self) -> str:
        """The name with which the sentence begins, so that pages can say “you” instead; empty if it has none."""
        return self.by if self.by and self.sentence.startswith(f"{self.by} ") else ""

    @property
    def act(self) -> str:
        """The sentence without this name."""
        return self.sentence.removeprefix(f"{self.person} ") if self.person else self.sentence


@dataclass
class AttemptNode:
    row: AttemptRow
    calls: Calls | None
    began: int = 0
    """The number of the event with which it began; 0 if that is on another page."""
    lines: list[HistoryLine] = field(default_factory=list)

    @property
    def took(self) -> int | None:
        return milliseconds(self.row.ended - self.row.at) if self.row.ended else None

    @property
    def moving(self) -> bool:
        return self.row.status in {AttemptStatus.EXECUTING, AttemptStatus.VERIFYING}


@dataclass
class StepNode:
    row: HistoryStep
    at: datetime
    items: list[HistoryLine | AttemptNode] = field(default_factory=list)
    open: bool = True

    @property
    def attempts(self) -> list[AttemptNode]:
        return [item for item in self.items if isinstance(item, AttemptNode)]

    @property
    def took(self) -> int:
        """The time of its attempts on this page together."""
        return sum(attempt.took or 0 for attempt in self.attempts)


type Node = HistoryLine | StepNode


@dataclass(frozen=True)
class Marks:
    """Events of the whole run that later events end: the beginnings of plans and answers, and the openings of gates."""

    planned: Sequence[tuple[int, datetime]]
    finalised: Sequence[tuple[int, datetime]]
    gates: Mapping[int, datetime]


@dataclass(frozen=True)
class Context:
    """What the lines of a page refer to: rows by what events name, and calls by work item."""

    steps: Mapping[str, Sequence[HistoryStep]]
    attempts: Mapping[tuple[str, int], Sequence[AttemptRow]]
    calls: Mapping[int, Calls]
    marks: Marks
    works: Mapping[int, int]
    """The work items of planning and of the final answer, by the number of the event that began them."""

    @property
    def names(self) -> dict[str, str]:
        """The names of steps, from the newest plan that has the key."""
        return {key: rows[-1].name for key, rows in self.steps.items()}

    def attempt_of(self, key: str, number: int, at: datetime) -> AttemptRow | None:
        return _latest(self.attempts.get((key, number), ()), at)

    def step_of(self, key: str, attempt: AttemptRow | None, at: datetime) -> HistoryStep | None:
        rows = self.steps.get(key, ())
        own = next((row for row in rows if attempt and row.pk == attempt.step), None)
        return own or _latest(rows, at)


def _latest[Row: (HistoryStep, AttemptRow)](rows: Sequence[Row], at: datetime) -> Row | None:
    """The step that an event of this time is about. Keys and numbers begin again with each version of the plan."""
    before = [row for row in rows if row.at <= at]
    return before[-1] if before else next(iter(rows), None)


def milliseconds(span: timedelta) -> int:
    return round(span / timedelta(milliseconds=1))


def tree(events: Iterable[Event], context: Context, *, shown: int = 0) -> list[Node]:
    """The nodes in the order of their first lines. The step with the event number `shown` is open."""
    nodes: list[Node] = []
    steps: dict[int, StepNode] = {}
    attempts: dict[int, AttemptNode] = {}
    for event in events:
        typed = read(event.kind, event.data)
        key, number = getattr(typed, "step", ""), getattr(typed, "attempt", 0)
        attempt = context.attempt_of(key, number, event.at) if number else None
        row = context.step_of(key, attempt, event.at) if key else None
        if row is None:
            nodes.append(_line(event, typed, context))
            continue
        step = steps.get(row.pk)
        if step is None:
            step = steps[row.pk] = StepNode(row, event.at)
            nodes.append(step)
        begins = event.kind == EventKind.ATTEMPT_STARTED
        if attempt is None or not (begins or event.kind in _IN_ATTEMPTS):
            step.items.append(_line(event, typed, context))
            continue
        node = attempts.get(attempt.pk)
        if node is None:
            node = attempts[attempt.pk] = AttemptNode(attempt, context.calls.get(attempt.work))
            step.items.append(node)
        if begins:
            node.began = event.seq
        else:
            node.lines.append(_line(event, typed, context, inside=True))
    _fold(list(steps.values()), shown)
    return nodes


def _fold(steps: Sequence[StepNode], shown: int) -> None:
    if len(steps) <= MAX_OPEN_STEPS:
        return
    for step in steps:
        calls = [node.calls for node in step.attempts if node.calls]
        is_linked = bool(shown) and _shows(step, shown)  # an attempt that began on another page has 0 as its beginning
        step.open = step.row.status in _OPEN_STEPS or is_linked or any(one.open for one in calls)


def _shows(step: StepNode, seq: int) -> bool:
    parts = [item.lines if isinstance(item, AttemptNode) else [item] for item in step.items]
    return any(line.seq == seq for lines in parts for line in lines) or any(one.began == seq for one in step.attempts)


def _line(event: Event, typed: EventData, context: Context, *, inside: bool = False) -> HistoryLine:
    """The line of an event. `inside`: it is below its attempt, which names the step."""
    begun = _began_at(event, typed, context.marks)
    return HistoryLine(
        event.seq,
        event.at,
        event.kind,
        typed.tone,
        typed.short_sentence(context.names) if inside else typed.sentence(context.names),
        milliseconds(event.at - begun) if begun else None,
        isinstance(typed, GateDecided),
        context.calls.get(context.works.get(event.seq, 0)),
        by=getattr(typed, "by", ""),
    )


def _began_at(event: Event, typed: EventData, marks: Marks) -> datetime | None:
    """When the thing began that this event ends."""
    if isinstance(typed, GateDecided):
        return marks.gates.get(typed.gate)
    if event.kind == EventKind.MODEL_CALLED:
        return event.at - timedelta(milliseconds=getattr(typed, "ms", 0))
    ends: Mapping[str, Sequence[tuple[int, datetime]]]
    ends = {EventKind.PLAN_PROPOSED: marks.planned, EventKind.ANSWERED: marks.finalised}
    found = ends.get(event.kind, ())
    before = [at for seq, at in found if seq < event.seq]
    return before[-1] if before else None
