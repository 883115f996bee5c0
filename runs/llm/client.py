"""The calls to models: the anthropic client, what each model may be sent, and what its errors mean.

One try per call: retries belong to the engine, which records each. Keys are read from the environment by the
client itself and go nowhere else (S5).
"""

import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, cast

import anthropic
import httpx2

from runs.errors import ModelError, PevError
from runs.llm import entrance
from runs.llm.caching import mark_prefixes
from runs.llm.capabilities import Capability, capability
from runs.llm.watch import Watch, attach
from runs.pev.contracts import JsonObject
from runs.pev.ports import Ask, Reply, Usage

DEADLINE = 600.0
"""Seconds after which a call is given up, whatever it still streams."""
READ_TIMEOUT = 120.0
"""Seconds without a byte after which a call is given up."""
MAX_TOKENS = 10**9
"""What a reply may report of each kind, at the most: no context is a hundredth of it."""
MAX_STOP_REASON = 40
"""Characters: what the column takes."""
_RETRIABLE = {
    "rate_limit_error",
    "overloaded_error",
    "api_error",
    "timeout_error",
    "connection_error",
    "incomplete_stream",
}
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_FINAL = {
    "invalid_request_error",
    "authentication_error",
    "billing_error",
    "permission_error",
    "not_found_error",
    "request_too_large",
}
_KINDS = {408: "timeout_error", 409: "api_error", 429: "rate_limit_error", 529: "overloaded_error"}


@dataclass
class Spent:
    """What a stream has reported so far: all that is known of the cost when it breaks. None before it began."""

    usage: Usage | None = None


