"""One reading tells what is missing, what was made and who judged, the same to everybody."""

from collections.abc import Callable

import pytest

from runs.enums import GateKind, Role, Verb
from runs.models import Run
from runs.reading.run import reading_of
from runs.reports.machine import as_json
from tests import factories

pytestmark = pytest.mark.django_db


def test_gaps_are_there_exactly_when_something_is_missing() -> None:
    assert reading_of(factories.finished_succeeded()).gaps == []
    assert len(reading_of(factories.finished_partial()).gaps) == 2
    assert reading_of(factories.executing()).gaps == [], "what is not finished lacks nothing yet"


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (factories.finished_succeeded, ""),
        (factories.finished_partial, "PARTIAL"),
        (factories.stopped, "CANCELLED"),
        (factories.planning, "NOT FINISHED"),
    ],
)
def test_a_report_begins_with_a_word_unless_all_is_well(make: Callable[[], Run], word: str) -> None:
    assert reading_of(make()).verdict_word == word


def test_a_decision_that_is_about_no_plan_and_no_attempt_stands_apart() -> None:
    run = factories.error_gate()
    factories.decide(run, GateKind.ERROR, Verb.APPROVE)
    assert [gate.kind for gate in reading_of(run).other_decisions] == [GateKind.ERROR]


def test_files_criteria_and_sums_are_the_same_in_json() -> None:
    run = factories.finished_succeeded()
    reading, told = reading_of(run), as_json(run)
    assert told["files"] == [
        {"path": file.path, "sha256": file.info.sha256, "size": file.info.size} for file in reading.made
    ]
    assert told["success_criteria"] == [criterion.model_dump(mode="json") for criterion in reading.criteria]
    assert told["model_calls"] == reading.totals.calls


def test_one_model_in_two_roles_is_named() -> None:
    run = factories.planning()
    assert reading_of(run).same_model == ""
    models = run.policy.models
    run.policy = run.policy.changed(models=models | {Role.VERIFIER: models[Role.EXECUTOR]})
    assert reading_of(run).same_model == models[Role.EXECUTOR].model
