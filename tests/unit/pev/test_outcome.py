"""An outcome is never better than its ledger."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.enums import Outcome, StepStatus
from runs.pev.outcome import Ledger, StepEntry, gaps_in, outcome_of
from runs.pev.results import CriterionResult, all_pass


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
ACCEPTED = StepEntry("Write", StepStatus.ACCEPTED, "No figures.")
FULL = Ledger(steps=[PASSED], criteria=[result()], answered=True)

RESULTS = st.builds(lambda passed, supported: result(passed=passed, supported=supported), st.booleans(), st.booleans())
STEPS = st.builds(StepEntry, st.just("Step"), st.sampled_from(StepStatus), st.sampled_from(["", "Wrong."]))
LEDGERS = st.builds(
    Ledger,
    steps=st.lists(STEPS | st.just(PASSED), max_size=4),
    criteria=st.lists(RESULTS | st.just(result()), max_size=4),
    answered=st.booleans(),
    cancelled=st.booleans(),
    failure=st.sampled_from(["", "The service refused."]),
    relaxed=st.lists(st.just("Step one was to write a.md."), max_size=1),
    ended=st.sampled_from(["", "Alice finished it early."]),
)
RANK = {Outcome.CANCELLED: 0, Outcome.FAILED: 0, Outcome.PARTIAL: 1, Outcome.SUCCEEDED: 2}


def test_everything_passed_and_supported_is_a_success_without_gaps() -> None:
    assert (outcome_of(FULL), gaps_in(FULL)) == (Outcome.SUCCEEDED, [])


@pytest.mark.parametrize(
    ("ledger", "outcome", "gaps"),
    [
        (
            Ledger([PASSED, ACCEPTED], [result()], answered=True),
            Outcome.PARTIAL,
            ["Step “Write” was accepted with issues. No figures."],
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
            Ledger([StepEntry("Read", StepStatus.FAILED, "No.")], [result()], answered=True),
            Outcome.FAILED,
            ["Step “Read” was not done (failed). No."],
        ),
        (
            Ledger([PASSED, StepEntry("Write", StepStatus.DROPPED)], [result()], answered=True),
            Outcome.FAILED,
            ["Step “Write” was not done (dropped)."],
        ),
        (Ledger([PASSED], [result()], answered=True, failure="Down."), Outcome.FAILED, ["Down."]),
        (
            Ledger([PASSED], [result()], answered=True, relaxed=["Step “Read” was to write a.md."]),
            Outcome.PARTIAL,
            ["Relaxed, and no one agreed to it: Step “Read” was to write a.md."],
        ),
        (
            Ledger([PASSED, StepEntry("Write", StepStatus.DROPPED)], [result()], answered=True, ended="Ended early."),
            Outcome.PARTIAL,
            ["Ended early.", "Step “Write” was not done (dropped)."],
        ),
        (
            Ledger([StepEntry("Write", StepStatus.DROPPED)], [result()], answered=True, ended="Ended early."),
            Outcome.FAILED,
            ["Ended early.", "Step “Write” was not done (dropped)."],
        ),
        (Ledger([PASSED], [result()], answered=True, cancelled=True), Outcome.CANCELLED, []),
    ],
)
def test_each_gap_costs_the_success_and_is_told(ledger: Ledger, outcome: Outcome, gaps: list[str]) -> None:
    assert (outcome_of(ledger), gaps_in(ledger)) == (outcome, gaps)


@given(LEDGERS)
def test_success_means_that_nothing_is_missing(ledger: Ledger) -> None:
    whole = (
        bool(ledger.steps)
        and all(step.status is StepStatus.PASSED for step in ledger.steps)
        and all_pass(ledger.criteria)
        and ledger.answered
        and not ledger.failure
        and not ledger.cancelled
        and not ledger.relaxed
        and not ledger.ended
    )
    assert (outcome_of(ledger) is Outcome.SUCCEEDED) == whole
    assert bool(gaps_in(ledger)) or whole or ledger.cancelled


@given(LEDGERS, STEPS, RESULTS)
def test_no_further_step_or_criterion_makes_an_outcome_better(
    ledger: Ledger, step: StepEntry, criterion: CriterionResult
) -> None:
    if not ledger.steps or not ledger.criteria:
        return
    if ledger.ended:
        return  # finished early, one settled step more is what makes it partial
    more = replace(ledger, steps=[*ledger.steps, step], criteria=[*ledger.criteria, criterion])
    assert RANK[outcome_of(more)] <= RANK[outcome_of(ledger)]


@given(LEDGERS)
def test_no_open_step_is_left_out_of_the_gaps(ledger: Ledger) -> None:
    not_passed = sum(1 for step in ledger.steps if step.status is not StepStatus.PASSED)
    assert sum(1 for gap in gaps_in(ledger) if gap.startswith("Step “")) == not_passed


@given(st.lists(RESULTS, max_size=4))
def test_an_overall_pass_needs_at_least_one_result_and_all_of_them_supported(results: list[CriterionResult]) -> None:
    assert all_pass(results) == (bool(results) and all(r.passed and r.supported for r in results))
