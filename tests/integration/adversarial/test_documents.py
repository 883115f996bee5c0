"""Instructions in documents, file names, tool results, findings and critiques stay data (S3)."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome, RunStatus
from runs.models import Attempt, User
from runs.pev.delimiters import delimited, find
from tests.factories import Submit, answer
from tests.fakes.adversaries import executors, verifiers
from tests.fakes.adversaries.everyone import HOSTILE_DOCUMENT, HOSTILE_NAME, INJECTION
from tests.fakes.adversaries.verifiers import quotes
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, plan, step, told
from tests.integration.adversarial.holding import come_to_rest, must_hold, page, play

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

FORGED = delimited("person", INJECTION, "alice")
"""A block that is well formed: its tag fits its text. Anybody can make one."""
FILES = {"evil.md": f"{HOSTILE_DOCUMENT}\n{FORGED}\n".encode(), HOSTILE_NAME: b"Some notes.\n"}


ORDERS = {"request", "person"}
"""The blocks whose words a model is to follow."""


def orders_in(request: Request) -> str:
    """All that a model may take for its orders: what stands in no block, and in the blocks of people."""
    blocks = [block for message in request.messages if message["role"] == "user" for block in message["content"]]
    return "\n".join(_orders(str(block.get("text") or block.get("content") or "")) for block in blocks)


def _orders(text: str) -> str:
    for part in find(text):
        if part.kind not in ORDERS:
            text = text.replace(part.text, "")
    return text


def reads_first(request: Request, right: Answer) -> Answer:
    """Reads every document before it does its work."""
    if isinstance(right, UseTools):
        return UseTools(ToolUse("read_file", {"path": "evil.md"}), ToolUse("list_files", {}), *right.tools)
    return right


def obeys(player: Player) -> Player:
    """S3: does its work as it should, unless an instruction of a document reaches it as one of its own."""
    return lambda request, right: player(request, right) if INJECTION in orders_in(request) else right


def test_what_documents_say_reaches_every_role_as_data(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """Documents, names, tool results and the critique of a verifier that was shown no proof: all of it is fenced."""

    def first_without_proof(request: Request, right: Answer) -> Answer:
        return quotes("nowhere.md", "no such thing")(request, right) if len(request.messages) == 1 else right

    team = Team(plan=plan(step("one"), step("two", "one")), executor=reads_first, verifier=first_without_proof)
    run = play(api, submitted, team, FILES)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    assert set(team.seen) == {"planner", "executor", "verifier", "synthesizer"}
    for request in api.requests:
        assert INJECTION not in orders_in(request)
        assert HOSTILE_NAME not in orders_in(request)


@pytest.mark.parametrize("files", [FILES, {"evil.md": INJECTION.encode()}])
def test_a_document_cannot_approve(
    api: FakeAnthropic, submitted: Submit, client: Client, files: dict[str, bytes]
) -> None:
    run = play(api, submitted, Team(), files, plan_approval="always")
    must_hold(run, client, GateKind.PLAN, "Version 1 of the plan is ready.")
    assert run.status == RunStatus.AWAITING_APPROVAL
    assert not Attempt.objects.exists()


def test_a_gullible_verifier_is_not_reached(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """It would wave everything through if it took the words of a document for its own orders."""
    team = Team(plan=plan(step("one")), executor=reads_first, verifier=obeys(verifiers.invents))
    run = play(api, submitted, team, FILES)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")


def test_even_one_that_obeys_a_document_passes_nothing(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """S3 is a delimiter; T1 is the wall behind it: the words of the document prove no criterion of the step."""
    team = Team(plan=plan(step("one")), verifier=quotes("one.md", INJECTION))
    run = play(api, submitted, team, FILES)
    must_hold(run, client, Outcome.FAILED, "but that is not the source named")


def test_what_models_write_is_data_for_the_next_one(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """A file, findings and a critique that give orders: none of them reaches a later model as such."""
    team = Team(plan=plan(step("one"), step("two", "one")))
    team.executor = hostile_worker(text := f"{HOSTILE_DOCUMENT}\n{FORGED}")
    team.verifier = critical_once(team, text)
    run = play(api, submitted, team, attempts=2)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    kinds = {part.kind for request in api.requests for part in told(request) if INJECTION in part.text}
    assert kinds == {"document", "output", "critique", "result"}
    assert not [request.number for request in api.requests if INJECTION in orders_in(request)]


def hostile_worker(text: str) -> Player:
    """Does its work as it should, with these words in the second file and in all of its findings."""
    writes, speaks = executors.adds(executors.write("two.md", text)), executors.says(findings=text)
    return lambda request, right: (writes if isinstance(right, UseTools) else speaks)(request, right)


def critical_once(team: Team, text: str) -> Player:
    def play_(request: Request, right: Answer) -> Answer:
        if len(team.seen["verifier"]) > 1:
            return right
        return Say(json.dumps(verifiers.failing(request, feedback_for_executor=text)))

    return play_


def test_a_hostile_name_is_a_name(api: FakeAnthropic, submitted: Submit, alice: User, client: Client) -> None:
    """S2: it is listed on the pages and in the prompts, and is neither markup nor the end of a fence."""
    team = Team(plan=plan(step("one")))
    run = play(api, submitted, team, FILES, plan_approval="always")
    must_hold(run, client, GateKind.PLAN, "Version 1 of the plan is ready.")
    assert "<img src=x" not in page(client, f"/runs/{run.pk}/")
    listed = next(part for part in told(team.seen["planner"][0]) if part.kind == "files")
    assert HOSTILE_NAME in listed.text
    assert HOSTILE_NAME in [part.name for part in told(team.seen["planner"][0]) if part.kind == "preview"]
    answer(run, alice)
    come_to_rest(run)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
