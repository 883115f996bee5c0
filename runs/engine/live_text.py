"""Shows people who follow a run what a model is writing: the last words, a few times a second.

Nothing of it is stored; the journal gets the complete reply.
"""

import json
import re
import threading
import time
from types import TracebackType
from typing import Self

from runs.enums import Role
from runs.models import WorkItem
from runs.redaction import redacted
from runs.store import broadcast

MIN_DELAY = 0.1
"""Seconds between two updates of one call."""
SIGN_OF_LIFE = 3.0
"""Seconds after which an update is sent although nothing was written, to say for how long nothing was."""
MAX_BYTES = 1_000
"""The size of one update as JSON."""
_MAX_THINKING, _MAX_TOOL = 240, 60
"""Bytes of thinking and of the name of the tool; the text gets the rest."""
_MANY_NAMES = 3
"""A text whose beginning was not seen is taken for JSON if it has so many names of fields."""
_MAX_NAME = 50
"""Characters of a step's name."""
_NO_STEP = {"step": None, "attempt": None, "name": ""}
_MAX_KEPT_CHARS = 4_000
"""Characters that are kept of each text: more than is shown, so that a secret is recognised before it is cut."""
_HIDDEN_CHARS = 16
"""Characters at the end of an unfinished block that are not shown: they may be the beginning of a secret."""
_ESCAPE = re.compile(r"\\(?:([nrt])|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_NAME_END = re.compile(r'(?<!\\)"\s*:[\s\[{]*"?')
_STRUCTURE = re.compile(r'[\s,{}\[\]]{0,9}(?<!\\)"[\s,{}\[\]]*"?|^[\s{\[]+')


class Tail:
    """The end of what was written in blocks of one kind."""

    def __init__(self) -> None:
        self._raw = ""
        self._is_json = False
        self._open = 0

    def begin(self, *, is_json: bool = False) -> None:
        self._is_json |= is_json

    def end(self) -> None:
        if self._open:
            self._raw += "\n"  # kept as one text: a secret may begin in one block and end in the next
        self._open = 0

    def add(self, piece: str) -> None:
        if not self._open:
            self._is_json |= piece.lstrip().startswith("{")
        self._open += len(piece)
        self._raw = (self._raw + piece[-_MAX_KEPT_CHARS:])[-_MAX_KEPT_CHARS:]

    def shown(self, max_bytes: int) -> str:
        """The end of the text for people, without secrets, at most `max_bytes` as JSON."""
        text = redacted(self._raw)
        text = text[: len(text) - min(self._open, _HIDDEN_CHARS)]
        is_json = self._is_json or text.count('":') >= _MANY_NAMES
        return last(_readable(text) if is_json else text, max_bytes)


class LiveDraft:
    """A draft (`contracts.ports.ReplyDraft`) of one call, shown to people who follow the run.

    If no page follows the run, it does no work. The asking thread passes pieces of the text; `tick` has to be called
    regularly, from any thread. Nothing of a `hidden` draft is shown.
    """

    def __init__(self, work: WorkItem, role: Role, *, hidden: bool = False) -> None:
        attempt = work.attempt
        self._run = work.run_id
        self._is_hidden = hidden
        self._step = attempt.step_id if attempt else None
        self._role, self._attempt = role, attempt
        self._lock = threading.Lock()
        self._text, self._thinking, self._tool = Tail(), Tail(), ""
        self._current = self._text
        self._heard = time.monotonic()
        self._sent = self._next = 0.0
        self._has_news, self._is_over = True, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is not None:
            self.end()

    def begin(self, kind: str, tool: str = "") -> None:
        with self._lock:
            self._current.end()
            self._current = self._thinking if kind == "thinking" else self._text
            self._current.begin(is_json=bool(tool))
            self._tool = tool
            self._note()

    def add(self, piece: str) -> None:
        if self._is_followed:
            with self._lock:
                self._current.add(piece)
                self._note()

    @property
    def _is_followed(self) -> bool:
        return not self._is_hidden and broadcast.is_followed(self._run)

    def _note(self) -> None:
        self._heard, self._has_news = time.monotonic(), True

    def tick(self) -> None:
        """Send an update if one is due: new text, or for how long nothing was written."""
        now = time.monotonic()
        if now < self._next or not self._is_followed:
            return
        with self._lock:
            # Checked again under the lock: another thread may have sent since, or the call may have ended.
            if now >= self._next and not self._is_over and (self._has_news or now - self._sent >= SIGN_OF_LIFE):
                self._sent, self._next, self._has_news = now, now + MIN_DELAY, False
                values = {
                    "tool": last(self._tool, _MAX_TOOL),
                    "thinking": self._thinking.shown(_MAX_THINKING),
                    "silent_s": round(now - self._heard),
                }
                room = MAX_BYTES - len(self._json(**values, text=""))
                self._send(self._json(**values, text=self._text.shown(room)))

    def end(self) -> None:
        """Take the draft off the pages, because the call was committed or broke off."""
        with self._lock:
            was_shown, self._is_over = self._sent > 0 and not self._is_over, True
            if was_shown:
                self._send(self._json(done=True))

    def _send(self, payload: bytes) -> None:
        broadcast.show(self._run, self._step, payload.decode())

    def _json(self, **values: object) -> bytes:
        one = self._attempt
        of = {"step": one.step_id, "attempt": one.number, "name": one.step.spec.name[:_MAX_NAME]} if one else _NO_STEP
        return _bytes({"writing": {**of, "role": self._role.value, **values}})


def last(text: str, max_bytes: int) -> str:
    """The end of the text, beginning with a whole word, at most `max_bytes` as JSON."""
    text = text.rstrip()
    room = max_bytes - len(_bytes("…"))
    kept = text[-room:]
    while (size := len(_bytes(kept)) - len(_bytes(""))) > room:
        kept = kept[-(len(kept) * room // size) :] if len(kept) > 1 else ""
    return kept if len(kept) == len(text) else "…" + kept[kept.find(" ", 0, 40) + 1 :]


def _bytes(value: object) -> bytes:
    """The value as JSON. Unpaired surrogates, which a service may send, are replaced."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _readable(raw: str) -> str:
    """A part of a JSON text as lines of names and values, without punctuation. It may begin and end anywhere."""

    def character(match: re.Match[str]) -> str:
        space, code, other = match.groups()
        return chr(int(code, 16)) if code else other or ("\n" if space == "n" else " ")

    return _ESCAPE.sub(character, _STRUCTURE.sub("\n", _NAME_END.sub(": ", raw))).strip()
