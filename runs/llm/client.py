"""Calls models: one anthropic client for each server and key.

Each call is tried once. The engine repeats calls and records each try. Keys are read from the environment when a client
is created, and are not stored anywhere else (S5).
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import anthropic
import httpx2

from runs.contracts.base import JsonObject
from runs.contracts.ports import SERVED, Ask, Reply, ReplyDraft, Usage
from runs.errors import ModelError, PevError
from runs.http_client.bounded_reading import AnswerRefused, bounded_client
from runs.http_client.watchdog import Watch
from runs.llm import cleaning
from runs.llm.capabilities import capability
from runs.llm.failures import failure, of_connection, of_refusal, of_status, says_too_long
from runs.llm.model_servers import ModelServer, server_for
from runs.llm.request import answer_tool, answered, parameters
from runs.pev.conversation.asking import EXCEEDED
from runs.pev.conversation.served import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH

DEADLINE = 600.0
"""Seconds after which a call is ended, even if it is still streaming."""
READ_TIMEOUT = 120.0
"""Seconds without a byte after which a call is ended."""
MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of one answer: twice what the API accepts in a question, because the answer becomes a part of the next one."""
MAX_TOKENS = 10**9
"""The highest number of tokens that is believed. Contexts have less than a hundredth of it."""
MIN_WINDOW = 1_000
"""Tokens. A smaller reported window is ignored, because the shortest question of a run is longer."""
MAX_STOP_REASON = 40
"""Characters, as in the database column."""


