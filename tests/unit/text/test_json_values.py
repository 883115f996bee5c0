"""The objects in JSON values, and how deep they are nested."""

import pytest
from pydantic import JsonValue

from runs.text.json_values import is_nested_deeper, objects_in


@pytest.mark.parametrize(
    ("value", "depth"),
    [(1, 0), ("a", 0), ([], 1), ({}, 1), ({"a": 1, "b": [1, [2]]}, 3), ([[], {"a": {"b": {}}}], 4), ([1, [2]], 2)],
)
def test_levels_are_those_of_objects_and_lists(value: object, depth: int) -> None:
    assert [is_nested_deeper(value, levels) for levels in (depth - 1, depth, depth + 1) if levels >= 0] == [
        *([True] if depth else []),
        *(False, False),
    ]


def test_every_object_is_found_and_may_be_changed_on_the_way() -> None:
    value: dict[str, JsonValue] = {"a": {"b": [{"c": 1}, 2]}, "d": "e"}
    for number, one in enumerate(objects_in(value)):
        one["number"] = number
    assert value == {"a": {"b": [{"c": 1, "number": 2}, 2], "number": 1}, "d": "e", "number": 0}
    assert list(objects_in([1, "two", None])) == []
