"""The bounds themselves: what keeps them comes back, what does not is reported."""

import time

import pytest

from tests.hostile import bounds
from tests.hostile.bounds import SLOWER, TooMuch, limited, within


def echo(value: object) -> object:
    return value


def refuse() -> None:
    raise KeyError("no")


def hold(megabytes: int) -> int:
    return len(b"x" * (megabytes * 1024 * 1024))


def compute(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_what_a_call_returns_and_raises_comes_back() -> None:
    assert within(1, 10, f"{__name__}.echo", {"a": [1, None]}) == {"a": [1, None]}
    with pytest.raises(KeyError, match="no"):
        within(1, 10, f"{__name__}.refuse")


def test_memory_is_bounded() -> None:
    assert within(1, 30, f"{__name__}.hold", 20) == 20 * 1024 * 1024
    with pytest.raises(TooMuch, match=r"hold took more than 30 MB"):
        within(1, 30, f"{__name__}.hold", 40)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 60])
def test_time_is_bounded(seconds: float) -> None:
    with pytest.raises(TooMuch, match=r"compute took .*0\.2"):
        within(0.2 / SLOWER, 10, f"{__name__}.compute", seconds)


def test_time_by_the_clock_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "START_SECONDS", 0.1)
    with pytest.raises(TooMuch, match="by the clock"):
        within(0.01 / SLOWER, 10, "time.sleep", 60)


def test_time_is_bounded_in_the_process_of_the_tests() -> None:
    with limited(10):
        pass
    with pytest.raises(TooMuch, match=r"more than 0\.05 seconds"), limited(0.05 / SLOWER):
        compute(60)
