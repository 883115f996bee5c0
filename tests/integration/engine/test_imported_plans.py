"""Runs whose first plan was brought: no planner is asked for it, later versions are the planner's as always."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.core.files.base import ContentFile

from runs.engine import recording
from runs.enums import Outcome, Role
from runs.errors import InvalidInput
from runs.models import Run, User
from runs.pev.imports.imported import plan_from
from runs.pev.policy import Policy
from runs.submission.intake import Upload
from runs.submission.policy_presets import default_policy
from runs.submission.run_templates import SHIPPED, called, save
from runs.submission.submit import Submission, submit
from tests.factories import MODELS, finish
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, plan, step, told, verdict

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.allow_hosts(["127.0.0.1"])]


def brought(owner: Any, given: Any, request: str = "Do the work", policy: Policy | None = None) -> Run:
    uploads = [Upload("notes.md", ContentFile(b"Some notes.\n"))]
    rules = policy or Policy(models=MODELS, min_document_bytes=0, sources_needed=False)
    return submit(owner, Submission(request, uploads, rules, uuid.uuid4(), plan=given.plan, plan_from=given.reason))


class Given:
    plan = plan_from(plan(step("one"), step("two", "one")))
    reason = "Imported from “plan.json”."


@pytest.mark.slow
def test_it_is_carried_out_without_a_planner_and_kept_for_other_files(api: FakeAnthropic, alice: User) -> None:
    team = Team()
    api.script(team)
    first = finish(brought(alice, Given), alice)
    save(alice, first, "Mine")
    second = finish(brought(alice, called(alice, "Mine"), "Do other work"), alice)
    assert [run.outcome for run in (first, second)] == [Outcome.SUCCEEDED] * 2
    assert [run.plans.get().reason for run in (first, second)] == [Given.reason, "From the template “Mine”."]
    assert first.plans.get().digest == second.plans.get().digest
    assert set(team.seen) == {Role.EXECUTOR, Role.VERIFIER, Role.SYNTHESIZER}


@pytest.mark.slow
def test_when_a_step_fails_the_planner_is_told_the_plan_that_was_brought(api: FakeAnthropic, alice: User) -> None:
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


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.usefixtures("no_model")
def test_without_a_model_the_rehearsal_carries_out_the_document_review(alice: User) -> None:
    recording.clients.cache_clear()
    run = finish(brought(alice, called(alice, "document-review"), "Look at the notes", default_policy()), alice)
    assert (run.outcome, run.plans.count(), run.replans) == (Outcome.SUCCEEDED, 1, 0)
    assert "no AI was involved" in run.answer


@pytest.mark.usefixtures("no_model")
@pytest.mark.parametrize("name", sorted(SHIPPED.keys() - {"document-review"}))
def test_without_a_model_other_templates_are_refused(alice: User, name: str) -> None:
    with pytest.raises(
        InvalidInput,
        match=r"^This plan needs a model( that looks things up on the web, .*)?; "
        r".* ask your administrator to connect one",
    ):
        brought(alice, called(alice, name), "A library of tools", default_policy())
    assert not Run.objects.exists()
