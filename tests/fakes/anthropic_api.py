"""The fake server that speaks the Anthropic Messages API over real HTTP, for tests.

It refuses what the API refuses, remembers each refusal in `violations`, and answers from a script.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self
from urllib.parse import unquote, urlsplit

from anthropic.types import MessageTokensCount

from tests.fakes import anthropic_frames, anthropic_schema
from tests.fakes.anthropic_answers import Answer, Fail, Garbage, Handler, JsonObject, Request
from tests.fakes.anthropic_blocks import blocks_of, prompt_tokens
from tests.fakes.anthropic_delivery import Delivery, Ending, Mint, deliver
from tests.fakes.anthropic_frames import PING, frames, message
from tests.fakes.anthropic_ledger import Ledger
from tests.fakes.anthropic_models import MODELS, model_info
from tests.fakes.anthropic_rules import request_error
from tests.fakes.anthropic_servers import ANTHROPIC, Dialect
from tests.fakes.anthropic_usage import InputUsage, PromptCache, UsageTotals
from tests.fakes.anthropic_wire import Call, Reply, Wire, json_parts

_STATUS_OF_ERROR = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_MODELS_PATH = "/v1/models/"


class Rejected(Exception):
    """A request the API would not accept; `violation` is False where an app may legitimately provoke it."""

    def __init__(self, message: str, type_: str = "invalid_request_error", *, violation: bool = True) -> None:
        super().__init__(message)
        self.type = type_
        self.violation = violation


class FakeAnthropic:
    """`with FakeAnthropic() as api: Anthropic(base_url=api.url, api_key="test")`.

    Give it a script before the first call: a call without one is a violation and a 500. Handlers run in the
    threads of their requests, several at a time. The lists belong to the test, which may clear them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reset()
        anthropic_schema.warm_up()
        anthropic_frames.warm_up()
        self._wire: Wire | None = None

    def reset(self) -> None:
        """As new: no script, nothing asked, nothing cached. What is in flight ends as it was scripted."""
        self.requests: list[Request] = []
        """Accepted `POST /v1/messages`, in order of arrival."""
        self.counted: list[JsonObject] = []
        """Bodies of accepted `POST /v1/messages/count_tokens`."""
        self.violations: list[str] = []
        """Requests that were refused, failures of the script; a fixture asserts that it is empty."""
        self.dialect: Dialect = ANTHROPIC
        """Of what it tells without being asked; what it makes of requests is in the script, by `served`."""
        self._handler: Handler = _no_script
        self._totals: dict[str, UsageTotals] = {}
        self._numbers = itertools.count(1)
        self._mint = Mint()
        self._ledger = Ledger()
        self._cache = PromptCache()

    def __enter__(self) -> Self:
        self._wire = Wire(self._respond)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._wire is not None:
            self._wire.close()

    @property
    def url(self) -> str:
        """Base URL for the client, without `/v1`."""
        if self._wire is None:
            raise RuntimeError("FakeAnthropic is not running; use it in a `with` statement")
        return self._wire.url

    @contextmanager
    def away(self) -> Iterator[None]:
        """Meanwhile nothing listens there, and what was being answered is cut off."""
        assert self._wire is not None
        port = self._wire.server_port
        self._wire.close()
        yield
        self._wire = Wire(self._respond, port)

    def script(self, handler: Handler) -> Handler:
        """Answers all further requests with `handler`, in place of an earlier script. Also a decorator."""
        self._handler = handler
        return handler

    def replies(self, *answers: Answer) -> None:
        """Answers in turn, in place of an earlier script; running out is a violation and a 500."""
        left = deque(answers)
        lock = threading.Lock()

        def next_reply(request: Request) -> Answer:
            with lock:
                if not left:
                    raise LookupError(f"all {len(answers)} scripted replies are used up")
                return left.popleft()

        self.script(next_reply)

    def usage_totals(self, model: str | None = None) -> UsageTotals:
        """Sums of the usage that clients were told, for one model or for all."""
        with self._lock:
            chosen = [total for name, total in self._totals.items() if model in (None, name)]
        return sum(chosen, UsageTotals())

    def _respond(self, call: Call) -> Reply:
        """The only way from a request to a response; never raises."""
        request_id = self._mint("req")
        try:
            return self._route(call, request_id)
        except Rejected as rejection:
            if rejection.violation:
                self._violate(f"{call.method} {call.path}: {rejection}")
            status = _STATUS_OF_ERROR[rejection.type]
            return _failure(Fail(status, rejection.type, str(rejection)), request_id)
        except Exception as error:
            self._violate(f"{call.method} {call.path}: {type(error).__name__}: {error}")
            return _failure(Fail(500, "api_error", f"The fake server failed: {error}"), request_id)

    def _violate(self, text: str) -> None:
        with self._lock:
            self.violations.append(text)

    def _route(self, call: Call, request_id: str) -> Reply:
        _check_headers(call)
        path = urlsplit(call.path).path
        match call.method, path:
            case "POST", "/v1/messages":
                return self._create(call, request_id)
            case "POST", "/v1/messages/count_tokens":
                return self._count(call, request_id)
            case "GET", _ if path.startswith(_MODELS_PATH):
                return _retrieve_model(unquote(path.removeprefix(_MODELS_PATH)), request_id, self.dialect)
        raise Rejected("Not Found", "not_found_error")

    def _accept(self, call: Call, *, counting: bool = False) -> JsonObject:
        try:
            body = json.loads(call.raw)
        except ValueError as error:
            raise Rejected(f"The request body is not valid JSON: {error}") from error
        problem = request_error(body, counting=counting) or self._ledger.error(body)
        if problem:
            raise Rejected(problem)
        accepted: JsonObject = body
        return accepted

    def _count(self, call: Call, request_id: str) -> Reply:
        body = self._accept(call, counting=True)
        with self._lock:
            self.counted.append(body)
        answer = {"input_tokens": prompt_tokens(body)}
        MessageTokensCount.model_validate(answer)
        return Reply(200, json_parts(answer), headers={"request-id": request_id})

    def _create(self, call: Call, request_id: str) -> Reply:
        body = self._accept(call)
        with self._lock:
            request = _request(next(self._numbers), body, call)
            self.requests.append(request)
        try:
            answer = self._handler(request)
        except BaseException as error:  # pytest.fail() in a handler is no Exception
            what = f"request {request.number}: {type(error).__name__}: {error}"
            raise Rejected(f"the script failed on {what}", "api_error") from error
        delivery = deliver(answer, body, self._mint)
        match delivery.instead:
            case Fail() as fail:
                return _failure(fail, request_id, delivery)
            case Garbage(data):
                return _garbage(data, delivery, request_id, streamed=bool(body.get("stream")))
        return self._message_reply(request, delivery, request_id)

    def _message_reply(self, request: Request, delivery: Delivery, request_id: str) -> Reply:
        streamed = bool(request.body.get("stream"))
        if not streamed and delivery.ending is Ending.ERROR:
            status = _STATUS_OF_ERROR.get(delivery.error, 500)
            return _failure(Fail(status, delivery.error, "A scripted error."), request_id, delivery)
        usage = self._cache.bill(request.body)
        whole = message(self._mint("msg"), request.model, delivery, usage.to_json())
        if not self.dialect.usage:
            whole["usage"] = {"input_tokens": 0, "output_tokens": 0}
        self._ledger.issue(request.body, list(delivery.content))
        self._total(request.model, usage, whole["usage"]["output_tokens"], delivery.ending, streamed=streamed)
        if not streamed:
            return _json_reply(whole, delivery, request_id)
        error = _error_body(delivery.error, "A scripted error.", request_id)
        return Reply(
            200,
            frames(whole, delivery, error),
            content_type="text/event-stream; charset=utf-8",
            headers={"request-id": request_id},
            chunked=True,
            wait=delivery.wait,
            stall=delivery.stall,
            filler=PING if delivery.pings else b"",
            cut=delivery.ending is Ending.CUT,
            closes=self.dialect.closes,
        )

    def _total(self, model: str, usage: InputUsage, output: int, ending: Ending, *, streamed: bool) -> None:
        """Adds what the client can know: of a broken stream its message_start, of a broken body nothing."""
        broken = ending is not Ending.COMPLETE
        if broken and not streamed:
            return
        told = usage.totals(1 if broken else output)
        with self._lock:
            self._totals[model] = self._totals.get(model, UsageTotals()) + told


