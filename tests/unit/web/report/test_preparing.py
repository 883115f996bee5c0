"""Files that are made beside the requests for them: once, bounded, and with a sentence when they cannot be made."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator

import pytest

from runs.errors import PevError
from runs.web.report import preparing
from runs.web.report.preparing import Busy, prepare


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    preparing._files.clear()
    yield
    preparing._files.clear()


def key() -> str:
    return uuid.uuid4().hex


def test_a_file_is_made_once_for_all_who_ask() -> None:
    made: list[int] = []

    def maker() -> bytes:
        made.append(1)
        return b"file"

    name = key()
    assert [prepare(name, maker, wait=10).data for _ in range(3)] == [b"file"] * 3
    assert made == [1]


def test_one_that_takes_long_is_not_waited_for() -> None:
    go, name = threading.Event(), key()

    def maker() -> bytes:
        go.wait(10)
        return b"late"

    assert not prepare(name, maker, wait=0).done
    go.set()
    assert prepare(name, maker, wait=10).data == b"late"


def test_one_that_cannot_be_made_says_why_and_is_tried_again() -> None:
    def refuses() -> bytes:
        raise PevError("The PDF was not made: it is too long.")

    name = key()
    assert prepare(name, refuses, wait=10).problem == "The PDF was not made: it is too long."
    assert prepare(name, lambda: b"now", wait=10).data == b"now"


def test_too_many_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "MAX_WAITING", 2)
    go = threading.Event()

    def maker() -> bytes:
        go.wait(10)
        return b"x"

    waiting = [prepare(key(), maker, wait=0) for _ in range(2)]
    with pytest.raises(Busy):
        prepare(key(), maker, wait=0)
    go.set()
    for one in waiting:
        one.wait(10)
    assert prepare(key(), maker, wait=10).data == b"x"


def test_of_files_no_more_bytes_are_kept_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "MAX_BYTES", 10)
    for _ in range(5):
        prepare(key(), lambda: b"123456", wait=10)
    prepare(key(), lambda: b"", wait=10)
    assert sum(len(one.data) for one in preparing._files.values()) <= 10
