"""Executors that are lazy, boastful or reach for what is not theirs: each fails for its own reason, in words."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome, Verb
from runs.models import ToolCall, User
from runs.pev.conversation.turns import MAX_DEMANDS
from runs.pev.tools import tool
from runs.pev.tools.tool import ToolLimits
from runs.store import trees
from tests.factories import Submit, answer
from tests.fakes.adversaries import executors, verifiers
from tests.fakes.adversaries.executors import acts, says, write, writes
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, plan, report, step, told
from tests.integration.adversarial.holding import come_to_rest, must_hold, play
from tests.optional import BOTH_EXECUTORS

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

FAILURES: dict[str, tuple[Player, dict[str, Any], tuple[str, ...]]] = {
    "claims files it never wrote": (executors.claims_unwritten, {}, ("one.md does not exist",)),
    "writes elsewhere": (
        executors.writes_elsewhere,
        {},
        ("extra.md is declared by no step", "notes.md is declared by no step"),
    ),
    "climbs out of the tree": (
        executors.climbs_out,
        {},
        ("“../../etc/passwd” cannot be used as a path", "it is absolute", "There is no tool “run_shell”"),
    ),
    "misuses tools": (
        executors.misuses_tools,
        {},
        ("may have 50000; split it.", "`content` is missing", "`path` has to be a text in quotation marks"),
    ),
    "never stops": (executors.never_stops, {"rounds": 3}, ("The executor used its 3 rounds without a report.",)),
    "always pauses": (executors.always_pauses, {"rounds": 3}, ("The executor used its 3 rounds without a report.",)),
    "gives up": (executors.gives_up, {}, ("Reported as blocked. The archive is sealed.",)),
    "is unsure": (says(confidence=0.1), {"min_confidence": 0.5}, ("only 10% sure; this run asks for 50%",)),
    "makes up its report": (
        says(confidence=1.7, status="approved", overall_pass=True),
        {},
        (
            "`confidence` has to be 1 or less",
            "`status` has to be 'done', 'blocked' or 'not_applicable'",
            "`overall_pass` is not asked for",
        ),
    ),
    "is sure of no number": (says(confidence=float("nan")), {}, ("`confidence` has to be 1 or less",)),
    "speaks of half a character": (says(findings="half \ud800"), {}, ("unexpected end of hex escape",)),
}


@pytest.mark.parametrize("loop", BOTH_EXECUTORS)
@pytest.mark.parametrize("case", FAILURES)
def test_no_verifier_is_asked(
    api: FakeAnthropic, submitted: Submit, client: Client, monkeypatch: pytest.MonkeyPatch, case: str, loop: str
) -> None:
    """T2: what code can tell is told by code, whoever runs the loop of an attempt."""
    monkeypatch.setattr(tool, "ToolLimits", partial(ToolLimits, file_bytes=50_000))
    monkeypatch.setattr(executors, "HUGE", 50_001)
    executor, policy, reasons = FAILURES[case]
    team = Team(plan=plan(step("one")), executor=executor)
    run = play(api, submitted, team, executor=loop, **policy)
    must_hold(run, client, Outcome.FAILED, *reasons)
    assert "verifier" not in team.seen
    assert trees.files_of(run.head) == trees.files_of(run.inputs)


def test_files_with_nothing_in_them(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    team = Team(plan=plan(step("one", outputs=tuple(executors.EMPTY))), executor=executors.fills_nothing)
    run = play(api, submitted, team)
    empty = [f"{path} is empty" for path in executors.EMPTY if path != "no.md"]
    must_hold(run, client, Outcome.FAILED, "no.md does not exist", *empty)
    assert "verifier" not in team.seen


def placeholder_plan() -> dict[str, Any]:
    check = {"kind": "no_placeholders", "path": "one.md"}
    return plan(
        {**step("one"), "acceptance_criteria": [{"text": "It is written out", "about": "output", "check": check}]}
    )


def test_placeholder_text_in_a_file_of_the_right_name(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    team = Team(plan=placeholder_plan(), executor=writes("# Report\n\nTODO: write the report\n"))
    run = play(api, submitted, team)
    must_hold(run, client, Outcome.FAILED, "one.md still has a placeholder: “TODO”, line 3")
    assert "verifier" not in team.seen


def test_a_model_that_calls_the_same_tool_for_ever_is_stopped_long_before_its_rounds_are_used_up(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    """As a model of half a billion parameters did, on a server that ignores `tool_choice`."""
    team = Team(plan=plan(step("one")), executor=executors.never_stops)
    run = play(api, submitted, team, rounds=12, attempts=3)
    reason = (
        "The executor kept making the same calls without a report. "
        "It called “list_files” 3 times (2 of them with a result it had already)."
    )
    must_hold(run, client, Outcome.FAILED, reason)
    assert len(team.seen["executor"]) == 3 * (3 + MAX_DEMANDS)
    calls = ToolCall.objects.filter(run=run).order_by("attempt", "ordinal").values_list("attempt__number", "ordinal")
    assert list(calls) == [(attempt, number) for attempt in (1, 2, 3) for number in (1, 2, 3)]


@pytest.mark.exhaustive
def test_a_model_that_goes_round_in_circles_reports_when_it_is_asked_to_and_every_call_can_be_quoted(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        if "tool_choice" in request.body:
            return Say(json.dumps(report("The size is known.")))
        return UseTools(ToolUse("list_files", {}))

    criteria = [{"text": f"{source} says so", "about": "output", "check": None} for source in ("@tool-1", "@tool-3")]
    team = Team(plan=plan({**step("one", outputs=()), "acceptance_criteria": criteria}), executor=executor)
    quotes = verifiers.quotes_in_turn([("@tool-1", "size in bytes"), ("@tool-3", "size in bytes")])
    team.verifier = lambda request, right: quotes(request, right) if len(team.seen["verifier"]) == 1 else right
    run = play(api, submitted, team, rounds=12)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    assert len(team.seen["executor"]) == 4


REPEATED = "This attempt repeats the one before"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("executor", "asked", "reason"),
    [(executors.repeats_itself, 1, REPEATED), (executors.changes_a_space, 2, "Not good")],
)
def test_a_repetition_costs_no_verifier_call(
    api: FakeAnthropic, submitted: Submit, client: Client, executor: Player, asked: int, reason: str
) -> None:
    team = Team(plan=plan(step("one")), executor=executor, verifier=verifiers.never_passes)
    run = play(api, submitted, team, attempts=2)
    must_hold(run, client, Outcome.FAILED, reason)
    assert len(team.seen["verifier"]) == asked


def test_praise_does_not_reach_the_verifier(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """The verifier sees artefacts and findings; reasoning and the executor's own view of the criteria are not evidence
    and not shown.
    """
    met = [{"criterion": "C1", "met": True, "how": executors.PRAISE}]
    team = Team(plan=plan(step("one")), executor=says(reasoning=executors.PRAISE, criteria_met=met))
    run = play(api, submitted, team)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    assert executors.PRAISE not in json.dumps([request.body for request in team.seen["verifier"]])


@pytest.mark.exhaustive
def test_praise_in_the_notes_is_marked_as_the_executors_own_and_proves_nothing(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    sources = ("@output", "@notes", "one.md")
    team = Team(plan=plan(step("one")), executor=says(notes=executors.PRAISE))
    team.verifier = verifiers.quotes_in_turn([(source, executors.PRAISE) for source in sources])
    criteria = [{"text": f"{source} says so", "about": "output", "check": None} for source in sources]
    team.plan = plan({**step("one"), "acceptance_criteria": criteria})
    run = play(api, submitted, team)
    must_hold(run, client, Outcome.FAILED, "no passage that was quoted for it is in its source")
    notes = [(part.name, part.text) for part in told(team.seen["verifier"][0]) if part.kind == "notes"]
    assert notes == [("of the executor; its own words, no source for a quote", executors.PRAISE)]


def test_its_own_words_do_not_come_out_of_a_tool_as_evidence(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    """A search without a hit, a file that is not there, a tool that is none: each says back what it was told."""
    sources = ["@tool-2", "@tool-3", "@tool-4"]
    criteria = [{"text": f"{source} says so", "about": "output", "check": None} for source in sources]
    team = Team(plan=plan({**step("one"), "acceptance_criteria": criteria}), executor=executors.launders_its_words)
    team.verifier = verifiers.quotes_in_turn([(source, executors.PRAISE) for source in sources])
    run = play(api, submitted, team)
    must_hold(run, client, Outcome.FAILED, *(f"is what the executor itself put into {source}" for source in sources))


@pytest.mark.parametrize("executor", [executors.does_nothing, acts(write("../one.md", "x"))])
def test_nothing_done_is_told_even_where_it_passes(
    api: FakeAnthropic, submitted: Submit, client: Client, executor: Player
) -> None:
    """T4: without expected outputs only the planned actions show that nothing was done; one refused is none."""
    run = play(api, submitted, Team(plan=plan(step("one", outputs=())), executor=executor))
    must_hold(run, client, Outcome.SUCCEEDED, "The plan named the tool write_file; it was not used.")


def test_a_burst_of_calls_is_cut(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """Ten thousand calls in one turn kept a worker busy for minutes."""
    team = Team(plan=plan(step("one")), executor=executors.bursts(80))
    run = play(api, submitted, team)
    must_hold(run, client, Outcome.FAILED, "one.md does not exist")
    assert ToolCall.objects.count() == 50
    last = team.seen["executor"][1].tool_results[-1]
    assert last["is_error"]
    assert "at most 50" in last["content"]


@pytest.mark.parametrize("executor", [executors.claims_unwritten, executors.writes_elsewhere])
def test_what_is_accepted_with_issues_is_partial(
    api: FakeAnthropic, submitted: Submit, client: Client, executor: Player
) -> None:
    team = Team(plan=plan(step("one"), step("two")), executor=executors.at("one", executor))
    run = play(api, submitted, team, exhausted="accept")
    must_hold(run, client, Outcome.PARTIAL, "Step “Do one” was accepted with open points.")


@pytest.mark.exhaustive
@pytest.mark.parametrize("executor", [executors.claims_unwritten, executors.writes_elsewhere, executors.gives_up])
def test_what_is_accepted_with_issues_and_nothing_else_is_a_failure(
    api: FakeAnthropic, submitted: Submit, client: Client, executor: Player
) -> None:
    run = play(api, submitted, Team(plan=plan(step("one")), executor=executor), exhausted="accept")
    nothing = "No step passed, and no person accepted one that wrote an expected file."
    left = ["Throw the results away."] if executor is executors.writes_elsewhere else []  # of nothing nothing is left
    must_hold(run, client, Outcome.FAILED, nothing, "Step “Do one” was accepted with open points.", *left)


@pytest.mark.exhaustive
def test_what_nobody_announced_is_not_accepted_either(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    team = Team(plan=plan(step("one")), executor=executors.writes_elsewhere)
    run = play(api, submitted, team, exhausted="accept")
    told = "Files of one that no step had declared were left out: extra.md, notes.md."
    must_hold(run, client, Outcome.FAILED, told)
    kept = trees.files_of(run.head)
    assert sorted(kept) == ["notes.md", "one.md"]
    assert kept["notes.md"] == trees.files_of(run.inputs)["notes.md"]


def test_a_person_is_asked_what_to_do(api: FakeAnthropic, submitted: Submit, alice: User, client: Client) -> None:
    run = play(api, submitted, Team(plan=plan(step("one")), executor=executors.gives_up), exhausted="ask")
    must_hold(run, client, GateKind.EXHAUSTED, "Go on without it?", "Reported as blocked.")
    answer(run, alice, Verb.APPROVE)
    come_to_rest(run)
    must_hold(run, client, Outcome.FAILED, "Step “Do one” was accepted with open points by alice. Reported as blocked.")
