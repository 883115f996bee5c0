"""What a browser is sent names what happened, and costs no more reading than the regions that changed."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs import history
from runs.events.kinds import AnyEvent, ModelCalled, Note
from runs.models import Run
from runs.web.fragments import Update, update
from tests import factories

pytestmark = pytest.mark.django_db


def told(run: Run, event: AnyEvent, tab: str) -> tuple[Update, str]:
    """What is sent of one more event, and all the statements that it took."""
    seen = Run.objects.get(pk=run.pk).event_count
    history.record(run.pk, event)
    with CaptureQueriesContext(connection) as captured:
        sent = update(run.owner_id, run.pk, tab, seen)
    return sent, "\n".join(query["sql"] for query in captured.captured_queries)


@pytest.mark.parametrize("step", ["", "s1"])
def test_a_call_is_told_without_reading_what_settled_steps_did(step: str) -> None:
    run = factories.many_steps(42)
    call = ModelCalled(role="planner", model="m", ms=5, stop="end_turn", step=step, attempt=1 if step else 0)
    costs, statements = told(run, call, "cost")
    assert 'id="run-costs"' in costs.content
    steps, more = told(run, call, "steps")
    assert ('class="card step fold"' in steps.content) is bool(step)
    for table in ("runs_toolcall", "runs_tree"):
        assert f'FROM "{table}"' not in statements + more


def test_a_line_names_steps_of_earlier_versions_as_the_page_does() -> None:
    run = factories.replanned()
    event = ModelCalled(role="executor", model="m", ms=5, stop="end_turn", step="review", attempt=1)
    assert "“Review the clauses”" in told(run, event, "history")[0].content


def test_a_note_changes_neither_gates_nor_files() -> None:
    run = factories.awaiting_plan()
    overview, files = (told(run, Note(text="Something."), tab)[0].content for tab in ("overview", "files"))
    assert 'id="run-state"' in overview
    assert 'id="run-gates"' not in overview
    assert 'id="run-files"' not in files
