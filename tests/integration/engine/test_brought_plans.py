"""Runs whose first plan was brought: no planner is asked for it, later versions are the planner's as always."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.core.files.base import ContentFile

from runs.engine import recording
from runs.enums import AttemptStatus, GateStatus, Outcome, Role, Verb
from runs.lifecycle.defaults import default_policy
from runs.lifecycle.gates import Decision, decide
from runs.lifecycle.submission import Submission, Upload, submit
from runs.lifecycle.templates import called, save
from runs.models import Run
from runs.pev.imported import plan_from
from runs.pev.outcome import gaps_in
from runs.pev.policy import Policy
from runs.reading.ledger import ledger_of
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, plan, step, told, verdict
from tests.integration.conftest import MODELS, drain, finish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.allow_hosts(["127.0.0.1"])]


def brought(owner: Any, given: Any, request: str = "Do the work", policy: Policy | None = None) -> Run:
    uploads = [Upload("notes.md", ContentFile(b"Some notes.\n"))]
    rules = policy or Policy(models=MODELS)
    return submit(owner, Submission(request, uploads, rules, uuid.uuid4(), plan=given.plan, plan_from=given.reason))


class Given:
    plan = plan_from(plan(step("one"), step("two", "one")))
    reason = "Imported from “plan.json”."


def test_it_is_carried_out_without_a_planner_and_kept_for_other_files(api: FakeAnthropic, alice: Any) -> None:
    team = Team()
    api.script(team)
    first = finish(brought(alice, Given), alice)
    save(alice, first, "Mine")
    second = finish(brought(alice, called(alice, "Mine"), "Do other work"), alice)
    assert [run.outcome for run in (first, second)] == [Outcome.SUCCEEDED] * 2
    assert [run.plans.get().reason for run in (first, second)] == [Given.reason, "From the template “Mine”."]
    assert first.plans.get().digest == second.plans.get().digest
    assert set(team.seen) == {Role.EXECUTOR, Role.VERIFIER, Role.SYNTHESIZER}


def test_when_a_step_fails_the_planner_is_told_the_plan_that_was_brought(api: FakeAnthropic, alice: Any) -> None:
    def strict(request: Request, right: Answer) -> Answer:
        if len(team.seen[Role.VERIFIER]) > 1:
            return right
        return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="replan")))

    team = Team(plan=plan(step("one"), step("two", "one")), verifier=strict)
    api.script(team)
    run = finish(brought(alice, Given), alice)
    assert list(run.plans.values_list("version", "status")) == [(1, "superseded"), (2, "approved")]
    (asked,) = team.seen[Role.PLANNER]
    (previous,) = [json.loads(part.text) for part in told(asked) if part.kind == "previous_plan"]
    assert plan_from(previous) == Given.plan


def without_a_key(owner: Any, name: str) -> Run:
    recording.clients.cache_clear()
    return brought(owner, called(owner, name), "A library of tools", default_policy())


@pytest.mark.parametrize("name", ["document-review", "project-analysis"])
def test_without_a_key_the_rules_carry_out_a_shipped_template(alice: Any, name: str) -> None:
    run = finish(without_a_key(alice, name), alice)
    assert (run.outcome, run.plans.count(), run.replans) == (Outcome.SUCCEEDED, 1, 0)
    assert "no AI was involved" in run.answer


def test_without_a_key_ideas_are_reported_as_blocked_and_nobody_is_told_otherwise(alice: Any) -> None:
    """The rules propose what they can do instead; it is said how much less that is, and it is partial at most."""
    run = without_a_key(alice, "idea-workflow")
    while True:
        drain(run)
        gate = run.gates.filter(status=GateStatus.OPEN).first()
        if gate is None:
            break
        decide(gate.pk, alice, Decision(Verb.APPROVE, gate.digest, how="--approve-all"))
    statuses = run.plans.get(version=1).steps.values_list("attempts__status", flat=True)
    assert set(statuses) == {AttemptStatus.BLOCKED, None}
    instead = run.plans.get(version=2)
    lost = "Step “Synthesise a brief” was to write idea/brief.md; no step does so any more."
    assert lost in instead.relaxed
    assert run.outcome == Outcome.PARTIAL
    assert any("idea/brief.md" in gap for gap in gaps_in(ledger_of(run)))
