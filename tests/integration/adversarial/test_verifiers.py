"""Verifiers that wave through, invent, contradict themselves or are never content: code has the last word."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome, PlanStatus, Verb
from runs.models import Attempt, User, Verdict
from tests.factories import Submit, answer
from tests.fakes.adversaries import executors, verifiers
from tests.fakes.adversaries.verifiers import changed, each_result, quotes
from tests.fakes.anthropic_answers import Answer, Request, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, plan, step
from tests.integration.adversarial.holding import come_to_rest, must_hold, play, strings_in
from tests.integration.adversarial.rawsources import folded
from tests.reporting import as_json

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]

FAILURES: dict[str, tuple[Player, tuple[str, ...]]] = {
    "invents quotes": (
        verifiers.invents,
        (
            "“this was never written there” does not occur in one.md",
            "Unsupported: no passage that was quoted for it is in its source.",
            "The verifier said that everything passed; its own results or their evidence say otherwise.",
        ),
    ),
    "invents others when asked again": (verifiers.invents_differently, ("“invention number 3” does not occur",)),
    "quotes another file": (verifiers.quotes_another_file, ("it does occur in notes.md, line 1, but that is not",)),
    "passes over a failure": (verifiers.passes_over_a_failure, ("The verifier said that everything passed; its own",)),
    "never passes": (verifiers.never_passes, ("Not good enough.",)),
    "takes back its claim": (verifiers.takes_back_its_claim, ("It does not say enough.",)),
}
"""Verifiers whose verdict passes nothing, and the words that say why."""

NO_FORM = "It does not have the form that was asked for."
UNUSABLE: dict[str, tuple[Player, tuple[str, ...]]] = {
    "brings no evidence": (verifiers.brings_no_evidence, ("It passes a criterion without evidence.",)),
    "fails in silence": (
        verifiers.fails_in_silence,
        ("It fails a criterion without a reason.", "It does not say what is to be done better."),
    ),
    "names a label twice": (verifiers.names_a_label_twice, ("It judges a criterion twice.",)),
    "judges other criteria": (verifiers.judges_other_criteria, ("It does not judge every criterion.",)),
    "uses tools": (verifiers.uses_tools, ("The verifier did not give a usable answer",)),
    "makes up its verdict": (verifiers.makes_up_its_verdict, (NO_FORM,)),
    "quotes for ever": (each_result(evidence=[{"source": "one.md", "quote": "Found"}] * 21), (NO_FORM,)),
    "quotes half a character": (quotes("one.md", "Found \ud800"), (NO_FORM,)),
    "decides otherwise": (changed(lambda answer: answer.update(action="approve", approved=True)), (NO_FORM,)),
    "is sure of no number": (each_result(confidence=float("nan")), (NO_FORM,)),
}
"""Verifiers whose answers are no verdict, and the words that say why. The step itself stays as it is."""

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
def test_it_passes_nothing(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """Each attempt of one step is judged by the next of these verifiers."""
    cases = list(FAILURES)
    asked: list[int] = []  # how often the verifier of each attempt was asked

    def executor(request: Request, right: Answer) -> Answer:
        if not request.tool_results:
            asked.append(0)
        return executors.writes(f"Found by one in version {len(asked)}.\n")(request, right)

    def verifier(request: Request, right: Answer) -> Answer:
        asked[-1] += 1
        player, _ = FAILURES[cases[len(asked) - 1]]
        return player(request, right)

    team = Team(plan=plan(step("one")), executor=executor, verifier=verifier)
    run = play(api, submitted, team, attempts=len(cases))
    must_hold(run, client, Outcome.FAILED, *(reason for case in cases for reason in FAILURES[case][1]))
    report: Any = as_json(run)
    attempts = report["steps"][0]["attempts"]
    assert len(attempts) == len(cases)
    for case, attempt in zip(cases, attempts, strict=True):
        said = folded("\n".join(strings_in(attempt)))
        assert [reason for reason in FAILURES[case][1] if folded(reason) not in said] == [], case
    assert not Verdict.objects.filter(passed=True).exists()
    assert len(asked) == len(cases)
    assert max(asked) <= 3


@pytest.mark.slow
@pytest.mark.exhaustive
def test_what_is_no_verdict_uses_no_attempt(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """T12. Each time that a person has the verifier asked again, the next of these answers; the last one is right."""
    asked: list[str] = []
    left = list(UNUSABLE)

    def verifier(request: Request, right: Answer) -> Answer:
        asked.append(left[0] if left else "right")
        return UNUSABLE[left[0]][0](request, right) if left else right

    run = play(api, submitted, team := Team(plan=plan(step("one")), verifier=verifier))
    for case in UNUSABLE:
        must_hold(run, client, GateKind.ERROR, *UNUSABLE[case][1])
        assert asked == [case] * 6
        left.pop(0)
        asked.clear()
        answer(run, run.owner, Verb.APPROVE)
        come_to_rest(run)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    assert [attempt.number for attempt in Attempt.objects.filter(step__plan__run=run)] == [1]
    assert [len(team.seen[role]) for role in ("executor", "synthesizer")] == [2, 1]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_second_conversation_may_bring_a_verdict(api: FakeAnthropic, submitted: Submit) -> None:
    """Nobody is asked, and nothing but the calls tells of it."""
    answers = iter([UseTools(ToolUse("read_file", {"path": "one.md"}))] * 3)
    team = Team(plan=plan(step("one")), verifier=lambda _, right: next(answers, right))
    run = play(api, submitted, team)
    assert (run.outcome, run.gates.count()) == (Outcome.SUCCEEDED, 0)
    assert [len(request.messages) for request in team.seen["verifier"]] == [1, 2, 3, 1, 1]


@pytest.mark.slow
def test_the_fallback_verifier_judges_where_the_verifier_gives_no_verdict(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    def verifier(request: Request, right: Answer) -> Answer:
        return right if request.model == "claude-sonnet-5-5" else verifiers.uses_tools(request, right)

    team = Team(plan=plan(step("one")), verifier=verifier)
    run = play(api, submitted, team, fallback_verifier="claude-sonnet-5-5", same_model_verifier=True)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    asked = [request.model for request in team.seen["verifier"]]
    of_one_verdict = [run.policy.verifiers[0]] * 6 + ["claude-sonnet-5-5"]
    assert asked == of_one_verdict * 2, "for the step and for the final answer"
    assert run.gates.count() == 0


@pytest.mark.slow
@pytest.mark.exhaustive
def test_where_the_fallback_verifier_fails_too_a_person_is_asked(api: FakeAnthropic, submitted: Submit) -> None:
    broken = [True]

    def verifier(request: Request, right: Answer) -> Answer:
        return verifiers.uses_tools(request, right) if broken else right

    team = Team(plan=plan(step("one")), verifier=verifier)
    run = play(api, submitted, team, fallback_verifier="claude-opus-5-5")
    assert [gate.kind for gate in run.gates.open()] == [GateKind.ERROR]
    assert len(team.seen["verifier"]) == 9
    broken.clear()
    answer(run, run.owner, Verb.APPROVE)
    come_to_rest(run)
    assert run.outcome == Outcome.SUCCEEDED


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_final_answer_without_a_verdict_is_not_written_again(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    broken = [True]

    def verifier(request: Request, right: Answer) -> Answer:
        return verifiers.uses_tools(request, right) if broken else right

    run = play(api, submitted, team := Team(plan=plan(step("one")), verifier=verifiers.only_at_the_end(verifier)))
    must_hold(run, client, GateKind.ERROR, "The verifier did not give a usable answer")
    broken.clear()
    answer(run, run.owner, Verb.APPROVE)
    come_to_rest(run)
    must_hold(run, client, Outcome.SUCCEEDED, "The result is done.")
    assert len(team.seen["synthesizer"]) == 1


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
    by = " by alice" if exhausted == "ask" else ""
    gap = f"Step “Do one” was accepted with open points{by}."
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
@pytest.mark.exhaustive
def test_a_person_who_stops_the_run_gets_what_there_is(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    run = play(api, submitted, Team(plan=plan(step("one")), verifier=verifiers.never_passes), exhausted="ask")
    answer(run, alice, Verb.STOP)
    must_hold(run, client, Outcome.CANCELLED, "stopped the run at the question of accepting open points in")


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
