"""Replies of models, pages of the web and answers of MCP servers that were recorded, so that a run can be repeated
without asking for them.

A reply is found by the hash of its whole question: role, model, effort, prompts, files, tools and all that was said
before. So a changed prompt finds nothing, and only what it changes is asked again. What the answer may have in tokens
does not count, because it depends on how much of a budget is left. A page is found by its address, and has the time at
which it was read, because models are shown that time. The result of an MCP server is found by its call and where in
the run it was made, because the same call may get another answer later. The tools of a server are found by its name.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from runs.contracts.ports import Ask, Page, Reply, ToolResult, ToolUse
from runs.errors import InvalidInput, ModelError
from runs.mcp_client.server_config import Listing

NOT_RECORDED = "not_recorded"
"""The kind of the error for a question that has no recorded reply and may not be asked."""
REPLAYED = "replayed"
"""The request id of a recorded reply. It has the usage of the time when it was asked, and costs nothing now."""
_CUT_OFF = "max_tokens"
_REPLY, _PAGE = TypeAdapter(Reply), TypeAdapter(Page)
_RESULT, _LISTING = TypeAdapter(ToolResult), TypeAdapter(Listing)


def key_of(ask: Ask) -> str:
    """The hash by which the reply to a question is found."""
    parts = {**vars(ask), "tools": [tool.parts for tool in ask.tools]}
    del parts["max_tokens"]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class RecordedReplies:
    """A folder of replies, pages, results and listings. Safe to share between threads.

    `repetition`: replies are recorded for each repetition of a task, because the same question may have other answers.
    With `only_recorded` nothing is asked.
    """

    def __init__(self, folder: Path, *, only_recorded: bool = False) -> None:
        self._folder = folder
        self._only_recorded = only_recorded
        self.repetition = 1

    def answer(self, ask: Ask, send: Callable[[], Reply]) -> Reply:
        """The recorded reply, or what `send` returns, which is recorded then. Raises ModelError.

        A reply that was cut off is not recorded: the question is asked again with more room.
        """
        file = self._folder / str(self.repetition) / f"{key_of(ask)}.json"
        try:
            reply: Reply | None = _read(file, _REPLY)
        except InvalidInput as error:
            raise ModelError(str(error), kind=NOT_RECORDED, retriable=False) from error
        if reply:
            return replace(reply, request_id=REPLAYED)
        if self._only_recorded:
            raise ModelError(
                f"There is no recorded reply to this question of the {ask.role}. The prompts, the files or the task "
                "have changed since the replies were recorded.",
                kind=NOT_RECORDED,
                retriable=False,
            )
        reply = send()
        if reply.stop_reason != _CUT_OFF:
            _write(file, _REPLY.dump_python(reply, mode="json"))
        return reply

    def page(self, address: str, read: Callable[[], Page]) -> Page:
        """The recorded page at an address, or what `read` returns, which is recorded then. Raises InvalidInput."""
        return self._known("pages", address, address, _PAGE, read)

    def result(self, use: ToolUse, place: Sequence[object], call: Callable[[], ToolResult]) -> ToolResult:
        """The recorded result of a call of a server, or that of `call`, which is recorded then. Raises InvalidInput.

        `place`: what tells this call from equal ones, because not all models give each call an id of its own.
        """
        parts = json.dumps([*place, use.agent, use.id, use.name, use.input], sort_keys=True)
        return self._known("results", parts, f"This call of {use.name}", _RESULT, call)

    def listing(self, server: str, read: Callable[[], Listing]) -> Listing:
        """The recorded tools of a server, or what `read` returns, which is recorded then. Raises InvalidInput."""
        return self._known("servers", server, f"What {server} offers", _LISTING, read)

    def _known[Value](
        self, folder: str, key: str, what: str, kind: TypeAdapter[Value], make: Callable[[], Value]
    ) -> Value:
        name = f"{hashlib.sha256(key.encode()).hexdigest()}.json"
        file = self._folder / str(self.repetition) / folder / name
        value: Value | None = _read(file, kind)
        if value is None:
            if self._only_recorded:
                raise InvalidInput(f"{what} was not recorded, and only what was recorded may be read.")
            value = make()
            _write(file, kind.dump_python(value, mode="json"))
        return value


def _read(file: Path, kind: TypeAdapter[Any]) -> Any:
    """The value in a file; None if there is none. Raises InvalidInput."""
    try:
        return kind.validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise InvalidInput(f"The recorded {file.name} cannot be read. Delete it, so that it is asked again.") from error


def _write(file: Path, value: object) -> None:
    """Write the whole file or nothing: another thread may read it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.stem[:16]}-{secrets.token_hex(4)}")
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    draft.write_text(text, encoding="utf-8", errors="replace")  # half of a surrogate pair, from a server
    draft.replace(file)
