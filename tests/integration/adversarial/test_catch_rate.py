"""How many planted faults get past a verifier: 27 plans of the benchmark `catch`, which measures it over many more."""

from __future__ import annotations

from collections import Counter

import pytest

from runs.models import User
from runs.planted_faults.trial import tried
from tests.bench.catching.engine import of_files, through_engine
from tests.bench.catching.judges import Judging, plausible
from tests.bench.catching.rates import CARELESS, FEW, rates

pytestmark = pytest.mark.slow


def test_careless_verifiers_let_at_most_one_fault_in_twenty_through_and_an_honest_one_refuses_nothing_sound() -> None:
    before = rates(FEW[:9], [(name, False) for name in CARELESS])
    assert [name for (name, _), rate in before.items() if rate.share <= 75] == [], "what the rules are for"
    found = rates(FEW, [(name, True) for name in (*CARELESS, "honest")])
    assert [name for name in CARELESS if found[name, True].share > 5] == []
    assert [name for name in CARELESS if found[name, True].through - Counter({"contradiction": 1})] == []
    plausible = found["plausible", True]
    assert plausible.refused < plausible.sound, "it does not fail for another reason"
    careful = found["honest", True]
    assert (careful.share, careful.refused, careful.suspected) == (0, 0, 0)


@pytest.mark.django_db
@pytest.mark.parametrize("number", FEW[:8])
def test_the_engine_ends_as_the_benchmark_says(alice: User, number: int) -> None:
    for job in of_files(number):
        ended, expected = through_engine(job, plausible, alice), tried(job, Judging(plausible), rules=True)
        assert (ended.passed, bool(ended.marks)) == (expected.passed, bool(expected.marks))
