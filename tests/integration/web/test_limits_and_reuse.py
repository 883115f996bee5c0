"""What pages say of limits, of results taken over, and of a plan that asks for less."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import ROUND_UP, Decimal
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from runs.accounting.usage import spent_usd
from runs.enums import GateStatus, Role, RunStatus
from runs.models import Attempt, Run, User
from tests import factories
from tests.factories import Submit, drain, finish, leave_budget, open_gate
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team
from tests.html_forms import undescribed
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture(autouse=True)
def at_work(api: FakeAnthropic) -> None:
    """Models that behave."""
    api.script(Team())


@pytest.fixture
def short(alice_client: Client, submitted: Submit) -> Run:
    """A run that cannot even be planned for its budget."""
    run = leave_budget(submitted(time_limit=600), "0.05")
    drain(run)
    return run


def post(client: Client, run: Run, verb: str, **fields: str) -> Any:
    gate = open_gate(run)
    return client.post(f"/runs/{run.pk}/gates/{gate.pk}/", {"verb": verb, "digest": gate.digest, **fields})


def test_a_budget_gate_offers_more_or_the_end(alice_client: Client, short: Run) -> None:
    text = alice_client.get(f"/runs/{short.pk}/").text
    assert "Raise the limit?" in text
    assert "$0.00 of the budget of $0.05 is spent" in text
    assert 'value="0.10" min="0.05" step="0.01"' in text
    assert 'value="10" min="10" step="1"' in text
    assert "$0.10 adds the budget so far once more, because the cost of the rest is not estimated." in text
    assert "The time limit of 10 minutes is not reached: " in text
    assert "Finish now</button>" in text


def test_a_limit_names_the_rest_of_the_work_and_its_buttons_the_amount_and_what_is_done(alice_client: Client) -> None:
    run = factories.budget_gate()
    run.model_calls.update(cost_usd=Decimal("0.0411"))
    estimate = run.plans.get().estimate
    assert estimate is not None
    left = [*estimate.steps[1:], *estimate.final]
    low, high = (sum((getattr(one, end) for one in left), Decimal(0)) for end in ("low", "high"))
    text = " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    left_out = "Finishing now leaves out “Review the clauses”, “Draft the notices”."
    rest = f"The rest is estimated at ${low:,.2f} to ${high:,.2f} (typical figures for steps of this risk)."
    assert f"1 of 3 steps done. In progress: “Review the clauses”. {left_out} {rest}" in text
    raised = (2 * (spent_usd(run) + low)).quantize(Decimal("0.01"), ROUND_UP)
    assert f'value="approve">Raise to ${raised}</button>' in undescribed(text)
    assert f"${raised} is twice what the lower end of the estimate needs. The upper end needs $" in text
    assert "Finish now with 1 of 3 steps</button>" in text
    minutes = alice_client.get(f"/runs/{factories.time_gate().pk}/").text
    assert 'value="approve">Raise to 93 minutes</button>' in undescribed(minutes)
    assert "93 minutes are the 31 worked and 62 for the rest at the same pace." in minutes
    assert "At the same pace the rest takes about 62 minutes." in minutes


def test_raised_in_the_browser_the_run_goes_on(alice_client: Client, short: Run) -> None:
    assert post(alice_client, short, "approve", budget="5", minutes="20").status_code == 302
    drain(short)
    assert (short.policy.budget, short.policy.time_limit) == (Decimal(5), 1_200)
    assert short.status == RunStatus.AWAITING_APPROVAL


@pytest.mark.parametrize("given", ["much", "NaN", "Infinity", "-1", "0.04", "1e999999", "0.555"])
def test_what_is_no_higher_limit_is_a_sentence(alice_client: Client, short: Run, given: str) -> None:
    answer = post(alice_client, short, "approve", budget=given)
    assert answer.status_code == 422
    assert "Not done." in answer.text
    assert open_gate(short).status == GateStatus.OPEN


def test_finishing_needs_no_words(alice_client: Client, short: Run) -> None:
    assert post(alice_client, short, "reject").status_code == 302
    short.refresh_from_db()
    assert short.status == RunStatus.FINISHED
    assert "alice finished the run with what was there" in alice_client.get(f"/runs/{short.pk}/report/").text


@pytest.mark.slow
def test_a_result_taken_over_says_where_it_is_from(alice_client: Client, submitted: Submit, alice: User) -> None:
    first = finish(submitted(), alice)
    run = finish(submitted(), alice)
    step = run.plans.get().steps.get(key="two")
    source = first.plans.get().steps.get(key="two")
    place = f"/runs/{first.pk}/steps/{source.pk}/#attempt-1"
    for address in (f"/runs/{run.pk}/steps/{step.pk}/", f"/runs/{run.pk}/report/"):
        text = alice_client.get(address).text
        assert place in text
        assert "was not used" not in text, "it counts what the earlier run has used"
    early = F("created_at") - timedelta(milliseconds=2)  # the clock is read twice
    Attempt.objects.filter(step__plan__run=run).update(finished_at=early)
    rows = alice_client.get(f"/runs/{run.pk}/steps/").text
    assert f"reused from run {first.pk}</span>" in rows
    assert '<span class="row-time"></span>' in rows
    assert f"Result reused from run {first.pk}, attempt 1; it cost nothing here." in as_markdown(run)
    told: Any = json.loads(json.dumps(as_json(run)))
    assert told["steps"][1]["attempts"][0]["reused_from"] == {"run": first.pk, "step_id": "two", "attempt": 1}
    assert told["steps"][1]["attempts"][0]["deviations"] == []


def test_one_model_in_two_roles_is_said(alice_client: Client, submitted: Submit, alice: User) -> None:
    run = submitted()
    models = run.policy.models
    policy = run.policy.changed(models=models | {Role.VERIFIER: models[Role.EXECUTOR]})
    Run.objects.filter(pk=run.pk).update(policy=policy)
    run.refresh_from_db()
    assert "One model judged its own work." in alice_client.get(f"/runs/{run.pk}/report/").text
    assert "One model judged its own work" in as_markdown(run)
    assert as_json(run)["judged_its_own_work"] == "claude-sonnet-5-5"
