"""Log lines: one a record, with what it is about, as text or as JSON."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

import pytest
from django.conf import settings

from runs.logs import JsonFormatter, LineFormatter, LogFields, about
from tests.fakes.echoes import KEY, leaks


def record(message: str, *values: object, extra: dict[str, LogFields] | None = None, error: bool = False) -> Any:
    made = logging.makeLogRecord({"name": "runs.engine.claim", "levelname": "INFO", "msg": message, "args": values})
    made.created, made.msecs = 1_769_860_800.123, 123.0
    made.exc_info = sys.exc_info() if error else None
    vars(made).update(extra or {})
    return made


def test_a_line_says_what_it_is_about() -> None:
    line = LineFormatter().format(record("claimed by %s", "host/7", extra=about(run=1, step="s1", work=7, epoch=2)))
    assert line.endswith(" INFO runs.engine.claim: claimed by host/7 run=1 step=s1 work=7 epoch=2")


def test_a_line_has_its_time_in_utc_wherever_times_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as zone:
        zone.setenv("TZ", "Europe/Berlin")
        time.tzset()
        line = LineFormatter().format(record("hello"))
    time.tzset()
    assert line == "2026-01-31 12:00:00,123Z INFO runs.engine.claim: hello"


def test_a_line_of_another_library_is_about_nothing() -> None:
    assert LineFormatter().format(record("hello")).endswith(" INFO runs.engine.claim: hello")


def test_a_line_break_in_a_message_makes_no_second_line() -> None:
    line = LineFormatter().format(record("refused: %s", "no\n2026-01-01 INFO runs: all is well\r\n"))
    assert line.splitlines() == [line]
    assert line.endswith("refused: no\\n2026-01-01 INFO runs: all is well")


def test_an_escape_sequence_in_a_line_or_a_traceback_is_written_out() -> None:
    try:
        raise ValueError("\x1b[2J")
    except ValueError:
        made = record("told: %s", "\x9b31m\u202e", error=True)
    for formatter in (LineFormatter(), JsonFormatter()):
        line = formatter.format(made)
        assert not {"\x1b", "\x9b", "\u202e"} & set(line)
        assert "\\u009b31m\\u202e" in line


def test_a_secret_is_in_no_line_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    try:
        raise ValueError(KEY)
    except ValueError:
        made = record("told: %s", f"{KEY[:40]}\n{KEY[40:]}", error=True)
    for formatter in (LineFormatter(), JsonFormatter()):
        line = formatter.format(made)
        assert (leaks(line), line.count("(redacted)")) == ([], 2)


def test_as_json_a_record_is_one_object() -> None:
    line = JsonFormatter().format(record("claimed\nby %s", "Bärbel", extra=about(run=1, attempt=3)))
    assert line.splitlines() == [line]
    assert json.loads(line) == {
        "time": "2026-01-31T12:00:00.123+00:00",
        "level": "INFO",
        "logger": "runs.engine.claim",
        "message": "claimed\nby Bärbel",
        "run": 1,
        "attempt": 3,
    }


def test_as_json_a_traceback_stays_on_its_line() -> None:
    try:
        raise LookupError("nothing there")
    except LookupError:
        line = JsonFormatter().format(record("failed", error=True))
    assert line.splitlines() == [line]
    assert json.loads(line)["traceback"].endswith("LookupError: nothing there")


@pytest.mark.parametrize("name", ["line", "json"])
def test_both_are_formatters_of_the_settings(name: str) -> None:
    formatters: Any = settings.LOGGING["formatters"]
    assert formatters[name]["()"].endswith("Formatter")


def test_no_access_token_is_in_a_line() -> None:
    token = "pev_" + "aB-3_" * 8 + "xyz"
    said = record("Not Found: %s", f"/mcp/?access_token={token}")
    assert LineFormatter().format(said).endswith("Not Found: /mcp/?access_token=pev_…")
    assert json.loads(JsonFormatter().format(said))["message"] == "Not Found: /mcp/?access_token=pev_…"
    assert LineFormatter().format(record("pev_next is a cookie")).endswith("pev_next is a cookie")
