"""The sentences and tones: each kind of event has them, with the names that people know."""

import pytest

from runs.enums import EventKind
from runs.events import kinds as events
from runs.events.kinds import EventData, read
from tests.unit.events.test_kinds import EVERY_KIND

NAMES = {"a": "Review"}

SENTENCES = {
    "renamed": "alice renamed the run from “Review” to “Review of May”.",
    "report_named": "alice changed what the report names: client “Acme Ltd”, author “B. Smith”.",
    "archived": "alice archived the run. Lists show it only with the filter “Archived runs”.",
    "restored": "alice brought the run back from the archive.",
    "submitted": "alice submitted the task with 3 files.",
    "reading": "3 of 12 documents are read.",
    "documents_read": "The documents are read. scan.pdf could not be read: it needs a password.",
    "planning": "The planner writes version 1 of the plan.",
    "plan_proposed": (
        "Version 2 of the plan is ready: 3 steps; 1 result kept from before."
        " It differs from what was agreed, in 1 place."
    ),
    "gate_opened": "Needs a decision: Shall it be kept?",
    "gate_decided": "bob approved the result of “Review”: Good.",
    "gate_withdrawn": "A question was withdrawn and no longer needs an answer.",
    "plan_approved": "Version 1 of the plan is approved, fingerprint 0123456789ab.",
    "attempt_started": "Attempt 1 at “Review” began.",
    "session_resumed": (
        "The agent's session for “Review” was given 3 replies from the journal, and then took another turn and began"
        " again."
    ),
    "attempt_reused": (
        "“Review” reused the result of attempt 2 of run 7: nothing that it depends on has changed. It costs nothing."
    ),
    "model_called": "The executor (m-1) answered for “Review”, attempt 1 in 1.5 s.",
    "tool_called": "read_file nda.md for “Review”.",
    "verifying": "Attempt 1 at “Review” reported, 90 % confident; it is being verified.",
    "verdict": "Attempt 1 at “Review” did not pass: No date.",
    "canary": "A copy of the result with a planted fault (wrong figure) was refused, as a test of the verifier at "
    "“Review”, attempt 1.",
    "step_passed": "“Review” passed; its files are now among the results.",
    "step_accepted": "“Review” was accepted with open points.",
    "step_not_applicable": "“Review” does not apply: there is nothing for it to do.",
    "step_failed": "“Review” failed after 3 attempts.",
    "step_retried": "“Review” is tried again. Another step changed a.md.",
    "replanning": "A new plan is needed. Success criteria are not met.",
    "nothing_new": "The planner proposed nothing new; version 2 continues. This is version 2 again.",
    "waiting_for_model": "The model's service is not available; it is asked again later. Overloaded.",
    "recovered": "A worker was lost; another one continues where it stopped.",
    "paused": "alice paused the run. Work in progress is finished; nothing new starts.",
    "resumed": "alice resumed the run.",
    "limits_raised": "alice raised the limit: $5.00.",
    "gate_assigned": "alice handed it on to bob.",
    "gate_reminded": "bob was reminded of the decision.",
    "gate_overdue": "No one has decided within 48 hours. The decision is overdue, and keeps waiting.",
    "verdict_overruled": (
        "alice accepted C1 of “Review”, attempt 1, although an automatic check found it not met: I looked."
    ),
    "approver_added": "alice let bob see this run and decide in it.",
    "approver_removed": "alice took bob off the list of those who may see this run and decide in it.",
    "shared": "alice let bob look at this run.",
    "finalising": "Every step is done. The final answer is being written.",
    "answered": "The answer is written; 1 of 2 success criteria are met.",
    "finished": "Finished: partial with 1 open point.",
    "note": "alice stopped the run. Wrong folder.",
}

TONES = {
    "good": {"plan_approved", "attempt_reused", "step_passed", "gate_decided"},
    "bad": {"verdict", "step_failed"},
    "warn": {
        "gate_opened", "step_accepted", "step_retried", "replanning", "nothing_new", "waiting_for_model", "recovered",
        "documents_read", "gate_overdue", "verdict_overruled",
        "paused", "finished",
    },
    "active": {"planning", "reading", "attempt_started", "verifying", "finalising"},
}  # fmt: skip


def test_every_event_in_plain_words() -> None:
    assert {event.kind: event.sentence(NAMES) for event in EVERY_KIND} == SENTENCES


def test_every_event_has_a_tone() -> None:
    others = {event.kind: "calm" for event in EVERY_KIND}
    assert {event.kind: event.tone for event in EVERY_KIND} == others | {
        kind: name for name, kinds in TONES.items() for kind in kinds
    }


@pytest.mark.parametrize("kind", list(EventKind))
def test_an_empty_old_row_has_a_sentence_and_a_tone(kind: EventKind) -> None:
    event = read(kind.value, {})
    assert event.sentence({}).strip() or kind is EventKind.NOTE
    assert event.tone in {"good", "bad", "warn", "active", "calm"}


