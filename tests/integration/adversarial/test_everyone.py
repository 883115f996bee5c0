"""What a model of any role may do wrong: refuse, overrun, be cut off, stream garbage, change its language."""

from __future__ import annotations

import pytest
from django.test import Client

from runs.engine import perform
from runs.enums import GateKind, Outcome
from runs.models import User
from tests.factories import Submit, answer
from tests.fakes.adversaries import executors
from tests.fakes.adversaries.everyone import FAULTS, SUCCESS, always, in_turn, switches_language, synthesizes
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, plan, step, told
from tests.integration.adversarial.holding import come_to_rest, must_hold, play

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

OTHERS = ("planner", "verifier", "synthesizer")
"""Roles whose failure is no attempt's, as the executor's is: a person is asked."""
ANSWERS = {
    "refuses": "The model refused to answer.",
    "overruns": "The answer was cut off at the length limit.",
    "reads too much": "The question was longer than the model can read.",
}
NO_ANSWERS = {
    "is cut off": "The connection broke",
    "ends early": "The answer ended before it was complete.",
    "streams garbage": "The service sent something that is not its API.",
    "fails in mid-stream": "The model's service is overloaded (529).",
}


def team_with(role: str, player: Player) -> Team:
    """A team in which this one misbehaves."""
    team = Team(plan=plan(step("one")))
    setattr(team, role, player)
    return team


@pytest.mark.parametrize("loop", ["messages", pytest.param("agent-sdk", marks=pytest.mark.needs("the Agent SDK"))])
def test_an_answer_that_is_none_fails_the_attempt(
    api: FakeAnthropic, submitted: Submit, client: Client, loop: str
) -> None:
    """One fault for each of three attempts."""
    overruns = [FAULTS["overruns"]] * 3  # it is asked again twice
    team = team_with("executor", in_turn(FAULTS["refuses"], *overruns, FAULTS["reads too much"]))
    run = play(api, submitted, team, attempts=3, executor=loop)
    must_hold(run, client, Outcome.FAILED, *ANSWERS.values())


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", OTHERS)
def test_an_answer_that_is_none_is_a_question(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, role: str
) -> None:
    """A person who says “try again” meets the next fault."""
    team = Team(plan=plan(step("one")))
    run = None
    for fault, reason in ANSWERS.items():
        setattr(team, role, always(FAULTS[fault]))
        if run:
            answer(run, alice)
            come_to_rest(run)
        else:
            run = play(api, submitted, team)
        must_hold(run, client, GateKind.ERROR, reason)


@pytest.mark.parametrize("role", ["executor", *OTHERS])
def test_no_answer_at_all(
    api: FakeAnthropic, submitted: Submit, client: Client, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    """It is cut off, asked again later, and then streams garbage; when it lasts a person is asked."""
    monkeypatch.setattr(perform, "MAX_TRIES", 2)
    faults = ("is cut off", "streams garbage")
    team = team_with(role, in_turn(*(FAULTS[fault] for fault in faults)))
    run = play(api, submitted, team)
    must_hold(run, client, GateKind.ERROR, *(NO_ANSWERS[fault] for fault in faults))


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", ["ends early", "fails in mid-stream"])
def test_nothing_is_lost_when_the_service_comes_back(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(perform, "MAX_TRIES", 2)
    team = Team(plan=plan(step("one")), verifier=always(FAULTS[fault]))
    run = play(api, submitted, team)
    must_hold(run, client, GateKind.ERROR, NO_ANSWERS[fault])
    team.verifier = None
    answer(run, alice)
    come_to_rest(run)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    assert len(team.seen["executor"]) == 2


@pytest.mark.parametrize("role", ["executor", *OTHERS])
def test_another_language(api: FakeAnthropic, submitted: Submit, client: Client, role: str) -> None:
    team = team_with(role, switches_language)
    run = play(api, submitted, team)
    reason = "It does not have the form that was asked for." if role == "verifier" else "is missing"
    must_hold(run, client, Outcome.FAILED if role == "executor" else GateKind.ERROR, reason)


# ---- synthesizers that hide what is missing ------------------------------------------------------------------------


@pytest.mark.parametrize("words", [SUCCESS, "# Erfolg\n\nAlles ist fertig; es fehlt nichts."])
def test_an_accepted_gap_cannot_be_hidden(api: FakeAnthropic, submitted: Submit, client: Client, words: str) -> None:
    executor = executors.at("one", executors.claims_unwritten)
    team = Team(plan=plan(step("one"), step("two")), executor=executor, synthesizer=synthesizes(words))
    run = play(api, submitted, team, exhausted="accept")
    gap = "Step “Do one” was accepted with open points. Not met: “The expected output one.md exists and is not empty”"
    must_hold(run, client, Outcome.PARTIAL, gap, "PARTIAL: this is not all that was asked for.")
    assert [part.text.startswith(gap) for part in told(team.seen["synthesizer"][0]) if part.kind == "gap"] == [True]
    assert run.answer == words.strip()


def test_no_answer_is_no_success(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    run = play(api, submitted, Team(plan=plan(step("one")), synthesizer=synthesizes(" \n")))
    must_hold(run, client, GateKind.ERROR, "`answer` must not be empty")


def test_an_answer_is_no_markup(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """S2: what a model writes is text."""
    hostile = (
        "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) The result is done."
    )
    run = play(api, submitted, Team(plan=plan(step("one")), synthesizer=synthesizes(hostile)))
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    markup = client.get(f"/runs/{run.pk}/").text
    assert "<script>alert" not in markup
    assert "<img src=x" not in markup
    assert 'href="javascript:' not in markup
