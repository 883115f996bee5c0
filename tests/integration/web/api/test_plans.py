"""Plans over the API: read as in the report, and edited as in the editor."""

from __future__ import annotations

import pytest

from runs.enums import AuditKind, GateKind
from runs.models import AuditEntry, Run
from runs.readmodel.run_view import reading_of
from runs.reports.json_report import as_json
from tests import factories as made
from tests.integration.web.api.asking import program_of

pytestmark = pytest.mark.django_db


def test_versions_steps_and_attempts_are_those_of_the_report() -> None:
    run = made.finished_succeeded()
    alice = program_of(made.alice())
    report = as_json(reading_of(Run.objects.get(pk=run.pk)))
    assert alice.get(f"/runs/{run.pk}/plans").json() == {"plans": report["plans"]}
    assert [alice.get(f"/runs/{run.pk}/plans/1").json()] == report["plans"]
    assert alice.get(f"/runs/{run.pk}/steps").json() == {"steps": report["steps"]}
    step = alice.get(f"/runs/{run.pk}/steps/review").json()
    assert step in report["steps"]  # type: ignore[operator]  # it is a list
    attempt = alice.get(f"/runs/{run.pk}/steps/review/attempts/1").json()
    assert attempt == step["attempts"][0]
    assert attempt["verdict"]["results"][0]["evidence"]
    for gone in ("plans/2", "plans/2/document", "steps/none", "steps/none/attempts/1", "steps/review/attempts/9"):
        assert alice.get(f"/runs/{run.pk}/{gone}").status_code == 404
    planning = made.planning()
    assert alice.get(f"/runs/{planning.pk}/steps").json() == {"steps": []}


def test_a_plan_is_edited_as_it_was_read_and_asked_about_again() -> None:
    run = made.awaiting_plan()
    gate = made.open_gate(run, GateKind.PLAN)
    alice, address = program_of(made.alice()), f"/runs/{run.pk}/plans"
    plan = alice.get(f"{address}/1/document").json()
    changed = {**plan, "goal": "Another goal."}
    outdated = alice.post(address, {"fingerprint": "0" * 64, "plan": changed})
    same = alice.post(address, {"fingerprint": gate.digest, "plan": plan})
    empty = alice.post(address, {"fingerprint": gate.digest, "plan": {**plan, "steps": []}})
    assert (outdated.status_code, same.status_code, empty.status_code) == (409, 422, 422)
    assert same.json()["detail"] == "Nothing was changed, so there is nothing to save."
    assert empty.json()["fields"][0]["where"] == "body.plan.steps"
    unsound = {**changed, "steps": [{**plan["steps"][0], "depends_on": ["none"]}, *plan["steps"][1:]]}
    assert alice.post(address, {"fingerprint": gate.digest, "plan": unsound}).status_code == 422
    assert run.plans.count() == 1
    edited = alice.post(address, {"fingerprint": gate.digest, "plan": changed})
    assert (edited.status_code, edited["Location"]) == (201, f"/api/v1/runs/{run.pk}/plans/2")
    assert (edited.json()["version"], edited.json()["author"]) == (2, "alice")
    assert run.plans.get(version=2).header.goal == "Another goal."
    asked = made.open_gate(run, GateKind.PLAN)
    assert (asked.plan and asked.plan.version, asked.pk != gate.pk) == (2, True)
    line = AuditEntry.objects.get(kind=AuditKind.PLAN_EDITED)
    assert (line.by, line.through, line.subject) == ("alice", "access token “ci”", "plan version 2")
    again = alice.post(address, {"fingerprint": gate.digest, "plan": changed})
    assert again.status_code == 409
    done = made.finished_succeeded()
    late = alice.post(f"/runs/{done.pk}/plans", {"fingerprint": gate.digest, "plan": changed})
    assert late.json()["detail"] == "No plan of this run needs a decision now, so there is none to edit."
