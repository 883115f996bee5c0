"""Decisions as pages and exports say them."""

import pytest

from runs.enums import GateKind, Verb
from runs.reading.words import decided, decision_in_words, decision_mark, words
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (Verb.APPROVE, "approved the start of “Review the clauses”"),
        (Verb.REJECT, "asked for another plan instead of the start of “Review the clauses”"),
        (Verb.STOP, "stopped the run when asked about the start of “Review the clauses”"),
    ],
)
def test_what_was_decided_before_a_step_started(verb: Verb, said: str) -> None:
    gate = factories.decide(factories.start_gate(), GateKind.START, verb, "Mind the annex.")
    gate.refresh_from_db()
    assert decision_in_words(gate) == said


def test_a_result_that_was_kept_with_open_points_is_marked_as_such() -> None:
    gate = factories.finished_partial().gates.get(kind=GateKind.EXHAUSTED)
    assert (decided(gate), decision_mark(gate)) == ("accepted with open points", "accepted")


def test_the_moments_of_a_policy_have_words() -> None:
    assert (words("after"), words("before")) == ("after verification", "before execution")
