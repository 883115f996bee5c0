"""What does not work is counted by address and minute, and logged until it is too much."""

from __future__ import annotations

import pytest

from runs.web.site.throttle import MAX_WRONG, wrong

NOON = 1_800_000_000.0


def waits(address: str, times: int = 1, now: float = NOON) -> list[int]:
    return [wrong("a token", {"address": address}, now) for _ in range(times)]


def test_after_some_in_a_minute_the_answer_is_to_wait_for_the_rest_of_it() -> None:
    assert waits("192.0.2.7", MAX_WRONG) == [0] * MAX_WRONG
    assert waits("192.0.2.7", now=NOON + 10.9) == [50]
    assert waits("192.0.2.7", now=NOON + 59.9) == [1]
    assert waits("192.0.2.7", now=NOON + 60) == [0]


def test_others_are_counted_by_themselves() -> None:
    waits("192.0.2.7", MAX_WRONG)
    assert (waits("192.0.2.8"), waits("192.0.2.7")) == ([0], [60])


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("2001:db8:0:1::7", "2001:db8:0:1:ffff::8", True),
        ("2001:db8:0:1::7", "2001:db8:0:2::7", False),
        ("192.0.2.7", "::ffff:192.0.2.7", True),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8", False),
        ("", "no address", True),
    ],
)
def test_addresses_that_one_may_have_all_of_are_one(one: str, other: str, together: bool) -> None:
    waits(one, MAX_WRONG)
    assert waits(other) == ([60] if together else [0])


def test_the_log_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    waits("192.0.2.7", MAX_WRONG + 30)
    said = [record.getMessage() for record in caplog.records]
    assert said == ["refused: a token"] * MAX_WRONG + ["refused: a token, too often; more are not logged for a while"]
