"""Questions of models to people: nothing waits for the answer but a row, and nobody is asked the same twice."""

from __future__ import annotations

import json

import pytest

from runs.enums import GateKind, GateStatus, Outcome, Provenance, RunStatus, Verb, WorkStatus
from runs.errors import DecisionRefused, InvalidInput
from runs.models import Attempt, ModelCall, ToolCall, User
from runs.pev.conversation.turns import MAX_CALLS
from tests.factories import Submit, answer, drain, finish, open_gate, reused
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, looking, plan, step, told, verdict

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
LAW, WHY = "Which law applies?", "No contract names one."
ASK = ToolUse("ask_person", {"question": LAW, "choices": ["German law", "French law"], "why": WHY})
ONE = plan(step("one"))


def test_a_step_waits_for_its_answer_and_goes_on_where_it_was(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    team = Team(plan=plan(step("one"), step("two")), executor=looking(one=[ASK]))
    api.script(team)
    run = submitted()
    drain(run)
    answer(run, alice)
    drain(run)
    gate = open_gate(run)
    assert (gate.kind, gate.question, gate.why) == (GateKind.QUESTION, LAW, WHY)
    assert gate.choices == ["German law", "French law"]
    assert gate.step is not None
    assert gate.step.key == "one"
    assert [work.status for work in run.work.open()] == [WorkStatus.SUSPENDED]
    before = len(team.seen["executor"])
    answer(run, alice, Verb.ANSWER, "German law")
    drain(run)
    assert len(team.seen["executor"]) == before + 1  # the turn that asked was not asked for again
    (call,) = ToolCall.objects.filter(run=run, name="ask_person")
    assert call.result.splitlines()[0] == "alice has answered. Quote these words as @person-1."
    assert "German law" in call.result
    assert finish(run, alice).outcome == Outcome.SUCCEEDED


def test_an_answer_is_a_source_from_outside_the_run(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def quoting(request: Request, right: Answer) -> Answer:
        final = any(part.kind == "subject" and part.text.startswith("The whole") for part in told(request))
        return right if final else Say(json.dumps(verdict(labels_of(request), "@person-1", "German law")))

    one = step("one")
    one["acceptance_criteria"][1] |= {"about": "sources", "text": "German law applies"}
    api.script(Team(plan=plan(one), executor=looking(one=[ASK]), verifier=quoting))
    run = submitted(sources_needed=True)
    drain(run)
    answer(run, alice)
    drain(run)
    answer(run, alice, Verb.ANSWER, "German law")
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    result = Attempt.objects.get(step__plan__run=run).verdict.results[1]
    assert [one.provenance for one in result.evidence] == [Provenance.PERSON]


def test_an_answer_is_a_source_of_every_step_that_asked(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def quoting(request: Request, right: Answer) -> Answer:
        final = any(part.kind == "subject" and part.text.startswith("The whole") for part in told(request))
        return right if final else Say(json.dumps(verdict(labels_of(request), "@person-1", "German law")))

    steps = [step("one"), step("two")]
    for one in steps:
        one["acceptance_criteria"][1] |= {"about": "sources", "text": "German law applies"}
    api.script(Team(plan=plan(*steps), executor=looking(one=[ASK], two=[ASK]), verifier=quoting))
    run = submitted(sources_needed=True)
    drain(run)
    answer(run, alice)
    drain(run)
    answer(run, alice, Verb.ANSWER, "German law")
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    proofs = [one.verdict.results[1].evidence for one in Attempt.objects.filter(step__plan__run=run)]
    assert [[item.provenance for item in items] for items in proofs] == [[Provenance.PERSON]] * 2


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("verb", [Verb.ANSWER, Verb.DELEGATE])
def test_what_rests_on_an_answer_is_not_taken_over(
    api: FakeAnthropic, submitted: Submit, alice: User, verb: Verb
) -> None:
    api.script(Team(plan=plan(step("one"), step("two")), executor=looking(one=[ASK])))
    for _ in range(2):
        run = submitted()
        drain(run)
        answer(run, alice)
        drain(run)
        answer(run, alice, verb, "German law" if verb is Verb.ANSWER else "")
        finish(run, alice)
    assert reused(run) == ["two"]


def test_a_planner_asks_before_there_is_a_plan(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def planner(request: Request, right: Answer) -> Answer:
        return right if request.tool_results else UseTools(ASK)

    team = Team(plan=ONE, planner=planner)
    api.script(team)
    run = submitted()
    drain(run)
    gate = open_gate(run)
    assert (gate.kind, gate.step, run.status, run.plans.count()) == (GateKind.QUESTION, None, RunStatus.PLANNING, 0)
    answer(run, alice, Verb.ANSWER, "French law")
    drain(run)
    assert open_gate(run).kind == GateKind.PLAN
    assert len(team.seen["planner"]) == 2
    assert ModelCall.objects.filter(run=run, role="planner", live=True).count() == 2
    answer(run, alice)
    finish(run, alice)
    blocks = [(part.kind, part.name, part.text) for part in told(team.seen["executor"][0])]
    assert ("question", "@person-1", LAW) in blocks
    assert ("person", "@person-1", "French law") in blocks


def test_decide_for_yourself_is_an_answer_too(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team(plan=ONE, executor=looking(one=[ASK])))
    run = submitted()
    drain(run)
    answer(run, alice)
    drain(run)
    answer(run, alice, Verb.DELEGATE)
    gate = run.gates.get(kind=GateKind.QUESTION)
    assert (gate.status, gate.reason, gate.request) == (GateStatus.ANSWERED, "Decide for yourself.", 1)
    drain(run)
    call = ToolCall.objects.get(run=run, name="ask_person")
    assert call.result == "alice has left this to you: decide, and say what you decided."
    assert finish(run, alice).outcome == Outcome.SUCCEEDED


@pytest.mark.slow
def test_nobody_is_asked_the_same_twice(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    again = ToolUse("ask_person", {"question": f"  {LAW}\n"})
    api.script(Team(plan=plan(step("one"), step("two")), executor=looking(one=[ASK, again], two=[again])))
    run = submitted()
    drain(run)
    answer(run, alice)
    drain(run)
    assert open_gate(run).question == LAW
    assert [work.status for work in run.work.open()] == [WorkStatus.SUSPENDED] * 2
    answer(run, alice, Verb.ANSWER, "German law")
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert run.gates.filter(kind=GateKind.QUESTION).count() == 1
    assert [("German law" in call.result) for call in ToolCall.objects.filter(run=run, name="ask_person")] == [True] * 3


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [0, 2])
@pytest.mark.exhaustive
def test_two_hundred_questions_are_as_many_as_the_policy_allows(
    api: FakeAnthropic, submitted: Submit, alice: User, allowed: int
) -> None:
    many = [ToolUse("ask_person", {"question": f"What about {number}?"}) for number in range(200)]

    def executor(request: Request, right: Answer) -> Answer:
        return UseTools(*right.tools, *many) if isinstance(right, UseTools) else right

    team = Team(plan=ONE, executor=executor)
    api.script(team)
    run = submitted(questions=allowed)
    drain(run)
    answer(run, alice)
    for _ in range(allowed):
        drain(run)
        assert open_gate(run).kind == GateKind.QUESTION
        answer(run, alice, Verb.ANSWER, "Yes")
    drain(run)
    calls = ToolCall.objects.filter(run=run, name="ask_person")
    assert calls.filter(is_error=False).count() == allowed
    refused = f"The policy of this run allows {allowed} question" if allowed else "No one can be asked here."
    assert all(call.result.startswith(refused) for call in calls.filter(is_error=True))
    assert calls.count() == MAX_CALLS - 1
    assert finish(run, alice).outcome == Outcome.SUCCEEDED


def test_a_question_is_answered_and_nothing_else(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team(plan=ONE, executor=looking(one=[ASK])))
    run = submitted()
    drain(run)
    with pytest.raises(DecisionRefused, match="Only a question can be answered"):
        answer(run, alice, Verb.ANSWER, "Yes")
    answer(run, alice)
    drain(run)
    for verb in (Verb.APPROVE, Verb.REJECT, Verb.GIVE_UP):
        with pytest.raises(DecisionRefused):
            answer(run, alice, verb, "Yes")
    with pytest.raises(InvalidInput, match="Write an answer or choose one"):
        answer(run, alice, Verb.ANSWER, " \n")
    assert open_gate(run).kind == GateKind.QUESTION
    answer(run, alice, Verb.STOP)
    run.refresh_from_db()
    assert run.outcome == Outcome.CANCELLED
    assert not run.work.open().exists()
