"""What a browser may send over the socket of a run: anything, without breaking it or being answered late."""

import asyncio
import json
from random import Random

import pytest
from channels.routing import URLRouter

from runs.models import Run
from runs.web.live.consumer import MAX_MESSAGE, websocket_urlpatterns
from tests import factories
from tests.hostile.fuzzing import values
from tests.integration.web.talking import Socket

pytestmark = pytest.mark.slow

MESSAGES = 150
TOO_LARGE = 1009


@pytest.mark.django_db(transaction=True)
def test_each_message_is_dropped_answered_or_ends_the_socket_with_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")  # any task can be submitted; no worker runs
    run = Run.objects.select_related("owner").get(pk=factories.awaiting_plan().pk)
    codes = asyncio.run(_everything(run))
    assert codes == {TOO_LARGE}


async def _everything(run: Run) -> set[int]:
    """The codes with which sockets were closed. The last one still answers after all that was sent before."""
    random = Random(20261122)
    codes = set()
    socket = await _connected(run)
    for _ in range(MESSAGES):
        sent = _message(random)
        await socket.send_input({"type": "websocket.receive", "text" if isinstance(sent, str) else "bytes": sent})
        if isinstance(sent, bytes) or len(sent) > MAX_MESSAGE:
            codes.add(await _closed(socket))
            socket = await _connected(run)
    await socket.disconnect()
    socket = await _connected(run)
    await socket.send_to(text_data=json.dumps({"seen": 0}))
    assert json.loads(await socket.receive_from())["seq"] == run.event_count
    await socket.disconnect()
    return codes


def _message(random: Random) -> str | bytes:
    kind = random.randrange(4)
    if kind == 0:
        return values.text(random)
    if kind == 1:
        return values.text(random).encode()
    if kind == 2:
        return values.mutated_json({"seen": 1, "more": [1, {"seen": 2}]}, random)
    return f'{{"seen": {random.choice(values.NUMBERS)}}}'


async def _connected(run: Run) -> Socket:
    socket = Socket(URLRouter(websocket_urlpatterns), f"/ws/runs/{run.pk}/")
    socket.scope["user"] = run.owner
    connected, _ = await socket.connect()
    assert connected
    return socket


async def _closed(socket: Socket) -> int:
    while (output := await socket.receive_output())["type"] != "websocket.close":
        pass
    await socket.disconnect()
    return int(output["code"])
