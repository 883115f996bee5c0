"""The reports of three runs, word for word, and the schema of the JSON report.

`PEV_RENEW_GOLDEN=1 python -m pytest -n 0 tests/integration/reports/test_golden.py` writes the files anew; what has
changed is then read in the difference.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.db.models import F

from runs.models import Attempt, Event, Gate, ModelCall, Plan, Run
from runs.reports.contract import schema
from runs.reports.formats import html
from tests import factories as made
from tests.installation import ROOT
from tests.reporting import as_json, as_markdown, exported

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = ROOT / "docs" / "report.schema.json"
RUNS: dict[str, Callable[[], Run]] = {
    "succeeded": made.finished_succeeded,
    "partial": made.finished_partial,
    "second-plan": made.awaiting_second_plan,
}
FORMS: dict[str, Callable[[Run], str]] = {
    "md": as_markdown,
    "html": lambda run: html.as_html(exported(run)),
    "json": lambda run: json.dumps(without_policy(run), indent=1, ensure_ascii=False) + "\n",
}
BEGIN = datetime.fromisoformat("2026-03-14T09:00:00+00:00")


def without_policy(run: Run) -> dict[str, Any]:
    """The report without the policy, whose settings the published schema leaves open."""
    report: dict[str, Any] = as_json(run)
    assert report.pop("policy") == run.policy.model_dump(mode="json")
    return report


def at_a_known_time(run: Run) -> Run:
    """Everything a minute after what came before it, as if the run had taken its time."""
    for model in (Plan, Attempt, Gate, ModelCall, Event):
        field = {Gate: "opened_at", Event: "at"}.get(model, "created_at")
        runs = {Plan: "run", Attempt: "step__plan__run", Gate: "run", ModelCall: "run", Event: "run"}[model]
        for minute, row in enumerate(model.objects.filter(**{runs: run}).order_by("pk"), start=1):
            moment = BEGIN + timedelta(minutes=minute)
            model.objects.filter(pk=row.pk).update(**{field: moment})
    Gate.objects.filter(run=run, decided_at__isnull=False).update(decided_at=F("opened_at") + timedelta(seconds=40))
    Attempt.objects.filter(step__plan__run=run, finished_at__isnull=False).update(
        finished_at=F("created_at") + timedelta(seconds=50)
    )
    finished = BEGIN + timedelta(minutes=90) if run.finished_at else None
    Run.objects.filter(pk=run.pk).update(created_at=BEGIN, finished_at=finished)
    return Run.objects.get(pk=run.pk)


def steady(text: str) -> str:
    """Without the style sheets, which change for other reasons, and how long a question has been open by now."""
    text = re.sub(r"<style>.*?</style>", "<style></style>", text, flags=re.DOTALL)
    text = re.sub(r'"(total|mean|max)_ms": \d+', r'"\1_ms": 0', text)
    return re.sub(r"sha256-[A-Za-z0-9+/=]{44}", "sha256-", text)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.django_db(transaction=True, reset_sequences=True)  # it says the number of its run
@pytest.mark.slow
def test_reports_are_word_for_word_what_they_were(name: str) -> None:
    run = at_a_known_time(RUNS[name]())
    for form, write in FORMS.items():
        text = steady(write(run))
        golden = GOLDEN / f"{name}.{form}"
        if os.environ.get("PEV_RENEW_GOLDEN"):
            golden.write_text(text)
        assert text == golden.read_text()
        if form == "json":
            published().validate(as_json(run))


def test_the_published_schema_is_that_of_the_types() -> None:
    text = json.dumps(schema(), indent=2) + "\n"
    if os.environ.get("PEV_RENEW_GOLDEN"):
        SCHEMA.write_text(text)
    assert SCHEMA.read_text() == text


@cache
def published() -> Any:
    """A validator; that its schema is one is looked at once, which takes longer than any report."""
    found = json.loads(SCHEMA.read_text())
    kind = jsonschema.validators.validator_for(found)
    kind.check_schema(found)
    return kind(found)


@pytest.mark.parametrize(
    "make",
    [
        made.planning,
        made.awaiting_plan,
        made.start_gate,
        made.step_gate,
        made.exhausted_gate,
        made.error_gate,
        made.replanned,
        lambda: made.keeping(2),
        made.stopped,
    ],
)
def test_exports_of_other_runs_are_valid(make: Callable[[], Run]) -> None:
    published().validate(as_json(make()))
