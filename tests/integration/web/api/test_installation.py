"""The installation over the API: templates, agents, figures, the audit trail and whether it can work."""

from __future__ import annotations

import json

import pytest

from runs.enums import AuditKind, PersonRole, TokenScope
from runs.models import AuditEntry, Run, User
from runs.people.roles import NEW_PEOPLE
from runs.readmodel.audit_lines import AuditFilter, as_json
from runs.readmodel.run_view import reading_of
from runs.reports.json_report import as_json as report_as_json
from runs.submission.run_templates import SHIPPED, save, shipped_plan
from runs.web.operations.health import health
from tests import factories as made
from tests.factories import agents
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
    line = alice.get(f"/runs/{run.pk}/audit?limit=1").json()["lines"][0]
    assert (line["kind"], line["address"], line["through"]) == ("audit_trail_exported", None, None)


def test_health_says_which_part_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = program_of(made.alice())
    monkeypatch.setattr(health, "problems", lambda: {"database": "", "engine": ""})
    well = alice.get("/health")
    assert (well.status_code, well.json()) == (200, {"ready": True, "parts": {"database": "", "engine": ""}})
    monkeypatch.setattr(health, "problems", lambda: {"database": "", "engine": "is away"})
    assert (alice.get("/health").status_code, alice.get("/health").json()["ready"]) == (503, False)
