"""What a browser is told names what happened, is small, and costs the same whatever the size of the plan."""

import json
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.enums import EventKind
from runs.events.kinds import AttemptStarted, EventData, ModelCalled, Note, Paused, Resumed, ToolCalled
from runs.models import ModelCall, Run, WorkItem
from runs.store import event_log
from runs.web.frame.run_frame import RunFrame
from runs.web.frame.run_tab import CONTROLS, EVERYTHING
from runs.web.live.news import TABS, news, small_parts
from tests import factories
from tests.integration.source import without_layout

pytestmark = pytest.mark.django_db
CALL = ModelCalled(role="executor", model="m", ms=5, stop="end_turn", step="s1", attempt=1)


def told(run: Run, tab: str, *events: EventData) -> tuple[dict[str, Any], list[str]]:
    """What pages that were in step are told of more events, and the statements that it took."""
    before = Run.objects.get(pk=run.pk)
    shown = news(before, tab, before.event_count, {}).shown
    for event in events:
        event_log.record(run.pk, event)
    now = Run.objects.select_related("head").get(pk=run.pk)
    with CaptureQueriesContext(connection) as captured:
        sent = news(now, tab, before.event_count, shown)
    assert sent.seq == now.event_count
    return json.loads(sent.text or "{}"), [query["sql"] for query in captured.captured_queries]


@pytest.mark.slow
def test_bytes_and_queries_do_not_grow_with_the_plan() -> None:
    runs = [factories.many_steps(4), factories.many_steps(14)]
    events: list[EventData] = [CALL, AttemptStarted(step="s1", attempt=2), Note(text="x")]
    for tab, event in product(["", *TABS], events):
        found = [told(run, tab, event) for run in runs]
        few, many = (len(statements) for _, statements in found)
        assert few == many <= 14, (tab, event.kind)
        small, large = (len(json.dumps(said).encode()) for said, _ in found)
        assert abs(large - small) <= 12, f"{tab}, {event.kind}: more than the digits of numbers"
        assert large <= 1_000, (tab, event.kind)


@pytest.mark.slow
def test_only_the_step_that_is_named_is_read() -> None:
    run = factories.many_steps(14)
    said, statements = told(run, "steps", CALL)
    assert list(said["steps"].values()) == ["passed"]
    for table in ("runs_toolcall", "runs_tree"):
        assert not any(f'FROM "{table}"' in sql for sql in statements)


def test_parts_that_have_not_changed_are_not_sent_again() -> None:
    run = factories.many_steps(4)
    content = told(run, "overview", Note(text="x"))[0]["content"]
    assert 'id="count-history"' in content
    for part in ("run-now", "run-progress", "run-clocks", "run-spent", "count-steps"):
        assert f'id="{part}"' not in content


def test_who_was_away_is_sent_every_part() -> None:
    run = factories.many_steps(4)
    said = json.loads(news(run, "overview", 1, {}).text)
    for part in ("run-now", "run-progress", "run-clocks", "run-spent", "count-steps"):
        assert f'id="{part}"' in said["content"]
    assert (said["title"], said["icon"]) == ("Executing", "active")


def test_of_calls_a_history_is_sent_the_sum_that_it_shows() -> None:
    run = factories.executing()
    factories.pass_inventory(run)
    event = ModelCalled(role="executor", model="m", ms=5, stop="end_turn", step="inventory", attempt=1)
    work = WorkItem.objects.get(run=run, attempt__step__key="inventory")
    said = told(run, "history", event)[0]
    content = without_layout(said["content"])
    assert said["changed"] == ["lines", f"calls-{work.pk}"]
    assert f'<span id="calls-sum-{work.pk}" class="calls-sum" hx-swap-oob="outerMorph">2 calls, 5 tools' in content
    event = ModelCalled(role="planner", model="m", ms=5, stop="end_turn")
    planning = WorkItem.objects.get(run=run, attempt=None)
    assert told(run, "history", event)[0]["changed"] == ["lines", f"calls-{planning.pk}"]


def test_after_a_call_little_is_read_and_every_part_is_as_it_is_read_anew() -> None:
    run = factories.executing()
    factories.pass_inventory(run)
    call = ModelCall.objects.filter(run=run).latest("pk")
    call.pk, call.ordinal = None, call.ordinal + 100
    before = Run.objects.get(pk=run.pk)
    shown = news(before, "overview", before.event_count, {}).shown
    call.save(force_insert=True)
    event_log.record(run.pk, CALL.model_copy(update={"step": "inventory"}))
    now = Run.objects.select_related("head").get(pk=run.pk)
    with CaptureQueriesContext(connection) as captured:
        said = news(now, "overview", before.event_count, shown)
    assert len(captured) == 2
    keys = {name: part.key for name, part in said.shown.items()}  # a clock goes on
    assert keys == {name: part.key for name, part in small_parts(RunFrame(now, "overview")).items()}
    assert {name for name in keys if said.shown[name] != shown[name]} == {"spent", "count-history"}


def test_a_page_beside_the_tabs_hears_nothing_of_what_changes_neither_title_nor_icon() -> None:
    assert told(factories.many_steps(2), "", CALL)[0] == {}


@pytest.mark.slow
def test_who_has_missed_much_hears_that_everything_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.web.live.news.MAX_LINES", 10)
    run = factories.many_steps(2)
    notes = [Note(text="x")] * 11
    for name, tab in TABS.items():
        assert told(run, name, *notes)[0].get("changed", []) == [CONTROLS, *tab.regions]


@pytest.mark.parametrize("event", [Paused(by="alice"), Resumed(by="alice")])
def test_the_controls_are_fetched_by_each_page_for_its_person(event: EventData) -> None:
    said, _ = told(factories.executing(), "overview", event)
    assert (CONTROLS in said["changed"], "run-controls" in said["content"]) == (True, False)


@pytest.mark.parametrize("tab", TABS)
def test_a_note_changes_neither_gates_nor_files(tab: str) -> None:
    said, _ = told(factories.awaiting_plan(), tab, Note(text="Something."))
    assert not {"gates", "files", "plan", "result"} & set(said.get("changed", []))


def test_a_call_changes_the_costs_and_its_step_only() -> None:
    run = factories.many_steps(3)
    tool = ToolCalled(tool="read_file", error=False, path="a.md", step="s1", attempt=1)
    changed = {tab: told(run, tab, CALL, tool)[0].get("changed", []) for tab in TABS}
    step = run.plans.get().steps.get(key="s1")
    work = WorkItem.objects.get(attempt__step=step)
    assert changed == {
        "overview": [],
        "plan": [],
        "steps": [f"step-{step.pk}"],
        "files": [],
        "history": ["lines", f"calls-{work.pk}"],
        "cost": ["costs"],
    }


def test_every_kind_of_event_that_changes_everything_changes_gates_and_steps() -> None:
    assert TABS["overview"].regions["gates"] >= EVERYTHING
    assert TABS["steps"].regions["steps"] == EVERYTHING
    assert EventKind.MODEL_CALLED not in EVERYTHING
