"""Owns the run page as one value: header, gates, plan, steps, history, files, result."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from runs import queries, trees
from runs.accounting.costs import Costs, costs_of
from runs.accounting.totals import RoleTotals, Totals, totals_by_role
from runs.enums import (
    SETTLED_STEPS,
    AttemptStatus,
    GateKind,
    GateStatus,
    Outcome,
    PlanStatus,
    Role,
    RunStatus,
)
from runs.events.sentences import many
from runs.lifecycle.templates import plan_worth_keeping
from runs.models import Run
from runs.pev.outcome import gaps_in
from runs.pev.policy import Policy
from runs.reading.files import MadeFile, made_files
from runs.reading.ledger import ledger_of
from runs.reports.build import file_href
from runs.web.presenters.feed import SHOWN, SHOWN_ALL, Feed, feed
from runs.web.presenters.gates import GatesView, gates_view
from runs.web.presenters.plans import EarlierPlan, PlanView, earlier_plans, plan_view
from runs.web.presenters.rows import Rows, read
from runs.web.presenters.steps import DETAILED_STEPS, StepView, step_views
from runs.web.presenters.verdicts import CriterionView, criteria

LONG_REQUEST = 280
LISTED_FILES = 200


@dataclass(frozen=True)
class Player:
    """Which model plays a role."""

    role: str
    model: str
    effort: str


@dataclass(frozen=True)
class Head:
    """The top of the page. `badge` is the word for its colour, `sentence` says what happens now."""

    badge: str
    sentence: str
    waits: bool
    paused: bool
    finished: bool
    outcome: str
    done: int
    total: int
    owner: str
    created: datetime
    ended: datetime | None
    ms: int
    totals: Totals
    estimate: tuple[Decimal, Decimal] | None
    players: tuple[Player, ...]
    no_ai: bool


@dataclass(frozen=True)
class InputFile:
    path: str
    size: int
    url: str


@dataclass(frozen=True)
class Files:
    """`more_inputs` and `more_made` count what is not listed."""

    inputs: tuple[InputFile, ...]
    more_inputs: int
    input_size: int
    made: tuple[MadeFile, ...]
    more_made: int

    @property
    def input_count(self) -> int:
        return len(self.inputs) + self.more_inputs

    @property
    def made_count(self) -> int:
        return len(self.made) + self.more_made


@dataclass(frozen=True)
class Result:
    """What came out. `gaps` is empty exactly when the run succeeded. `plan_can_be_kept`: as a template."""

    outcome: str
    heading: str
    sentence: str
    failure: str
    gaps: tuple[str, ...]
    answer: str
    criteria: tuple[CriterionView, ...]
    plan_can_be_kept: bool

    @property
    def met(self) -> int:
        return sum(1 for criterion in self.criteria if criterion.passed)


@dataclass(frozen=True)
class RunPage:
    """Everything that the page of a run shows. `costs` is there once a step was tried, or the run has ended."""

    run: Run
    head: Head
    gates: GatesView
    plan: PlanView | None
    earlier: tuple[EarlierPlan, ...]
    steps: tuple[StepView, ...]
    feed: Feed
    files: Files
    result: Result | None
    costs: Costs | None
    roles: tuple[RoleTotals, ...]

    @property
    def levels(self) -> list[list[StepView]]:
        """The steps by level, for the graph."""
        columns: list[list[StepView]] = [[] for _ in range(1 + max((s.level for s in self.steps), default=-1))]
        for step in self.steps:
            columns[step.level].append(step)
        return columns

    @property
    def tried(self) -> bool:
        return any(step.tries for step in self.steps)

    @property
    def long(self) -> bool:
        """Whether the plan has too many steps to list each in a region that changes with every call."""
        return len(self.steps) > DETAILED_STEPS

    @property
    def long_request(self) -> bool:
        return len(self.run.request) > LONG_REQUEST or self.run.request.count("\n") > 3


def run_page(run: Run, *, whole_feed: bool = False) -> RunPage:
    """The page as of now. The number of queries does not depend on the number of steps or events."""
    rows = read(run)
    steps = tuple(step_views(rows))
    plan = plan_view(rows)
    roles = tuple(totals_by_role(run))
    begun = run.status == RunStatus.FINISHED or any(step.tries for step in steps)
    return RunPage(
        run=run,
        head=_head(rows, plan, sum((one.totals for one in roles), Totals())),
        gates=gates_view(rows, steps, plan),
        plan=plan,
        earlier=earlier_plans(rows),
        steps=steps,
        feed=feed_of(rows, whole=whole_feed),
        files=_files(run),
        result=_result(run) if run.status == RunStatus.FINISHED else None,
        costs=costs_of(run, rows.plans, rows.current) if begun else None,
        roles=roles,
    )


def feed_of(rows: Rows, *, whole: bool = False) -> Feed:
    """The latest events of a run, oldest first; none that came after the run's row was read: rows may lack them."""
    known = rows.run.events.filter(seq__lte=rows.run.event_count)
    latest = list(known.order_by("-seq")[: SHOWN_ALL if whole else SHOWN])
    return feed(reversed(latest), step_names(rows), whole=whole)


def step_names(rows: Rows) -> dict[str, str]:
    """By key; of the newest plan where several have the key."""
    return {step.key: rows.specs[step.pk].name for plan in rows.plans for step in rows.steps.get(plan.pk, ())}


