"""A run is read in a fixed number of queries, linked in itself, and no more of it than somebody asks for."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.models import Run, Step
from runs.readmodel.run_rows import read_rows
from tests import factories
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def queries_of(what: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as captured:
        what()
    return len(captured)


@pytest.mark.slow
@pytest.mark.parametrize("tell", [as_json, as_markdown])
def test_reports_take_as_many_queries_for_six_steps_as_for_two(tell: Callable[[Run], object]) -> None:
    few, many = factories.many_steps(2), factories.many_steps(6)
    assert queries_of(lambda: tell(few)) == queries_of(lambda: tell(many))


@pytest.mark.slow
@pytest.mark.parametrize("tell", [as_json, as_markdown])
def test_kept_results_take_no_queries_of_their_own(tell: Callable[[Run], object]) -> None:
    few, many = factories.keeping(1), factories.keeping(3)
    assert queries_of(lambda: tell(few)) == queries_of(lambda: tell(many))


def test_rows_lead_to_each_other_without_asking_again() -> None:
    rows = read_rows(factories.replanned())
    steps = [step for listed in rows.steps.values() for step in listed]

    def follow() -> list[object]:
        kept = [step.reused_from.step.plan.version for step in steps if step.reused_from]
        gates = [gate.step.spec.name if gate.step else gate.plan for gate in rows.gates]
        return [*kept, *gates, *(attempt.step.plan.run for listed in rows.attempts.values() for attempt in listed)]

    assert queries_of(follow) == 0


def test_gates_are_read_before_what_they_ask_about() -> None:
    run = factories.awaiting_plan()
    with CaptureQueriesContext(connection) as captured:
        read_rows(run)
    read = [table for query in captured for table in ("gate", "plan", "step") if f'FROM "runs_{table}"' in query["sql"]]
    assert read == ["gate", "plan", "step"], "a page never sends back a digest that is newer than what it shows"


def test_only_the_chosen_steps_are_read_with_what_their_attempts_did() -> None:
    run = factories.replanned()
    chosen = Step.objects.get(plan__run=run, plan__version=2, key="inventory")
    rows = read_rows(run, lambda steps: [step for step in steps if step == chosen])
    attempts = [attempt for listed in rows.attempts.values() for attempt in listed]
    whole = [attempt for attempt in attempts if attempt.get_deferred_fields() == {"reads"}]
    assert whole == list(rows.detailed.values()) == [chosen.reused_from]
    assert len(attempts) > len(whole)
    assert list(rows.tools) == [chosen.reused_from_id]


def test_what_tools_answered_is_read_when_it_is_asked_for_and_cut() -> None:
    run = factories.exhausted_gate()
    calls = [call for listed in read_rows(run).tools.values() for call in listed]
    assert {call.result for call in calls} == {""}
    assert "There is no file contracts/Lease.md." in {call.problem for call in calls}
    cut = [call for listed in read_rows(run, result_chars=5).tools.values() for call in listed]
    assert any(call.result.endswith("\n… (cut here)") for call in cut)
    assert all(len(call.result.removesuffix("\n… (cut here)")) <= 5 for call in cut)


def test_a_tool_call_says_what_it_was_about() -> None:
    calls = [call for listed in read_rows(factories.exhausted_gate()).tools.values() for call in listed]
    assert {"contracts/Lease.md", "review/findings.md"} <= {call.about for call in calls}
