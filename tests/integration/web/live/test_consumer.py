"""Sockets of a run's page: who may open one, what is sent after which number, and what hostile browsers get."""

import asyncio
import json
from typing import Any

import pytest

from runs.lifecycle import gate_decisions
from runs.web.live import consumer, subscribers
from runs.web.live.news import MAX_LINES
from runs.web.live.subscribers import from_database
from tests import factories
from tests.integration.web.live.pauses import Pauses
from tests.integration.web.talking import Socket, announce, communicator, talk, tell, told, update

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


@pytest.mark.slow
def test_exactly_what_was_missed_is_sent_once_and_in_order() -> None:
    run = factories.executing()

    async def what(socket: Socket) -> tuple[dict[str, Any], bool]:
        await socket.send_to(json.dumps({"seen": 3}))
        return await update(socket), await socket.receive_nothing(timeout=0.5)

    message, quiet = talk(run.pk, factories.alice(), what)
    assert message["changed"] == ["tree", "lines", "filter"]
    assert message["seq"] == run.event_count
    assert quiet


@pytest.mark.slow
def test_nothing_is_sent_to_whoever_has_seen_all() -> None:
    run = factories.executing()

    async def what(socket: Socket) -> bool:
        await socket.send_to(json.dumps({"seen": run.event_count}))
        return bool(await socket.receive_nothing(timeout=0.5))

    assert talk(run.pk, factories.alice(), what)


@pytest.mark.slow
def test_nothing_is_sent_before_the_browser_says_what_it_has_seen() -> None:
    run = factories.executing()

    async def what(socket: Socket) -> bool:
        await told(run)
        return bool(await socket.receive_nothing(timeout=0.5))

    assert talk(run.pk, factories.alice(), what)


@pytest.mark.slow
def test_new_events_follow_those_that_were_missed() -> None:
    run = factories.executing()

    async def what(socket: Socket) -> list[int]:
        await socket.send_to(json.dumps({"seen": run.event_count - 1}))
        first = await update(socket)
        await told(run)
        second = await update(socket)
        return [first["seq"], second["seq"]]

    assert talk(run.pk, factories.alice(), what) == [run.event_count, run.event_count + 1]


@pytest.mark.slow
def test_what_happens_during_a_pause_becomes_one_message_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    run, pauses = factories.executing(), Pauses(monkeypatch)

    async def what(socket: Socket) -> tuple[list[int], bool]:
        await socket.send_to(json.dumps({"seen": run.event_count - 1}))
        got = [(await update(socket))["seq"]]
        for _ in range(40):
            await told(run)
        pauses.over.set()
        got.append((await update(socket))["seq"])
        return got, await socket.receive_nothing(timeout=0.1)

    assert talk(run.pk, factories.alice(), what) == ([run.event_count, run.event_count + 40], True)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_page_that_has_missed_too_many_events_is_told_that_everything_has_changed() -> None:
    """The controls as well: whether the run was paused is in an event that is not looked at."""
    run = factories.planning()
    for _ in range(MAX_LINES):
        tell(run)

    async def what(socket: Socket) -> dict[str, Any]:
        await socket.send_to(json.dumps({"seen": run.event_count - 1}))
        return await update(socket)

    message = talk(run.pk, factories.alice(), what)
    assert message["changed"] == ["controls", "tree", "lines", "filter"]
    assert message["seq"] == run.event_count + MAX_LINES


@pytest.mark.slow
def test_a_gate_that_opens_is_named_and_one_in_which_somebody_types_is_left_alone() -> None:
    run = factories.planning()

    async def what(socket: Socket) -> list[Any]:
        await socket.send_to(json.dumps({"seen": run.event_count}))
        await from_database(lambda: factories.propose(run))
        await announce(run)
        opened = await update(socket)
        await told(run)
        later = await update(socket)
        return ["gates" in opened["changed"], opened["title"], opened["icon"], "gates" in later.get("changed", [])]

    said = talk(run.pk, factories.alice(), what, "overview")
    assert said == [True, "Needs a decision", "waits", False]


@pytest.mark.slow
def test_only_the_steps_that_changed_are_named() -> None:
    run = factories.executing()

    async def what(socket: Socket) -> tuple[dict[str, str], list[str]]:
        await socket.send_to(json.dumps({"seen": run.event_count}))
        await from_database(lambda: factories.pass_inventory(run))
        await announce(run)
        said = await update(socket)
        return said["steps"], said["changed"]

    inventory, review = run.plans.get().steps.filter(key__in=["inventory", "review"]).order_by("position")
    statuses, changed = talk(run.pk, factories.alice(), what, "steps")
    assert statuses == {str(inventory.pk): "passed", str(review.pk): "running"}
    assert changed == [f"step-{inventory.pk}", f"step-{review.pk}"]


