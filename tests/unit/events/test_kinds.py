"""The kinds of events: each has a class, stores what it says, and reads whatever was stored before."""

import pytest
from pydantic import ValidationError

from runs.enums import EventKind, ShareLevel
from runs.events import kinds as events
from runs.events.kinds import CLASSES, EventData, kinds_in, read

EVERY_KIND: tuple[EventData, ...] = (
    events.Submitted(by="alice", files=3, bytes=262),
    events.Reading(done=3, documents=12),
    events.DocumentsRead(not_read=("scan.pdf could not be read: it needs a password.",)),
    events.Planning(version=1),
    events.PlanProposed(version=2, steps=3, kept=("a",), reason="The request", relaxed=1),
    events.GateOpened(gate=1, gate_kind="step", question="Shall it be kept?", step="a"),
    events.GateDecided(
        gate=1,
        gate_kind="step",
        decision="approved",
        by="bob",
        how="person",
        reason="Good.",
        step="a",
        words="approved the result of {step}",
    ),
    events.GateWithdrawn(gate=1, gate_kind="plan"),
    events.GateAssigned(gate=1, gate_kind="plan", to="bob", by="alice"),
    events.GateReminded(gate=1, gate_kind="plan", to="bob"),
    events.GateOverdue(gate=1, gate_kind="plan", hours=48),
    events.PlanApproved(version=1, by="bob", how="person", digest="0123456789abcdef"),
    events.AttemptStarted(step="a", attempt=1),
    events.AttemptReused(step="a", from_run=7, from_step=70, from_attempt=2),
    events.SessionResumed(step="a", attempt=1, replies=3, otherwise=True),
    events.ModelCalled(role="executor", model="m-1", ms=1_500, stop="end_turn", step="a", attempt=1),
    events.ToolCalled(tool="read_file", error=False, path="nda.md", step="a", attempt=1),
    events.Verifying(step="a", attempt=1, confidence=0.9),
    events.VerdictGiven(step="a", attempt=1, passed=False, action="retry", feedback="No date."),
    events.CanaryJudged(step="a", attempt=1, fault="wrong figure", outcome="refused"),
    events.StepPassed(step="a", attempt=1, tree="abc"),
    events.StepAccepted(step="a", attempt=3, tree="abc"),
    events.StepNotApplicable(step="a", attempt=1, tree="abc"),
    events.StepFailed(step="a", attempts=3),
    events.StepRetried(step="a", why="Another step changed a.md."),
    events.Replanning(step="", why="Success criteria are not met.", replan=1),
    events.NothingNew(version=2, why="This is version 2 again."),
    events.WaitingForModel(why="Overloaded.", until="2026-01-01T00:00:00+00:00"),
    events.Recovered(work="attempt"),
    events.Paused(by="alice"),
    events.Resumed(by="alice"),
    events.LimitsRaised(by="alice", budget="5.00", time_limit=None),
    events.VerdictOverruled(
        by="alice",
        step="a",
        attempt=1,
        criterion="C1",
        was=False,
        met=True,
        decided_by="check",
        reason="I looked.",
    ),
    events.ApproverAdded(by="alice", person="bob"),
    events.ApproverRemoved(by="alice", person="bob"),
    events.Shared(by="alice", who="bob", level=ShareLevel.LOOK),
    events.Finalising(),
    events.Answered(met=1, criteria=2),
    events.Finished(outcome="partial", gaps=("It is missing.",)),
    events.Renamed(by="alice", before="Review", after="Review of May"),
    events.ReportNamed(by="alice", client="Acme Ltd", author="B. Smith"),
    events.Archived(by="alice"),
    events.Restored(by="alice"),
    events.Note(text="alice stopped the run.", reason="Wrong folder."),
)


def test_every_kind_has_one_class() -> None:
    assert set(CLASSES) == {kind.value for kind in EventKind}
    assert [event.kind for event in EVERY_KIND] == list(EventKind)


@pytest.mark.parametrize("event", EVERY_KIND, ids=lambda event: event.kind)
def test_what_is_stored_reads_as_the_same_event(event: EventData) -> None:
    assert read(event.kind.value, event.data()) == event


def test_every_kind_is_in_a_group_of_the_history_or_in_none_on_purpose() -> None:
    in_no_group = {
        "reading", "documents_read", "planning", "attempt_started", "session_resumed", "model_called", "tool_called",
        "verifying", "finalising", "renamed", "report_named", "archived", "restored", "note",
    }  # fmt: skip
    assert {kind for kind, cls in CLASSES.items() if not cls.groups} == in_no_group
    assert kinds_in("decision") & kinds_in("problem") == set()


def test_what_is_stored_leaves_out_the_kind_and_what_has_its_usual_value() -> None:
    assert events.GateOpened(gate=1, gate_kind="plan", question="Go on?").data() == {
        "gate": 1,
        "kind": "plan",
        "question": "Go on?",
    }
    assert events.Finished(outcome="failed", gaps=()).data() == {"outcome": "failed", "gaps": []}


def test_an_event_takes_exactly_its_fields() -> None:
    with pytest.raises(ValidationError):
        events.Answered.model_validate({"met": 1})
    with pytest.raises(ValidationError):
        events.Answered.model_validate({"met": "1", "criteria": 2})
    with pytest.raises(ValidationError):
        events.Answered.model_validate({"met": 1, "criteria": 2, "unmet": 1})


def test_old_rows_read_with_what_they_have() -> None:
    old = {"gate": 4, "kind": "trouble", "question": "Try again?", "tries": 5}
    assert read("gate_opened", old) == events.GateOpened(gate=4, gate_kind="trouble", question="Try again?")
    assert read("plan_proposed", {"version": 2, "steps": 3}) == events.PlanProposed(
        version=2, steps=3, kept=(), reason="", relaxed=0
    )
    odd = {"role": None, "model": "m-1", "ms": "soon", "stop": "end_turn", "attempt": None}
    assert read("model_called", odd) == events.ModelCalled(role="", model="m-1", ms=0, stop="end_turn")


def test_a_kind_that_is_not_known_is_named() -> None:
    assert read("teleported", {"to": "Mars"}) == events.Note(text="teleported.")
