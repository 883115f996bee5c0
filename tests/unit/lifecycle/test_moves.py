"""The moves that are due: over generated histories nobody starts too early, nothing runs unapproved or gets stuck."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.enums import (
    SETTLED_STEPS,
    TERMINAL_STEPS,
    Action,
    ApprovalPolicy,
    Complexity,
    Exhausted,
    PlanStatus,
    Role,
    RunStatus,
    StepApproval,
    StepMoment,
    StepStatus,
)
from runs.lifecycle import moves
from runs.lifecycle.moves import AskForPlan, OpenPlanGate, ReadDocuments, Snapshot, StepState, due
from runs.pev.policy import Policy, RoleModel

MODELS = {role: RoleModel(model=f"offline-{role}") for role in Role}
POLICY = Policy(models=MODELS)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    return Policy(
        models=MODELS,
        plan_approval=draw(st.sampled_from(ApprovalPolicy)),
        step_approval=draw(st.sampled_from(StepApproval)),
        step_moment=draw(st.sampled_from(StepMoment)),
        attempts=draw(st.integers(1, 3)),
        replans=draw(st.integers(0, 2)),
        exhausted=draw(st.sampled_from(Exhausted)),
        parallel=draw(st.integers(1, 4)),
    )


@st.composite
def graphs(draw: st.DrawFn) -> tuple[StepState, ...]:
    """Up to six new steps; each depends on some of those before it."""
    keys = [f"s{number}" for number in range(draw(st.integers(1, 6)))]
    return tuple(
        StepState(
            key=key,
            status=StepStatus.PENDING,
            depends_on=frozenset(draw(st.lists(st.sampled_from(keys[:index]), max_size=3)) if index else ()),
            complexity=draw(st.sampled_from(Complexity)),
        )
        for index, key in enumerate(keys)
    )


@dataclass
class World:
    """A run in memory. It applies moves as `lifecycle.advance` does and lets facts happen at random.

    `held`: steps whose work waits at an error. A person lets it be tried again, or asks for another plan.
    """

    run: Snapshot
    draw: Callable[[Any], Any]
    approvals: list[str] = field(default_factory=list)
    impossible: set[str] = field(default_factory=set)
    gates: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    asked_to_start: set[str] = field(default_factory=set)

    def settle(self) -> None:
        """Apply due moves until none is left; a pure function that never comes to rest would be a bug."""
        for _ in range(200):
            found = due(self.run)
            if not found:
                return
            for move in found:
                self.apply(move)
        raise AssertionError(f"never comes to rest: {due(self.run)}")

    def apply(self, move: moves.Move) -> None:
        match move:
            case moves.AskForPlan() | moves.StartFinalise():
                status = RunStatus.PLANNING if isinstance(move, moves.AskForPlan) else RunStatus.FINALISING
                if status is RunStatus.FINALISING:
                    assert all(step.status in TERMINAL_STEPS for step in self.run.steps)
                self.run = replace(self.run, status=status, busy=True)
            case moves.OpenPlanGate():
                self.gates.add("plan")
                self.run = replace(self.run, status=RunStatus.AWAITING_APPROVAL)
            case moves.ApprovePlan():
                assert not self.run.policy.plan_waits(agreed=self.run.agreed, relaxes=self.run.relaxes)
                self.approve("policy")
            case moves.StartAttempt(key):
                self.start(key)
            case moves.OpenStartGate(key):
                step = self.step(key)
                assert step.status is StepStatus.PENDING
                assert self.run.policy.step_waits(step.complexity, StepMoment.BEFORE)
                assert not step.cleared, "who let a step start is not asked again"
                self.asked_to_start.add(key)
                self.gates.add(key)
                self.set(key, StepStatus.WAITING)
            case moves.OpenStepGate(key) | moves.OpenExhaustedGate(key):
                self.gates.add(key)
                self.set(key, StepStatus.WAITING)
            case moves.PassStep(key):
                assert not self.run.policy.step_waits(self.step(key).complexity)
                assert not self.step(key).unproved, "a person sees what nothing proves"
                self.set(key, StepStatus.PASSED)
            case moves.AcceptStep(key):
                assert self.run.policy.exhausted is Exhausted.ACCEPT
                self.set(key, StepStatus.ACCEPTED)
            case moves.FailStep(key):
                self.set(key, StepStatus.FAILED)
            case moves.Replan(key):
                self.replan(key)
            case moves.Finish():
                self.run = replace(self.run, status=RunStatus.FINISHED)

    def start(self, key: str) -> None:
        assert self.run.status is RunStatus.EXECUTING
        assert self.run.plan is PlanStatus.APPROVED, "nothing executes under a plan that was not approved"
        settled = {step.key for step in self.run.steps if step.status in SETTLED_STEPS}
        assert self.step(key).depends_on <= settled, "no step starts before its dependencies have passed"
        if self.run.policy.step_waits(self.step(key).complexity, StepMoment.BEFORE):
            assert self.step(key).cleared, "no step starts before a person has let it, where the policy wants that"
        assert (
            not any(step.refused for step in self.run.steps if step.status is StepStatus.PENDING)
            or self.step(key).tries
        ), "while another plan is asked for, only what is under way is tried again"
        assert key not in self.impossible, "what nobody can do is not tried again unless a person says so"
        self.set(key, StepStatus.RUNNING, tries=self.step(key).tries + 1)
        running = [step for step in self.run.steps if step.status is StepStatus.RUNNING]
        assert len(running) <= self.run.policy.parallel

    def replan(self, key: str) -> None:
        asked = bool(key) and self.step(key).refused
        assert asked or self.run.replans < self.run.policy.replans, "replans are bounded, unless a person asks for one"
        assert asked or not self.run.repeated, "a planner that had nothing new is not asked for more"
        assert not self.gates | self.held
        assert not any(step.status is StepStatus.RUNNING for step in self.run.steps)
        self.run = replace(
            self.run,
            status=RunStatus.PLANNING,
            replans=self.run.replans + (not asked),
            steps=tuple(step._replace(refused=False) for step in self.run.steps),
        )

    def approve(self, how: str) -> None:
        self.approvals.append(how)
        self.run = replace(self.run, plan=PlanStatus.APPROVED, status=RunStatus.EXECUTING, agreed=True)

    def step(self, key: str) -> StepState:
        return next(step for step in self.run.steps if step.key == key)

    def set(self, key: str, status: StepStatus, **more: Any) -> None:
        changed = self.step(key)._replace(status=status, **more)
        self.run = replace(self.run, steps=tuple(changed if s.key == key else s for s in self.run.steps))

    def facts(self) -> list[str]:
        """What may happen next from outside: work that ends, people who decide."""
        running = [step.key for step in self.run.steps if step.status is StepStatus.RUNNING]
        found = [f"{fact} {key}" for key in running if key not in self.held for fact in ("judged", "held")]
        found += [f"decided {gate}" for gate in sorted(self.gates)]
        found += [f"{fact} {key}" for key in sorted(self.held) for fact in ("retried", "revised")]
        if self.run.busy:
            planning = self.run.status is RunStatus.PLANNING
            found += ["planned" if planning else "answered"]
            found += ["repeated"] if planning and self.run.plan is PlanStatus.APPROVED else []
            found += ["revised"] if self.run.plan is not None else []
        return found if self.run.status is not RunStatus.FINISHED else []

    def happen(self, fact: str) -> None:
        what, _, key = fact.partition(" ")
        match what:
            case "repeated":
                back = RunStatus.EXECUTING if self.run.final is None else RunStatus.FINALISING
                self.run = replace(self.run, busy=False, status=back, repeated=True)
            case "planned":
                self.impossible.clear()
                self.run = replace(
                    self.run,
                    busy=False,
                    plan=PlanStatus.PROPOSED,
                    final=None,
                    relaxes=self.run.agreed and self.draw(st.booleans()),
                    steps=self.draw(graphs()),
                )
            case "answered":
                self.run = replace(self.run, busy=False, final=self.draw(st.sampled_from(Action)))
            case "judged":
                asked = self.draw(st.sampled_from(Action))
                failures = self.step(key).failures + (asked is not Action.PASS)
                self.impossible |= {key} if asked is Action.CANNOT else set()
                unproved = self.draw(st.sampled_from(["proved", "unproved"])) == "unproved"
                self.set(key, StepStatus.JUDGED, last_action=asked, failures=failures, unproved=unproved)
            case "held":
                self.held.add(key)
            case "retried":
                self.held.discard(key)
            case "revised" if key:
                self.held.discard(key)
                self.set(key, StepStatus.PENDING, refused=True)
            case "revised":
                self.run = replace(self.run, busy=False, status=RunStatus.PLANNING)
            case "decided":
                self.gates.discard(key)
                self.decide(key, approved=self.draw(st.booleans()))

    def decide(self, key: str, *, approved: bool) -> None:
        if key in self.asked_to_start:
            self.asked_to_start.discard(key)
            self.set(key, StepStatus.PENDING, **({"cleared": True} if approved else {"refused": True}))
        elif key != "plan":
            kept = StepStatus.PASSED if self.step(key).last_action is Action.PASS else StepStatus.ACCEPTED
            self.impossible.discard(key)
            self.set(key, kept if approved else StepStatus.PENDING)
        elif approved:
            self.approve("person")
        else:
            self.run = replace(self.run, plan=PlanStatus.REJECTED, status=RunStatus.PLANNING)


@pytest.mark.slow
@given(st.data(), policies())
def test_every_reachable_state_moves_waits_or_is_over(data: st.DataObject, policy: Policy) -> None:
    world = World(Snapshot(status=RunStatus.PLANNING, policy=policy), data.draw)
    for _ in range(60):
        world.settle()
        if world.run.status is RunStatus.FINISHED:
            return
        facts = world.facts()
        assert facts, f"stuck: {world.run}"
        world.happen(data.draw(st.sampled_from(facts)))


@pytest.mark.slow
@given(st.data(), policies())
def test_a_run_that_always_passes_ends(data: st.DataObject, policy: Policy) -> None:
    world = World(Snapshot(status=RunStatus.PLANNING, policy=policy), data.draw)
    world.draw = _agreeable(data)
    for _ in range(40):
        world.settle()
        if world.run.status is RunStatus.FINISHED:
            break
        world.happen(world.facts()[0])
    assert world.run.status is RunStatus.FINISHED
    assert all(step.status is StepStatus.PASSED for step in world.run.steps)


def _agreeable(data: st.DataObject) -> Callable[[Any], Any]:
    """Every verdict passes and every person approves; plans are still drawn."""

    def draw(strategy: Any) -> Any:
        value = data.draw(strategy)
        if isinstance(value, Action):
            return Action.PASS
        return True if isinstance(value, bool) else value

    return draw


def _executing(*steps: StepState, **changes: object) -> Snapshot:
    base = Snapshot(RunStatus.EXECUTING, POLICY, plan=PlanStatus.APPROVED, steps=steps)
    return replace(base, **changes)  # type: ignore[arg-type]


def _step(key: str, status: StepStatus, *after: str, **more: Any) -> StepState:
    return StepState(key, status, frozenset(after), Complexity.LOW, **more)


def test_independent_steps_start_together_up_to_the_limit() -> None:
    steps = [_step(f"s{n}", StepStatus.PENDING) for n in range(5)]
    assert due(_executing(*steps)) == [moves.StartAttempt("s0"), moves.StartAttempt("s1"), moves.StartAttempt("s2")]


def test_a_failed_verdict_is_retried_then_replanned_then_asked() -> None:
    def after(failures: int, replans: int) -> list[moves.Move]:
        step = _step("a", StepStatus.JUDGED, last_action=Action.RETRY, failures=failures)
        return due(_executing(step, replans=replans))

    assert after(1, 0) == [moves.StartAttempt("a")]
    assert after(3, 0) == [moves.Replan("a")]
    assert after(3, 2) == [moves.OpenExhaustedGate("a")]


@pytest.mark.parametrize(("unproved", "move"), [(True, moves.OpenStepGate("a")), (False, moves.PassStep("a"))])
def test_what_nothing_proves_is_seen_by_a_person_whatever_the_policy(unproved: bool, move: moves.Move) -> None:
    policy = POLICY.model_copy(update={"step_approval": StepApproval.NONE})
    step = _step("a", StepStatus.JUDGED, last_action=Action.PASS, unproved=unproved)
    assert due(_executing(step, policy=policy)) == [move]


def test_what_cannot_be_done_is_not_tried_again() -> None:
    step = _step("a", StepStatus.JUDGED, last_action=Action.CANNOT, failures=1)
    assert due(_executing(step)) == [moves.Replan("a")]
    assert due(_executing(step, replans=2)) == [moves.OpenExhaustedGate("a")]
    finalising = Snapshot(RunStatus.FINALISING, POLICY, plan=PlanStatus.APPROVED, final=Action.CANNOT)
    assert due(finalising) == [moves.Finish()]


def test_a_planner_that_had_nothing_new_is_not_asked_again() -> None:
    step = _step("a", StepStatus.JUDGED, last_action=Action.RETRY, failures=3)
    assert due(_executing(step, repeated=True)) == [moves.OpenExhaustedGate("a")]
    finalising = Snapshot(RunStatus.FINALISING, POLICY, plan=PlanStatus.APPROVED, final=Action.RETRY, repeated=True)
    assert due(finalising) == [moves.Finish()]


def test_a_replan_waits_for_what_is_under_way() -> None:
    judged = _step("a", StepStatus.JUDGED, last_action=Action.REPLAN, failures=1)
    pending = _step("c", StepStatus.PENDING)
    assert due(_executing(judged, _step("b", StepStatus.RUNNING), pending)) == []
    assert due(_executing(judged, _step("b", StepStatus.PASSED), pending)) == [moves.Replan("a")]


def test_what_changed_since_the_approval_is_asked_again() -> None:
    pending = _step("a", StepStatus.PENDING)
    assert due(_executing(pending, bound=False)) == [moves.OpenPlanGate()]
    assert due(_executing(_step("b", StepStatus.RUNNING), pending, bound=False)) == []


def test_paused_and_busy_runs_do_not_move() -> None:
    assert due(_executing(_step("a", StepStatus.PENDING), paused=True)) == []
    assert due(_executing(_step("a", StepStatus.PENDING), busy=True)) == []


@pytest.mark.parametrize(
    ("approval", "agreed", "relaxes", "asked"),
    [
        (ApprovalPolicy.ALWAYS, True, False, True),
        (ApprovalPolicy.FIRST, False, False, True),
        (ApprovalPolicy.FIRST, True, False, False),
        (ApprovalPolicy.FIRST, True, True, True),
        (ApprovalPolicy.NEVER, False, False, False),
        (ApprovalPolicy.NEVER, True, True, False),
    ],
)
def test_a_plan_that_asks_for_less_waits_unless_no_plan_ever_does(
    approval: ApprovalPolicy, agreed: bool, relaxes: bool, asked: bool
) -> None:
    policy = POLICY.model_copy(update={"plan_approval": approval})
    run = Snapshot(RunStatus.PLANNING, policy, plan=PlanStatus.PROPOSED, agreed=agreed, relaxes=relaxes)
    assert due(run) == [moves.OpenPlanGate() if asked else moves.ApprovePlan()]


@pytest.mark.parametrize(
    ("status", "complexity", "asked"),
    [
        (StepStatus.PENDING, Complexity.HIGH, True),
        (StepStatus.PENDING, Complexity.MEDIUM, False),
        (StepStatus.PASSED, Complexity.HIGH, False),
    ],
)
def test_a_plan_with_a_high_risk_step_waits_whatever_the_policy_where_the_installation_demands_it(
    status: StepStatus, complexity: Complexity, asked: bool
) -> None:
    policy = POLICY.model_copy(update={"plan_approval": ApprovalPolicy.NEVER})
    steps = (_step("a", status)._replace(complexity=complexity),)
    run = Snapshot(RunStatus.PLANNING, policy, plan=PlanStatus.PROPOSED, steps=steps)
    assert due(run) == [moves.ApprovePlan()]
    assert due(replace(run, guarded=True)) == [moves.OpenPlanGate() if asked else moves.ApprovePlan()]


@pytest.mark.parametrize(
    ("ended", "policy", "demanded"),
    [
        ({"last_action": Action.PASS}, {"step_approval": StepApproval.NONE}, moves.OpenStepGate("a")),
        ({"last_action": Action.PASS, "cleared": True}, {"step_approval": StepApproval.NONE}, moves.PassStep("a")),
        ({"last_action": Action.CANNOT}, {"exhausted": Exhausted.ACCEPT}, moves.OpenExhaustedGate("a")),
    ],
)
def test_no_policy_accepts_the_result_of_a_high_risk_step_where_the_installation_demands_a_person(
    ended: dict[str, Any], policy: dict[str, Any], demanded: moves.Move
) -> None:
    step = _step("a", StepStatus.JUDGED, **ended)._replace(complexity=Complexity.HIGH)
    run = _executing(step, policy=POLICY.model_copy(update=policy), replans=9)
    assert due(run) == [moves.AcceptStep("a") if "exhausted" in policy else moves.PassStep("a")]
    assert due(replace(run, guarded=True)) == [demanded]
    low = replace(run, steps=(step._replace(complexity=Complexity.LOW),), guarded=True)
    assert due(low) == due(run)


def _asking_first(*steps: StepState, **changes: object) -> Snapshot:
    """Every step waits for a person before it starts; one may run at a time."""
    values = {"step_approval": StepApproval.ALL, "step_moment": StepMoment.BEFORE, "parallel": 1, "replans": 0}
    return replace(_executing(*steps), policy=POLICY.model_copy(update=values), **changes)  # type: ignore[arg-type]


def test_a_step_is_asked_about_before_it_starts_and_takes_no_place_meanwhile() -> None:
    low = _step("low", StepStatus.PENDING)
    high = _step("high", StepStatus.PENDING)._replace(complexity=Complexity.HIGH)
    policy = POLICY.model_copy(update={"step_moment": StepMoment.BEFORE, "parallel": 1})
    assert due(replace(_executing(high, low), policy=policy)) == [
        moves.OpenStartGate("high"),
        moves.StartAttempt("low"),
    ]


def test_a_step_that_rests_on_others_is_asked_about_once_they_have_passed() -> None:
    first, second = _step("a", StepStatus.RUNNING), _step("b", StepStatus.PENDING, "a")
    assert due(_asking_first(first, second)) == []
    assert due(_asking_first(first._replace(status=StepStatus.PASSED), second)) == [moves.OpenStartGate("b")]


def test_a_step_that_was_let_start_does_so_in_its_turn_and_is_not_asked_about_again() -> None:
    cleared = _step("b", StepStatus.PENDING, cleared=True)
    assert due(_asking_first(_step("a", StepStatus.RUNNING), cleared)) == []
    assert due(_asking_first(_step("a", StepStatus.PASSED), cleared)) == [moves.StartAttempt("b")]
    judged = cleared._replace(status=StepStatus.JUDGED, last_action=Action.RETRY, failures=1)
    assert due(_asking_first(judged)) == [moves.StartAttempt("b")]


def test_the_result_of_a_step_that_was_asked_about_before_is_kept_unless_nothing_proves_what_was_asked_for() -> None:
    passed = _step("a", StepStatus.JUDGED, last_action=Action.PASS, cleared=True)
    assert due(_asking_first(passed)) == [moves.PassStep("a")]
    assert due(_asking_first(passed._replace(unproved=True))) == [moves.OpenStepGate("a")]


def test_a_person_who_refuses_a_start_gets_another_plan_whatever_the_policy_allows() -> None:
    refused = _step("a", StepStatus.PENDING, refused=True)
    assert due(_asking_first(refused, _step("b", StepStatus.PENDING, cleared=True))) == [moves.Replan("a")]
    assert due(_asking_first(refused, repeated=True)) == [moves.Replan("a")]


@pytest.mark.parametrize("status", [StepStatus.RUNNING, StepStatus.WAITING])
def test_another_plan_is_made_once_nothing_is_under_way_and_nothing_new_starts_until_then(status: StepStatus) -> None:
    refused, ready = _step("a", StepStatus.PENDING, refused=True), _step("b", StepStatus.PENDING, cleared=True)
    assert due(_asking_first(refused, ready, _step("c", status))) == []


def test_a_plan_that_is_no_more_what_was_approved_is_asked_about_before_a_start() -> None:
    assert due(_asking_first(_step("a", StepStatus.PENDING), bound=False)) == [moves.OpenPlanGate()]


# ---- Documents are read before there is a plan of theirs, whoever makes it, and not while something else goes on -----


@pytest.mark.parametrize("plan", [None, PlanStatus.PROPOSED, PlanStatus.REJECTED])
def test_documents_are_read_before_a_plan_is_made_or_asked_about(plan: PlanStatus | None) -> None:
    assert due(Snapshot(RunStatus.PLANNING, POLICY, plan, unread=True)) == [ReadDocuments()]


def test_once_they_are_read_planning_goes_on() -> None:
    assert due(Snapshot(RunStatus.PLANNING, POLICY)) == [AskForPlan()]
    assert due(Snapshot(RunStatus.PLANNING, POLICY, PlanStatus.PROPOSED)) == [OpenPlanGate()]


@pytest.mark.parametrize(("busy", "paused"), [(True, False), (False, True)])
def test_nothing_is_read_while_something_goes_on_or_nothing_may(busy: bool, paused: bool) -> None:
    assert due(Snapshot(RunStatus.PLANNING, POLICY, unread=True, busy=busy, paused=paused)) == []


@pytest.mark.parametrize("status", [RunStatus.AWAITING_APPROVAL, RunStatus.FINISHED])
def test_who_waits_or_has_ended_reads_nothing(status: RunStatus) -> None:
    assert due(Snapshot(status, POLICY, PlanStatus.APPROVED, unread=True)) == []
