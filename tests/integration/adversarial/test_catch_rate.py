"""How many planted faults get past a verifier: 24 plans of the benchmark `catch`, which measures it over many more."""

from __future__ import annotations

import pytest

from runs.models import User
from tests.bench.catching.engine import through_engine
from tests.bench.catching.jobs import faulty, sound
from tests.bench.catching.judges import lazy
from tests.bench.catching.rates import FEW, rates
from tests.bench.catching.trial import tried

pytestmark = pytest.mark.slow


def test_a_lazy_verifier_lets_at_most_one_fault_in_twenty_through_and_nothing_sound_is_refused() -> None:
    found = rates(FEW)
    careless, careful = found["lazy", True], found["honest", True]
    assert careless.share <= 5, careless.through
    assert +careless.through == {"contradiction": 1}, "one in prose, which only a reader sees"
    assert (careful.share, careless.refused, careful.refused, careless.suspected) == (0, 0, 0, 0)
    assert found["lazy", False].share > 80, "before the rules"


@pytest.mark.django_db
@pytest.mark.parametrize("number", FEW[:8])
def test_the_engine_ends_as_the_benchmark_says(alice: User, number: int) -> None:
    for job in (faulty(number), sound(number)):
        ended, expected = through_engine(job, lazy, alice), tried(job, lazy, rules=True)
        assert (ended.passed, bool(ended.marks)) == (expected.passed, bool(expected.marks))
