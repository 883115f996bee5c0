"""How much a person may ask for at once: each request is judged by itself, and answered by every later plan."""

from __future__ import annotations

import pytest

from runs.contracts.feedback import Comment
from runs.enums import GateKind, Verb
from runs.lifecycle.gate_decisions import MAX_AT_ONCE, MAX_REQUESTS
from runs.models import Run
from runs.pev.contracts import PlanContract
from tests import factories as made
from tests.integration.lifecycle.deciding import fresh, refused, say
from tests.integration.lifecycle.small import done, waiting

pytestmark = pytest.mark.django_db


def points(count: int) -> tuple[Comment, ...]:
    return tuple(Comment(text="Name it.", place=f"On point {number} “x”") for number in range(1, count + 1))


def test_more_points_than_can_be_judged_at_once_are_refused_and_nothing_is_decided() -> None:
    run = waiting()
    gate = made.open_gate(run)
    assert refused(gate, Verb.REJECT, comments=points(MAX_AT_ONCE + 1)) == (
        "These are 101 requests; at most 100 can be made, since each is judged by itself. Send back fewer points, or "
        "say once, for the whole, what holds for many of them."
    )
    say(gate, Verb.REJECT, comments=points(MAX_AT_ONCE))
    assert fresh(run).requests == MAX_AT_ONCE


def test_a_run_has_as_many_requests_as_a_plan_can_answer() -> None:
    run = waiting()
    for left in (MAX_REQUESTS - 100, 99):
        say(made.open_gate(run), Verb.REJECT, comments=points(left))
        done(run, "a", {"a.md": f"A, {left}"})
    gate = made.open_gate(run)
    assert refused(gate, Verb.REJECT, comments=points(2)).startswith(
        "These are 2 requests; at most 1 can be made, since each is judged by itself, and this run has 199 already."
    )
    say(gate, Verb.REJECT, "One more.")
    done(run, "a", {"a.md": "A, at last"})
    gate = made.open_gate(run)
    assert refused(gate, Verb.REJECT, "Another.").startswith("200 requests were made in this run,")
    say(gate, Verb.APPROVE)
    answers = PlanContract.model_fields["answers"].metadata
    assert [one.max_length for one in answers if hasattr(one, "max_length")] == [MAX_REQUESTS]


def test_where_no_request_can_be_made_the_limit_of_costs_can_still_be_declined() -> None:
    run = made.budget_gate()
    Run.objects.filter(pk=run.pk).update(requests=MAX_REQUESTS)
    made.decide(run, GateKind.BUDGET, Verb.REJECT)
    assert fresh(run).status == "finished"
