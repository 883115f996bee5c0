"""How deep JSON values are nested."""

import pytest

from runs.text.json_schemas import is_nested_deeper


@pytest.mark.parametrize(
    ("value", "depth"),
    [(1, 0), ("a", 0), ([], 1), ({}, 1), ({"a": 1, "b": [1, [2]]}, 3), ([[], {"a": {"b": {}}}], 4), ([1, [2]], 2)],
)
def test_levels_are_those_of_objects_and_lists(value: object, depth: int) -> None:
    assert [is_nested_deeper(value, levels) for levels in (depth - 1, depth, depth + 1) if levels >= 0] == [
        *([True] if depth else []),
        *(False, False),
    ]