class Clients:
    """Asks models over the API that the environment names."""

    def __init__(self) -> None:
        self._made: anthropic.Anthropic | None = None
        self._lock = threading.Lock()

    def ask(self, ask: Ask, keep_going: Callable[[], None] = lambda: None) -> Reply:
        """The reply to one question. `keep_going` raises to break off. It is called for each event and, from
        another thread, every second, so that a silent service cannot hold a call that has to end.

        Raises ModelError; whatever the service or the line did, nothing else comes out of here.
        """
        client = self._client()
        spent = Spent()
        ends = time.monotonic() + DEADLINE

        def check() -> None:
            keep_going()
            if time.monotonic() > ends:
                raise _error("timeout_error", f"The model did not finish within {DEADLINE:.0f} seconds.")

        try:
            return self._guarded(client, ask, check, spent)
        except PevError as error:
            error.tokens = asdict(spent.usage) if spent.usage else {}
            raise

    def close(self) -> None:
        """Give the sockets back. The next question opens new ones."""
        with self._lock:
            if self._made is not None:
                self._made.close()
            self._made = None

    def _guarded(self, client: anthropic.Anthropic, ask: Ask, check: Callable[[], None], spent: Spent) -> Reply:
        try:
            with Watch(check):
                return self._stream(client, ask, check, spent)
        except anthropic.APIConnectionError as error:
            raise _error("connection_error", f"The model's service cannot be reached: {error}") from error
        except anthropic.APIStatusError as error:
            raise _from_status(error) from error
        except httpx2.HTTPError as error:
            raise _error("connection_error", f"The connection broke: {type(error).__name__}") from error
        except anthropic.AnthropicError as error:
            raise _error("client_error", str(error)) from error
        except (ValueError, TypeError, AssertionError, LookupError, AttributeError, RuntimeError) as error:
            raise _error("incomplete_stream", "The service sent something that is not its API.") from error

    def _client(self) -> anthropic.Anthropic:
        with self._lock:
            if self._made is None:
                self._made = self._from_environment()
            return self._made

    @staticmethod
    def _from_environment() -> anthropic.Anthropic:
        for name in _KEYS:
            if any(char.isspace() for char in os.environ.get(name, "")):
                sentence = f"{name} has a space or a line break in it. Set it again and start again."
                raise ModelError(sentence, kind="no_key", retriable=False)
        if not (os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")):
            if not os.environ.get("ANTHROPIC_BASE_URL"):
                raise ModelError(
                    "This run needs a model, and there is no ANTHROPIC_API_KEY in the environment of the server.",
                    kind="no_key",
                    retriable=False,
                )
            return anthropic.Anthropic(api_key="none", max_retries=0, http_client=_http())
        return anthropic.Anthropic(max_retries=0, http_client=_http())

    @staticmethod
    def _stream(client: anthropic.Anthropic, ask: Ask, check: Callable[[], None], spent: Spent) -> Reply:
        with client.messages.stream(**parameters(ask)) as stream:
            for event in stream:
                if event.type == "message_start":
                    spent.usage = _usage(event.message.usage)
                check()
            if spent.usage is None:
                raise _error("incomplete_stream", "The service answered, but not with a message.")
            message = stream.get_final_message()
            request_id = stream.request_id or ""
        if message.stop_reason is None:
            raise _error("incomplete_stream", "The answer ended before it was complete.")
        return Reply(
            content=entrance.blocks([cast("JsonObject", block.to_dict(mode="json")) for block in message.content]),
            stop_reason=entrance.name(message.stop_reason, MAX_STOP_REASON),
            model=entrance.name(message.model),
            usage=_usage(message.usage),
            request_id=entrance.name(request_id),
        )


def _http() -> httpx2.Client:
    """One connection a call: its watch must know its socket, and some servers close a connection that
    they have promised to keep.
    """
    return anthropic.DefaultHttpxClient(
        timeout=httpx2.Timeout(READ_TIMEOUT, connect=10),
        limits=httpx2.Limits(max_connections=1_000, max_keepalive_connections=0),
        event_hooks={"request": [attach]},
        follow_redirects=False,  # or a service could have the documents sent to any place of its choice
    )


def parameters(ask: Ask) -> dict[str, Any]:
    """The request: what every server understands, and of the rest what this model is known to take."""
    able = capability(ask.model)
    sent: dict[str, Any] = {
        "model": ask.model,
        "max_tokens": ask.max_tokens,
        "messages": list(ask.messages),
        "system": [{"type": "text", "text": ask.system}],
    }
    if ask.tools:
        sent["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in ask.tools
        ]
        if ask.last_round and able.no_tools:
            sent["tool_choice"] = {"type": "none"}
    if able.caching:
        mark_prefixes(sent, ask)
    return sent | _optional(ask, able)


def _optional(ask: Ask, able: Capability) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    output: dict[str, Any] = {}
    if able.format and ask.schema is not None:
        output["format"] = {"type": "json_schema", "schema": ask.schema}
    if able.effort:
        output["effort"] = ask.effort
    if output:
        sent["output_config"] = output
    if able.adaptive:
        sent["thinking"] = {"type": "adaptive", "display": "summarized"}
    return sent


def _usage(usage: Any) -> Usage:
    written = usage.cache_creation
    return Usage(
        input=_count(usage.input_tokens),
        output=_count(usage.output_tokens),
        cache_read=_count(usage.cache_read_input_tokens),
        cache_write_5m=_count(written.ephemeral_5m_input_tokens if written else usage.cache_creation_input_tokens),
        cache_write_1h=_count(written.ephemeral_1h_input_tokens) if written else 0,
    )


def _count(tokens: object) -> int:
    """The SDK does not check what servers report; a row takes whole numbers from 0 only, and no larger than it has."""
    return min(tokens, MAX_TOKENS) if isinstance(tokens, int) and tokens > 0 else 0


def _error(kind: str, sentence: str, retry_after: float | None = None, status: int = 0) -> ModelError:
    """`status` decides where `kind` is not the API's own word: other servers have names of their own."""
    own_word = kind in _RETRIABLE or kind in _FINAL
    passing = kind in _RETRIABLE or (not own_word and (status == 200 or status >= 500))
    return ModelError(
        entrance.words(sentence),
        kind=kind,
        retriable=passing or status in _KINDS,
        retry_after=retry_after,
    )


def _from_status(error: anthropic.APIStatusError) -> ModelError:
    status = error.status_code
    unknown = "invalid_request_error" if 300 <= status < 500 else "api_error"
    kind = entrance.name(str(error.type or _KINDS.get(status) or unknown), 80)
    sentences = {
        "authentication_error": "The model's service refused the API key (401). Check ANTHROPIC_API_KEY.",
        "permission_error": "The API key may not use this model (403).",
        "not_found_error": "The model's service does not know this model (404).",
        "rate_limit_error": "The model's service asks to wait: too many requests (429).",
        "overloaded_error": "The model's service is overloaded (529).",
    }
    sentence = sentences.get(kind) or f"The model's service answered {status}: {entrance.words(error.message)[:300]}"
    return _error(kind, sentence, _seconds(error.response.headers.get("retry-after")), status)


def _seconds(header: str | None) -> float | None:
    try:
        seconds = float(header or "nan")
    except ValueError:
        return None
    return None if math.isnan(seconds) else max(seconds, 0.0)
