"""What an approval, an attempt and a reused result hold of the subagents."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.perform import perform
from runs.enums import GateKind, Outcome, Role, WorkKind
from runs.errors import DecisionRefused, InvalidInput
from runs.lifecycle import effects
from runs.lifecycle import state as states
from runs.models import Agent, Attempt, Run, User
from runs.pev.policy import RoleModel
from runs.readmodel.run_view import reading_of
from runs.store import event_log
from tests.factories import MODELS, Submit, answer, drain, finish, open_gate, reused
from tests.factories.agents import WRITER, agent, change
from tests.fakes.team import Team, plan, step
from tests.integration.engine.test_subagents import OPUS, TOOLS
from tests.integration.engine.test_subagents import writer as writer

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


def test_an_approval_holds_what_the_subagents_are(writer: Agent, team: Team, submitted: Submit, alice: User) -> None:
    run = submitted(subagents=[WRITER])
    drain(run)
    assert run.plans.get().agents == [WRITER]
    stale = open_gate(run)
    change(writer, instructions="Write in verse.")
    with pytest.raises(DecisionRefused, match="What would run has changed"):
        answer(run, alice)
    assert open_gate(run).digest != stale.digest
    change(writer, purpose="Writes.", instructions="Write in plain words. Name the clause.")
    with pytest.raises(DecisionRefused, match="What would run has changed"):
        answer(run, alice)
    assert open_gate(run).digest == stale.digest
    assert finish(run, alice).outcome == Outcome.SUCCEEDED


def test_a_changed_subagent_opens_the_gate_again_and_says_so(
    writer: Agent, team: Team, submitted: Submit, alice: User
) -> None:
    second = step("two", "one") | {"tools": TOOLS}
    team.plan = plan(step("one"), second)
    run = submitted(subagents=[WRITER])
    drain(run)
    answer(run, alice)
    change(writer, instructions="Write in verse.")
    drain(run)
    gate = open_gate(run)
    assert (gate.kind, f"(the agent {WRITER} was changed)" in gate.question) == (GateKind.PLAN, True)
    assert [one.step.key for one in Attempt.objects.all()] == ["one"]


def test_no_attempt_begins_with_a_subagent_that_changed_since_the_approval_was_looked_at(
    writer: Agent, team: Team, submitted: Submit, alice: User
) -> None:
    team.plan = plan(step("zero"), step("one", "zero") | {"tools": TOOLS})
    run = submitted(subagents=[WRITER])
    drain(run)
    answer(run, alice)
    change(writer, instructions="Write in verse.")
    with event_log.writing():
        effects.start_attempt(states.of(event_log.locked(run.pk)), "one")
    assert [one.step.key for one in Attempt.objects.all()] == ["zero"]


def test_a_plan_whose_subagent_is_gone_cannot_be_approved(
    writer: Agent, team: Team, submitted: Submit, alice: User
) -> None:
    run = submitted(subagents=[WRITER])
    drain(run)
    writer.delete()
    with pytest.raises(DecisionRefused, match="What would run has changed"):
        answer(run, alice)
    with pytest.raises(DecisionRefused, match=f"The plan names the agent “{WRITER}”, which this installation does not"):
        answer(run, alice)


def test_an_attempt_goes_on_with_the_subagents_that_it_began_with(
    writer: Agent, team: Team, submitted: Submit, alice: User
) -> None:
    run = submitted(subagents=[WRITER])
    drain(run)
    answer(run, alice)
    assert Attempt.objects.get().subagents == {WRITER: writer.definition}
    writer.delete()
    perform(run.work.get(kind=WorkKind.ATTEMPT).pk)
    assert {request.model for request in team.seen["subagent"]} == {OPUS}
    assert [one.status for one in Attempt.objects.all()] == ["passed"]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_result_is_reused_with_the_same_subagents_only(
    writer: Agent, team: Team, submitted: Submit, alice: User
) -> None:
    finish(submitted(subagents=[WRITER]), alice)
    assert reused(finish(submitted(subagents=[WRITER]), alice)) == ["one", "two"]
    change(writer, instructions="Write in verse.")
    assert reused(finish(submitted(subagents=[WRITER]), alice)) == ["two"]
    agent("other-writer")
    assert reused(finish(submitted(subagents=[WRITER, "other-writer"]), alice)) == ["two"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"subagents": ["nobody"]}, "The policy names the subagent “nobody”, which this installation does not have."),
        (
            {"subagents": [WRITER], "models": MODELS | {Role.VERIFIER: RoleModel(model=OPUS)}},
            f"its model {OPUS} is the verifier, too, which would judge its own work.",
        ),
        (
            {"subagents": [WRITER], "models": dict.fromkeys(MODELS, RoleModel(model="offline-rules"))},
            "offline-rules, the executor of this run, follows no instructions.",
        ),
    ],
    ids=["unknown", "judges itself", "rules"],
)
def test_a_policy_that_cannot_be_kept_is_refused_when_it_is_submitted(
    team: Team, submitted: Submit, changes: dict[str, Any], sentence: str
) -> None:
    agent(model="" if "offline-rules" in str(changes) else OPUS)
    with pytest.raises(InvalidInput) as refused:
        submitted(same_model_verifier="offline-rules" in str(changes), **changes)
    assert sentence in str(refused.value)
    assert str(refused.value).endswith("Leave it out, or name another.")
    assert not Run.objects.exists()


def test_the_window_is_that_of_its_own_model(writer: Agent, team: Team, submitted: Submit, alice: User) -> None:
    change(writer, model="claude-haiku-4-5")
    run = submitted(subagents=[WRITER])
    drain(run)
    answer(run, alice)
    drain(run)
    capabilities = run.work.get(attempt__step__key="one").capacities
    assert capabilities is not None
    assert (capabilities.executor.window, capabilities.subagents[WRITER].window) == (1_000_000, 200_000)


@pytest.mark.slow
def test_that_a_verifier_has_judged_what_its_own_model_did_a_part_of_is_said(
    writer: Agent, team: Team, submitted: Submit, alice: User
) -> None:
    change(writer, model="claude-haiku-5-5")
    with pytest.raises(InvalidInput, match="is the verifier, too"):
        submitted(subagents=[WRITER])
    run = finish(submitted(subagents=[WRITER], same_model_verifier=True), alice)
    assert reading_of(run).same_model == "claude-haiku-5-5"
