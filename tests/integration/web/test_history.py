"""The history of a run as a tree: what stands where, what is folded, filters, pages, links, and what it costs."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.enums import EventKind, GateKind, StepStatus, Verb
from runs.models import Event, ModelCall, Run, ToolCall, WorkItem
from runs.web.history import history_rows
from runs.web.templatetags.pev import words
from tests import factories

QUERIES = 21
"""Session, person, run; steps, people, lines, attempts, marks, work items, two sums of calls; eight of the header."""


@pytest.fixture(scope="module")
def number(rows_of_module: None) -> int:
    return factories.finished_succeeded().pk


@pytest.fixture
def succeeded(number: int, db: None) -> Run:
    """One run for all tests that only look at it; what one of them changes is rolled back."""
    return Run.objects.get(pk=number)


def shown(client: Client, run: Run, query: str = "") -> str:
    answer = client.get(f"/runs/{run.pk}/history/{query}")
    assert answer.status_code == 200
    return answer.text


def lines(text: str) -> list[str]:
    """What is told, in order: the names of steps and attempts among the lines."""
    found = re.findall(r'<span class="event-text">(.*?)</span>\s*<span class="event-took">', text, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", one).split()) for one in found]


def numbers(text: str) -> list[int]:
    return [int(seq) for seq in re.findall(r' id="e(\d+)"', text)]


def folds(text: str) -> list[str]:
    return [" ".join(one.split()) for one in re.findall(r' class="calls-sum">(.*?)(?: <span|</span>)', text)]


def work_of(run: Run, key: str, attempt: int) -> WorkItem:
    return WorkItem.objects.get(run=run, attempt__step__key=key, attempt__number=attempt)


def test_steps_hold_their_attempts_and_attempts_their_lines(alice_client: Client, succeeded: Run) -> None:
    review = "“Review the clauses”"
    assert lines(shown(alice_client, succeeded))[11:21] == [
        "Review the clauses passed",
        "Attempt 1 failed",
        "Reported, 71 % confident; it is being verified.",
        "Did not pass: Finding 2 names a problem and stops there: say what the Client should ask for instead of “an "
        "amount to be agreed”, with a figure or a formula.",
        "Attempt 2 passed",
        "Reported, 86 % confident; it is being verified.",
        "Passed verification.",
        f"Needs a decision: {succeeded.gates.get(kind=GateKind.STEP).question}",
        f"bob approved the result of {review}.",
        f"{review} passed; its files are now among the results.",
    ]


def test_calls_are_one_line_until_their_fold_is_opened(alice_client: Client, succeeded: Run) -> None:
    text = shown(alice_client, succeeded)
    assert folds(text) == [
        "1 call, 2.7 s, $0.084",
        "2 calls, 5 tools, 8.0 s, $0.048",
        "2 calls, 4 tools, 7.8 s, $0.073",
        "2 calls, 3 tools, 7.7 s, $0.085",
        "2 calls, 1 tool, 7.5 s, $0.027",
        "1 call, 2.7 s, $0.027",
    ]
    assert '<span class="calls-failed">1 failed</span>' in text
    assert "write_file" not in text
    work = work_of(succeeded, "review", 1)
    part = alice_client.get(f"/runs/{succeeded.pk}/history/calls/{work.pk}/").text
    assert part.strip().startswith("<ol")
    assert lines(part)[:2] == ["read_file contracts/Service agreement.md.", "read_file contracts/Lease.md failed."]
    assert f"?open={work.pk}#calls-{work.pk}" in text, "which does the same without a script"
    opened = shown(alice_client, succeeded, f"?open={work.pk}")
    assert (part.strip() in opened, opened.count(" open>")) == (True, 4), "three steps, and the fold"


@pytest.mark.slow
def test_a_model_call_shows_its_tokens_and_cost_and_a_tool_how_long_it_took(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    part = alice_client.get(f"/runs/{run.pk}/history/calls/{work_of(run, 'inventory', 1).pk}/").text
    assert "The executor (claude-sonnet-5-5) answered. 15,900 tokens, $0.047" in lines(part)
    took = re.findall(r'<span class="event-took">(.*?)</span>', part)
    assert took == ["0.0 s", "0.1 s", "0.1 s", "0.1 s", "0.2 s", "2.7 s", "4.8 s"]


def test_calls_of_planning_and_of_the_answer_stand_below_their_beginning(alice_client: Client, succeeded: Run) -> None:
    works = list(WorkItem.objects.filter(run=succeeded, attempt=None).order_by("pk"))
    found = [lines(alice_client.get(f"/runs/{succeeded.pk}/history/calls/{work.pk}/").text) for work in works]
    assert [[line.split(" ")[1] for line in calls] for calls in found] == [["planner"], ["synthesizer"]]


def test_attempts_of_the_same_number_in_two_versions_keep_their_own_calls(alice_client: Client) -> None:
    """The review is planned again under the same key, so that both versions have a first attempt at it."""
    run = factories.executing(attempts=1, replans=1)
    factories.pass_inventory(run)
    factories.fail_review(run)
    changed = factories.review_step().model_copy(update={"description": "Review the service agreement only."})
    factories.propose(run, factories.plan(factories.inventory_step(), changed), "review failed")
    factories.decide(run, GateKind.PLAN, Verb.APPROVE)
    factories.pass_review(run)
    works = WorkItem.objects.filter(run=run, attempt__step__key="review").order_by("pk")
    first, second = (alice_client.get(f"/runs/{run.pk}/history/calls/{work.pk}/").text for work in works)
    assert (len(numbers(first)), len(numbers(second))) == (6, 5)
    assert max(numbers(first)) < min(numbers(second))
    text = shown(alice_client, run)
    assert [line for line in lines(text) if line.startswith("Review the clauses")] == [
        f"Review the clauses {words(StepStatus.DROPPED)}",
        f"Review the clauses {words(StepStatus.WAITING)} plan version 2",
    ]


def test_offsets_count_from_the_submission_and_hover_shows_the_time(alice_client: Client, succeeded: Run) -> None:
    begun = succeeded.created_at
    for seq, after in ((1, 0), (2, 13), (3, 133), (4, 3_900), (5, 280_000)):
        Event.objects.filter(run=succeeded, seq=seq).update(at=begun + timedelta(seconds=after, milliseconds=1))
    text = shown(alice_client, succeeded, "?show=calls")
    offsets = re.findall(r'<time datetime="[^"]+" title="([^"]+)">\+(.*?)</time>', text)[:5]
    assert [said for _, said in offsets] == ["0 s", "13 s", "2 m 13 s", "1 h 5 m", "3 d 5 h"]
    assert offsets[0][0] == f"{begun:%-d %B %Y, %H:%M:%S} UTC"


def test_a_decision_shows_how_long_it_was_waited_for(alice_client: Client) -> None:
    run = factories.executing()
    opened = Event.objects.get(run=run, kind=EventKind.GATE_OPENED)
    Event.objects.filter(run=run, kind=EventKind.GATE_DECIDED).update(at=opened.at + timedelta(minutes=14))
    assert '<span class="event-took">waited 14 min 0 s</span>' in shown(alice_client, run)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?show=decisions", {"submitted", "gate_opened", "gate_decided", "plan_approved"}),
        ("?show=results", {"plan_proposed", "verdict", "step_passed", "answered", "finished"}),
        ("?show=models", {"model_called"}),
        ("?show=tools", {"tool_called"}),
        ("?show=problems", {"verdict", "tool_called"}),
        ("?person=bob", {"gate_decided"}),
        ("?step=inventory&show=results", {"verdict", "step_passed"}),
        ("?q=finding+2", {"verdict"}),
        ("?q=no+such+words", set[str]()),
        ("?show=decisions&step=review&person=bob&q=approved", {"gate_decided"}),
    ],
)
def test_filters_leave_lines_out(alice_client: Client, succeeded: Run, query: str, expected: set[str]) -> None:
    text = shown(alice_client, succeeded, query)
    assert set(re.findall(r'data-kind="(\w+)"', text)) == expected
    assert folds(text) == []


def test_problems_are_what_went_wrong(alice_client: Client) -> None:
    text = shown(alice_client, factories.finished_partial(), "?show=problems")
    assert lines(text)[1:] == [
        "Attempt 1 failed",
        "read_file contracts/Lease.md failed.",
        next(line for line in lines(text) if line.startswith("Did not pass")),
        "Attempt 2 failed",
        "read_file contracts/Lease.md failed.",
        next(line for line in lines(text) if line.startswith("Did not pass")),
        "Finished: partial with 2 open points.",
    ]


def test_what_is_not_there_cannot_be_asked_for(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    whole = lines(shown(alice_client, run))
    for query in ("?show=x'--&step=nowhere&person=mallory&before=x&event=-1", "?open=99"):
        assert lines(shown(alice_client, run, query)) == whole


def test_a_change_of_the_filter_sends_the_lines_alone(alice_client: Client, succeeded: Run) -> None:
    part = alice_client.get(f"/runs/{succeeded.pk}/history/?show=results", headers={"HX-Request": "true"}).text
    assert part.strip().startswith('<div id="run-lines">')
    assert "<html" not in part


def test_what_models_and_people_wrote_is_shown_as_text(alice_client: Client) -> None:
    run = factories.executing()
    factories.pass_inventory(run)
    factories.pass_review(run)
    factories.decide(run, GateKind.STEP, Verb.REJECT, "<script>alert(1)</script>")
    text = shown(alice_client, run)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script>alert" not in text
    assert "<img" not in shown(alice_client, run, "?q=<img src=x>").split("<main")[1]


def long_run(events: int) -> Run:
    """A run whose second step has called a tool so many times."""
    run = factories.executing()
    factories.pass_inventory(run)
    work = work_of(run, "review", 1)
    at, data = work.attempt.created_at, {"tool": "search", "error": False, "path": "", "step": "review", "attempt": 1}  # type: ignore[union-attr]
    known = Run.objects.get(pk=run.pk).event_count
    Event.objects.bulk_create(
        Event(run=run, seq=seq, kind=EventKind.TOOL_CALLED.value, at=at + timedelta(milliseconds=seq), data=data)
        for seq in range(known + 1, known + events + 1)
    )
    ToolCall.objects.bulk_create(
        ToolCall(run=run, work=work, attempt=work.attempt, generation=0, ordinal=place, name="search", duration_ms=1)
        for place in range(events)
    )
    Run.objects.filter(pk=run.pk).update(event_count=known + events)
    return Run.objects.get(pk=run.pk)


@pytest.mark.slow
@pytest.mark.parametrize("events", [50, 1_000])
def test_the_page_of_1000_events_is_as_large_as_that_of_50(
    alice_client: Client, events: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = long_run(events)
    with django_assert_num_queries(QUERIES):
        text = shown(alice_client, run)
    assert len(lines(text)) == 13
    with django_assert_num_queries(QUERIES + 7):
        opened = shown(alice_client, run, f"?open={work_of(run, 'review', 1).pk}")
    assert opened.count("search.") == min(events, 200)


@pytest.mark.slow
@pytest.mark.parametrize("run", ["executing", "failed_attempt", "many"])
def test_the_number_of_queries_is_that_of_every_run(
    alice_client: Client, run: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    made = factories.many_steps(12) if run == "many" else getattr(factories, run)()
    with django_assert_num_queries(QUERIES):
        shown(alice_client, made)


def test_a_long_history_has_pages(alice_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_rows, "PER_PAGE", 20)
    run = long_run(50)
    last = shown(alice_client, run, "?show=calls")
    assert (len(lines(last)), re.findall(r'href="\?([^"]*)" rel="(\w+)"', last)) == (
        22,
        [(f"show=calls&amp;before={run.event_count - 19}", "prev")],
    )
    middle = shown(alice_client, run, f"?show=calls&before={run.event_count - 19}")
    assert re.findall(r'rel="(prev|next)"', middle) == ["prev", "next"]
    again = shown(alice_client, run, f"?show=calls&after={run.event_count - 20}")
    assert lines(again) == lines(last)
    first = shown(alice_client, run, "?show=calls&after=0")
    assert (numbers(first)[0], re.findall(r'rel="(prev|next)"', first)) == (1, ["next"])


def test_a_search_stops_and_says_so(alice_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_rows, "MAX_SEARCHED", 20)
    run = long_run(50)
    text = shown(alice_client, run, "?show=calls&q=submitted")
    assert "“Earlier lines” continues the search" in text
    assert f"before={run.event_count - 19}" in text


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_link_to_an_event_shows_it_wherever_it_is(alice_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    run = factories.finished_succeeded()
    calls = list(run.events.filter(kind__in=[EventKind.MODEL_CALLED, EventKind.TOOL_CALLED]))
    for event in {event.kind: event for event in run.events.all()}.values():
        assert event.seq in numbers(shown(alice_client, run, f"?event={event.seq}")), event
    monkeypatch.setattr(history_rows, "PER_PAGE", 5)
    monkeypatch.setattr(history_rows, "AROUND", 2)
    rest = [event.seq for event in run.events.all() if event not in calls]
    missing = [seq for seq in rest if seq not in numbers(shown(alice_client, run, f"?event={seq}"))]
    assert missing == []


def test_calls_of_another_run_are_not_found(alice_client: Client, succeeded: Run) -> None:
    work = WorkItem.objects.filter(run=factories.awaiting_plan()).earliest("pk")
    assert alice_client.get(f"/runs/{succeeded.pk}/history/calls/{work.pk}/").status_code == 404


def test_failed_and_unpriced_calls_are_shown(alice_client: Client, succeeded: Run) -> None:
    ModelCall.objects.filter(work=work_of(succeeded, "inventory", 1), role="executor").update(cost_usd=None)
    ModelCall.objects.filter(work=work_of(succeeded, "inventory", 1), role="verifier").update(cost_is_lower_bound=True)
    assert folds(shown(alice_client, succeeded))[1] == "2 calls, 5 tools, 8.0 s, at least $0.001 and 1 unpriced"


def test_lines_can_only_be_read(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    assert alice_client.post(f"/runs/{run.pk}/history/").status_code == 405