def _no_script(request: Request) -> Answer:
    raise LookupError("no script; call api.script(handler) or api.replies(...) first")


def _request(number: int, body: JsonObject, call: Call) -> Request:
    output = (body.get("output_config") or {}).get("format")
    return Request(
        number=number,
        model=body["model"],
        system="\n".join(block["text"] for block in blocks_of(body.get("system", []))),
        messages=body["messages"],
        tools=body.get("tools", []),
        output_format=output["schema"] if output else None,
        headers=call.headers,
        body=body,
    )


def _check_headers(call: Call) -> None:
    if "x-api-key" not in call.headers and "authorization" not in call.headers:
        raise Rejected("authorization: header is required", "authentication_error")
    if "anthropic-version" not in call.headers:
        raise Rejected("anthropic-version: header is required")


def _retrieve_model(id_: str, request_id: str, dialect: Dialect) -> Reply:
    card = MODELS.get(id_)
    if not dialect.models or (card is None and dialect.window is None):
        raise Rejected(f"model: {id_}", "not_found_error", violation=False)
    info: JsonObject = model_info(card) if card else {"type": "model", "id": id_, "display_name": id_}
    if dialect.window is not None:
        info["max_input_tokens"] = dialect.window
    return Reply(200, json_parts(info), headers={"request-id": request_id})


def _json_reply(whole: JsonObject, delivery: Delivery, request_id: str) -> Reply:
    parts = json_parts(whole)
    return Reply(
        200,
        parts[:1] if delivery.ending is Ending.EARLY else parts,
        headers={"request-id": request_id},
        wait=delivery.wait,
        stall=delivery.stall,
        cut=delivery.ending is Ending.CUT,
    )


def _garbage(data: bytes, delivery: Delivery, request_id: str, *, streamed: bool) -> Reply:
    return Reply(
        200,
        [data],
        content_type="text/event-stream" if streamed else "application/json",
        headers={"request-id": request_id},
        chunked=streamed,
        wait=delivery.wait,
        stall=delivery.stall,
    )


def _failure(fail: Fail, request_id: str, delivery: Delivery | None = None) -> Reply:
    retry = {} if fail.retry_after is None else {"retry-after": f"{fail.retry_after:g}"}
    return Reply(
        fail.status,
        json_parts(_error_body(fail.type, fail.message, request_id)),
        headers={"request-id": request_id, **retry},
        wait=delivery.wait if delivery else 0.0,
        stall=delivery.stall if delivery else 0.0,
    )


def _error_body(type_: str, message: str, request_id: str) -> JsonObject:
    return {"type": "error", "error": {"type": type_, "message": message}, "request_id": request_id}
