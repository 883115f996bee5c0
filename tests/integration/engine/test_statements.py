"""What a step costs in the database: a number that no noisy machine changes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.db import connection

from runs.engine.perform import perform
from runs.engine.verification_inputs import source_of_call
from runs.enums import ApprovalPolicy, StepApproval, WorkKind
from runs.models import ToolCall, WorkItem
from tests.factories import Submit
from tests.fakes.team import Team, plan, step
from tests.work import calls

pytestmark = [pytest.mark.slow, pytest.mark.services]

MAX_STATEMENTS = 30
"""Four commits: a reply that asks for a tool, its result, the report, the verdict with the start of the next step."""


def statements_of(work: WorkItem) -> list[str]:
    """What performing this item sends to the database, without the begin and end of transactions."""
    sent: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith(("BEGIN", "SAVEPOINT", "RELEASE", "PRAGMA")):
            sent.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        perform(work.pk)
    return sent


@pytest.mark.django_db(transaction=True)
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_step_that_writes_a_file(team: Team, submitted: Submit) -> None:
    team.plan = plan(*(step(f"s{n}", *[f"s{n - 1}"][: n - 1]) for n in range(1, 5)))
    run = submitted(plan_approval=ApprovalPolicy.NEVER, step_approval=StepApproval.NONE)
    perform(run.work.get(kind=WorkKind.PLAN).pk)
    counts = []
    for key in ("s1", "s2", "s3"):
        sent = statements_of(run.work.get(attempt__step__key=key))
        counts.append(len(sent))
        assert len(sent) <= MAX_STATEMENTS, "\n".join(sent)
        assert not any('"estimate"' in sql for sql in sent), "it grows with the plan, and a step has no use for it"
    assert ToolCall.objects.filter(run=run, name="write_file", is_error=False).count() == 3
    assert counts[1] == counts[2], "a step must not cost more than the one before"


@pytest.mark.django_db(transaction=True)
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_step_does_not_read_the_calls_with_which_earlier_steps_wrote_files(team: Team, submitted: Submit) -> None:
    team.plan = plan(*(step(f"s{n}", *[f"s{n - 1}"][: n - 1]) for n in range(1, 4)))
    run = submitted(plan_approval=ApprovalPolicy.NEVER, step_approval=StepApproval.NONE)
    perform(run.work.get(kind=WorkKind.PLAN).pk)
    works = (run.work.get(attempt__step__key=key) for key in ("s1", "s2", "s3"))
    assert [calls(source_of_call, partial(perform, work.pk)) for work in works] == [1, 1, 1]
    assert ToolCall.objects.filter(run=run, name="write_file", is_error=False).count() == 3
