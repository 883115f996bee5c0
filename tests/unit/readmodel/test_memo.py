"""What is kept is found once, and the longest unused goes first."""

from functools import partial

from runs.readmodel.memo import WeightedCache


def test_a_value_is_found_once_and_dropped_when_the_others_weigh_too_much() -> None:
    kept = WeightedCache[str](6, len)
    found: list[str] = []

    def find(key: str) -> str:
        found.append(key)
        return key

    values = [kept.get(key, partial(find, key)) for key in ("aaa", "bbb", "aaa", "cc", "aaa", "bbb")]
    assert values == ["aaa", "bbb", "aaa", "cc", "aaa", "bbb"]
    assert found == ["aaa", "bbb", "cc", "bbb"]