def _head(rows: Rows, plan: PlanView | None, totals: Totals) -> Head:
    run = rows.run
    policy = run.policy
    players = tuple(_player(policy, role) for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER))
    waits = any(gate.status == GateStatus.OPEN for gate in rows.gates)
    ended = run.finished_at or timezone.now()
    return Head(
        badge=_badge(run, waits=waits),
        sentence=_sentence(rows),
        waits=waits,
        paused=run.paused,
        finished=run.status == RunStatus.FINISHED,
        outcome=run.outcome or "",
        done=sum(1 for step in rows.current if step.status in SETTLED_STEPS),
        total=len(rows.current),
        owner=run.owner.get_username(),
        created=run.created_at,
        ended=run.finished_at,
        ms=round((ended - run.created_at).total_seconds() * 1_000),
        totals=totals,
        estimate=(plan.cost.low, plan.cost.high) if plan and plan.cost and not plan.cost.unpriced else None,
        players=players,
        no_ai=queries.without_ai(player.model for player in players),
    )


def _player(policy: Policy, role: Role) -> Player:
    chosen = policy.model_for(role)
    return Player(role.value, chosen.model, chosen.effort)


def _badge(run: Run, *, waits: bool) -> str:
    if run.status == RunStatus.FINISHED:
        return run.outcome or ""
    if run.paused:
        return "paused"
    return "waiting" if waits else run.status


def _sentence(rows: Rows) -> str:
    run = rows.run
    if run.status == RunStatus.FINISHED:
        return ""
    asked = [GateKind(gate.kind) for gate in rows.gates if gate.status == GateStatus.OPEN]
    parts = [_ASKED[kind] for kind in dict.fromkeys(asked)]
    if not parts or run.status == RunStatus.EXECUTING:
        parts += _doing(rows)
    if run.paused:
        parts.insert(0, "Paused: what is under way is finished, nothing new starts.")
    return " ".join(parts)


_ASKED = {
    GateKind.PLAN: "The plan waits for a decision.",
    GateKind.STEP: "A result waits for a decision.",
    GateKind.EXHAUSTED: "A step used up its attempts; a person decides how it goes on.",
    GateKind.ERROR: "Something is in the way; a person decides whether to try again.",
    GateKind.BUDGET: "A limit is reached; a person decides whether to raise it.",
}


def _doing(rows: Rows) -> list[str]:
    match RunStatus(rows.run.status):
        case RunStatus.PLANNING:
            version = rows.plan.version + 1 if rows.plan and rows.plan.status != PlanStatus.PROPOSED else 1
            return [
                f"The planner writes version {version} of the plan." if version > 1 else "The planner writes a plan."
            ]
        case RunStatus.FINALISING:
            return ["The final answer is written and judged."]
        case RunStatus.EXECUTING:
            under_way = [_attempt_sentence(rows, index) for index in range(len(rows.current))]
            return [sentence for sentence in under_way if sentence][:3]
        case _:
            return []


def _attempt_sentence(rows: Rows, index: int) -> str:
    step = rows.current[index]
    tried = rows.tried(step)
    if not tried or step.reused_from_id:
        return ""
    name = rows.specs[step.pk].name
    again = f" (attempt {tried[-1].number})" if tried[-1].number > 1 else ""
    match tried[-1].status:
        case AttemptStatus.EXECUTING:
            return f"Working on “{name}”{again}."
        case AttemptStatus.VERIFYING:
            return f"Verifying “{name}”{again}."
        case _:
            return ""


def _files(run: Run) -> Files:
    inputs = trees.files_of(run.inputs)
    made = made_files(run)
    listed = [
        InputFile(path, info.size, file_href(run.pk, path, info.sha256))
        for path, info in list(inputs.items())[:LISTED_FILES]
    ]
    return Files(
        inputs=tuple(listed),
        more_inputs=len(inputs) - len(listed),
        input_size=run.inputs.total_size,
        made=made[:LISTED_FILES],
        more_made=max(len(made) - LISTED_FILES, 0),
    )


def _result(run: Run) -> Result:
    outcome = Outcome(run.outcome or Outcome.FAILED)
    gaps = tuple(gaps_in(ledger_of(run)))
    return Result(
        outcome=outcome.value,
        heading={Outcome.SUCCEEDED: "Succeeded", Outcome.CANCELLED: "Stopped"}.get(outcome, outcome.upper()),
        sentence=_outcome_sentence(outcome, gaps),
        failure=run.failure,
        gaps=gaps,
        answer=run.answer,
        criteria=criteria(run.pk, run.final.results if run.final else (), "", ""),
        plan_can_be_kept=plan_worth_keeping(run) is not None,
    )


def _outcome_sentence(outcome: Outcome, gaps: Sequence[str]) -> str:
    match outcome:
        case Outcome.SUCCEEDED:
            return "Every step passed, and every success criterion has evidence that the server verified."
        case Outcome.PARTIAL:
            return f"The run went to its end, with {many(len(gaps), 'gap')}. Read them before the answer."
        case Outcome.FAILED:
            return "The run ended without a result that counts."
        case Outcome.CANCELLED:
            return "A person stopped the run. What had passed until then is kept below."
