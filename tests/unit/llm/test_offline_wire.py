"""The offline transport as the client sees it: addresses, events, errors, the same bytes again."""

import json
from typing import cast

import anthropic
import httpx2
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter

from runs.enums import Role
from runs.llm.offline import EXECUTOR, PLANNER, OfflineTransport
from runs.llm.offline.transport import _ANSWERS
from runs.pev.contracts import PlanContract
from runs.pev.delimiters import delimited
from tests.unit.llm.offline_bench import client

SYSTEM = "# Your role: planner\n"
MESSAGE = {
    "role": "user",
    "content": [
        {"type": "text", "text": delimited("request", "Review these contracts")},
        {"type": "text", "text": delimited("files", "a.md\t10 bytes")},
    ],
}
BODY = {"model": PLANNER, "max_tokens": 1_000, "system": SYSTEM, "messages": [MESSAGE]}


def post(body: object, path: str = "/v1/messages") -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    with httpx2.Client(transport=OfflineTransport()) as http:
        return http.post(f"http://offline.invalid{path}", content=content)


def test_a_stream_and_a_plain_reply_say_the_same() -> None:
    plain = client().messages.create(**BODY)  # type: ignore[call-overload]
    with client().messages.stream(**BODY) as stream:  # type: ignore[arg-type]
        streamed = stream.get_final_message()
    assert PlanContract.model_validate_json(plain.content[0].text)
    assert streamed.content[0].to_dict() == plain.content[0].to_dict()
    assert (streamed.stop_reason, plain.stop_reason) == ("end_turn", "end_turn")


def test_usage_is_zero_and_the_ids_come_from_the_request() -> None:
    first, second = post(BODY), post(BODY)
    assert first.content == second.content
    message = Message.model_validate(first.json())
    assert (message.usage.input_tokens, message.usage.output_tokens) == (0, 0)
    assert message.id != Message.model_validate(post({**BODY, "max_tokens": 2_000}).json()).id


def test_a_stream_is_several_valid_events_and_the_same_bytes_again() -> None:
    first, second = (post({**BODY, "stream": True}) for _ in range(2))
    assert first.content == second.content
    assert first.headers["content-type"].startswith("text/event-stream")
    adapter: TypeAdapter[RawMessageStreamEvent] = TypeAdapter(RawMessageStreamEvent)
    data = [line[6:] for line in first.text.split("\n") if line.startswith("data: ")]
    types = [adapter.validate_json(item).type for item in data]
    assert (types[0], types[-2:]) == ("message_start", ["message_delta", "message_stop"])
    assert types.count("content_block_delta") > 3


def test_tokens_are_not_counted() -> None:
    counted = client().messages.count_tokens(model=PLANNER, messages=[{"role": "user", "content": "hello"}])
    assert counted.input_tokens == 0


def test_the_models_are_known_by_id() -> None:
    info = client().models.retrieve(EXECUTOR)
    assert (info.id, info.lifecycle) == (EXECUTOR, "active")
    assert "no AI" in info.display_name
    with pytest.raises(anthropic.NotFoundError):
        client().models.retrieve("claude-opus-5-5")


def test_an_unknown_address_is_a_404_in_the_shape_of_the_api() -> None:
    answer = post({}, "/v1/files")
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found_error")


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        {},
        {"model": PLANNER, "max_tokens": 1},
        {"model": PLANNER, "max_tokens": 1, "messages": []},
        {"model": PLANNER, "max_tokens": 1, "messages": [{"role": "assistant", "content": "x"}]},
        {"model": PLANNER, "max_tokens": 1, "messages": [{"role": "user", "content": 3}]},
        {"model": PLANNER, "messages": [MESSAGE]},
        {**BODY, "model": "claude-opus-5-5"},
        {**BODY, "model": EXECUTOR, "system": "# Your role: executor\n"},
        {**BODY, "model": EXECUTOR, "system": "# Your role: verifier\n"},
    ],
)
def test_a_malformed_request_is_a_400_in_the_shape_of_the_api(body: object) -> None:
    answer = post(body)
    assert answer.status_code == 400
    assert answer.json()["type"] == "error"
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert answer.json()["error"]["message"]


def test_the_client_raises_its_own_error_for_a_refused_request() -> None:
    with pytest.raises(anthropic.BadRequestError, match="offline rules"):
        client().messages.create(model="gpt", max_tokens=1, messages=[{"role": "user", "content": "hello"}])


def test_a_fault_of_the_rules_looks_like_a_fault_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setitem(cast("dict[Role, object]", _ANSWERS), Role.PLANNER, broken)
    answer = post(BODY)
    assert (answer.status_code, answer.json()["error"]["type"]) == (500, "api_error")
