"""One reading tells what is missing, what was made and who judged, the same to everybody."""

from typing import Any

import pytest

from runs.enums import GateKind, Outcome, Verb
from runs.models import Run
from runs.readmodel.markdown_escaping import line
from runs.readmodel.run_view import reading_of
from tests import factories
from tests.reporting import as_json, as_markdown

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def number(rows_of_module: None) -> int:
    return factories.finished_partial().pk


@pytest.fixture
def partial(number: int, db: None) -> Run:
    """One run for all tests that only look at it."""
    return Run.objects.get(pk=number)


@pytest.mark.slow
def test_gaps_are_there_exactly_when_something_is_missing() -> None:
    assert reading_of(factories.finished_succeeded()).gaps == []
    assert len(reading_of(factories.finished_partial()).gaps) == 2
    assert reading_of(factories.executing()).gaps == [], "what is not finished lacks nothing yet"


@pytest.mark.slow
def test_an_answer_that_is_not_whole_begins_with_what_is_missing() -> None:
    reading = reading_of(factories.finished_partial())
    points = "".join(f"- {line(gap)}\n" for gap in reading.gaps)
    people = "Judged by people:\n\n- 1 step was accepted with open points by alice.\n"
    begin = f"PARTIAL: this is not all that was asked for.\n\n{points}\n{people}\n---\n\n"
    assert reading.answer == begin + factories.ANSWER
    assert reading.run.answer == factories.ANSWER
    assert reading_of(factories.finished_succeeded()).answer == factories.ANSWER
    assert reading_of(factories.stopped()).answer == ""


def test_what_a_person_stopped_on_purpose_is_no_open_point() -> None:
    stopped = reading_of(factories.stopped())
    assert (stopped.run.outcome, stopped.left_open) == (Outcome.CANCELLED, [])


def test_what_is_missing_cannot_become_structure_of_the_answer(partial: Run) -> None:
    partial.ended = "# All is done\n[x](javascript:x) <b>"
    assert "- \\# All is done \\[x\\](javascript:x) &lt;b&gt;\n" in reading_of(partial).answer


def test_an_answer_begins_with_so_many_points_at_most(partial: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.readmodel.run_view.MAX_POINTS", 1)
    answer = reading_of(partial).answer
    assert answer.splitlines()[3] == "- and 1 more, which the report names"


def test_what_to_do_with_the_results_is_said_when_the_run_did_not_succeed(partial: Run) -> None:
    strategy = partial.plans.get().header.rollback_strategy
    assert reading_of(partial).rollback == as_json(partial)["rollback_strategy"] == strategy != ""


def test_where_a_run_has_left_nothing_there_is_nothing_to_do_with_it(partial: Run) -> None:
    partial.head = partial.inputs
    assert reading_of(partial).rollback == ""


def test_open_points_are_told_to_machines_with_their_cause(partial: Run) -> None:
    points: Any = as_json(partial)["open_points"]
    review, criterion = points
    assert (review["kind"], review["about"], review["severity"]) == ("step", "Review the clauses", "major")
    assert [(one["status"], one["found"]) for one in review["unmet"]] == [
        ("unsupported", "Unsupported: no passage that was quoted for it is in its source."),
        ("failed", "Finding 2 has no recommendation."),
    ]
    assert [(one["attempt"], one["status"], one["said"]) for one in review["attempts"]] == [
        (1, "failed", factories.CRITIQUE),
        (2, "failed", factories.CRITIQUE),
    ]
    assert (criterion["kind"], [one["status"] for one in criterion["unmet"]]) == ("criterion", ["unsupported"])


def test_a_decision_that_is_about_no_plan_and_no_attempt_is_told_too() -> None:
    run = factories.error_gate()
    factories.decide(run, GateKind.ERROR, Verb.APPROVE)
    assert "- **alice** let it be tried again, " in as_markdown(run)


def test_files_criteria_and_sums_are_the_same_in_json() -> None:
    run = factories.finished_succeeded()
    reading, told = reading_of(run), as_json(run)
    assert told["files"] == [
        {"path": file.path, "sha256": file.info.sha256, "size": file.info.size} for file in reading.made
    ]
    assert told["success_criteria"] == [
        criterion.model_dump(mode="json")
        | {"decided": criterion.decided, "rests_on": criterion.rests_on, "doubtful": False, "overruled": None}
        for criterion in reading.criteria
    ]
    assert told["model_calls"] == reading.totals.calls
