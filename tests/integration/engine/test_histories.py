"""Generated histories over the real engine: models that do anything, people who decide anything, workers that die."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.contracts.ports import Ask, Reply, ReplyDraft
from runs.engine.perform import perform
from runs.enums import (
    OPEN_WORK,
    SETTLED_STEPS,
    Action,
    ApprovalPolicy,
    AttemptStatus,
    EventKind,
    Exhausted,
    GateStatus,
    Outcome,
    PlanStatus,
    Role,
    RunStatus,
    StepApproval,
    StepMoment,
    StepStatus,
    Verb,
    WorkStatus,
)
from runs.errors import DecisionRefused, ModelError
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.llm.client import Clients
from runs.models import Attempt, Gate, Run, Step, User, WorkItem
from runs.store import trees
from tests.factories import Submit
from tests.fakes.anthropic_answers import Request, Say, ToolUse, UseTools
from tests.fakes.team import Team, labels_of, plan, report, step, told, verdict

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


class Killed(BaseException):
    """The process is gone: nothing of it is caught, nothing is cleaned up."""


class Chaos:
    """Answers instead of every client: mostly well, and in each way in which models are known not to."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw
        self._numbers = iter(range(10_000))
        keys = [f"s{number}" for number in range(draw(st.integers(1, 3)))]
        self._team = Team(
            plan=plan(
                *(step(key, *self._some(keys[:index]), complexity=self._complexity()) for index, key in enumerate(keys))
            )
        )
        self._bad: dict[Role, list[Callable[[Request], Any]]] = {
            Role.PLANNER: [self._prose, self._less, self._same],
            Role.EXECUTOR: [self._prose, self._blocked, self._nothing_written, self._unannounced],
            Role.VERIFIER: [self._prose, self._strict, self._replan, self._cannot, self._invented],
            Role.SYNTHESIZER: [self._prose],
        }

    def _some(self, keys: list[str]) -> list[str]:
        return sorted(self._draw(st.sets(st.sampled_from(keys)))) if keys else []

    def _complexity(self) -> str:
        return str(self._draw(st.sampled_from(["low", "high"])))

    def ask(self, ask: Ask, keep_going: Callable[[], None], draft: ReplyDraft | None = None) -> Reply:
        fate = self._draw(st.sampled_from(["well"] * 7 + ["badly"] * 3 + ["busy", "down", "killed"]))
        if fate == "killed":
            raise Killed
        if fate in {"busy", "down"}:
            raise ModelError("No answer.", kind="api_error", retriable=fate == "busy")
        request = Request(0, ask.model, ask.system, list(ask.messages), [], None, {}, {})
        answer = self._team(request)
        if fate == "badly":
            answer = self._draw(st.sampled_from(self._bad[ask.role]))(request)
        return self._reply(ask, answer)

    def _reply(self, ask: Ask, answer: Any) -> Reply:
        if isinstance(answer, UseTools):
            calls: tuple[Any, ...] = tuple(
                {"type": "tool_use", "id": f"use_{next(self._numbers)}", "name": use.name, "input": dict(use.input)}
                for use in answer.tools
            )
            return Reply(calls, "tool_use", ask.model)
        return Reply(({"type": "text", "text": answer.text},), "end_turn", ask.model)

    def _prose(self, request: Request) -> Any:
        return Say("I would rather talk about it.")

    def _less(self, request: Request) -> Any:
        return Say(json.dumps(self._team.plan | {"steps": self._team.plan["steps"][:1]}))

    def _same(self, request: Request) -> Any:
        before = [part.text for part in told(request) if part.kind == "previous_plan"]
        return Say(before[0]) if before else self._less(request)

    def _blocked(self, request: Request) -> Any:
        return Say(json.dumps(report("It cannot be done.", status="blocked")))

    def _nothing_written(self, request: Request) -> Any:
        return Say(json.dumps(report("All files are written.")))

    def _unannounced(self, request: Request) -> Any:
        return UseTools(ToolUse("write_file", {"path": "diary.md", "content": "Dear diary"}))

    def _strict(self, request: Request) -> Any:
        return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="retry")))

    def _replan(self, request: Request) -> Any:
        return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="replan")))

    def _cannot(self, request: Request) -> Any:
        return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="cannot")))

    def _invented(self, request: Request) -> Any:
        return Say(json.dumps(verdict(labels_of(request), "@output", "words that nobody has ever said")))


