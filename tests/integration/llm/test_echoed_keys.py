"""A service that repeats the key, in every way and wherever it can speak: no reply and no error holds it (S5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runs.contracts.ports import Ask, Reply
from runs.enums import Role
from runs.errors import ModelError
from runs.llm.client import Clients
from tests.fakes.anthropic_answers import Answer, Fail, Garbage, Say, Think, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.echoes import ECHOES, KEY, leaks

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

HELLO: Any = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
TOOL: Any = {"type": "object", "properties": {}}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.fixture(scope="module")
def clients(server: FakeAnthropic) -> Iterator[Clients]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANTHROPIC_BASE_URL", server.url)
        environment.setenv("ANTHROPIC_API_KEY", KEY)
        made = Clients()
        yield made
    made.close()


def stream(text: str = "Hi.", stop_reason: str = "end_turn", **message: Any) -> Garbage:
    """A stream of the API whose message has these fields."""
    empty = {"id": "m", "type": "message", "role": "assistant", "model": "x", "stop_reason": None}
    usage = {"input_tokens": 3, "output_tokens": 1}
    block = {"type": "text", "text": ""}
    sent: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {**empty, "content": [], "stop_sequence": None, "usage": usage, **message},
        },
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}} for part in text),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return Garbage("".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in sent).encode())


def error_in_stream(text: str) -> Garbage:
    body = {"type": "error", "error": {"type": "api_error", "message": text}}
    return Garbage(f"event: error\ndata: {json.dumps(body)}\n\n".encode())


ALL = "\n".join(f"{way}: {echo(KEY)}" for way, echo in ECHOES.items())
LONG: dict[str, Callable[[str], Answer]] = {
    "the message of an error": lambda text: Fail(400, "invalid_request_error", text),
    "an error in the stream": error_in_stream,
    "no API at all": lambda text: Garbage(text.encode()),
    "a text": Say,
    "a thought": lambda text: Think(Say("Hi."), text),
    "an argument": lambda text: UseTools(ToolUse("read_file", {"path": text})),
    "the name of an argument": lambda text: UseTools(ToolUse("read_file", {text: ["a", {"b": text}]})),
}
CUT: dict[str, Callable[[str], Answer]] = {
    "the end of a long message": lambda text: Fail(500, "api_error", f"{'x' * 285} {text}"),
    "the kind of an error": lambda text: Fail(400, text, "no"),
    "the name of a model": lambda text: stream(model=f"model {text}"),
    "the reason to stop": lambda text: stream(stop_reason=text),
    "the name of a tool": lambda text: UseTools(ToolUse(text, {})),
}


@pytest.mark.parametrize("entry", LONG)
def test_the_key_stands_in_no_text(server: FakeAnthropic, clients: Clients, entry: str) -> None:
    server.replies(LONG[entry](ALL))
    assert leaks(asked(clients)) == []


@pytest.mark.parametrize("entry", CUT)
def test_nothing_is_cut_before_the_key_is_taken_out(server: FakeAnthropic, clients: Clients, entry: str) -> None:
    for way in ("whole", "without its end", "a line feed", "percent", "base64 of more"):
        server.replies(CUT[entry](ECHOES[way](KEY)))
        assert (way, leaks(asked(clients))) == (way, [])


def test_no_cut_leaves_a_piece_that_is_too_short_to_be_found(server: FakeAnthropic, clients: Clients) -> None:
    """Wherever the key stands in a long message: cut first, up to eleven characters of it would be left."""
    for room in range(200, 300, 5):
        server.replies(Fail(500, "api_error", f"{'x' * room} {KEY[30:]}"))
        assert KEY[30:35] not in asked(clients)


def test_a_key_that_streams_in_letter_by_letter_is_one(server: FakeAnthropic, clients: Clients) -> None:
    server.replies(stream(f"Key: {KEY[:30]}\n{KEY[30:]}."))
    assert leaks(asked(clients)) == []


def asked(clients: Clients) -> str:
    """All that comes out of one question, as a text."""
    ask = Ask(role=Role.EXECUTOR, model="claude-opus-5-5", system="Be brief.", messages=(HELLO,), max_tokens=1_000)
    try:
        reply: Reply = clients.ask(ask)
    except ModelError as error:
        return json.dumps([str(error), error.kind, repr(error.args)], ensure_ascii=False)
    return json.dumps([reply.content, reply.text, reply.stop_reason, reply.model, reply.request_id], ensure_ascii=False)
