"""The run page: what a reading of the run says now, in one sentence, beside what it says for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils import timezone

from runs import queries, trees
from runs.enums import SETTLED_STEPS, AttemptStatus, GateKind, GateStatus, Outcome, PlanStatus, Role, RunStatus
from runs.events.sentences import many
from runs.lifecycle.templates import plan_worth_keeping
from runs.models import Gate, Run, Step, User
from runs.pev.policy import RoleModel
from runs.pev.ports import FileInfo
from runs.reading.plans import PlanReading, StepReading
from runs.reading.rows import read_rows
from runs.reading.run import RunReading
from runs.web.presenters.feed import SHOWN, SHOWN_ALL, Feed, feed
from runs.web.presenters.gates import GateView, latest_decision, open_gates

LONG_REQUEST = 280
LISTED_FILES = 200
"""Characters of a request and lines of a list that leave the plan in sight; the rest unfolds or has its own page."""
DETAILED_STEPS = 40
"""In a plan with more steps, settled ones are shown in one line with a link to their own page."""


def spelled_out(steps: Sequence[Step]) -> list[Step]:
    """The steps of the newest version whose attempts are shown on the page of their run."""
    current = [step for step in steps if step.plan_id == steps[-1].plan_id]
    few = len(current) <= DETAILED_STEPS
    return [step for step in current if few or step.status not in SETTLED_STEPS]


@dataclass(frozen=True, eq=False)
class RunPage(RunReading):
    """A reading, with what only the page of the run says. Regions that are not sent again are not read again."""

    whole_feed: bool = False

    @property
    def finished(self) -> bool:
        return self.run.status == RunStatus.FINISHED

    @property
    def steps(self) -> tuple[StepReading, ...]:
        """Of the newest version."""
        return self.plan.steps if self.plan else ()

    @property
    def earlier(self) -> list[PlanReading]:
        """Every version but the newest, the latest first."""
        return list(reversed(self.plans[:-1]))

    @property
    def approvers(self) -> list[User]:
        """Who may decide beside the owner."""
        return list(self.run.approvers.order_by("username"))

    @property
    def tried(self) -> bool:
        return any(step.tried for step in self.steps)

    @property
    def begun(self) -> bool:
        """Whether there is something that an estimate can be compared with."""
        return self.finished or self.tried

    @property
    def long(self) -> bool:
        """Whether the plan has too many steps to list each in a region that changes with every call."""
        return len(self.steps) > DETAILED_STEPS

    @property
    def long_request(self) -> bool:
        return len(self.run.request) > LONG_REQUEST or self.run.request.count("\n") > 3

    @property
    def done(self) -> int:
        return sum(1 for step in self.steps if step.row.status in SETTLED_STEPS)

    @property
    def ms(self) -> int:
        """Milliseconds since the run was submitted, up to its end or up to now."""
        return round(((self.run.finished_at or timezone.now()) - self.run.created_at).total_seconds() * 1_000)

    @property
    def players(self) -> list[tuple[str, RoleModel]]:
        """Which model plays which role."""
        return [(role.value, self.run.policy.model_for(role)) for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)]

    @property
    def offline(self) -> bool:
        """Whether the policy names offline rules only; `no_ai` is what the journal says."""
        return queries.without_ai(player.model for _, player in self.players)

    @property
    def waits(self) -> bool:
        return bool(self.asked)

    @property
    def badge(self) -> str:
        """The word for the colour of the page."""
        if self.finished:
            return self.run.outcome or ""
        if self.run.paused:
            return "paused"
        return "waiting" if self.waits else self.run.status

    @property
    def sentence(self) -> str:
        """What happens now; of a finished run, what has become of it."""
        if self.finished:
            return _outcome_sentence(Outcome(self.run.outcome or Outcome.FAILED), self.gaps)
        parts = [_ASKED[kind] for kind in dict.fromkeys(GateKind(gate.kind) for gate in self.asked)]
        if not parts or self.run.status == RunStatus.EXECUTING:
            parts += self._doing()
        if self.run.paused:
            parts.insert(0, "Paused: what is under way is finished, nothing new starts.")
        return " ".join(parts)

    def _doing(self) -> list[str]:
        match RunStatus(self.run.status):
            case RunStatus.PLANNING:
                again = self.plan and self.plan.row.status != PlanStatus.PROPOSED
                version = self.plan.row.version + 1 if self.plan and again else 1
                what = f"version {version} of the plan" if version > 1 else "a plan"
                return [f"The planner writes {what}."]
            case RunStatus.FINALISING:
                return ["The final answer is written and judged."]
            case RunStatus.EXECUTING:
                return list(_under_way(self.steps))[:3]
            case _:
                return []

    @property
    def asked(self) -> list[Gate]:
        return [gate for gate in self.rows.gates if gate.status == GateStatus.OPEN]

    @cached_property
    def gates(self) -> list[GateView]:
        """What is asked now."""
        return open_gates(self.asked, self.plan)

    @property
    def decided(self) -> Gate | None:
        """The latest answer."""
        return latest_decision(list(self.rows.gates))

    @property
    def asks_for_plan(self) -> bool:
        return any(gate.kind == GateKind.PLAN for gate in self.asked)

    @property
    def step_names(self) -> dict[str, str]:
        """By key; of the newest plan where several have the key."""
        return {step.row.key: step.name for plan in self.plans for step in plan.steps}

    @cached_property
    def feed(self) -> Feed:
        """The latest events, oldest first; none that came after the run's row was read: the rows may lack them."""
        known = self.run.events.filter(seq__lte=self.run.event_count)
        latest = list(known.order_by("-seq")[: SHOWN_ALL if self.whole_feed else SHOWN])
        return feed(reversed(latest), self.step_names, whole=self.whole_feed)

    @cached_property
    def inputs(self) -> list[tuple[str, FileInfo]]:
        return list(trees.files_of(self.run.inputs).items())

    @property
    def outcome_heading(self) -> str:
        known = {Outcome.SUCCEEDED: "Succeeded", Outcome.CANCELLED: "Stopped"}
        outcome = Outcome(self.run.outcome or Outcome.FAILED)
        return known.get(outcome, outcome.upper())

    @property
    def plan_can_be_kept(self) -> bool:
        """Whether its plan can become a template."""
        return plan_worth_keeping(self.run) is not None


def run_page(run: Run, *, whole_feed: bool = False) -> RunPage:
    """The page as of now. The number of queries does not depend on the number of steps or events."""
    return RunPage(read_rows(run, spelled_out), whole_feed)


_ASKED = {
    GateKind.PLAN: "The plan waits for a decision.",
    GateKind.STEP: "A result waits for a decision.",
    GateKind.EXHAUSTED: "A step used up its attempts; a person decides how it goes on.",
    GateKind.ERROR: "Something is in the way; a person decides whether to try again.",
    GateKind.BUDGET: "A limit is reached; a person decides whether to raise it.",
}


def _under_way(steps: Sequence[StepReading]) -> Iterator[str]:
    verbs = {AttemptStatus.EXECUTING: "Working on", AttemptStatus.VERIFYING: "Verifying"}
    for step in steps:
        last = step.tried[-1] if step.tried and not step.row.reused_from_id else None
        if last and (verb := verbs.get(AttemptStatus(last.status))):
            again = f" (attempt {last.number})" if last.number > 1 else ""
            yield f"{verb} “{step.name}”{again}."


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
