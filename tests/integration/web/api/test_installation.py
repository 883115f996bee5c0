"""The installation over the API: templates, agents, figures, the audit trail and whether it can work."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from runs.accounting.intervals import Share, wilson
from runs.enums import AuditKind, FaultKind, PersonRole, TokenScope
from runs.lifecycle.overruling import overrule
from runs.models import Attempt, AuditEntry, Canary, ModelCall, Run, User
from runs.people.roles import NEW_PEOPLE
from runs.readmodel.audit_lines import AuditFilter, as_json
from runs.readmodel.run_view import reading_of
from runs.reports.json_report import as_json as report_as_json
from runs.store.journal import CANARIES
from runs.submission.run_templates import SHIPPED, save, shipped_plan
from runs.web.operations.health import health
from tests import factories as made
from tests.factories import agents
from tests.factories.calibrations import stored_calibration
from tests.integration.web.api.asking import program_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return made.person("root", roles={*NEW_PEOPLE, PersonRole.ADMINISTRATOR})


def test_templates_and_agents_are_read(admin: User) -> None:
    alice = program_of(made.alice())
    assert [one["key"] for one in alice.get("/templates").json()["templates"]] == list(SHIPPED)
    assert alice.get("/templates/document-review").json() == shipped_plan("document-review").model_dump(mode="json")
    bobs = save(made.bob(), made.finished_succeeded(), "Secret recipe")
    for key in ("none", str(bobs.pk)):
        refused = alice.get(f"/templates/{key}")
        assert refused.status_code == 404
        assert refused.json()["detail"] == "There is no such template. Choose another one."
    agent = agents.agent()
    (line,) = program_of(admin, TokenScope.ADMIN).get("/agents").json()["agents"]
    assert (line["name"], line["changed_by"]) == (agent.name, agent.changed_by.get_username())
    assert line["definition"] == agent.definition.model_dump(mode="json")


def test_figures_are_those_of_the_report_over_what_the_person_may_see() -> None:
    run = made.finished_succeeded()
    report = report_as_json(reading_of(Run.objects.get(pk=run.pk)))
    hers = program_of(made.alice()).get("/metrics?days=7").json()
    assert (hers["days"], hers["person"], hers["runs"]["total"], hers["runs"]["succeeded"]) == ("7", "", 1, 1)
    assert hers["totals"] == report["totals"]
    assert hers["totals_by_role"] == report["totals_by_role"]
    assert hers["metrics"]["steps"] == report["metrics"]["steps"]  # type: ignore[call-overload, index]
    assert program_of(made.charlie()).get("/metrics").json()["runs"]["total"] == 0
    assert program_of(made.charlie(), name="other").get("/metrics?days=8").status_code == 422


def test_figures_have_what_was_measured_of_verifiers() -> None:
    run = made.finished_succeeded()
    attempt = Attempt.objects.of_run(run).filter(verdict__passed=True).latest("pk")
    label = attempt.verdict.results[0].label
    overrule(attempt.pk, run.owner, label, met=False, reason="A party is missing.", seen=0)
    Canary.objects.create(
        run=run, step_key="inventory", attempt=attempt, model="claude-haiku-5-5", fault="stub", outcome="refused"
    )
    every: dict[str, Any] = {"size": 2 * len(FaultKind), "kinds": list(FaultKind)}
    calibration = stored_calibration(missed=3, prompt="earlier", **every)
    figures = program_of(run.owner).get("/metrics").json()
    assert figures["overruled"] == 1
    (verifier,) = figures["verifiers"]
    assert (verifier["verifier"], verifier["server"], verifier["is_old"]) == (calibration.model, "", True)
    assert datetime.fromisoformat(verifier["measured_at"]) == calibration.ended_at
    shares = [verifier[name] for name in ("caught", "wrong_figures_caught", "sound_refused")]
    assert [(one["count"], one["of"]) for one in shares] == [(19, 22), (1, 2), (0, 22)]
    assert verifier["cases"] == 44
    assert verifier["caught"] == {"count": 19, "of": 22, "share": 19 / 22} | interval(wilson(19, 22))
    (canary,) = figures["canaries"]
    assert canary["caught"] == {"count": 1, "of": 1, "share": 1.0} | interval(wilson(1, 1))
    assert canary["let_through"] == {"count": 0, "of": 1, "share": 0.0} | interval(wilson(0, 1))
    assert (canary["verifier"], canary["marked"], canary["no_verdict"], canary["not_judged"]) == (
        calibration.model,
        0,
        0,
        0,
    )
    assert (figures["canary_totals"]["calls"], figures["canary_totals"]["cost_usd"]) == (0, "0.000000")
    work = run.work.get(attempt=attempt)
    for ordinal in (CANARIES, CANARIES + 1):
        ModelCall.objects.create(
            run=run,
            work=work,
            attempt=attempt,
            generation=0,
            ordinal=ordinal,
            live=True,
            role="verifier",
            model=calibration.model,
            cost_usd="0.25",
            duration_ms=1,
        )
    figures = program_of(made.alice(), name="later").get("/metrics").json()
    assert (figures["canary_totals"]["calls"], figures["canary_totals"]["cost_usd"]) == (2, "0.500000")
    others = program_of(made.charlie()).get("/metrics").json()
    assert (others["overruled"], others["canaries"], others["verifiers"]) == (0, [], figures["verifiers"])


def interval(share: Share) -> dict[str, float]:
    return {"low": share.low, "high": share.high}


def test_the_audit_trail_is_read_page_by_page_and_reading_is_a_line(admin: User) -> None:
    run = made.finished_succeeded()
    whole = json.loads(b"".join(as_json(AuditFilter(run=run.pk).lines(), with_origin=True)))
    root = program_of(admin, TokenScope.ADMIN)
    first = root.get(f"/audit?run={run.pk}&limit=2")
    assert first["Link"].endswith(f'&cursor={first.json()["next"]}>; rel="next"')
    second = root.get(f"/audit?run={run.pk}&limit=100&cursor={first.json()['next']}").json()
    assert [*first.json()["lines"], *second["lines"]] == whole
    assert (len(first.json()["lines"]), second["next"]) == (2, None)
    exported = AuditEntry.objects.filter(kind=AuditKind.AUDIT_EXPORTED)
    assert [(line.by, line.run_number) for line in exported] == [("root", run.pk)] * 2
    assert [one["kind"] for one in root.get("/audit?kind=task_submitted").json()["lines"]] == ["task_submitted"]
    alice = program_of(made.alice())
    assert [root.get(f"/audit?{edge}").status_code for edge in ("since=0001-01-01", "until=9999-12-31")] == [422, 422]
    line = alice.get(f"/runs/{run.pk}/audit?limit=1").json()["lines"][0]
    assert (line["kind"], line["address"], line["through"]) == ("audit_trail_exported", None, None)


def test_health_says_which_part_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = program_of(made.alice())
    monkeypatch.setattr(health, "problems", lambda: {"database": "", "engine": ""})
    well = alice.get("/health")
    assert (well.status_code, well.json()) == (200, {"ready": True, "parts": {"database": "", "engine": ""}})
    monkeypatch.setattr(health, "problems", lambda: {"database": "", "engine": "is away"})
    assert (alice.get("/health").status_code, alice.get("/health").json()["ready"]) == (503, False)
