"""Ten thousand hostile requests, or some hundred in CI: no 5xx, no answer after two seconds, memory bounded.

The long form: `PEV_FUZZ_REQUESTS=10000 PEV_FUZZ_SEED=7 uv run pytest tests/hostile/test_fuzz.py`.
"""

import json
import os
import re
from pathlib import Path

import pytest
from django.test import Client

from runs.models import Run, Step
from tests import factories
from tests.factories.cast import person
from tests.hostile.fuzzing.attack import Site, attack

REQUESTS = int(os.environ.get("PEV_FUZZ_REQUESTS", "300"))
SEED = int(os.environ.get("PEV_FUZZ_SEED", "20261122"))
MAX_MEGABYTES = 150
"""By which the process may grow at its highest: uploads of a few megabytes, pages, and what is cached."""
_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


@pytest.fixture
def site(db: None, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Runs in four states, somebody in each of five roles."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")  # any task can be submitted; no worker runs
    every = [factories.awaiting_second_plan(), factories.step_gate(), factories.finished_partial(), factories.blocked()]
    people = _people()
    plan = json.loads(people["owner"].get(f"/runs/{every[0].pk}/plans/1.json").getvalue())
    site = Site(people, [_real(run) for run in every], plan)
    site.crawl()
    return site


def _real(run: Run) -> dict[str, str]:
    """Arguments of addresses that lead somewhere in this run."""
    gate = run.gates.open().first() or run.gates.latest("pk")
    return {
        "run_id": str(run.pk),
        "gate_id": str(gate.pk),
        "step_id": str(Step.objects.get(plan__run=run, plan__version=1, key="review").pk),
        "version": "1",
        "name": "contracts",
        "path": "contracts/Service agreement.md",
        "user_id": str(run.owner.pk),
        "object_id": str(run.pk),
        "app_label": "runs",
    }


def _people() -> dict[str, Client]:
    who = {
        "owner": factories.alice(),
        "approver": factories.bob(),
        "outsider": factories.charlie(),
        "administrator": person("dora", is_superuser=True, is_staff=True),
    }
    clients = {"nobody": Client(raise_request_exception=False)}
    for role, user in who.items():
        clients[role] = Client(raise_request_exception=False)
        clients[role].force_login(user)
    return clients


@pytest.mark.filterwarnings("ignore")  # hostile requests may warn; what counts is the answer
def test_no_request_breaks_the_site_or_holds_it_up(site: Site) -> None:
    assert len(site.forms) > 8
    Path("/proc/self/clear_refs").write_text("5")  # the peak from now on
    before = _peak()
    report = attack(site, REQUESTS, SEED)
    if report.problems:
        pytest.fail("\n\n".join(report.problems[:20]))
    assert report.asked == REQUESTS
    assert {200, 302, 400, 403, 404, 405, 409, 422} <= set(report.statuses)
    assert _peak() - before < MAX_MEGABYTES


def _peak() -> float:
    """The most memory that the process has had, in megabytes."""
    found = _PEAK.search(Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) / 1_000
