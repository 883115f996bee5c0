"""One run that uses all that steps may reach for: a page, a calculation, its owner, and a command that decides."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome, Provenance, Verb
from runs.models import Attempt, ToolCall, User
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.fakes.anthropic_answers import ToolUse
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import output_criterion, plan, step
from tests.hostile.test_sandbox import PYTHON
from tests.integration.engine.test_fetching import Web, web
from tests.integration.test_honest_runs import Proof, Work, criterion, honest
from tests.optional import BOTH_EXECUTORS

__all__ = ["web"]
pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2"])]
PASSAGE = "The city has 5,450,000 inhabitants on 720.2 square kilometres."
SHOWN = "5,450,000 / 720.2 = 7,567.3"
QUESTION = "Per square kilometre or per square mile?"
CHECK = (*PYTHON, "import sys; sys.exit('7,567.3' not in open('density.md').read())")
FOUND, FIGURE, UNIT = "The figures stand on the page", "The density is what it comes to", "It is in the unit wanted"
PLAN = plan(
    step("facts")
    | {
        "tools": ["fetch_page", "read_file", "write_file"],
        "acceptance_criteria": [
            output_criterion("facts.md exists", {"kind": "file_exists", "path": "facts.md"}),
            criterion("sources", FOUND),
        ],
    },
    step("density", "facts")
    | {
        "tools": ["ask_person", "calculate", "fetch_page", "write_file"],
        "acceptance_criteria": [
            output_criterion("The tests pass", {"kind": "command", "command": "tests"}),
            criterion("sources", FIGURE),
            criterion("sources", UNIT),
        ],
    },
)


@pytest.mark.parametrize("loop", BOTH_EXECUTORS)
@pytest.mark.needs("bubblewrap")
@pytest.mark.slow
def test_it_succeeds_and_every_figure_rests_on_what_was_seen(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, settings: Any, web: Web, loop: str
) -> None:
    settings.WEB, settings.COMMANDS = "*", {"tests": CHECK}
    address = web.put("/facts", f"<!doctype html><p>{PASSAGE}</p>", "text/html")
    fetch = ToolUse("fetch_page", {"address": address})
    ask = ToolUse("ask_person", {"question": QUESTION, "choices": ["kilometre", "mile"]})
    compute = ToolUse("calculate", {"expression": "5450000 / 720.2", "decimals": 1})
    work = {
        "facts": Work(["notes.md"], {"facts.md": f"“{PASSAGE}” ({address})\n"}, "Two figures.", [fetch]),
        "density": Work((), {"density.md": f"{SHOWN} per square kilometre\n"}, "The density.", [ask, fetch, compute]),
    }
    proofs: dict[str, Proof] = {
        "": ("@output", "7,567.3 per square kilometre", None),
        FOUND: ("@tool-1", PASSAGE, PASSAGE),
        FIGURE: ("@tool-3", SHOWN, SHOWN),
        UNIT: ("@person-1", "kilometre", "per square kilometre"),
    }
    api.script(honest(PLAN, work, proofs, f"7,567.3 per square kilometre: {SHOWN}"))
    run = submitted(web="pages.example", sources_needed=True, executor=loop)
    drain(run)
    assert open_gate(run).kind == GateKind.PLAN
    assert (web.asked, ToolCall.objects.filter(run=run).count()) == ([], 0)  # nothing went out before anybody agreed
    client.force_login(alice)
    shown = client.get(f"/runs/{run.pk}/").text
    for effect in ("Reads the web (pages.example)", "Runs tests"):
        assert effect in shown
    answer(run, alice)
    drain(run)
    gate = open_gate(run)
    assert (gate.kind, gate.question) == (GateKind.QUESTION, QUESTION)
    answer(run, alice, Verb.ANSWER, "kilometre")
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    facts, density = Attempt.objects.filter(step__plan__run=run).order_by("step__position")
    rests_on = {
        result.text: [one.provenance for one in result.evidence]
        for attempt in (facts, density)
        for result in attempt.verdict.results
        if result.decided_by == "model"
    }
    assert rests_on == {
        FOUND: [Provenance.OBSERVED],
        FIGURE: [Provenance.OBSERVED],
        UNIT: [Provenance.PERSON],
    }
    (tests,) = [one for one in density.verdict.results if one.text == "The tests pass"]
    assert (tests.decided_by, tests.evidence[0].sentence.endswith("ended with status 0")) == ("check", True)
    names = list(ToolCall.objects.filter(run=run).order_by("id").values_list("name", flat=True))
    assert names == [
        "fetch_page",
        "read_file",
        "write_file",
        "ask_person",
        "fetch_page",
        "calculate",
        "write_file",
        "run_command",
    ]
