"""A command as a criterion: code decides whether the tests pass, once, and what they print is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome
from runs.errors import InvalidInput
from runs.isolation import sandbox
from runs.models import Attempt, Run, ToolCall, User
from runs.store.journal import CHECKS
from runs.web.site.addresses import evidence_address
from tests.factories import Submit, answer, drain, finish, open_gate, reused
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, also, block, labels_of, output_criterion, plan, step, told, verdict
from tests.hostile.test_sandbox import PYTHON

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
CODE = """
import sys
text = open("one.md").read()
print("looked at one.md")
print(f"{1} passed" if "right" in text else f"{1} failed: it is not right")
sys.exit("right" not in text)
"""
TESTS = (*PYTHON, CODE)
PASS = {"kind": "command", "command": "tests"}


def checked_by(*checks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A step that is done when these checks hold."""
    one = step("one")
    one["acceptance_criteria"] += [output_criterion(f"Check {n} holds", check) for n, check in enumerate(checks)]
    return one | more


def writing(*texts: str) -> Any:
    """An executor that writes these, one at each attempt, after it has read a file."""
    rest = list(texts)

    def play(request: Request, right: Answer) -> Answer:
        if not isinstance(right, UseTools):
            return right
        write = ToolUse("write_file", {"path": "one.md", "content": rest.pop(0)})
        return UseTools(ToolUse("read_file", {"path": "notes.md"}), write)

    return play


@pytest.fixture(autouse=True)
def commands(settings: Any) -> None:
    settings.COMMANDS = {"tests": TESTS}


def checks_run(run: Run) -> list[ToolCall]:
    return list(ToolCall.objects.filter(run=run, ordinal__gte=CHECKS).order_by("id"))


@pytest.mark.needs("bubblewrap")
@pytest.mark.slow
def test_a_step_is_done_when_the_tests_pass_and_told_what_they_printed(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    team = Team(plan=plan(checked_by(PASS)), executor=writing("wrong\n", "right\n"))
    api.script(team)
    run = submitted()
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    first, second = Attempt.objects.filter(step__plan__run=run)
    results = [one.verdict.results[-1] for one in (first, second)]
    assert [(one.decided_by, one.passed, one.evidence[0].quote) for one in results] == [
        ("check", False, "looked at one.md\n1 failed: it is not right"),
        ("check", True, "looked at one.md\n1 passed"),
    ]
    assert first.verdict.stage == "checks"
    critique = [part.text for part in told(team.seen["executor"][2]) if "1 failed: it is not right" in part.text]
    assert len(critique) == 1
    assert [call.is_error for call in checks_run(run)] == [True, False]
    client.force_login(alice)
    page = client.get(evidence_address(run.pk, results[0].evidence[0], first).partition("#")[0])
    assert "1 failed: it is not right" in page.text
    assert results[0].evidence[0].sentence.endswith("ended with status 1")


@pytest.mark.needs("bubblewrap")
def test_its_calls_are_no_sources_and_leave_the_numbers_of_others(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    def quoting(request: Request, right: Answer) -> Answer:
        final = any(part.kind == "subject" and part.text.startswith("The whole") for part in told(request))
        done = block(told(request), "output")
        judged = also(verdict(labels_of(request), "@tool-1", "Some notes."), "@output", done)
        return right if final else Say(json.dumps(judged))

    team = Team(plan=plan(checked_by(PASS, PASS)), executor=writing("right\n"), verifier=quoting)
    api.script(team)
    run = submitted()
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert len(checks_run(run)) == 1  # of two criteria that name the same
    shown = [part.name for part in told(team.seen["verifier"][0]) if part.kind == "tool"]
    assert shown == ["@tool-1", "@tool-2"]


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(("text", "outcome"), [("right\n", Outcome.SUCCEEDED), ("wrong\n", Outcome.PARTIAL)])
def test_the_whole_task_is_judged_by_a_command(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, text: str, outcome: Outcome
) -> None:
    whole = plan(step("one"))
    whole["success_criteria"].append(output_criterion("The tests pass", PASS))
    api.script(Team(plan=whole, executor=writing(text)))
    run = submitted(replans=0)
    assert finish(run, alice).outcome == outcome
    run.refresh_from_db()
    assert run.final is not None
    (proof,) = run.final.results[-1].evidence
    assert proof.verified == (outcome == Outcome.SUCCEEDED)
    client.force_login(alice)
    page = client.get(evidence_address(run.pk, proof, None).partition("#")[0])
    assert proof.quote.splitlines()[-1] in page.text


@pytest.mark.needs("bubblewrap")
def test_a_command_that_is_gone_is_asked_about_and_holds_nothing(
    api: FakeAnthropic, submitted: Submit, alice: User, settings: Any
) -> None:
    api.script(Team(plan=plan(checked_by(PASS)), executor=writing("right\n", "right!\n", "right!!\n")))
    run = submitted(attempts=1, replans=0, exhausted="fail")
    drain(run)
    answer(run, alice)
    settings.COMMANDS = {}
    drain(run)
    gate = open_gate(run)
    assert gate.kind == GateKind.PLAN
    assert "Since version 1 was approved, something has changed (commands)" in gate.question
    answer(run, alice)
    drain(run)
    run.refresh_from_db()
    assert run.outcome == Outcome.FAILED
    (proof,) = Attempt.objects.get(step__plan__run=run).verdict.results[-1].evidence
    assert proof.sentence == "tests was not run: no commands are run here"


def test_where_no_sandbox_can_be_made_it_holds_nothing(
    api: FakeAnthropic, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*given: Any, **named: Any) -> None:
        raise InvalidInput(sandbox.MISSING)

    monkeypatch.setattr(sandbox, "run", refusing)
    api.script(Team(plan=plan(checked_by(PASS)), executor=writing("right\n")))
    run = submitted(attempts=1, replans=0, exhausted="fail")
    assert finish(run, alice).outcome == Outcome.FAILED
    (proof,) = Attempt.objects.get(step__plan__run=run).verdict.results[-1].evidence
    assert proof.sentence == sandbox.MISSING.removesuffix(".")


def test_a_plan_names_only_commands_that_are_there(api: FakeAnthropic, submitted: Submit) -> None:
    api.script(Team(plan=plan(checked_by({"kind": "command", "command": "rm"}))))
    run = submitted()
    drain(run)
    assert open_gate(run).kind == GateKind.ERROR
    assert "It runs the command “rm”, which this installation does not have. There are: tests." in (
        open_gate(run).question
    )


def test_who_approves_sees_what_will_be_run(api: FakeAnthropic, submitted: Submit, alice: User, client: Client) -> None:
    whole = plan(checked_by(PASS))
    whole["success_criteria"].append(output_criterion("The tests pass", PASS))
    api.script(Team(plan=whole))
    run = submitted()
    drain(run)
    client.force_login(alice)
    page = " ".join(client.get(f"/runs/{run.pk}/").text.split())
    assert page.count("Runs tests (") == 2


@pytest.mark.needs("bubblewrap")
@pytest.mark.slow
def test_another_command_is_another_result(api: FakeAnthropic, submitted: Submit, alice: User, settings: Any) -> None:
    api.script(Team(plan=plan(checked_by(PASS)), executor=writing("right\n", "right\n")))
    finish(submitted(), alice)
    assert reused(finish(submitted(), alice)) == ["one"]
    settings.COMMANDS = {"tests": (*TESTS, "again")}
    assert reused(finish(submitted(), alice)) == []