def test_a_step_without_a_name_goes_by_its_key() -> None:
    assert events.AttemptStarted(step="a", attempt=1).sentence({}) == "Attempt 1 at “a” began."
    with_one = events.AttemptStarted(step="a", attempt=1, agent="writer")
    assert with_one.sentence({}) == "Attempt 1 at “a” began, with the agent writer."


def test_a_decision_names_the_step_and_how_it_was_made() -> None:
    def decided(words: str, how: str = "person", reason: str = "") -> str:
        event = events.GateDecided(
            gate=1, gate_kind="step", decision="approved", by="bob", how=how, reason=reason, step="a", words=words
        )
        return event.sentence(NAMES)

    assert [
        decided("requested changes to the result of {step}", reason="No."),
        decided("approved going on beyond the limit", "--approve-all"),
        decided(""),
    ] == [
        "bob requested changes to the result of “Review”: No.",
        "bob approved going on beyond the limit (--approve-all).",
        "bob approved it.",
    ]


def test_what_a_program_submitted_names_its_token() -> None:
    event = events.Submitted(by="alice", files=1, bytes=1, token="laptop")
    assert read(event.kind, event.data()) == event
    assert event.sentence({}) == "alice submitted the task through a program (token “laptop”) with 1 file."


def test_what_was_left_out_is_told() -> None:
    event = events.Submitted(by="alice", files=1, bytes=1, left_out=(".env", ".ssh/"))
    assert event.sentence(NAMES) == (
        "alice submitted the task with 1 file. Left out, because they may contain secrets: .env, .ssh/."
    )


def test_what_is_not_read_is_told() -> None:
    not_read = (
        "a.pdf cannot be read: it is a PDF file, which cannot be read yet.",
        "Left out, as a person said: b.md.",
    )
    event = events.Submitted(by="alice", files=2, bytes=1, not_read=not_read)
    assert event.sentence(NAMES) == f"alice submitted the task with 2 files. {not_read[0]} {not_read[1]}"


def test_the_other_side_of_each_sentence() -> None:
    cases: list[EventData] = [
        events.PlanProposed(version=1, steps=1, kept=(), reason="", relaxed=0),
        events.PlanApproved(version=1, by="alice", how="policy", digest="abc"),
        events.ModelCalled(role="planner", model="m-1", ms=500, stop="error"),
        events.ModelCalled(
            role="executor", model="m-1", ms=500, stop="end_turn", pages=("“a.pdf”, page 3", "“b.png”, page 1")
        ),
        events.ToolCalled(tool="run_search", error=True, path=""),
        events.ToolCalled(tool="web_search", error=True, path="", step="a", attempt=1, about="density of Singapore"),
        events.VerdictGiven(step="a", attempt=1, passed=True, action="pass", feedback=""),
        events.VerdictGiven(step="a", attempt=1, passed=False, action="replan", feedback="It can't be done."),
        events.ModelCalled(role="verifier", model="m-1", ms=500, stop="end_turn", step="a", attempt=1, canary=True),
        events.CanaryJudged(step="a", attempt=1, fault="wrong figure", outcome="passed"),
        events.CanaryJudged(step="a", attempt=1, fault="stub", outcome="marked", why="42 is in no source"),
        events.CanaryJudged(step="a", attempt=1, fault="stub", outcome="no_verdict", why="It said nothing."),
        events.CanaryJudged(step="a", attempt=1, why="There was no room."),
        events.LimitsRaised(by="alice", budget="5", time_limit=90),
        events.Finished(outcome="succeeded", gaps=()),
    ]
    assert [(event.tone, event.sentence(NAMES)) for event in cases] == [
        ("calm", "Version 1 of the plan is ready: 1 step."),
        ("good", "Version 1 of the plan is approved by policy, fingerprint abc."),
        ("calm", "The planner (m-1) gave no answer after 0.5 s."),
        (
            "calm",
            "The executor (m-1) answered in 0.5 s. It was shown as they look: “a.pdf”, page 3; “b.png”, page 1.",
        ),
        ("bad", "run_search failed."),
        ("bad", "web_search “density of Singapore” failed for “Review”."),
        ("good", "Attempt 1 at “Review” passed verification."),
        ("bad", "Attempt 1 at “Review” did not pass: It can't be done. A new plan is asked for."),
        ("calm", "The verifier (m-1) answered about a copy with a planted fault for “Review”, attempt 1 in 0.5 s."),
        (
            "warn",
            "A copy of the result with a planted fault (wrong figure) was passed, as a test of the verifier at "
            "“Review”, attempt 1.",
        ),
        (
            "warn",
            "A copy of the result with a planted fault (stub) was passed with a mark, as a test of the verifier at "
            "“Review”, attempt 1. 42 is in no source",
        ),
        (
            "calm",
            "A copy of the result with a planted fault (stub) got no usable verdict, as a test of the verifier at "
            "“Review”, attempt 1. It said nothing.",
        ),
        (
            "calm",
            "A copy of the result with a planted fault was not judged, as a test of the verifier at “Review”, "
            "attempt 1. There was no room.",
        ),
        ("calm", "alice raised the limit: $5 and 1.5 minutes."),
        ("good", "Finished: succeeded."),
    ]
