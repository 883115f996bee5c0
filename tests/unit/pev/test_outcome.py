"""An outcome is never better than its ledger."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.enums import AttemptStatus, Missing, Outcome, Severity, StepStatus
from runs.evidence.results import CriterionResult, Evidence, all_pass
from runs.pev.outcome import (
    MAX_CRITIQUE,
    MAX_FOUND,
    MAX_SENTENCE,
    MAX_TEXT,
    AttemptEntry,
    Ledger,
    OpenPoint,
    Rejection,
    Review,
    StepEntry,
    Unmet,
    gaps_in,
    outcome_of,
    point_of,
)


def result(*, passed: bool = True, supported: bool = True) -> CriterionResult:
    return CriterionResult(
        label="C1",
        text="It is done",
        decided_by="model",
        claimed=True,
        supported=supported,
        passed=passed,
        confidence=1.0,
        feedback="" if passed else "Not yet.",
    )


PASSED = StepEntry("Read", StepStatus.PASSED)


def tried(number: int = 1, status: AttemptStatus = AttemptStatus.FAILED, **more: Any) -> AttemptEntry:
    return AttemptEntry(number, status, **{"feedback": "No figures.", "severity": Severity.MAJOR, **more})


ACCEPTED = StepEntry("Write", StepStatus.ACCEPTED, [tried()])
KEPT = replace(ACCEPTED, kept_by_person=True)
REJECTED = replace(PASSED, rejections=[Rejection("It is done", "bob", "It is not")])
FULL = Ledger(steps=[PASSED], criteria=[result()], answered=True)

RESULTS = st.builds(lambda passed, supported: result(passed=passed, supported=supported), st.booleans(), st.booleans())
STEPS = st.builds(
    StepEntry, st.just("Step"), st.sampled_from(StepStatus), st.sampled_from([(), (tried(),)]), st.booleans()
)
LEDGERS = st.builds(
    Ledger,
    steps=st.lists(STEPS | st.sampled_from([PASSED, REJECTED]), max_size=4),
    criteria=st.lists(RESULTS | st.just(result()), max_size=4),
    answered=st.booleans(),
    cancelled=st.booleans(),
    failure=st.sampled_from(["", "The service refused."]),
    relaxed=st.lists(st.just("Step one was to write a.md."), max_size=1),
    ended=st.sampled_from(["", "Alice finished it early."]),
    broken_citations=st.lists(st.just("The answer: Line 1."), max_size=2),
)
RANK = {Outcome.CANCELLED: 0, Outcome.FAILED: 0, Outcome.PARTIAL: 1, Outcome.SUCCEEDED: 2}


def sentences(ledger: Ledger) -> list[str]:
    return [point.sentence for point in gaps_in(ledger)]


def test_everything_passed_and_supported_is_a_success_without_gaps() -> None:
    assert (outcome_of(FULL), gaps_in(FULL)) == (Outcome.SUCCEEDED, [])


@pytest.mark.parametrize(
    ("ledger", "outcome", "gaps"),
    [
        (
            Ledger([PASSED, ACCEPTED], [result()], answered=True),
            Outcome.PARTIAL,
            ["Step “Write” was accepted with open points. No figures."],
        ),
        (
            Ledger([ACCEPTED], [result()], answered=True),
            Outcome.FAILED,
            [
                "No step passed, and no person accepted one that wrote an expected file.",
                "Step “Write” was accepted with open points. No figures.",
            ],
        ),
        (
            Ledger([KEPT], [result()], answered=True),
            Outcome.PARTIAL,
            ["Step “Write” was accepted with open points. No figures."],
        ),
        (
            Ledger([REJECTED], [result()], answered=True),
            Outcome.PARTIAL,
            ["Step “Read”: bob rejects “It is done”, which its verdict found met: “It is not”."],
        ),
        (
            Ledger([PASSED], [result(passed=False)], answered=True),
            Outcome.PARTIAL,
            ["Success criterion not met: It is done. Not yet."],
        ),
        (
            Ledger([PASSED], [result(supported=False)], answered=True),
            Outcome.PARTIAL,
            ["Success criterion not met: It is done."],
        ),
        (Ledger([PASSED], [], answered=True), Outcome.PARTIAL, ["The success criteria were not judged."]),
        (Ledger([PASSED], [result()], answered=False), Outcome.PARTIAL, ["There is no final answer."]),
        (Ledger([], [result()], answered=True), Outcome.FAILED, ["No step was carried out."]),
        (
            Ledger([StepEntry("Read", StepStatus.FAILED, [tried(feedback="No.")])], [result()], answered=True),
            Outcome.FAILED,
            ["Step “Read” failed. No."],
        ),
        (
            Ledger([PASSED, StepEntry("Write", StepStatus.DROPPED)], [result()], answered=True),
            Outcome.FAILED,
            ["Step “Write” was skipped."],
        ),
        (Ledger([PASSED], [result()], answered=True, failure="Down."), Outcome.FAILED, ["Down."]),
        (
            Ledger([PASSED], [result()], answered=True, relaxed=["Step “Read” was to write a.md."]),
            Outcome.PARTIAL,
            ["A requirement was relaxed, and no one agreed to it: Step “Read” was to write a.md."],
        ),
        (
            Ledger([PASSED, StepEntry("Write", StepStatus.DROPPED)], [result()], answered=True, ended="Ended early."),
            Outcome.PARTIAL,
            ["Ended early.", "Step “Write” was skipped."],
        ),
        (
            Ledger([StepEntry("Write", StepStatus.DROPPED)], [result()], answered=True, ended="Ended early."),
            Outcome.FAILED,
            ["Ended early.", "Step “Write” was skipped."],
        ),
        (
            Ledger([PASSED], [result()], answered=True, broken_citations=[f"Line {n}." for n in range(1, 8)]),
            Outcome.PARTIAL,
            ["7 citations lead nowhere. Line 1. Line 2. Line 3. Line 4. Line 5. And 2 more."],
        ),
        (Ledger([PASSED], [result()], answered=True, cancelled=True), Outcome.CANCELLED, []),
        (
            Ledger(
                [PASSED, StepEntry("Write", StepStatus.FAILED), StepEntry("Send", StepStatus.DROPPED)],
                [],
                answered=False,
                cancelled=True,
                unread=["x.bin is not text."],
            ),
            Outcome.CANCELLED,
            ["Step “Write” failed."],
        ),
    ],
)
def test_each_gap_costs_the_success_and_is_told(ledger: Ledger, outcome: Outcome, gaps: list[str]) -> None:
    assert (outcome_of(ledger), sentences(ledger)) == (outcome, gaps)


@given(LEDGERS)
def test_success_means_that_nothing_is_missing(ledger: Ledger) -> None:
    whole = (
        bool(ledger.steps)
        and all(step.status is StepStatus.PASSED and not step.rejections for step in ledger.steps)
        and all_pass(ledger.criteria)
        and ledger.answered
        and not ledger.failure
        and not ledger.cancelled
        and not ledger.relaxed
        and not ledger.ended
        and not ledger.broken_citations
    )
    assert (outcome_of(ledger) is Outcome.SUCCEEDED) == whole
    assert bool(gaps_in(ledger)) or whole or ledger.cancelled


@given(LEDGERS, STEPS, RESULTS)
def test_no_further_step_or_criterion_makes_an_outcome_better(
    ledger: Ledger, step: StepEntry, criterion: CriterionResult
) -> None:
    if not ledger.steps or not ledger.criteria:
        return
    if ledger.ended or not any(one.counts for one in ledger.steps):
        return  # one step more that counts is what makes it partial
    more = replace(ledger, steps=[*ledger.steps, step], criteria=[*ledger.criteria, criterion])
    assert RANK[outcome_of(more)] <= RANK[outcome_of(ledger)]


@given(LEDGERS)
def test_no_open_step_is_left_out_of_the_gaps_unless_the_run_was_stopped(ledger: Ledger) -> None:
    ledger = replace(ledger, cancelled=False)
    missing = [one for one in ledger.steps if one.status not in {StepStatus.PASSED, StepStatus.NOT_APPLICABLE}]
    assert [point.kind for point in gaps_in(ledger)].count(Missing.STEP) == len(missing)


@given(st.lists(RESULTS, max_size=4))
def test_an_overall_pass_needs_at_least_one_result_and_all_of_them_supported(results: list[CriterionResult]) -> None:
    assert all_pass(results) == (bool(results) and all(r.passed and r.supported for r in results))


# ---- the cause of an open point ------------------------------------------------------------------------------------

MET = result()
UNMET = result(passed=False)


def write(*attempts: AttemptEntry, status: StepStatus = StepStatus.FAILED) -> OpenPoint:
    return point_of(StepEntry("Write", status, attempts))


def test_what_was_not_met_is_told_beside_two_repetitions() -> None:
    repeated = "This attempt repeats the one before: the critique was not addressed."
    point = write(
        tried(1, results=[MET, UNMET], feedback="- C1 (It is done): Not yet.", severity=Severity.CRITICAL),
        tried(2, feedback=repeated, repeats=True),
        tried(3, feedback=repeated, repeats=True),
    )
    again = "It repeats the one before; what had been criticised was not addressed."
    assert point.sentence == (
        f"Step “Write” failed after 3 attempts. Not met: “It is done” (Not yet). Attempt 2: {again} Attempt 3: {again}"
    )
    assert point.unmet == (Unmet("It is done", "failed", "Not yet."),)
    assert [(one.attempt, one.said, one.repeats) for one in point.reviews] == [
        (1, "- C1 (It is done): Not yet.", False),
        (2, repeated, True),
        (3, repeated, True),
    ]
    assert (point.kind, point.about, point.severity) == (Missing.STEP, "Write", Severity.MAJOR)


def test_what_nobody_judged_is_not_said_to_be_unmet() -> None:
    why = "Not judged: the attempt had failed before."
    left = UNMET.model_copy(update={"text": "It has a date", "decided_by": "nobody", "feedback": why})
    assert write(tried(1, results=[UNMET, left])).sentence == (
        "Step “Write” failed. Not met: “It is done” (Not yet). Not judged: “It has a date”."
    )


def test_a_later_attempt_that_was_judged_counts_and_not_an_earlier_one() -> None:
    other = UNMET.model_copy(update={"text": "It has a date", "feedback": "None."})
    assert write(tried(1, results=[UNMET]), tried(2, results=[MET, other])).unmet == (
        Unmet("It has a date", "failed", "None."),
    )


@pytest.mark.parametrize(
    ("last", "sentence"),
    [
        (tried(2, AttemptStatus.BLOCKED, feedback="Reported as blocked. Sealed."), "Reported as blocked. Sealed."),
        (tried(2, AttemptStatus.CANCELLED, feedback=""), "It was cut off."),
    ],
)
def test_an_attempt_without_a_result_leaves_the_one_before_as_it_is(last: AttemptEntry, sentence: str) -> None:
    told = write(tried(1, results=[UNMET]), last).sentence
    assert told == (f"Step “Write” failed after 2 attempts. Not met: “It is done” (Not yet). Attempt 2: {sentence}")


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (AttemptStatus.CONFLICT, "It met its criteria, but another step had changed the same file."),
        (AttemptStatus.PASSED, "It met its criteria."),
    ],
)
def test_what_only_an_earlier_attempt_did_not_meet_is_not_said_of_the_kept_one(
    status: AttemptStatus, sentence: str
) -> None:
    point = write(tried(1, results=[UNMET]), tried(2, status, results=[MET], feedback=""))
    assert (point.unmet, point.sentence) == ((), f"Step “Write” failed after 2 attempts. Attempt 2: {sentence}")


ATTEMPTS = st.lists(
    st.builds(
        lambda status, results, repeats: tried(1, status, results=results, repeats=repeats),
        st.sampled_from(AttemptStatus),
        st.lists(st.sampled_from([MET.model_copy(update={"text": "It has a date"}), UNMET]), max_size=3),
        st.booleans(),
    ),
    min_size=1,
    max_size=5,
)


@given(ATTEMPTS)
def test_nothing_is_unmet_that_the_kept_result_meets(attempts: list[AttemptEntry]) -> None:
    kept = next((one for one in reversed(attempts) if one.results), None)
    point = write(*attempts)
    expected = [one.text for one in kept.results if not one.met] if kept else []
    assert [one.text for one in point.unmet] == expected
    assert ("Not met:" in point.sentence) == (UNMET.text in expected)


def test_what_people_said_of_an_attempt_is_told_with_their_names() -> None:
    sent_back = tried(1, AttemptStatus.REJECTED, results=[MET], feedback="", rejections=[("bob", "Name the dates.")])
    point = write(sent_back, status=StepStatus.DROPPED)
    assert point.reviews == (Review(1, AttemptStatus.REJECTED, "Name the dates.", by="bob"),)
    assert point.sentence == "Step “Write” was skipped. bob said of attempt 1: “Name the dates.”."


def test_where_only_evidence_says_what_was_found_its_sentences_do() -> None:
    evidence = [Evidence(kind="check", source="a.md", verified=False, sentence="a.md has 3 words")]
    unmet = UNMET.model_copy(update={"feedback": "", "evidence": evidence})
    assert write(tried(results=[unmet])).unmet[0].found == "a.md has 3 words"


def test_however_long_the_words_are_a_point_is_bounded() -> None:
    huge = UNMET.model_copy(update={"text": "x\n" * 3_000, "feedback": "y " * 90_000})
    attempts = [tried(number, results=[huge] * 40, feedback="z" * 90_000) for number in range(1, 4)]
    point = write(*attempts, tried(4, feedback="z" * 90_000))
    assert len(point.sentence) == MAX_SENTENCE
    assert {len(one.text) for one in point.unmet} == {MAX_TEXT}
    assert {len(one.found) for one in point.unmet} == {MAX_FOUND}
    assert {len(one.said) for one in point.reviews} == {MAX_CRITIQUE}
    assert len(sentences(Ledger([PASSED], [huge], answered=True))[0]) < MAX_SENTENCE


# ---- T9 -----------------------------------------------------------------------------------------------------------


def test_a_run_that_rests_on_nothing_but_its_own_words_is_partial_at_best() -> None:
    own = Ledger([PASSED], [result()], answered=True, grounded=False)
    assert outcome_of(own) == Outcome.PARTIAL
    (point,) = gaps_in(own)
    assert (point.kind, point.sentence.partition(":")[0]) == (
        Missing.GROUNDS,
        "Nothing here is supported by anything but what this run wrote itself",
    )


def test_a_run_without_a_result_has_no_grounds_to_speak_of() -> None:
    book = Ledger([StepEntry("Read", StepStatus.FAILED)], [], answered=False, grounded=False)
    assert Missing.GROUNDS not in {point.kind for point in gaps_in(book)}
