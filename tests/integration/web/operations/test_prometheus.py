"""`/metricsz`: for whoever has the token, every figure moves with the rows, and asking costs the same at any size."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs.enums import WorkStatus
from runs.lifecycle import deletion
from runs.models import Attempt, ModelCall, WorkItem
from runs.models.calls import UNNAMED
from runs.web.live.subscribers import Latency
from runs.web.operations import prometheus
from tests import factories as made

pytestmark = pytest.mark.django_db
TOKEN = "a-token-of-twenty-characters"
type Scrape = Callable[[], dict[str, float]]


@pytest.fixture
def scrape(settings: Any, client: Client, monkeypatch: pytest.MonkeyPatch) -> Scrape:
    """What Prometheus would read now: each sample by its name and labels."""
    settings.METRICS_TOKEN = TOKEN
    metrics = prometheus.Metrics()
    monkeypatch.setattr(prometheus, "_metrics", lambda: metrics)
    monkeypatch.setattr(prometheus, "SHARED_FOR", 0.0)

    def read() -> dict[str, float]:
        answer = client.get("/metricsz", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    return read


@pytest.mark.parametrize("sent", ["", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer größer"])
def test_without_the_token_there_is_no_answer(client: Client, settings: Any, sent: str) -> None:
    settings.METRICS_TOKEN = TOKEN
    answer = client.get("/metricsz", headers={"Authorization": sent} if sent else {})
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "pevsite_" not in answer.text


def test_without_a_token_in_the_settings_there_is_no_such_address(client: Client) -> None:
    assert client.get("/metricsz", headers={"Authorization": "Bearer "}).status_code == 404


def test_work_that_waits_is_counted_by_its_state(scrape: Scrape) -> None:
    before = scrape()
    run = made.planning()
    WorkItem.objects.filter(run=run).update(due_at=timezone.now() - timedelta(minutes=3))
    other = made.planning()
    WorkItem.objects.filter(run=other).update(due_at=timezone.now() + timedelta(minutes=3))
    expired = made.executing()
    held = {"status": WorkStatus.LEASED, "lease_until": timezone.now() - timedelta(seconds=1)}
    WorkItem.objects.filter(run=expired, status=WorkStatus.READY).update(**held)
    now = scrape()
    grown = {state: now[f'pevsite_work_items{{state="{state}"}}'] for state in ("due", "waiting", "leased", "expired")}
    assert grown == {"due": 1, "waiting": 1, "leased": 0, "expired": 1}
    assert 180 <= now["pevsite_work_waits_seconds"] < 240
    assert before["pevsite_work_waits_seconds"] == 0
    assert now['pevsite_runs{status="planning"}'] == 2


def test_calls_tokens_cost_and_attempts_are_counted(scrape: Scrape) -> None:
    run = made.finished_succeeded()
    now = scrape()
    calls = ModelCall.objects.filter(run=run)
    assert sum(value for name, value in now.items() if name.startswith("pevsite_model_calls{")) == calls.count()
    output = sum(value for name, value in now.items() if re.match(r"pevsite_tokens\{.*kind=.output", name))
    assert output == sum(calls.values_list("output_tokens", flat=True)) > 0
    cost = sum(value for name, value in now.items() if name.startswith("pevsite_cost_usd{"))
    assert cost == pytest.approx(float(sum(call.cost_usd or 0 for call in calls)))
    assert now['pevsite_attempts{status="passed"}'] == Attempt.objects.of_run(run).passed().count()
    assert now['pevsite_attempts{status="failed"}'] == 1


def test_what_is_deleted_is_not_counted(scrape: Scrape) -> None:
    run = made.finished_succeeded()
    assert growing(scrape())
    deletion.delete(run.pk, run.owner)
    assert growing(scrape()) == []


def growing(samples: dict[str, float]) -> list[str]:
    return [name for name in samples if re.match(r"pevsite_(?:attempts|model_calls|tokens|cost_usd)\{", name)]


def test_errors_are_counted_by_the_name_that_the_service_gave_them(scrape: Scrape) -> None:
    scrape()
    made.step_error()
    assert sum(value for name, value in scrape().items() if 'error="permission_error"' in name) == 8


def test_what_failed_without_a_name_is_no_answer(scrape: Scrape) -> None:
    scrape()
    made.step_error()
    ModelCall.objects.exclude(error="").update(error_kind=UNNAMED)
    assert sum(value for name, value in scrape().items() if 'error="other"' in name) == 8


def test_what_has_no_known_price_is_not_free(scrape: Scrape) -> None:
    scrape()
    made.finished_succeeded()
    ModelCall.objects.update(cost_usd=None)
    now = scrape()
    assert not [name for name in now if name.startswith("pevsite_cost_usd{")]
    unpriced = sum(value for name, value in now.items() if name.startswith("pevsite_unpriced_calls{"))
    assert unpriced == ModelCall.objects.count()


def test_names_from_outside_make_no_series_without_end(scrape: Scrape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "MAX_SERIES", 2)
    scrape()
    made.finished_succeeded()
    for call in ModelCall.objects.all():
        ModelCall.objects.filter(pk=call.pk).update(model=f"model-{call.pk}")
    calls = {name: value for name, value in scrape().items() if name.startswith("pevsite_model_calls{")}
    assert (len(calls), sum(calls.values())) == (3, ModelCall.objects.count())


def test_while_the_database_is_away_the_process_still_says_what_it_knows(
    scrape: Scrape, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise DatabaseError

    assert scrape()["pevsite_database_answers"] == 1
    monkeypatch.setattr(prometheus, "_work", away)
    now = scrape()
    assert (now["pevsite_database_answers"], now["pevsite_sockets"]) == (0, 0)
    assert "pevsite_work_waits_seconds" not in now


def test_open_questions_are_counted_by_their_kind(scrape: Scrape) -> None:
    made.awaiting_plan()
    assert scrape()['pevsite_open_gates{kind="plan"}'] == 1


@pytest.mark.slow
def test_it_asks_as_often_with_many_runs_as_with_one(scrape: Scrape) -> None:
    scrape()
    counts = []
    for _ in range(2):
        made.finished_succeeded()
        with CaptureQueriesContext(connection) as captured:
            scrape()
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 9


def test_who_asks_again_at_once_has_the_same_answer(scrape: Scrape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "SHARED_FOR", 60.0)
    first = scrape()
    made.awaiting_plan()
    with CaptureQueriesContext(connection) as captured:
        assert scrape() == first
    assert len(captured) == 0


def test_no_name_of_a_person_a_task_or_a_run_is_a_label(scrape: Scrape) -> None:
    run = made.finished_partial()
    labels = " ".join(scrape())
    assert run.title not in labels
    assert run.owner.username not in labels
    assert set(re.findall(r'(\w+)="', labels)) <= {"state", "status", "kind", "role", "model", "error", "le"}


def test_latency_is_counted_in_the_bucket_that_it_falls_into(scrape: Scrape, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Latency()
    monkeypatch.setattr(prometheus, "latency", counted)
    for seconds in (0.3, 0.3, 60, -5):  # the clock of another machine is ahead
        counted.add(timezone.now() - timedelta(seconds=seconds))
    now = scrape()
    buckets = {name.split('"')[1]: value for name, value in now.items() if "_browser_seconds_bucket" in name}
    assert (buckets["0.05"], buckets["0.25"], buckets["0.5"], buckets["10.0"], buckets["+Inf"]) == (1, 1, 3, 3, 4)
    assert now["pevsite_event_to_browser_seconds_count"] == 4
