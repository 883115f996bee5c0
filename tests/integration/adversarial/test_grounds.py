"""What used to end well and rests on nothing: each ends as it should, with its reason on page, in JSON and Markdown."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome, Verb
from runs.models import Attempt, User
from tests.factories import Submit, answer
from tests.fakes.adversaries import executors, verifiers
from tests.fakes.adversaries.everyone import synthesizes
from tests.fakes.anthropic_answers import Answer, Request, ToolUse
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step, told
from tests.integration.adversarial.holding import come_to_rest, must_hold, must_tell, page, play, words

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

CALCULATION = (
    "The market grows by 12.4 percent to 8,310 million euros. "
    "Sources: https://statistics.example/market-2026, https://institute.example/report.pdf"
)
OWN_WORDS = "Nothing here is supported by anything but what this run wrote itself"
NOT_OUTSIDE = "Unsupported: every quote is from what this run wrote itself."
ARCHIVE = b"7z\xbc\xaf\x27\x1c"
FOLDER = {"lease.7z": ARCHIVE, "notes.md": b"No notice was given.\n", "talk.mp4": b"\0\0\0 ftypisom"}


def about_sources(text: str, check: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"text": text, "about": "sources", "check": check}


def invented(**changes: Any) -> Team:
    """A calculation out of thin air: no file, no tool call, and a verifier that quotes it back."""
    wanted = plan({**step("one", outputs=()), "actions": [], **changes})
    lazy = verifiers.quotes("@output", "The market grows by 12.4 percent")
    executor = executors.says(findings=CALCULATION)
    return Team(plan=wanted, executor=executor, verifier=lazy, synthesizer=synthesizes(CALCULATION))


# ---- the four at the top -------------------------------------------------------------------------------------------


def test_an_invented_calculation_is_partial_at_best(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """T9: with invented web addresses, no file and no tool call, it ended succeeded with “verified” evidence."""
    run = play(api, submitted, invented(), {}, sources_needed=True)
    must_hold(run, client, Outcome.PARTIAL, OWN_WORDS)
    must_tell(run, client, OWN_WORDS, "PARTIAL")


def test_an_invented_calculation_does_not_pass_what_is_about_sources(
    api: FakeAnthropic, submitted: Submit, client: Client
) -> None:
    """T1a: neither in the step nor at the end is the result its own source."""
    wanted = about_sources("The growth of the market is right")
    run = play(api, submitted, invented(acceptance_criteria=[wanted]), {}, sources_needed=True)
    must_hold(run, client, Outcome.FAILED, NOT_OUTSIDE)
    must_tell(run, client, "“The growth of the market is right” (Unsupported: every quote is from what this run wrote")
    team = invented()
    team.plan["success_criteria"] = [wanted]
    run = play(api, submitted, team, {}, sources_needed=True)
    must_hold(run, client, Outcome.PARTIAL, NOT_OUTSIDE, OWN_WORDS)
    must_tell(run, client, "Success criterion not met: The growth of the market is right. Unsupported")


def test_what_nobody_could_read_is_named(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """T6: a folder of which a half cannot be read, “No notice is needed”, and no gap."""
    team = Team(plan=plan(step("one")), executor=executors.adds(ToolUse("read_file", {"path": "notes.md"})))
    team.synthesizer = synthesizes("No notice is needed.")
    run = play(api, submitted, team, FOLDER, sources_needed=True)
    unread = (
        "lease.7z could not be read: it is an archive of a kind that is not unpacked; give it as .zip or .tar.gz.",
        "talk.mp4 could not be read: it is sound or film, which cannot be read.",
    )
    must_hold(run, client, Outcome.PARTIAL, *unread)
    must_tell(run, client, *unread)


WORDS = "Name the severity of each point"
POINTS = "# Points\n\n- The term is open.\n- The cap is missing.\n"


def test_a_request_is_not_met_by_pasting_it(api: FakeAnthropic, submitted: Submit, alice: User, client: Client) -> None:
    """T7: the sentence of the person at the end of the file passed five of five."""

    def executor(request: Request, right: Answer) -> Answer:
        again = any(part.kind == "person" for part in told(request))
        return executors.writes(f"{POINTS}\n{WORDS}\n" if again else POINTS)(request, right)

    team = Team(plan=plan(step("one", complexity="high"), step("two")), executor=executors.at("one", executor))
    team.verifier = verifiers.quotes_the_request("one.md", WORDS)
    run = play(api, submitted, team, attempts=2, step_approval="high", exhausted="ask")
    answer(run, alice, Verb.REJECT, WORDS)
    come_to_rest(run)
    must_hold(run, client, GateKind.EXHAUSTED, "It is not met by being written down: do what it asks for.")
    answer(run, alice)
    come_to_rest(run)
    unmet = f"Request 1 of alice is not met: “{WORDS}”."
    must_hold(run, client, Outcome.PARTIAL, unmet)
    must_tell(run, client, unmet)


UNMET = "“one says what was found” (It does not say enough)"


@pytest.mark.exhaustive
def test_after_repetitions_everybody_is_told_which_criterion_is_unmet(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    """After two repetitions the gap read “repeats the one before”, and nothing else."""
    team = Team(plan=plan(step("one"), step("two")), executor=executors.at("one", executors.repeats_itself))
    team.verifier = verifiers.at("one", verifiers.never_passes)
    run = play(api, submitted, team, attempts=3, exhausted="ask")
    must_hold(run, client, GateKind.EXHAUSTED, "one says what was found", "It does not say enough.")
    gate = words(page(client, f"/runs/{run.pk}/")).partition("“Do one” did not pass in")[2]
    assert "Not met one says what was found It does not say enough." in gate
    assert [one.verdict.stage for one in Attempt.objects.filter(step__key="one")] == ["model", "checks", "checks"]
    answer(run, alice)
    come_to_rest(run)
    gap = f"Step “Do one” was accepted with open points by alice after 3 attempts. Not met: {UNMET}"
    must_hold(run, client, Outcome.PARTIAL, gap)
    must_tell(run, client, UNMET)
    (asked,) = [part.text for part in told(team.seen["synthesizer"][0]) if part.kind == "gap"]
    assert asked.startswith(gap.partition(" (")[0])
