"""Who may open the socket of a run, and at which addresses: as nobody, owner, approver, outsider and administrator."""

from __future__ import annotations

import asyncio

import pytest
from django.test import Client

from pevsite.asgi import application
from runs.web.routing import websocket_urlpatterns
from tests import factories as made
from tests.integration.web.talking import Socket


@pytest.mark.django_db(transaction=True)
def test_the_socket_of_a_run_is_for_those_who_may_see_it() -> None:
    run = made.awaiting_plan()
    people = (None, made.alice(), made.bob(), made.charlie(), made.person("root", is_superuser=True))
    assert [str(entry.pattern) for entry in websocket_urlpatterns] == ["ws/runs/<int:run_id>/", ""]

    async def connects(cookies: str, address: str) -> bool:
        headers = [(b"host", b"testserver"), (b"origin", b"http://testserver"), (b"cookie", cookies.encode())]
        socket = Socket(application, address, headers=headers)
        connected, _ = await socket.connect()
        await socket.disconnect()
        return bool(connected)

    sessions = []
    for person in people:
        client = Client()
        if person:
            client.force_login(person)
        sessions.append("; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items()))
    for address, expected in (
        (f"/ws/runs/{run.pk}/", [False, True, True, False, True]),
        ("/ws/runs/4711/", [False] * 5),
        ("/ws/other/", [False] * 5),
    ):
        assert [asyncio.run(connects(cookies, address)) for cookies in sessions] == expected