_WORDS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""The attribute with the text of each kind of delta. Others, such as signatures, have none."""


_CALLS = frozenset({"tool_use", "server_tool_use"})


@dataclass
class StreamUsage:
    """The usage that a stream has reported so far, which is all that is known of the cost if it breaks. None before it
    began.
    """

    usage: Usage | None = None


class Clients:
    """Asks models over the API, for each role on the server that the environment names."""

    def __init__(self) -> None:
        self._made: dict[ModelServer, anthropic.Anthropic] = {}
        self._lock = threading.Lock()

    def ask(self, ask: Ask, keep_going: Callable[[], None] = lambda: None, draft: ReplyDraft | None = None) -> Reply:
        """Returns the reply to one question.

        `keep_going` raises to end the call. It is called for each event and, from another thread, every second, so that
        a silent service cannot block a call that must end. `draft` receives the reply while it arrives.

        Raises only ModelError, whatever the service or the network does.
        """
        server = server_for(ask.role, os.environ)
        capabilities = capability(ask.model, server)
        try:
            tell = telling(draft, answer_tool(ask, capabilities)) if draft is not None else None
            reply = self.send(server, parameters(ask, capabilities), keep_going, tell)
        except ModelError as error:
            if not says_too_long(error):
                raise
            return Reply((), EXCEEDED, ask.model)
        # Running code may be charged by time, which no reply reports; together with the web tools it is free.
        if code_runs := sum(str(block.get("type")).endswith(f"{CODE_EXECUTION}{SERVED}") for block in reply.content):
            free = any(tool.name in (WEB_SEARCH, WEB_FETCH) and tool.service for tool in ask.tools)
            reply = replace(reply, usage=replace(reply.usage, code_runs=code_runs, lower_bound=not free))
        content, stop_reason = answered(reply.content, reply.stop_reason, answer_tool(ask, capabilities))
        return replace(reply, content=content, stop_reason=stop_reason)

    def send(
        self,
        server: ModelServer,
        sent: dict[str, Any],
        keep_going: Callable[[], None] = lambda: None,
        tell: Callable[[Any], None] | None = None,
    ) -> Reply:
        """Returns the reply to one request as the server gave it. Raises ModelError, and what `keep_going` raises."""
        client = self._client(server)
        spent = StreamUsage()
        try:
            with self._watched(server, keep_going) as check:
                return _stream(client, sent, check, spent, tell)
        except PevError as error:
            error.tokens = asdict(spent.usage) if spent.usage else {}
            raise

    def window(self, server: ModelServer, model: str, keep_going: Callable[[], None] = lambda: None) -> int | None:
        """Returns the context window according to the server's list of models, or None.

        Raises ModelError, and what `keep_going` raises.
        """
        client = self._client(server)
        with self._watched(server, keep_going):
            said = client.models.retrieve(model).max_input_tokens
        return said if isinstance(said, int) and MIN_WINDOW <= said <= MAX_TOKENS else None

    def close(self) -> None:
        """Closes the connections. The next question opens new ones."""
        with self._lock:
            for client in self._made.values():
                client.close()
            self._made = {}

    @contextmanager
    def _watched(self, server: ModelServer, keep_going: Callable[[], None]) -> Iterator[Callable[[], None]]:
        """Converts every error inside to a ModelError, and ends the call at the deadline."""
        ends = time.monotonic() + DEADLINE

        def check() -> None:
            keep_going()
            if time.monotonic() > ends:
                raise failure("timeout_error", f"The model did not finish within {DEADLINE:.0f} seconds.")

        try:
            with Watch(check):
                yield check
        except anthropic.APIConnectionError as error:
            raise of_connection(error, server) from error
        except anthropic.APIStatusError as error:
            raise of_status(error, server) from error
        except AnswerRefused as error:
            raise of_refusal(error, server) from error
        except httpx2.HTTPError as error:
            raise failure("connection_error", f"The connection broke: {type(error).__name__}") from error
        except anthropic.AnthropicError as error:
            raise failure("client_error", str(error)) from error
        # What the library raises for answers that it cannot parse.
        except (ValueError, TypeError, AssertionError, LookupError, AttributeError, RuntimeError) as error:
            raise failure("incomplete_stream", "The service sent something that is not its API.") from error

    def _client(self, server: ModelServer) -> anthropic.Anthropic:
        with self._lock:
            # Threads share one client per server, and with it the connections.
            if server not in self._made:
                self._made[server] = _made_for(server)
            return self._made[server]


def _made_for(server: ModelServer) -> anthropic.Anthropic:
    """Creates a client. Address, key and headers are always set explicitly, because the library would otherwise take
    them from the environment and send them to any server.
    """
    key, url = server.key(os.environ), server.address and (server.base_url or server.address)
    try:
        httpx2.URL(url)
    except httpx2.InvalidURL:
        url = ""
    if not url:
        sentence = f"{server.set_by[0]} is not an address: it must begin with http:// or https://, and name a host."
        raise ModelError(sentence, kind="no_address", retriable=False)
    lines = "" if server.is_general else os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "")
    headers: dict[str, Any] = {
        line.partition(":")[0].strip(): anthropic.omit for line in lines.split("\n") if ":" in line
    }
    headers |= {name: f"Bearer {key}" for name in headers if name.lower() == "authorization"}
    return anthropic.Anthropic(
        api_key=key,
        base_url=url,
        max_retries=0,
        http_client=bounded_client(
            MAX_ANSWER, timeout=httpx2.Timeout(READ_TIMEOUT, connect=10), made=anthropic.DefaultHttpxClient
        ),
        default_headers=headers,
    )


def _stream(
    client: anthropic.Anthropic,
    sent: dict[str, Any],
    check: Callable[[], None],
    spent: StreamUsage,
    tell: Callable[[Any], None] | None,
) -> Reply:
    with client.messages.stream(**sent) as stream:
        for event in stream:
            if event.type == "message_start":
                spent.usage = _usage(event.message.usage)
            elif tell is not None:
                tell(event)
            check()
        if spent.usage is None:
            raise failure("incomplete_stream", "The service answered, but not with a message.")
        message = stream.get_final_message()
        request_id = stream.request_id or ""
    if message.stop_reason is None:
        raise failure("incomplete_stream", "The answer ended before it was complete.")
    return Reply(
        content=cleaning.blocks([cast("JsonObject", block.to_dict(mode="json")) for block in message.content]),
        stop_reason=cleaning.name(message.stop_reason, MAX_STOP_REASON),
        model=cleaning.name(message.model),
        usage=_usage(message.usage),
        request_id=cleaning.name(request_id),
    )


def _usage(usage: Any) -> Usage:
    written = usage.cache_creation
    return Usage(
        input=_count(usage.input_tokens),
        output=_count(usage.output_tokens),
        cache_read=_count(usage.cache_read_input_tokens),
        cache_write_5m=_count(written.ephemeral_5m_input_tokens if written else usage.cache_creation_input_tokens),
        cache_write_1h=_count(written.ephemeral_1h_input_tokens) if written else 0,
        searches=_count(getattr(usage.server_tool_use, "web_search_requests", 0)),
        fetches=_count(getattr(usage.server_tool_use, "web_fetch_requests", 0)),
    )


def _count(tokens: object) -> int:
    """Returns the number within the range of a database column. The SDK does not check what servers report."""
    return min(tokens, MAX_TOKENS) if isinstance(tokens, int) and tokens > 0 else 0


def telling(draft: ReplyDraft, answer_tool: str) -> Callable[[Any], None]:
    """Returns a function that passes stream events to the draft. An answer that comes as the input of a tool is passed
    as text.

    Every attribute is checked, because the library passes on whatever the service has sent.
    """

    def tell(event: Any) -> None:
        match event.type:
            case "content_block_start":
                block = getattr(event, "content_block", None)
                kind = str(getattr(block, "type", ""))
                name = getattr(block, "name", "") if kind in _CALLS else ""
                tool = cleaning.name(name, cleaning.MAX_TOOL_NAME)
                if tool and tool == answer_tool:
                    kind, tool = "text", ""
                draft.begin(kind, tool)
            case "content_block_delta":
                delta = getattr(event, "delta", None)
                words = getattr(delta, _WORDS.get(str(getattr(delta, "type", "")), ""), "")
                if isinstance(words, str) and words:
                    draft.add(words)

    return tell
