"""Owns how a plan is shown to whoever has to answer for it: readable, priced, and compared with the version before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from runs.accounting.estimates import Estimate, StepEstimate
from runs.accounting.history import estimate_of
from runs.enums import GateKind, GateStatus, PlanStatus, StepStatus
from runs.models import Plan, Step
from runs.pev.contracts import (
    Check,
    Contains,
    Criterion,
    CsvColumns,
    FileExists,
    JsonSchema,
    JsonValid,
    Matches,
    MinBytes,
    NoPlaceholders,
    PlanStep,
    WordCount,
)
from runs.pev.ordering import levels
from runs.web.presenters.rows import Rows


@dataclass(frozen=True)
class Wanted:
    """A criterion. `check` says in words what decides it; empty when a model judges it with quotes."""

    text: str
    check: str


@dataclass(frozen=True)
class PlannedStep:
    """`cost` is None when not estimated, as for a kept result; `news` is added, changed, kept or nothing."""

    id: int
    key: str
    name: str
    description: str
    level: int
    complexity: str
    after: tuple[str, ...]
    tools: tuple[tuple[str, str], ...]
    criteria: tuple[Wanted, ...]
    outputs: tuple[str, ...]
    cost: StepEstimate | None
    news: str


@dataclass(frozen=True)
class Change:
    """What differs in one part of a step: before and after, as text."""

    part: str
    before: str
    after: str


@dataclass(frozen=True)
class ChangedStep:
    name: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Difference:
    """Against the version before. `whole` lists changed parts of the plan itself."""

    version: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[ChangedStep, ...]
    whole: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        return not (self.added or self.removed or self.changed or self.whole)


@dataclass(frozen=True)
class Because:
    """What a person said about the version before."""

    who: str
    when: datetime | None
    text: str


@dataclass(frozen=True)
class PlanView:
    """`cost` is the estimate shown before approval, None for a plan without one; `kept` and `new` count steps.

    `relaxed`: a sentence for each thing that was agreed before and is no longer asked for.
    """

    version: int
    status: str
    goal: str
    context: tuple[tuple[str, str], ...]
    steps: tuple[PlannedStep, ...]
    success: tuple[Wanted, ...]
    rollback: str
    reason: str
    because: tuple[Because, ...]
    cost: Estimate | None
    difference: Difference | None
    kept: int
    relaxed: tuple[str, ...]
    digest: str
    created: datetime
    approved_by: str
    approved_how: str

    @property
    def new(self) -> int:
        return len(self.steps) - self.kept

    @property
    def free(self) -> bool:
        return self.cost is not None and not self.cost.unpriced and self.cost.high == 0

    @property
    def judged(self) -> int:
        """How many criteria a model judges, success criteria aside."""
        return sum(1 for step in self.steps for wanted in step.criteria if not wanted.check)

    @property
    def checked(self) -> int:
        return sum(1 for step in self.steps for wanted in step.criteria if wanted.check)


@dataclass(frozen=True)
class EarlierStep:
    name: str
    status: str
    tries: int
    feedback: str
    url: str


@dataclass(frozen=True)
class EarlierPlan:
    """A version that counts no more, with what was tried under it."""

    version: int
    status: str
    reason: str
    created: datetime
    rejected: tuple[Because, ...]
    steps: tuple[EarlierStep, ...]


def plan_view(rows: Rows) -> PlanView | None:
    """The newest version, or None before there is one."""
    plan = rows.plan
    if plan is None:
        return None
    before = rows.plans[-2] if len(rows.plans) > 1 else None
    header = plan.header
    cost = estimate_of(plan, rows.current)
    difference = _difference(rows, before, plan) if before else None
    return PlanView(
        version=plan.version,
        status=plan.status,
        goal=header.goal,
        context=tuple((item.name, item.value) for item in header.context),
        steps=tuple(_planned_steps(rows, cost, before)),
        success=tuple(wanted(item) for item in header.success_criteria),
        rollback=header.rollback_strategy,
        reason=plan.reason,
        because=_rejections(rows, before) if before else (),
        cost=cost,
        difference=difference,
        kept=sum(1 for step in rows.current if step.reused_from_id),
        relaxed=tuple(plan.relaxed),
        digest=plan.digest,
        created=plan.created_at,
        approved_by=plan.approved_by.get_username() if plan.approved_by else "",
        approved_how=plan.approved_how,
    )


def _planned_steps(rows: Rows, cost: Estimate | None, before: Plan | None) -> Iterator[PlannedStep]:
    specs = {step.key: rows.specs[step.pk] for step in rows.current}
    level = levels({key: spec.dependencies for key, spec in specs.items()})
    prices = {item.step_id: item for item in cost.steps} if cost else {}
    earlier = {step.key: rows.specs[step.pk] for step in rows.steps.get(before.pk, ())} if before else {}
    for step in rows.current:
        spec = specs[step.key]
        yield PlannedStep(
            id=step.pk,
            key=step.key,
            name=spec.name,
            description=spec.description,
            level=level[step.key],
            complexity=step.complexity,
            after=tuple(specs[key].name for key in spec.dependencies),
            tools=tuple((action.tool, action.purpose) for action in spec.actions),
            criteria=tuple(wanted(item) for item in spec.acceptance_criteria),
            outputs=tuple(spec.expected_outputs),
            cost=prices.get(step.key),
            news=_news(step, spec, earlier.get(step.key)) if before else "",
        )


def _news(step: Step, spec: PlanStep, earlier: PlanStep | None) -> str:
    if step.reused_from_id:
        return "kept"
    if earlier is None:
        return "added"
    return "" if earlier == spec else "changed"


def wanted(criterion: Criterion) -> Wanted:
    """A criterion as a page shows it."""
    return Wanted(criterion.text, check_in_words(criterion.check) if criterion.check else "")


def check_in_words(check: Check) -> str:
    """What a check looks for, as a clause."""
    match check:
        case FileExists():
            return f"{check.path} exists"
        case MinBytes():
            return f"{check.path} has at least {check.min:,} bytes"
        case Contains():
            return f"{check.path} contains “{check.text}”"
        case Matches():
            return f"{check.path} matches {check.pattern} at least {check.min:,} times"
        case WordCount():
            most = f" and at most {check.max:,}" if check.max < 1_000_000 else ""
            return f"{check.path} has at least {check.min:,}{most} words"
        case JsonValid():
            return f"{check.path} is valid JSON"
        case JsonSchema():
            return f"{check.path} is JSON of the agreed shape"
        case CsvColumns():
            return f"{check.path} has the columns {', '.join(check.columns)}"
        case NoPlaceholders():
            return f"{check.path} has no placeholders"


def _rejections(rows: Rows, plan: Plan) -> tuple[Because, ...]:
    return tuple(
        Because(gate.decided_by.get_username() if gate.decided_by else "", gate.decided_at, gate.reason)
        for gate in rows.gates
        if gate.plan_id == plan.pk and gate.kind == GateKind.PLAN and gate.status == GateStatus.REJECTED
    )


def _difference(rows: Rows, before: Plan, plan: Plan) -> Difference:
    old = {step.key: rows.specs[step.pk] for step in rows.steps.get(before.pk, ())}
    new = {step.key: rows.specs[step.pk] for step in rows.current}
    both = [key for key in new if key in old and new[key] != old[key]]
    parts = {
        "goal": "goal",
        "context": "context",
        "success_criteria": "success criteria",
        "rollback_strategy": "rollback",
    }
    return Difference(
        version=before.version,
        added=tuple(new[key].name for key in new if key not in old),
        removed=tuple(old[key].name for key in old if key not in new),
        changed=tuple(ChangedStep(new[key].name, tuple(_changes(old[key], new[key]))) for key in both),
        whole=tuple(said for name, said in parts.items() if getattr(before.header, name) != getattr(plan.header, name)),
    )


def _changes(old: PlanStep, new: PlanStep) -> Iterator[Change]:
    for part, before, after in zip(_PARTS, _as_texts(old), _as_texts(new), strict=True):
        if before != after:
            yield Change(part, before or "none", after or "none")


_PARTS = ("name", "description", "criteria", "expected outputs", "dependencies", "complexity", "tools")


def _as_texts(spec: PlanStep) -> Sequence[str]:
    return (
        spec.name,
        spec.description,
        "\n".join(_criterion_text(item) for item in spec.acceptance_criteria),
        "\n".join(spec.expected_outputs),
        ", ".join(spec.dependencies),
        spec.estimated_complexity.value,
        "\n".join(f"{action.tool}: {action.purpose}" for action in spec.actions),
    )


def _criterion_text(criterion: Criterion) -> str:
    return f"{criterion.text} ({check_in_words(criterion.check)})" if criterion.check else criterion.text


def earlier_plans(rows: Rows) -> tuple[EarlierPlan, ...]:
    """Every version but the newest, the latest first."""
    return tuple(
        EarlierPlan(
            version=plan.version,
            status=plan.status,
            reason=plan.reason,
            created=plan.created_at,
            rejected=_rejections(rows, plan),
            steps=tuple(_earlier_steps(rows, plan)),
        )
        for plan in reversed(rows.plans[:-1])
    )


def _earlier_steps(rows: Rows, plan: Plan) -> Iterator[EarlierStep]:
    if plan.status in {PlanStatus.REJECTED, PlanStatus.PROPOSED}:
        return
    for step in rows.steps.get(plan.pk, ()):
        tried = rows.attempts.get(step.pk, ())
        verdicts = [attempt.verdict for attempt in tried if hasattr(attempt, "verdict")]
        settled = step.status == StepStatus.PASSED
        yield EarlierStep(
            name=rows.specs[step.pk].name,
            status=step.status,
            tries=len(tried),
            feedback=verdicts[-1].feedback if verdicts and not settled else "",
            url=reverse("step", args=[rows.run.pk, step.pk]),
        )
