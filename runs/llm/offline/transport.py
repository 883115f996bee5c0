"""Owns the transport that stands in for the network under the real client: three addresses, nothing kept."""

import json
import time
from collections.abc import Iterator

import httpx2
from pydantic import JsonValue

from runs.enums import Role
from runs.llm.offline import executor, planner, synthesizer, verifier, wire
from runs.llm.offline.questions import (
    EXECUTOR,
    MODELS,
    PLANNER,
    VERIFIER,
    BadRequest,
    Question,
    digest_of,
    read_question,
)
from runs.pev.contracts import JsonObject

__all__ = ["EXECUTOR", "MODELS", "PLANNER", "VERIFIER", "OfflineTransport"]

_ANSWERS = {
    Role.PLANNER: planner.answer,
    Role.EXECUTOR: executor.answer,
    Role.VERIFIER: verifier.answer,
    Role.SYNTHESIZER: synthesizer.answer,
}


class _Events(httpx2.SyncByteStream):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces


class OfflineTransport(httpx2.BaseTransport):
    """Answers the Messages API by rules, without a network. Safe to share between threads.

    `pace`: seconds slept before each reply, so that a person can watch.
    """

    def __init__(self, pace: float = 0.0) -> None:
        self._pace = pace

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        place = (request.method, request.url.path)
        if place == ("POST", "/v1/messages"):
            return self._messages(request.read())
        if place == ("POST", "/v1/messages/count_tokens"):
            return _count(request.read())
        if request.method == "GET" and request.url.path.startswith("/v1/models/"):
            return _model(request.url.path.removeprefix("/v1/models/"))
        return _error(404, "not_found_error", f"The offline rules do not know {place[0]} {place[1]}.")

    def _messages(self, content: bytes) -> httpx2.Response:
        if self._pace > 0:
            time.sleep(self._pace)
        try:
            body = _body(content)
        except BadRequest as refused:
            return _error(400, "invalid_request_error", str(refused))
        digest = digest_of(body)
        try:
            question = read_question(body)
            answer = _ANSWERS[question.role](question)
        except BadRequest as refused:
            return _error(400, "invalid_request_error", str(refused), digest)
        except Exception as broken:  # a fault of the rules must look like a fault of the service
            told = f"The offline rules failed: {type(broken).__name__}: {broken}"
            return _error(500, "api_error", told, digest)
        return _reply(answer, question, streamed=body.get("stream") is True)


def _reply(answer: wire.Answer, question: Question, *, streamed: bool) -> httpx2.Response:
    headers = {"request-id": f"req_offline_{question.digest[:24]}"}
    if not streamed:
        return httpx2.Response(200, headers=headers, json=wire.message(answer, question.model, question.digest))
    headers["content-type"] = "text/event-stream; charset=utf-8"
    return httpx2.Response(200, headers=headers, stream=_Events(wire.events(answer, question.model, question.digest)))


def _count(content: bytes) -> httpx2.Response:
    try:
        body = _body(content)
    except BadRequest as refused:
        return _error(400, "invalid_request_error", str(refused))
    if not isinstance(body.get("messages"), list):
        return _error(400, "invalid_request_error", "messages: Field required")
    return httpx2.Response(200, json={"input_tokens": 0})


def _model(name: str) -> httpx2.Response:
    if name not in MODELS:
        return _error(404, "not_found_error", f"model: {name}")
    return httpx2.Response(
        200,
        json={
            "type": "model",
            "id": name,
            "line": None,
            "display_name": f"Offline rules, no AI ({MODELS[name]})",
            "created_at": "1970-01-01T00:00:00Z",
            "lifecycle": "active",
            "deprecated_at": None,
            "retires_at": None,
            "max_input_tokens": 10_000_000,
            "max_tokens": 1_000_000,
            "capabilities": None,
        },
    )


def _body(content: bytes) -> JsonObject:
    try:
        body: JsonValue = json.loads(content)
    except ValueError:
        raise BadRequest("The body is not valid JSON.") from None
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    model = body.get("model")
    if isinstance(model, str) and model and model not in MODELS:
        raise BadRequest(f"model: {model} is not one of the offline rules ({', '.join(MODELS)}).")
    return body


def _error(status: int, kind: str, sentence: str, digest: str = "") -> httpx2.Response:
    return httpx2.Response(status, json=wire.error(kind, sentence, digest or "0" * 24))
