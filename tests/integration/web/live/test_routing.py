"""Sockets at the door of the whole application: addresses, cookies and origins."""

import asyncio
import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from pevsite.asgi import application
from runs.models import Run
from runs.web.live.subscribers import NO_LONGER_ALLOWED, from_database
from runs.web.site.same_origin import is_same_origin
from tests import factories
from tests.integration.web.talking import Socket, told, update

pytestmark = pytest.mark.django_db(transaction=True)


def through_the_door(run: Run, client: Client, **headers: str) -> bool:
    """Whether the very application of the server lets this socket in."""
    given = {"host": "testserver", "origin": "http://testserver", **headers}
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    listed = [(name.encode(), value.encode()) for name, value in {**given, "cookie": cookies}.items() if value]

    async def connect() -> bool:
        socket = Socket(application, f"/ws/runs/{run.pk}/", headers=listed)
        connected, _ = await socket.connect()
        await socket.disconnect()
        return bool(connected)

    return bool(asyncio.run(connect()))


def test_a_signed_in_page_of_this_site_gets_through_and_others_do_not() -> None:
    run = factories.awaiting_plan()
    client = Client()
    assert not through_the_door(run, client)
    client.force_login(factories.alice())
    assert through_the_door(run, client)
    assert not through_the_door(run, client, origin="http://evil.example")
    assert not through_the_door(run, client, origin="")


@pytest.mark.slow
def test_signing_out_ends_what_a_socket_is_sent() -> None:
    run = factories.executing()
    client = Client()
    client.force_login(factories.alice())
    cookie = f"sessionid={client.cookies['sessionid'].value}".encode()
    headers = [(b"host", b"testserver"), (b"origin", b"http://testserver"), (b"cookie", cookie)]

    async def all_of_it() -> Any:
        socket = Socket(application, f"/ws/runs/{run.pk}/", headers=headers)
        assert (await socket.connect())[0]
        await socket.send_to(json.dumps({"seen": run.event_count - 1}))
        await update(socket)
        await from_database(lambda: client.logout())
        await told(run)
        try:
            return await socket.receive_output()
        finally:
            await socket.disconnect()

    assert asyncio.run(all_of_it()) == {"type": "websocket.close", "code": NO_LONGER_ALLOWED}


def test_an_unknown_address_is_refused_quietly() -> None:
    headers = [(b"host", b"testserver"), (b"origin", b"http://testserver")]

    async def connect() -> bool:
        connected, _ = await Socket(application, "/ws/other/", headers=headers).connect()
        return bool(connected)

    assert asyncio.run(connect()) is False


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", True),
        ("http://localhost", "localhost", True),
        ("http://localhost:80", "localhost", True),
        ("https://localhost", "localhost", False),
        ("https://localhost", "localhost:443", False),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("http://localhost/", "localhost", False),
        ("http://localhost/chat", "localhost", False),
        ("http://localhost?x", "localhost", False),
        ("http://localhost#x", "localhost", False),
        ("http://user@localhost", "localhost", False),
        ("http://user:word@localhost", "localhost", False),
        ("http://local\thost", "localhost", False),
        (" http://localhost", "localhost", False),
        ("http://localhost ", "localhost", False),
        ("http://localhost\n", "localhost", False),
        ("http:localhost", "localhost", False),
        ("http:///localhost", "localhost", False),
        ("http:\\\\localhost", "localhost", False),
        ("http://localhost:", "localhost", False),
        ("http://localhost:0", "localhost", False),
        ("http://localhost:+80", "localhost", False),
        ("http://localhost.", "localhost", False),
        ("ws://localhost", "localhost", False),
        ("http://localhost, http://evil.example", "localhost", False),
        ("http://LOCALHOST:8000", "localhost:8000", True),
        ("http://127.0.0.1:8001", "127.0.0.1:8000", False),
        ("http://localhost:8000", "127.0.0.1:8000", False),
        ("http://localhost", "localhost:8000", False),
        ("http://evil.example", "evil.example", False),
        ("http://evil.example", "localhost", False),
        ("http://localhost.evil.example", "localhost", False),
        ("http://localhost@evil.example", "localhost", False),
        ("null", "localhost", False),
        ("", "localhost", False),
        ("file://", "localhost", False),
        ("http://localhost:99999", "localhost", False),
        ("http://[::1", "localhost", False),
        ("http://localhost", "localhost:x", False),
        ("http://localhost", "", False),
    ],
)
def test_same_origin(origin: str, host: str, same: bool) -> None:
    assert is_same_origin([(b"origin", origin.encode()), (b"host", host.encode())]) is same


@pytest.mark.parametrize(
    ("origin", "protocols", "same"),
    [
        (b"https://localhost", [b"https"], True),
        (b"https://localhost", [b"https, http"], True),
        (b"https://localhost", [], False),
        (b"https://localhost", [b"http"], False),
        (b"https://localhost", [b"http, https"], False),
        (b"https://localhost", [b"https", b"https"], False),
        (b"http://localhost", [b"https"], False),
    ],
)
def test_with_tls_a_socket_has_to_come_as_wss(
    origin: bytes, protocols: list[bytes], same: bool, settings: Settings
) -> None:
    settings.TLS = True
    headers = [(b"host", b"localhost"), (b"origin", origin), *((b"x-forwarded-proto", value) for value in protocols)]
    assert is_same_origin(headers) is same


def test_two_origins_or_none_are_refused() -> None:
    host, origin = (b"host", b"localhost"), (b"origin", b"http://localhost")
    assert is_same_origin([host, origin])
    assert not is_same_origin([host])
    assert not is_same_origin([host, origin, origin])
    assert not is_same_origin([host, host, origin])
