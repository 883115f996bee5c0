"""One reading tells what is missing, what was made and who judged, the same to everybody."""

from collections.abc import Callable
from typing import Any

import pytest

from runs.enums import GateKind, Role, Verb
from runs.models import Run
from runs.reading.escaping import line
from runs.reading.run import reading_of
from runs.reports.machine import as_json
from runs.reports.markdown import as_markdown
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_gaps_are_there_exactly_when_something_is_missing() -> None:
    assert reading_of(factories.finished_succeeded()).gaps == []
    assert len(reading_of(factories.finished_partial()).gaps) == 2
    assert reading_of(factories.executing()).gaps == [], "what is not finished lacks nothing yet"


@pytest.mark.slow
def test_an_answer_that_is_not_whole_begins_with_what_is_missing() -> None:
    reading = reading_of(factories.finished_partial())
    points = "".join(f"- {line(gap)}\n" for gap in reading.gaps)
    begin = f"PARTIAL: this is not the whole of what was asked for.\n\n{points}\n---\n\n"
    assert reading.answer == begin + factories.ANSWER
    assert reading.run.answer == factories.ANSWER
    assert reading_of(factories.finished_succeeded()).answer == factories.ANSWER
    assert reading_of(factories.stopped()).answer == ""


def test_what_is_missing_cannot_become_structure_of_the_answer() -> None:
    run = factories.finished_partial()
    run.ended = "# All is done\n[x](javascript:x) <b>"
    assert "- \\# All is done \\[x\\](javascript:x) &lt;b&gt;\n" in reading_of(run).answer


def test_an_answer_begins_with_so_many_points_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.reading.run.MAX_POINTS", 1)
    answer = reading_of(factories.finished_partial()).answer
    assert answer.splitlines()[3] == "- and 1 more, which the report names"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (factories.finished_succeeded, False),
        (factories.finished_partial, True),
        (factories.stopped, False),
        (factories.executing, False),
    ],
)
def test_what_to_do_with_the_results_is_said_when_the_run_did_not_succeed(make: Callable[[], Run], said: bool) -> None:
    run = make()
    assert reading_of(run).rollback == (run.plans.get().header.rollback_strategy if said else "")
    assert as_json(run)["rollback_strategy"] == reading_of(run).rollback


def test_where_a_run_has_left_nothing_there_is_nothing_to_do_with_it() -> None:
    run = factories.finished_partial()
    run.head = run.inputs
    assert reading_of(run).rollback == ""


def test_open_points_are_told_to_machines_with_their_cause() -> None:
    points: Any = as_json(factories.finished_partial())["open_points"]
    review, criterion = points
    assert (review["kind"], review["about"], review["severity"]) == ("step", "Review the clauses", "major")
    assert [(one["status"], one["found"]) for one in review["unmet"]] == [
        ("unsupported", "Unsupported: no passage that was quoted for it stands in its source."),
        ("failed", "Finding 2 has no recommendation."),
    ]
    assert [(one["attempt"], one["status"], one["said"]) for one in review["attempts"]] == [
        (1, "failed", factories.CRITIQUE),
        (2, "failed", factories.CRITIQUE),
    ]
    assert (criterion["kind"], [one["status"] for one in criterion["unmet"]]) == ("criterion", ["unsupported"])


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (factories.finished_succeeded, ""),
        (factories.finished_partial, "PARTIAL"),
        (factories.stopped, "STOPPED"),
        (factories.planning, "NOT FINISHED"),
    ],
)
def test_a_report_begins_with_a_word_unless_all_is_well(make: Callable[[], Run], word: str) -> None:
    assert reading_of(make()).verdict_word == word


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
        | {"decided": criterion.decided, "rests_on": criterion.rests_on, "doubtful": False}
        for criterion in reading.criteria
    ]
    assert told["model_calls"] == reading.totals.calls


def test_one_model_in_two_roles_is_named() -> None:
    run = factories.planning()
    assert reading_of(run).same_model == ""
    models = run.policy.models
    run.policy = run.policy.changed(models=models | {Role.VERIFIER: models[Role.EXECUTOR]})
    assert reading_of(run).same_model == models[Role.EXECUTOR].model
