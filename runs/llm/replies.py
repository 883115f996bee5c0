"""Replies of models that were recorded, so that the same questions can be answered again without asking.

A reply is found by the hash of its whole question: role, model, effort, prompts, files, tools and all that was said
before. So a changed prompt finds nothing, and only what it changes is asked again. What the answer may have in tokens
does not count, because it depends on how much of a budget is left.
"""

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from runs.contracts.ports import Ask, Reply
from runs.errors import ModelError

NOT_RECORDED = "not_recorded"
"""The kind of the error for a question that has no recorded reply and may not be asked."""
REPLAYED = "replayed"
"""The request id of a recorded reply. It has the usage of the time when it was asked, and costs nothing now."""
_CUT_OFF = "max_tokens"
_REPLY = TypeAdapter(Reply)


def key_of(ask: Ask) -> str:
    """The hash by which the reply to a question is found."""
    parts = {**vars(ask), "tools": [tool.parts for tool in ask.tools]}
    del parts["max_tokens"]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class RecordedReplies:
    """A folder of replies. Safe to share between threads.

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
        if reply := _read(file):
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
            _write(file, reply)
        return reply


def _read(file: Path) -> Reply | None:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return _REPLY.validate_json(data)
    except ValidationError as error:
        sentence = f"The recorded reply {file.name} cannot be read. Delete it, so that it is asked again."
        raise ModelError(sentence, kind=NOT_RECORDED, retriable=False) from error


def _write(file: Path, reply: Reply) -> None:
    """Write the whole file or nothing: another thread may read it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.stem[:16]}-{secrets.token_hex(4)}")
    draft.write_text(json.dumps(asdict(reply), ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    draft.replace(file)