def happen(run: Run, user: Any, draw: Callable[[Any], Any]) -> bool:
    """One thing that can happen next; False when nothing can: then the run has to be over."""
    works = list(run.work.filter(status__in=[WorkStatus.READY, WorkStatus.LEASED]).order_by("pk"))
    gates = list(run.gates.filter(status=GateStatus.OPEN).order_by("pk"))
    if not works and not gates:
        return False
    chosen = draw(st.sampled_from([*works, *gates]))
    if isinstance(chosen, Gate):
        verb = draw(st.sampled_from([Verb.APPROVE] * 6 + [Verb.REJECT] * 3 + [Verb.STOP]))
        try:
            decide(chosen.pk, user, Decision(verb, chosen.digest, "Otherwise, please."))
        except DecisionRefused:
            decide(chosen.pk, user, Decision(Verb.APPROVE, chosen.digest))
        return True
    past = timezone.now() - timedelta(seconds=1)
    WorkItem.objects.filter(pk=chosen.pk).update(due_at=past)
    WorkItem.objects.filter(pk=chosen.pk, status=WorkStatus.LEASED).update(lease_until=past)
    with suppress(Killed):
        perform(chosen.pk)
    return True


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_happens_the_rows_tell_the_truth(
    data: st.DataObject, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction.atomic():
        _history(data.draw, submitted, alice, monkeypatch)
        transaction.set_rollback(True)  # the next history knows nothing of this one


def _history(draw: Callable[[Any], Any], submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    run = submitted(
        plan_approval=draw(st.sampled_from(ApprovalPolicy)),
        step_approval=draw(st.sampled_from(StepApproval)),
        step_moment=draw(st.sampled_from(StepMoment)),
        exhausted=draw(st.sampled_from(Exhausted)),
        attempts=draw(st.integers(1, 2)),
        replans=draw(st.integers(0, 1)),
        revisions=draw(st.integers(0, 3)),
        reuse=draw(st.booleans()),
        rounds=3,
    )
    chaos = Chaos(draw)
    monkeypatch.setattr(Clients, "ask", lambda _, ask, keep_going, draft: chaos.ask(ask, keep_going))
    for _ in range(60):
        if not happen(run, alice, draw):
            break
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED or waits_or_works(run)
    holds(run)


def waits_or_works(run: Run) -> bool:
    gates = run.gates.filter(status=GateStatus.OPEN).exists()
    return gates or run.work.filter(status__in=[WorkStatus.READY, WorkStatus.LEASED]).exists()


def holds(run: Run) -> None:
    """What is true of every run at every time, told from the rows alone."""
    events = list(run.events.order_by("seq"))
    assert [event.seq for event in events] == list(range(1, run.event_count + 1))
    for attempt in Attempt.objects.filter(step__plan__run=run).select_related("step__plan", "verdict"):
        _attempt_holds(attempt, [(event.kind, event.data) for event in events])
    for passed in Step.objects.filter(plan__run=run, status=StepStatus.PASSED, reused_from=None):
        assert passed.attempts.latest("number").status == AttemptStatus.PASSED
    assert (
        trees.files_of(run.head).items()
        >= {path: info for path, info in trees.files_of(run.inputs).items() if path not in _written(run)}.items()
    )
    assert set(trees.files_of(run.head)) == set(trees.files_of(run.inputs)) | _written(run)
    _versions_hold(run)
    if run.status == RunStatus.FINISHED:
        _end_holds(run)


def _versions_hold(run: Run) -> None:
    """No version that was carried out comes again, and no step that nobody can do."""
    carried_out = [plan.digest for plan in run.plans.exclude(approved_how="")]
    assert len(carried_out) == len(set(carried_out))
    impossible = Step.objects.filter(plan__run=run, last_action=Action.CANNOT).exclude(status__in=SETTLED_STEPS)
    for cannot in impossible.select_related("plan"):
        later = Step.objects.filter(plan__run=run, plan__version__gt=cannot.plan.version)
        assert cannot.spec not in [one.spec for one in later]
    newest = run.plans.newest()
    if run.status in {RunStatus.EXECUTING, RunStatus.FINALISING}:
        assert newest
        assert newest.status == PlanStatus.APPROVED
    assert run.plans.filter(status=PlanStatus.APPROVED).count() <= 1
    assert not run.plans.filter(status=PlanStatus.SUPERSEDED, version=newest.version if newest else 0).exists()


def _attempt_holds(attempt: Attempt, events: list[tuple[str, Any]]) -> None:
    approved = [data["version"] for kind, data in events if kind == EventKind.PLAN_APPROVED]
    assert attempt.step.plan.version in approved, "nothing is carried out that was not approved"
    if attempt.status in {AttemptStatus.PASSED, AttemptStatus.REJECTED, AttemptStatus.CONFLICT}:
        results = attempt.verdict.results
        assert results
        assert all(one.passed and one.supported and one.evidence for one in results)
        assert set(attempt.overlay) <= set(attempt.step.spec.outputs)


def _written(run: Run) -> set[str]:
    """The files of attempts that were kept, as far as the plan had declared them."""
    kept: set[str] = set()
    for one in Attempt.objects.filter(step__plan__run=run, step__status__in=SETTLED_STEPS).order_by("number"):
        if one.number == one.step.attempts.count():
            declared = one.step.plan.steps.values_list("spec", flat=True)
            kept |= set(one.overlay) & {path for spec in declared for path in spec.outputs}
    return kept


def _end_holds(run: Run) -> None:
    assert not run.work.filter(status__in=OPEN_WORK).exists()
    assert not run.gates.filter(status=GateStatus.OPEN).exists()
    assert not Attempt.objects.filter(step__plan__run=run, status__in=["executing", "verifying"]).exists()
    last = run.plans.order_by("-version").first()
    steps = list(last.steps.all()) if last else []
    if run.outcome == Outcome.SUCCEEDED:
        assert steps
        assert all(one.status == StepStatus.PASSED for one in steps)
        final: Any = run.final
        assert all(one.passed and one.supported for one in final.results)
        assert run.answer
    if run.outcome == Outcome.PARTIAL:
        assert any(one.status in SETTLED_STEPS for one in steps)
        assert run.events.get(kind=EventKind.FINISHED).data["gaps"]
