"""A site with runs in four states, and browsers in which somebody is signed in, in each of five roles."""

import json

import pytest
from django.test import Client

from runs.models import Attempt, Run, Step
from tests import factories
from tests.factories.cast import person
from tests.hostile.fuzzing.attack import Site


@pytest.fixture
def site(db: None, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Runs in four states, somebody in each of five roles."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")  # any task can be submitted; no worker runs
    every = [factories.awaiting_second_plan(), factories.step_gate(), factories.finished_partial(), factories.blocked()]
    people = _people()
    plan = json.loads(people["owner"].get(f"/runs/{every[0].pk}/plans/1.json").getvalue())
    return Site(people, [_real(run) for run in every], plan)


@pytest.fixture
def crawled(site: Site) -> Site:
    """The same, with its pages, forms and names in queries found; that takes some seconds."""
    site.crawl()
    return site


def _real(run: Run) -> dict[str, str]:
    """Arguments of addresses that lead somewhere in this run."""
    gate = run.gates.open().first() or run.gates.latest("pk")
    return {
        "run_id": str(run.pk),
        "gate_id": str(gate.pk),
        "step_id": str(Step.objects.get(plan__run=run, plan__version=1, key="review").pk),
        "work_id": str(run.work.earliest("pk").pk),
        "version": "1",
        "name": "contracts",
        "path": "contracts/Service agreement.md",
        "place": _place(run),
        "user_id": str(run.owner.pk),
        "person_id": str(run.owner.pk),
        "object_id": str(run.pk),
        "app_label": "runs",
    }


def _place(run: Run) -> str:
    """A text that is no file."""
    attempt = Attempt.objects.of_run(run).last()
    return f"attempt-{attempt.pk}-output" if attempt else "request-1"


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