@pytest.mark.slow
def test_permission_is_checked_again_with_each_message() -> None:
    run = factories.executing()

    async def what(socket: Socket) -> Any:
        await socket.send_to(json.dumps({"seen": run.event_count - 1}))
        await update(socket)
        await from_database(lambda: run.shares.all().delete())
        await told(run)
        return await socket.receive_output()

    assert talk(run.pk, factories.bob(), what) == {"type": "websocket.close", "code": subscribers.NO_LONGER_ALLOWED}


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        *("not json", "[]", "{}", "null", "3", "[" * 900, '{"headers": {}, "body": {}}'),
        *('{"seen": "3"}', '{"seen": -1}', '{"seen": true}', '{"seen": 1.5}', '{"seen": null}', '{"seen": [1]}'),
    ],
)
def test_hostile_first_messages_are_dropped(said: str) -> None:
    run = factories.executing()

    async def what(socket: Socket) -> tuple[bool, int]:
        await socket.send_to(said)
        quiet = await socket.receive_nothing(timeout=0.1)
        await socket.send_to(json.dumps({"seen": run.event_count - 1}))
        return quiet, (await update(socket))["seq"]

    assert talk(run.pk, factories.alice(), what) == (True, run.event_count)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_numbers_of_the_future_mean_everything_is_seen() -> None:
    run = factories.executing()

    async def what(socket: Socket) -> int:
        await socket.send_to(json.dumps({"seen": 10**40}))
        assert await socket.receive_nothing(timeout=1)  # enough to have looked, before there is news
        await told(run)
        return int((await update(socket))["seq"])

    assert talk(run.pk, factories.alice(), what) == run.event_count + 1


@pytest.mark.parametrize("big", [{"text_data": "x" * 1_001}, {"bytes_data": b"\0\1"}])
def test_long_and_binary_messages_close_the_socket(big: dict[str, Any]) -> None:
    run = factories.executing()

    async def what(socket: Socket) -> Any:
        await socket.send_to(**big)
        return await socket.receive_output()

    assert talk(run.pk, factories.alice(), what) == {"type": "websocket.close", "code": 1009}


def test_a_browser_that_goes_on_talking_is_cut_off() -> None:
    run = factories.executing()

    async def what(socket: Socket) -> Any:
        for _ in range(consumer.MAX_MESSAGES + 1):
            await socket.send_to("x")
        return await socket.receive_output()

    assert talk(run.pk, factories.alice(), what) == {"type": "websocket.close", "code": 1008}


def test_a_person_may_follow_so_many_pages_and_more_when_one_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer, "MAX_SOCKETS", 2)
    run = factories.executing()
    alice, bob = factories.alice(), factories.bob()

    async def all_of_it() -> list[bool]:
        sockets = [communicator(run.pk, who) for who in (alice, alice, alice, bob, alice)]
        opened = [(await socket.connect())[0] for socket in sockets[:4]]
        await sockets[0].disconnect()
        opened.append((await sockets[4].connect())[0])
        for socket in sockets[1:]:
            await socket.disconnect()
        return opened

    assert asyncio.run(all_of_it()) == [True, True, False, True, True]


@pytest.mark.slow
def test_a_finished_run_says_that_there_is_a_result() -> None:
    run = factories.step_gate()
    alice = factories.alice()

    async def what(socket: Socket) -> dict[str, Any]:
        await socket.send_to(json.dumps({"seen": run.event_count}))
        await from_database(lambda: gate_decisions.cancel(run.pk, alice))
        await announce(run)
        return await update(socket)

    said = talk(run.pk, alice, what, "overview")
    assert {"gates", "result"} <= set(said["changed"])
    assert (said["title"], said["icon"]) == ("Stopped", "calm")


def test_a_page_beside_the_tabs_is_told_title_and_icon_only() -> None:
    run = factories.planning()

    async def what(socket: Socket) -> dict[str, Any]:
        await socket.send_to(json.dumps({"seen": run.event_count}))
        await from_database(lambda: factories.propose(run))
        await announce(run)
        return await update(socket)

    said = talk(run.pk, factories.alice(), what, "")
    assert sorted(said) == ["icon", "seq", "title"]
