"""The journal: events without gaps, calls with their cost, replies that are given once more after a crash."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from runs.contracts.base import JsonObject
from runs.contracts.ports import Changes, FileInfo, Reply, Shown, ToolResult, ToolUse, Usage
from runs.enums import EventKind, Role, WorkKind
from runs.errors import ModelError
from runs.events.kinds import Note
from runs.models import Event, ModelCall, Run, ToolCall, WorkItem
from runs.store import broadcast, event_log, journal
from runs.store.journal import CallPlace, JournalQuestion
from tests import factories as made
from tests.factories import recorded

pytestmark = [pytest.mark.django_db, pytest.mark.services]

QUESTION = JournalQuestion(Role.PLANNER, "claude-opus-5-5", "digest-1")
USE = ToolUse("use_1", "write_file", {"path": "a.md", "content": "A"})
USAGE = Usage(input=5, output=7, cache_read=11, cache_write_5m=13, cache_write_1h=17)


def reply(text: str = "Hi.") -> Reply:
    return Reply(({"type": "text", "text": text},), "end_turn", "claude-opus-5-5", USAGE, "req_1")


def item() -> WorkItem:
    """As its second worker has it, who looks for what the first has recorded."""
    work = made.open_work(made.planning(), WorkKind.PLAN)
    work.epoch = 2
    return work


def seqs(run: Run) -> list[int]:
    return list(Event.objects.filter(run=run).values_list("seq", flat=True))


# ---- events -------------------------------------------------------------------------------------------------------


def test_events_are_numbered_from_one_for_each_run_apart() -> None:
    one, other = made.planning(), made.planning()
    assert recorded(one.pk, Note(text="x")) == 3
    assert recorded(other.pk, Note(text="x")) == 3
    assert (seqs(one), seqs(other)) == ([1, 2, 3], [1, 2, 3])
    one.refresh_from_db()
    assert one.event_count == 3


@pytest.mark.django_db(transaction=True)
def test_events_have_no_gaps_and_no_doubles_from_eight_threads_at_once() -> None:
    run = made.planning()
    barrier = threading.Barrier(8)

    def write() -> None:
        barrier.wait()
        try:
            for number in range(10):
                if number % 5 == 4:
                    rolled_back(run.pk)
                event_log.record(run.pk, Note(text="x"))
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seqs(run) == list(range(1, 83))
    assert Run.objects.get(pk=run.pk).event_count == 82


def rolled_back(run_id: int) -> None:
    try:
        with event_log.writing():
            recorded(run_id, Note(text="never happened"))
            raise RuntimeError
    except RuntimeError:
        return


def test_what_did_not_happen_is_not_told_and_its_number_is_given_again() -> None:
    run = made.planning()
    rolled_back(run.pk)
    assert (seqs(run), recorded(run.pk, Note(text="x"))) == ([1, 2], 3)


def test_a_number_cannot_be_given_twice() -> None:
    run = made.planning()
    with pytest.raises(IntegrityError), transaction.atomic():
        Event.objects.create(run=run, seq=1, kind=EventKind.NOTE, at=run.created_at)


type Capture = Callable[..., Any]


def test_events_are_announced_after_the_commit_with_ids_only(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Capture
) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(broadcast, "announce", lambda run_id, seq: told.append((run_id, seq)))
    run = made.planning()
    told.clear()
    with django_capture_on_commit_callbacks(execute=True):
        recorded(run.pk, Note(text="secret"))
        assert told == []
    assert told == [(run.pk, 3)]


def test_a_message_that_cannot_be_sent_undoes_nothing(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Capture
) -> None:
    def broken(run_id: int, seq: int) -> None:
        raise ConnectionError("no Redis")

    monkeypatch.setattr(broadcast, "announce", broken)
    with django_capture_on_commit_callbacks(execute=True):
        run = made.planning()
    assert seqs(run) == [1, 2]


# ---- model calls --------------------------------------------------------------------------------------------------


def test_a_reply_is_a_row_with_tokens_by_kind_cost_duration_and_stop_reason() -> None:
    work = item()
    journal.write_reply(work, CallPlace(0, 1), QUESTION, reply(), Decimal("0.00123456"), 2_300, live_=True)
    call = ModelCall.objects.get()
    assert (call.run, call.work, call.attempt, call.role, call.model) == (
        work.run,
        work,
        None,
        "planner",
        "claude-opus-5-5",
    )
    assert (call.input_tokens, call.output_tokens, call.cache_read_tokens) == (5, 7, 11)
    assert (call.cache_write_5m_tokens, call.cache_write_1h_tokens) == (13, 17)
    assert (call.cost_usd, call.cost_is_lower_bound, call.duration_ms) == (Decimal("0.00123456"), False, 2_300)
    assert (call.stop_reason, call.request_id, call.error, call.live) == ("end_turn", "req_1", "", True)


def test_a_failed_call_is_a_row_too_and_what_it_cost_is_a_lower_bound() -> None:
    work, cut = item(), ModelError("cut off " * 1_000, kind="overloaded_error", retriable=True)
    journal.write_failure(work, CallPlace(0, 1), QUESTION, cut, Usage(input=5, output=1), Decimal("0.01"), 10)
    call = ModelCall.objects.get()
    assert (call.live, call.cost_usd, call.cost_is_lower_bound, call.input_tokens) == (False, Decimal("0.01"), True, 5)
    assert call.error_kind == "overloaded_error"
    assert (len(call.error), journal.recorded_reply(work, 1, QUESTION)) == (2_000, None)


@pytest.mark.slow
def test_a_cost_that_is_not_known_is_none_and_not_zero() -> None:
    journal.write_reply(item(), CallPlace(0, 1), QUESTION, reply(), None, 1, live_=True)
    assert ModelCall.objects.get().cost_usd is None


def test_a_recorded_reply_is_given_again_to_the_same_question_at_the_same_place() -> None:
    work = item()
    journal.write_reply(work, CallPlace(0, 1), QUESTION, reply(), None, 1, live_=True)
    again = journal.recorded_reply(work, 1, QUESTION)
    assert again is not None
    assert (again.content, again.stop_reason, again.model) == (reply().content, "end_turn", "claude-opus-5-5")
    assert again.usage == reply().usage, "it tells how full the conversation is"


@pytest.mark.parametrize(
    ("ordinal", "digest", "generation", "live_"),
    [(2, "digest-1", 0, True), (1, "digest-2", 0, True), (1, "digest-1", 1, True), (1, "digest-1", 0, False)],
    ids=["another place", "another question", "another generation", "after the lease was lost"],
)
def test_no_other_question_gets_it(ordinal: int, digest: str, generation: int, live_: bool) -> None:
    work = item()
    journal.write_reply(work, CallPlace(0, 1), QUESTION, reply(), None, 1, live_=live_)
    work.generation = generation
    assert journal.recorded_reply(work, ordinal, JournalQuestion(Role.PLANNER, "claude-opus-5-5", digest)) is None


def test_of_two_replies_at_one_place_the_later_counts_and_both_are_paid_for() -> None:
    work = item()
    for text in ("one", "two"):
        journal.write_reply(work, CallPlace(0, 1), QUESTION, reply(text), Decimal("0.5"), 1, live_=True)
    again = journal.recorded_reply(work, 1, QUESTION)
    assert again is not None
    assert (again.text, list(ModelCall.objects.values_list("live", flat=True))) == ("two", [False, True])


def test_the_database_keeps_one_live_reply_at_each_place() -> None:
    work = item()
    journal.write_reply(work, CallPlace(0, 1), QUESTION, reply(), None, 1, live_=True)
    journal.write_reply(work, CallPlace(0, 1), QUESTION, reply(), None, 1, live_=False)
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelCall.objects.filter(live=False).update(live=True)


def test_a_call_is_told_with_its_step_and_without_its_words() -> None:
    run = made.executing()
    work = made.open_work(run, WorkKind.ATTEMPT)
    journal.write_reply(work, CallPlace(0, 1), QUESTION, reply("secret words"), None, 12, live_=True)
    data = Event.objects.filter(run=run).latest("seq").data
    assert data == {
        "role": "planner",
        "model": "claude-opus-5-5",
        "ms": 12,
        "stop": "end_turn",
        "step": "inventory",
        "attempt": 1,
    }


# ---- tool calls ---------------------------------------------------------------------------------------------------


def test_a_tool_result_is_given_again_with_what_it_wrote_and_showed() -> None:
    work = item()
    writes: Changes = {"a.md": FileInfo("0" * 64, 1)}
    shown = (Shown("b.md", "1" * 64, 0, 8, 3, 4, 9),)
    journal.write_result(work, CallPlace(0, 1), USE, ToolResult("Written.", shown=shown), writes, 5)
    call = journal.recorded_result(work, 1, USE)
    assert call is not None
    assert (call.result, call.is_error, call.writes, call.shown) == ("Written.", False, writes, shown)


@pytest.mark.parametrize(
    ("ordinal", "use"),
    [
        (2, USE),
        (1, replace(USE, id="use_2")),
        (1, replace(USE, name="edit_file")),
        (1, replace(USE, input={"path": "a.md", "content": "B"})),
    ],
)
def test_no_other_tool_call_gets_it(ordinal: int, use: ToolUse) -> None:
    work = item()
    journal.write_result(work, CallPlace(0, 1), USE, ToolResult("Written."), {}, 5)
    assert journal.recorded_result(work, ordinal, use) is None


def test_results_are_read_in_the_order_in_which_they_can_be_quoted() -> None:
    work = item()
    for ordinal in (2, 1, 3):
        journal.write_result(work, CallPlace(0, ordinal), USE, ToolResult(f"result {ordinal}"), {}, 5)
    journal.write_result(work, CallPlace(1, 1), USE, ToolResult("another generation"), {}, 5)
    assert [call.result for call in journal.results_of(work)] == ["result 1", "result 2", "result 3"]


def test_a_tool_call_at_the_same_place_replaces_the_one_before() -> None:
    work = item()
    for text in ("one", "two"):
        journal.write_result(work, CallPlace(0, 1), USE, ToolResult(text, is_error=text == "one"), {}, 5)
    assert list(ToolCall.objects.values_list("result", "is_error")) == [("two", False)]


def asked(work: WorkItem, ordinal: int, digest: str, *uses: str) -> None:
    content: list[JsonObject] = [{"type": "tool_use", "id": use, "name": "read_file"} for use in uses]
    given = Reply(({"type": "text", "text": "Hi."}, *content), "tool_use" if uses else "end_turn", "claude-sonnet-5-5")
    question = JournalQuestion(Role.EXECUTOR, "claude-sonnet-5-5", digest)
    journal.write_reply(work, CallPlace(0, ordinal), question, given, None, 1, live_=True)


def test_a_conversation_that_takes_another_turn_loses_what_came_after_it() -> None:
    """As when the instructions changed while nobody worked: a result of the old one is no evidence in the new."""
    work = item()
    asked(work, 1, "first", "use_1", "use_2")
    asked(work, 2, "second", "use_3")
    asked(work, 3, "report")
    for ordinal in (1, 2, 3):
        journal.write_result(work, CallPlace(0, ordinal), USE, ToolResult(f"result {ordinal}"), {}, 5)
    asked(work, 1_000, "verdict")
    asked(work, 1_000, "verdict in other words")
    assert [call.result for call in journal.results_of(work)] == ["result 1", "result 2", "result 3"]
    asked(work, 2, "second in other words")
    assert [call.result for call in journal.results_of(work)] == ["result 1", "result 2"]
    live = ModelCall.objects.filter(live=True).values_list("ordinal", "question")
    assert list(live) == [(1, "first"), (2, "second in other words")]


def test_calls_that_were_not_carried_out_keep_no_result_of_a_discarded_turn() -> None:
    work = item()
    asked(work, 1, "first", "use_1", "use_2")  # of the two only the first was carried out
    asked(work, 2, "second", "use_3")
    for ordinal, use in ((1, "use_1"), (2, "use_3")):
        journal.write_result(work, CallPlace(0, ordinal), replace(USE, id=use), ToolResult(f"of {use}"), {}, 5)
    asked(work, 2, "second in other words")
    assert [call.result for call in journal.results_of(work)] == ["of use_1"]


def test_calls_of_the_service_are_among_those_that_were_asked_for() -> None:
    work = item()
    search: JsonObject = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    given = Reply((search,), "pause_turn", "claude-sonnet-5-5", Usage(searches=2, fetches=1))
    asked(work, 1, "first", "use_1")
    journal.write_reply(
        work, CallPlace(0, 2), JournalQuestion(Role.EXECUTOR, "claude-sonnet-5-5", "second"), given, None, 1, live_=True
    )
    asked(work, 3, "third", "use_2")
    for ordinal, use in enumerate(("use_1", "s1", "use_2"), 1):
        journal.write_result(work, CallPlace(0, ordinal), replace(USE, id=use), ToolResult(f"of {use}"), {}, 5)
    asked(work, 3, "third in other words")
    assert [call.result for call in journal.results_of(work)] == ["of use_1", "of s1"]
    found = journal.recorded_reply(work, 2, JournalQuestion(Role.EXECUTOR, "claude-sonnet-5-5", "second"))
    assert found is not None
    assert (found.usage.searches, found.usage.fetches) == (2, 1)


def test_a_tool_call_is_told_with_its_path_and_not_with_its_content() -> None:
    work = item()
    use = ToolUse("use_1", "write_file", {"path": f"{'p' * 500}/letter.md", "content": "secret words"})
    journal.write_result(work, CallPlace(0, 1), use, ToolResult("Written."), {}, 5)
    data = Event.objects.filter(run=work.run_id).latest("seq").data
    assert data == {"tool": "write_file", "error": False, "path": f"{'p' * 99}…{'p' * 90}/letter.md"}
