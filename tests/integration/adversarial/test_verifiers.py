"""Verifiers that wave through, invent, contradict themselves or are never content: code has the last word."""

from __future__ import annotations

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome, PlanStatus, Verb
from runs.models import Attempt, User, Verdict
from tests.factories import Submit, answer
from tests.fakes.adversaries import verifiers
from tests.fakes.adversaries.verifiers import changed, each_result, quotes
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, plan, step
from tests.integration.adversarial.holding import come_to_rest, must_hold, play

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]

FAILURES: dict[str, tuple[Player, tuple[str, ...]]] = {
    "invents quotes": (
        verifiers.invents,
        (
            "“this was never written there” does not occur in one.md",
            "Unsupported: no passage that was quoted for it stands in its source.",
            "The verifier said that everything passed; its own results or their evidence say otherwise.",
        ),
    ),
    "invents others when asked again": (verifiers.invents_differently, ("“invention number 3” does not occur",)),
    "quotes another file": (verifiers.quotes_another_file, ("it does occur in notes.md, line 1, but that is not",)),
    "brings no evidence": (verifiers.brings_no_evidence, ("C2 passed without any evidence; quote what proves it.",)),
    "passes over a failure": (verifiers.passes_over_a_failure, ("The verifier said that everything passed; its own",)),
    "never passes": (verifiers.never_passes, ("Not good enough.",)),
    "fails in silence": (
        verifiers.fails_in_silence,
        ("C2 failed without feedback; say what is missing.", "feedback_for_executor is empty"),
    ),
    "names a label twice": (verifiers.names_a_label_twice, ("C2 is judged twice.",)),
    "judges other criteria": (verifiers.judges_other_criteria, ("C2 is missing from criteria_results.",)),
    "takes back its claim": (verifiers.takes_back_its_claim, ("It does not say enough.",)),
    "uses tools": (verifiers.uses_tools, ("The verifier gave no usable verdict",)),
    "makes up its verdict": (
        verifiers.makes_up_its_verdict,
        (
            "`quote` of item 1 of `evidence` of item 1 of `criteria_results` has more than 2000 characters",
            "`quote` of item 2 of `evidence` of item 1 of `criteria_results` must not be empty",
            "`confidence` of item 1 of `criteria_results` has to be 1 or less",
            "More mistakes of this kind: 2.",
        ),
    ),
    "quotes for ever": (
        each_result(evidence=[{"source": "one.md", "quote": "Found"}] * 21),
        ("has more than 20 items",),
    ),
    "quotes half a character": (quotes("one.md", "Found \ud800"), ("unexpected end of hex escape",)),
    "decides otherwise": (
        changed(lambda answer: answer.update(action="approve", approved=True)),
        ("`action` has to be 'pass', 'retry', 'replan' or 'cannot'", "`approved` is not asked for"),
    ),
    "is sure of no number": (each_result(confidence=float("nan")), ("has to be 1 or less",)),
}
"""Verifiers whose verdict passes nothing, and the words that say why."""

NO_EVIDENCE: dict[str, tuple[str, str, str]] = {
    "one character": ("one.md", "F", "“F” is too short to prove anything"),
    "a mere word": ("one.md", "Found", "“Found” is one short word; quote the words around it"),
    "punctuation": ("one.md", ". . . -- !!", "“. . . -- !!” is too short to prove anything"),
    "nothing to be seen": ("one.md", "\u3164\u3164\u3164", "“\u3164\u3164\u3164” is too short to prove anything"),
    "a letter of another script": ("one.md", "F\u043eund by one", "“F\u043eund by one” does not occur in one.md"),
    "turned around": ("one.md", "\u202eeno yb dnuoF", "“\u202eeno yb dnuoF” does not occur in one.md"),
    "other capitals": ("one.md", "FOUND BY ONE", "“FOUND BY ONE” does not occur in one.md"),
    "a character too many": ("one.md", "Found by one\0", "“Found by one\0” does not occur in one.md"),
    "a page of nonsense": ("one.md", "never " * 300, "never never never"),
    "a source that is near": ("./one.md", "Found by one", "There is no source “./one.md”"),
    "a source in capitals": ("ONE.MD", "Found by one", "There is no source “ONE.MD”"),
    "a source outside": ("../../etc/passwd", "root", "There is no source “../../etc/passwd”"),
    "a tool call that never was": ("@tool-9", "Found by one", "There is no source “@tool-9”"),
    "its own words": ("@critique", "It does not say enough.", "There is no source “@critique”"),
    "a picture": ("logo.png", "PNG", "logo.png is not a text file"),
}
"""Quotes that count for nothing: source, quote, and the words that say why."""


@pytest.mark.slow
@pytest.mark.parametrize("case", FAILURES)
def test_it_passes_nothing(api: FakeAnthropic, submitted: Submit, client: Client, case: str) -> None:
    verifier, reasons = FAILURES[case]
    team = Team(plan=plan(step("one")), verifier=verifier)
    run = play(api, submitted, team)
    must_hold(run, client, Outcome.FAILED, *reasons)
    assert not Verdict.objects.filter(passed=True).exists()
    assert len(team.seen["verifier"]) <= 3


