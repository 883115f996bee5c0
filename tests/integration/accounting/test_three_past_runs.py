"""What three earlier runs that are alike have used, and what of it counts."""

from decimal import Decimal

import pytest

from runs.accounting import past_estimates as earlier
from runs.accounting.estimates import Measured
from runs.enums import Complexity, Role, RunStatus
from runs.models import Attempt, ModelCall, Run
from runs.pev.policy import RoleModel
from runs.store.journal import CANARIES
from tests import factories
from tests.integration.accounting.test_past_estimates import history

pytestmark = pytest.mark.django_db
INVENTORY = (Role.EXECUTOR, Complexity.LOW)


@pytest.fixture(scope="module")
def three(rows_of_module: None) -> list[Run]:
    return [factories.finished_succeeded() for _ in range(3)]


def test_passed_attempts_are_measured_by_role_and_complexity(three: list[Run]) -> None:
    found = history()
    assert found[INVENTORY] == Measured(3, Decimal("0.047"), Decimal("0.047"), 15_900, 15_900)
    assert found[Role.VERIFIER, Complexity.LOW] == Measured(3, Decimal("0.00115"), Decimal("0.00115"), 8_700, 8_700)
    review = found[Role.EXECUTOR, Complexity.HIGH]
    assert (review.low, review.tokens_low) == (Decimal("0.083"), 29_100), "the first attempt did not pass"
    assert found[Role.SYNTHESIZER, None] == Measured(3, Decimal("0.027"), Decimal("0.027"), 9_900, 9_900)


def test_all_kinds_of_tokens_and_all_calls_of_an_attempt_count(three: list[Run]) -> None:
    call = ModelCall.objects.filter(attempt__step__key="inventory", role=Role.EXECUTOR).latest("pk")
    ModelCall.objects.filter(pk=call.pk).update(cache_read_tokens=10, cache_write_5m_tokens=200)
    broken = ModelCall.objects.get(pk=call.pk)
    broken.pk, broken.live, broken.error, broken.cache_write_1h_tokens = None, False, "cut off", 3_000
    broken.save()
    found = history()[INVENTORY]
    assert (found.high, found.tokens_high) == (Decimal("0.094"), 2 * 16_110 + 3_000)
    assert (found.low, found.tokens_low) == (Decimal("0.047"), 15_900)


def test_questions_about_canaries_do_not_count(three: list[Run]) -> None:
    before = history()
    for call in ModelCall.objects.filter(attempt__step__key="inventory", role=Role.VERIFIER):
        call.pk, call.ordinal = None, CANARIES
        call.save()
    assert history() == before


def test_a_verifier_that_was_not_asked_used_nothing(three: list[Run]) -> None:
    asked = ModelCall.objects.filter(attempt__step__key="inventory", role=Role.VERIFIER)
    ModelCall.objects.filter(pk=asked.latest("pk").pk).delete()
    assert history()[Role.VERIFIER, Complexity.LOW] == Measured(3, Decimal(0), Decimal("0.00115"), 0, 8_700)


def test_a_run_that_goes_on_does_not_count(three: list[Run]) -> None:
    run = Run.objects.latest("pk")
    Run.objects.filter(pk=run.pk).update(status=RunStatus.EXECUTING, outcome=None)
    assert history() == {}


def test_only_runs_with_the_same_model_in_the_role_count(three: list[Run]) -> None:
    found = history(verifier="claude-opus-5-5")
    assert {role for role, _ in found} == {Role.EXECUTOR, Role.SYNTHESIZER}
    assert {role for role, _ in history(synthesizer="claude-opus-5-5")} == {Role.EXECUTOR, Role.VERIFIER}


def test_a_synthesizer_of_its_own_is_not_the_executors(three: list[Run]) -> None:
    own = RoleModel(model="claude-opus-5-5", effort="high")
    policy = three[0].policy.changed(models=three[0].policy.models | {Role.SYNTHESIZER: own})
    Run.objects.filter(pk=three[0].pk).update(policy=policy)
    assert (Role.SYNTHESIZER, None) not in history()


def test_unpriced_calls_leave_tokens(three: list[Run]) -> None:
    ModelCall.objects.filter(run=three[0], role=Role.EXECUTOR).update(cost_usd=None)
    assert history()[INVENTORY] == Measured(3, None, None, 15_900, 15_900)


def test_results_that_were_taken_over_are_no_samples(three: list[Run]) -> None:
    source, *others = Attempt.objects.filter(step__key="inventory").order_by("pk")
    Attempt.objects.filter(pk=others[0].pk).update(reused_from=source)
    assert INVENTORY not in history()


def test_only_the_latest_attempts_are_looked_at(three: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier, "LATEST", 8)
    found = history()
    assert (Role.EXECUTOR, Complexity.MEDIUM) in found
    assert INVENTORY not in found, "of nine passed attempts the first inventory is not among the latest eight"
