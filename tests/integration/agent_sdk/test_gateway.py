"""The server that an agent's program reaches in place of a model's service: whom and what it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2
import pytest

from runs.agent_sdk.gateway import Gateway, Pending, serving
from runs.contracts.ports import Reply

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
REPLY = Reply(({"type": "text", "text": "Yes."},), "end_turn", "claude-sonnet-5-5")


def answers(*sent: dict[str, Any], path: str = "/v1/messages", secret: str = "") -> tuple[list[httpx2.Response], int]:
    """What the gateway answers to each, sent with its own secret unless another is given; and how often it asked."""
    asked: list[object] = []

    async def asks(body: object) -> Pending:
        asked.append(body)
        pending = Pending()
        pending.reply, pending.number = REPLY, 1
        pending.done.set()
        return pending

    async def all_of(gateway: Gateway) -> list[httpx2.Response]:
        headers = {"x-api-key": secret or gateway.secret}
        async with httpx2.AsyncClient(base_url=gateway.address, headers=headers) as client:
            return [await client.post(path, **one) for one in sent]

    async def main() -> list[httpx2.Response]:
        async with serving(asks) as gateway:
            return await all_of(gateway)

    return anyio.run(main), len(asked)


def test_a_reply_is_streamed() -> None:
    (answer,), asked = answers({"json": {"stream": True, "messages": []}})
    assert (answer.status_code, answer.headers["content-type"], asked) == (200, "text/event-stream; charset=utf-8", 1)
    assert '"text_delta", "text": "Yes."' in answer.text


def test_nobody_else_on_this_machine_is_answered() -> None:
    (answer,), asked = answers({"json": {"stream": True}}, secret="sk-ant-of-somebody")
    assert (answer.status_code, answer.json()["error"]["type"], asked) == (401, "authentication_error", 0)


@pytest.mark.parametrize(
    "sent",
    [{"content": b"\xff{"}, {"json": []}, {"json": {"messages": []}}, {"content": b""}, {"json": "x"}],
)
def test_what_is_no_question_is_refused(sent: dict[str, Any]) -> None:
    (answer,), asked = answers(sent)
    assert (answer.status_code, asked) == (400, 0)


@pytest.mark.parametrize("levels", [101, 1_000, 20_000, 1_000_000])
@pytest.mark.parametrize(("before", "after"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]"), ("[", "")])
def test_what_is_nested_deeply_is_refused(levels: int, before: str, after: str) -> None:
    text = f'{{"stream": true, "messages": {before * levels}1{after * levels}}}'
    (answer,), asked = answers({"content": text.encode()})
    assert (answer.status_code, answer.json()["error"]["type"], asked) == (400, "invalid_request_error", 0)


def test_the_depth_of_a_question_is_no_trouble() -> None:
    text = f'{{"stream": true, "messages": {"[" * 90}1{"]" * 90}}}'
    (answer,), asked = answers({"content": text.encode()})
    assert (answer.status_code, asked) == (200, 1)


async def endless() -> AsyncIterator[bytes]:
    yield b"x"


def test_what_does_not_say_how_large_it_is_is_not_read() -> None:
    (answer,), asked = answers({"content": endless()})
    assert (answer.status_code, asked) == (413, 0)


@pytest.mark.parametrize("path", ["/v1/messages/count_tokens", "/v1/models", "/"])
def test_it_has_one_address(path: str) -> None:
    (answer,), asked = answers({"json": {}}, path=path)
    assert (answer.status_code, asked) == (404, 0)
