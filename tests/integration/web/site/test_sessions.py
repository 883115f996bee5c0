"""Sessions end when they should, for pages and for the sockets that are open."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from pevsite.asgi import application
from runs.engine.sweeper import Sweeper
from runs.enums import LinkKind
from runs.errors import NotAllowed
from runs.lifecycle.sharing import unshare
from runs.models import Run, User
from runs.people import accounts
from runs.store import broadcast
from runs.web.live.subscribers import NO_LONGER_ALLOWED, from_database
from runs.web.site.sessions import holder
from tests import factories
from tests.integration.web.talking import Socket, Talk, told

CLOSED = {"type": "websocket.close", "code": NO_LONGER_ALLOWED}


def signed_in(person: User) -> Client:
    """A browser that has used a link."""
    client = Client()
    client.post(f"/sign-in/{accounts.issue(person, LinkKind.SIGN_IN)}/")
    return client


def shifted(client: Client, name: str, seconds: float) -> None:
    """As if this much more time had gone by since then."""
    session = client.session
    session[name] -= seconds
    session.save()


def is_in(client: Client) -> bool:
    return client.get("/metrics/").status_code == 200


# ---- pages ----------------------------------------------------------------------------------------------------------


def test_nobody_stays_signed_in_for_longer_than_two_weeks_whatever_is_done(alice: User) -> None:
    client = signed_in(alice)
    shifted(client, "pev_began", 14 * 86_400 - 60)
    assert is_in(client)
    shifted(client, "pev_began", 60)
    assert not is_in(client)
    assert "_auth_user_id" not in client.session


def test_the_time_of_a_session_is_a_setting(alice: User, settings: Settings) -> None:
    client = signed_in(alice)
    settings.SESSION_COOKIE_AGE = 3_600
    shifted(client, "pev_began", 3_600)
    assert not is_in(client)


def test_without_a_limit_being_idle_ends_nothing(alice: User) -> None:
    client = signed_in(alice)
    shifted(client, "pev_used", 13 * 86_400)
    assert is_in(client)


def test_being_idle_ends_a_session_and_being_used_does_not(alice: User, settings: Settings) -> None:
    settings.SESSION_IDLE = 600
    client = signed_in(alice)
    for _ in range(3):
        shifted(client, "pev_used", 500)
        assert is_in(client)
    shifted(client, "pev_used", 600)
    assert not is_in(client)


def test_a_page_that_asks_by_itself_is_no_use(alice: User, settings: Settings) -> None:
    settings.SESSION_IDLE = 600
    client = signed_in(alice)
    for _ in range(2):
        assert "HX-Redirect" not in client.get("/", headers={"HX-Request": "true"}, follow=True)
        shifted(client, "pev_used", 300)
    assert client.get("/", headers={"HX-Request": "true"}, follow=True)["HX-Redirect"] == "/sign-in/"


def test_a_session_of_before_the_limits_is_held_to_them_from_its_next_page_on(alice: User, settings: Settings) -> None:
    settings.SESSION_IDLE = 600
    client = Client()
    client.force_login(alice)
    assert is_in(client)
    shifted(client, "pev_used", 600)
    assert not is_in(client)


def test_who_holds_a_session_is_read_from_the_rows(alice: User) -> None:
    client = signed_in(alice)
    key = client.session.session_key
    person, ends, _ = holder(key)
    assert (person, round((ends or 0) - time.time(), -2)) == (alice, 14 * 86_400)
    User.objects.update(is_active=False)
    for ended in (key, "0" * 32, "", None):
        with pytest.raises(NotAllowed, match=r"^You are signed out\.$"):
            holder(ended)


# ---- sockets --------------------------------------------------------------------------------------------------------


def closing(client: Client, run: Run, end: Callable[[], object] | None, *, listening: bool = True) -> Any:
    """What a socket of this browser is sent after `end`, while nothing happens in the run."""
    return said_after(client, run, end, lambda socket: socket.receive_output(), listening=listening)


def stays_open(client: Client, run: Run, end: Callable[[], object], *, seconds: float = 0) -> bool:
    """Whether a socket of this browser is told what happens in the run so many seconds after `end`."""

    async def what(socket: Socket) -> bool:
        await asyncio.sleep(seconds)
        await told(run)
        return bool((await socket.receive_output())["type"] == "websocket.send")

    return bool(said_after(client, run, end, what))


def said_after(
    client: Client, run: Run, end: Callable[[], object] | None, what: Talk, *, listening: bool = True
) -> Any:
    headers = [
        (b"host", b"testserver"),
        (b"origin", b"http://testserver"),
        (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()),
    ]

    async def all_of_it() -> Any:
        broadcast.serve_from(asyncio.get_running_loop())
        socket = Socket(application, f"/ws/runs/{run.pk}/", headers=headers)
        assert (await socket.connect())[0]
        if listening:
            await socket.send_to(json.dumps({"seen": run.event_count}))
            assert await socket.receive_nothing(timeout=0.3)
        if end is not None:
            await from_database(end)
        try:
            return await what(socket)
        finally:
            await socket.disconnect()

    return asyncio.run(all_of_it())


def swept(change: Callable[[User], None], person: User) -> None:
    """The change in another process, which reaches no socket; then the sweeper of the serving one."""
    sweeper, loops = Sweeper(lambda work: None), broadcast._loops[:]
    sweeper.poll()
    broadcast._loops.clear()
    change(person)
    broadcast._loops[:] = loops
    sweeper.poll()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("listening", [True, False])
@pytest.mark.parametrize("change", [accounts.deactivate, accounts.sign_out_everywhere])
def test_sockets_close_at_once_with_the_sessions(change: Callable[[User], None], listening: bool) -> None:
    run, bob = factories.awaiting_plan(), factories.bob()
    assert closing(signed_in(bob), run, lambda: change(bob), listening=listening) == CLOSED


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_sockets_close_when_another_process_has_ended_the_sessions() -> None:
    run, bob = factories.awaiting_plan(), factories.bob()
    assert closing(signed_in(bob), run, lambda: swept(accounts.sign_out_everywhere, bob)) == CLOSED


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_signing_out_closes_the_sockets_of_that_browser_and_no_others() -> None:
    run, bob = factories.awaiting_plan(), factories.bob()
    one, other = signed_in(bob), signed_in(bob)
    assert closing(one, run, lambda: one.post("/sign-out/")) == CLOSED
    assert stays_open(other, run, lambda: broadcast.recheck(bob.pk))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["pev_began", "pev_used"])
@pytest.mark.exhaustive
def test_a_socket_closes_by_itself_when_its_session_is_over(settings: Settings, name: str) -> None:
    settings.SESSION_COOKIE_AGE = settings.SESSION_IDLE = 600
    run, client = factories.awaiting_plan(), signed_in(factories.bob())
    shifted(client, name, 596)
    assert closing(client, run, None) == CLOSED


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_a_page_that_is_used_meanwhile_keeps_the_sockets_open(settings: Settings) -> None:
    settings.SESSION_IDLE = 600
    run, client = factories.awaiting_plan(), signed_in(factories.bob())
    shifted(client, "pev_used", 596)
    assert stays_open(client, run, lambda: client.get("/"), seconds=4.5)


@pytest.mark.django_db(transaction=True)
def test_a_refused_socket_is_logged_with_name_and_address(caplog: pytest.LogCaptureFixture) -> None:
    run, charlie = factories.awaiting_plan(), factories.charlie()
    with pytest.raises(AssertionError):
        closing(signed_in(charlie), run, None)
    (line,) = [record for record in caplog.records if record.name == "runs.web.live.consumer"]
    assert line.getMessage() == "refused: a socket"
    assert vars(line)["about"] == {"run": run.pk, "user": "charlie", "address": ""}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("listening", [True, False])
def test_sockets_of_somebody_who_is_taken_off_a_run_close_at_once(listening: bool) -> None:
    run, bob = factories.awaiting_plan(), factories.bob()
    change = partial(unshare, run.pk, factories.alice(), bob)
    assert closing(signed_in(bob), run, change, listening=listening) == CLOSED


@pytest.mark.django_db
def test_a_cookie_that_spells_a_nul_is_nobodys_session(client: Client) -> None:
    client.cookies["sessionid"] = "abcdefgh\0ijklmnop"
    answer = client.get("/")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=/")
