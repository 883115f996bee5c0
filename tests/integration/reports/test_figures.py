"""The figures of a run as JSON: the same as on its pages, and readable by machines."""

import json
from typing import Any

import pytest

from runs.enums import Role
from runs.models import ModelCall, Run
from tests import factories
from tests.reporting import as_json

pytestmark = pytest.mark.django_db


def told(run: Run) -> Any:
    return json.loads(json.dumps(as_json(run)))


def test_tokens_by_kind_in_all_and_by_role_and_model() -> None:
    run = factories.finished_succeeded()
    kinds = {"cache_read_tokens": 1, "cache_write_5m_tokens": 10, "cache_write_1h_tokens": 100}
    ModelCall.objects.filter(run=run, role=Role.PLANNER).update(**kinds)
    found = told(run)
    by_kind = {"input": 9_000, "output": 2_400, "cache_read": 1, "cache_write_5m": 10, "cache_write_1h": 100}
    planner = found["totals_by_role"][0]
    assert (planner["role"], planner["model"]) == ("planner", "claude-opus-5-5")
    assert planner["tokens"] == by_kind | {"all": 11_511}
    assert (planner["calls"], planner["cost_usd"]) == (1, "0.084000")
    assert found["totals"]["tokens"]["all"] == 142_800 + 111
    assert found["totals"]["cost_usd"] == found["cost_usd"]


def test_estimate_against_actual() -> None:
    found = told(factories.finished_succeeded())["costs"]
    assert (found["version"], found["rests_on"]) == (1, "typical figures for steps of this risk")
    first = found["steps"][0]
    assert (first["key"], first["standing"], first["actual"]["cost_usd"]) == ("inventory", "within", "0.048150")
    assert first["estimate"] == {
        "low_usd": "0.035600",
        "high_usd": "0.321600",
        "partly_unpriced": False,
        "tokens": [21_000, 136_800],
    }
    assert [one["key"] for one in found["roles"]] == ["executor", "verifier", "synthesizer"]
    assert (found["planning"]["estimate"], found["earlier"]) == (None, None)
    assert found["total"]["cost_usd"] == "0.343400"


def test_the_metrics_of_the_run() -> None:
    found = told(factories.finished_succeeded())["metrics"]
    assert found["steps"]["first_pass_yield"] == 2 / 3
    assert (found["steps"]["retried"], found["steps"]["recovered"], found["doubt"]) == (1, 1, "")
    assert (found["attempts"]["retries"], found["attempts"]["unsupported"], found["replans"]) == (1, 1, 0)
    assert [phase["name"] for phase in found["phases"]] == ["planning", "executing", "verifying", "finalising"]
    assert {one["kind"]: one["count"] for one in found["waiting"]} == {"plan": 1, "step": 1}
    assert found["executor_confidence"][0] == {
        "low": 0.7,
        "high": 0.8,
        "count": 1,
        "held": 0,
        "claimed": 0.71,
        "share": 0.0,
    }


def test_before_there_is_a_plan_there_is_nothing_to_compare() -> None:
    found = told(factories.planning())
    assert (found["costs"], found["totals_by_role"]) == (None, [])
    assert (found["metrics"]["wall_ms"], found["metrics"]["steps"]["pass_rate"]) == (None, None)


def test_a_model_without_a_price_has_no_costs() -> None:
    run = factories.executing()
    stored = run.plans.get().estimate
    assert stored is not None
    estimate: Any = stored.model_dump(mode="json")
    for part in estimate["final"]:
        part |= {"low": None, "high": None}
    run.plans.update(estimate=estimate)
    final = told(run)["costs"]["steps"][-1]["estimate"]
    assert (final["low_usd"], final["partly_unpriced"]) == (None, True)