@pytest.mark.slow
def test_what_is_no_evidence(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """One criterion for each way to bring a quote that proves nothing; none of them passes."""
    criteria = [{"text": text, "about": "output", "check": None} for text in NO_EVIDENCE]
    team = Team(plan=plan({**step("one"), "acceptance_criteria": criteria}))
    team.verifier = verifiers.quotes_in_turn([(source, quote) for source, quote, _ in NO_EVIDENCE.values()])
    run = play(api, submitted, team, {"notes.md": b"Some notes.\n", "logo.png": b"\x89PNG\0"})
    results = Attempt.objects.get().verdict.results
    assert [(result.claimed, result.passed) for result in results] == [(True, False)] * len(NO_EVIDENCE)
    for result, (_, _, reason) in zip(results, NO_EVIDENCE.values(), strict=True):
        assert reason in result.evidence[0].sentence
    must_hold(run, client, Outcome.FAILED, "There is no source “../../etc/passwd”")


@pytest.mark.slow
def test_what_nobody_can_see_in_a_quote_is_not_stored_as_evidence(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    """It is the words of the source that prove something, in its own spelling."""
    run = play(api, submitted, Team(plan=plan(step("one")), verifier=quotes("one.md", "Found\u200b by one")))
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    assert [item.quote for item in Attempt.objects.get().verdict.results[-1].evidence] == ["Found by one"]


@pytest.mark.slow
@pytest.mark.parametrize("exhausted", ["ask", "accept"])
@pytest.mark.parametrize("verifier", [verifiers.invents, verifiers.never_passes])
def test_the_policy_decides_how_it_goes_on(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, verifier: Player, exhausted: str
) -> None:
    """Whatever is decided, the outcome is at most partial: only if a person accepted what there is."""
    gap = "Step “Do one” was accepted with open points."
    run = play(api, submitted, Team(plan=plan(step("one")), verifier=verifier), exhausted=exhausted)
    if exhausted == "ask":
        must_hold(run, client, GateKind.EXHAUSTED, "“Do one” did not pass in 1 attempt.")
        answer(run, alice, Verb.APPROVE)
        come_to_rest(run)
    must_hold(run, client, Outcome.PARTIAL if exhausted == "ask" else Outcome.FAILED, gap)


@pytest.mark.slow
def test_its_own_critique_proves_nothing(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    team = Team(plan=plan(step("one")), verifier=verifiers.quotes_its_own_critique)
    run = play(api, submitted, team, attempts=2)
    must_hold(run, client, Outcome.FAILED, "“It does not say enough.” does not occur in one.md")


@pytest.mark.slow
def test_a_person_who_stops_the_run_gets_what_there_is(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    run = play(api, submitted, Team(plan=plan(step("one")), verifier=verifiers.never_passes), exhausted="ask")
    answer(run, alice, Verb.STOP)
    must_hold(run, client, Outcome.CANCELLED, "Step “Do one” was skipped")


@pytest.mark.slow
def test_invented_quotes_beside_a_true_one_are_shown_as_such(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    run = play(api, submitted, Team(plan=plan(step("one")), verifier=verifiers.mixes_in_inventions))
    must_hold(run, client, Outcome.SUCCEEDED, "“the auditors agreed” does not occur in one.md")
    evidence = Attempt.objects.get().verdict.results[-1].evidence
    assert [item.verified for item in evidence] == [True, False]


@pytest.mark.slow
def test_one_that_fails_over_its_own_passes_is_overruled(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """T3 in both directions."""
    run = play(api, submitted, Team(plan=plan(step("one")), verifier=verifiers.fails_over_passes))
    must_hold(run, client, Outcome.SUCCEEDED, "The verifier said that it failed, yet every criterion passed")


def test_only_the_criteria_that_were_asked_for_count(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    run = play(api, submitted, Team(plan=plan(step("one")), verifier=verifiers.adds_a_criterion))
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    assert [result.label for result in Attempt.objects.get().verdict.results] == ["C1", "C2"]


@pytest.mark.slow
def test_an_unsure_pass_is_none(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    team = Team(plan=plan(step("one")), verifier=each_result(confidence=0.2))
    run = play(api, submitted, team, min_verifier_confidence=0.5)
    must_hold(run, client, Outcome.FAILED, "The verifier was only 20% sure; this run asks for 50%.")


@pytest.mark.slow
def test_one_that_always_wants_another_plan_is_bounded(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    run = play(api, submitted, Team(plan=plan(step("one")), verifier=verifiers.always_replans), replans=1)
    must_hold(run, client, Outcome.FAILED, "It does not say enough.")
    assert [version.status for version in run.plans.all()] == [PlanStatus.SUPERSEDED, PlanStatus.APPROVED]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("player", "reason"),
    [
        (verifiers.invents, "There is no source “one.md.bak”"),
        (verifiers.passes_over_a_failure, "Success criterion not met: The answer names the result."),
    ],
)
def test_lies_about_the_final_answer(
    api: FakeAnthropic, submitted: Submit, client: Client, player: Player, reason: str
) -> None:
    player = quotes("one.md.bak", "all is well") if player is verifiers.invents else player
    run = play(api, submitted, Team(plan=plan(step("one")), verifier=verifiers.only_at_the_end(player)))
    must_hold(run, client, Outcome.PARTIAL, reason)
