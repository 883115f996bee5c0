"""Log lines for operators: a sentence and what it is about, as text or, with PEV_LOG=json, as one object a line."""

from __future__ import annotations

import json
import logging
import re
import time
from datetime import UTC, datetime
from typing import Any, TypedDict, Unpack, override

from runs.redaction import redacted
from runs.text.visible import printable

_TOKEN = re.compile(r"""(/(?:sign-in|account/email|account/password/reset)/)[^\s?"'<>\\]+|\b(pev_)[A-Za-z0-9_-]{20,}""")


class LogFields(TypedDict, total=False):
    """What a line may be about. Nothing else is logged with the sentence: no texts of people, no keys (S5).

    Ids of rows, but `step` is its key, `attempt` its number, `user` a user name and `address` where a request is from.
    """

    run: int
    step: str
    attempt: int
    work: int
    epoch: int
    gate: int
    user: str
    address: str


def about(**fields: Unpack[LogFields]) -> dict[str, LogFields]:
    """For `extra=` of a log call: `log.info("claimed", extra=about(run=1, work=7, epoch=2))`."""
    return {"about": fields}


class LineFormatter(logging.Formatter):
    """`2026-01-31 12:00:00,123Z INFO runs.engine.claim: claimed run=1 work=7 epoch=2`, and a traceback below it."""

    default_msec_format = "%s,%03dZ"

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")
        self.converter = time.gmtime  # Django sets the process's zone to that in which times are shown

    @override
    def format(self, record: logging.LogRecord) -> str:
        return printable(redacted(without_tokens(super().format(record))))

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {name}={value}" for name, value in _about(record).items())
        # A line break in a text from outside must not begin a line that looks like one of ours.
        return "\\n".join((super().formatMessage(record) + fields).splitlines())


class JsonFormatter(logging.Formatter):
    """One object a line: `time` (UTC), `level`, `logger`, `message`, what it is about, and `traceback` if any."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redacted(record.getMessage()),
            **_about(record),
        }
        if record.exc_info:
            line["traceback"] = redacted(self.formatException(record.exc_info))
        return printable(without_tokens(json.dumps(line, ensure_ascii=False, default=str)))


class FaultsOfClients(logging.Filter):
    """Django logs some requests that it refuses, such as for another host, as errors of ours. They become a warning of
    one line: anyone may send any number of them.
    """

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info, record.levelno, record.levelname = None, logging.WARNING, "WARNING"
        return True


def is_worth_a_line(record: logging.LogRecord) -> bool:
    """False for Django's line on each probe that gets “not ready”. `runs.web.operations.health` logs that once."""
    return getattr(getattr(record, "request", None), "path", "") != "/readyz"


def without_tokens(text: str) -> str:
    """The text without tokens of links and of programs. Django logs addresses of failed requests, and anyone who reads
    a valid token in the log could use it.
    """
    return _TOKEN.sub(r"\1\2…", text)


def _about(record: logging.LogRecord) -> LogFields:
    found: LogFields | None = getattr(record, "about", None)
    return found or {}
