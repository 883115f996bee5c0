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


def told(run: Run, event: AnyEvent) -> tuple[Update, str]:
    """What is sent of one more event, and all the statements that it took."""
    seen = Run.objects.get(pk=run.pk).event_count
    history.record(run.pk, event)
    with CaptureQueriesContext(connection) as captured:
        sent = update(run.owner_id, run.pk, seen)
    return sent, "\n".join(query["sql"] for query in captured.captured_queries)


@pytest.mark.parametrize("step", ["", "s1"])
def test_a_call_is_told_without_reading_what_settled_steps_did(step: str) -> None:
    run = factories.many_steps(42)
    call = ModelCalled(role="planner", model="m", ms=5, stop="end_turn", step=step, attempt=1 if step else 0)
    sent, statements = told(run, call)
    assert 'id="run-costs"' in sent.content
    assert ('class="card step fold"' in sent.content) is bool(step)
    for table in ("runs_toolcall", "runs_tree"):
        assert f'FROM "{table}"' not in statements


def test_a_line_names_steps_of_earlier_versions_as_the_page_does() -> None:
    run = factories.replanned()
    event = ModelCalled(role="executor", model="m", ms=5, stop="end_turn", step="review", attempt=1)
    assert "“Review the clauses”" in told(run, event)[0].content


def test_a_note_changes_neither_gates_nor_files() -> None:
    sent, _ = told(factories.awaiting_plan(), Note(text="Something."))
    assert 'id="run-head"' in sent.content
    assert 'id="run-gates"' not in sent.content
    assert 'id="run-files"' not in sent.content
