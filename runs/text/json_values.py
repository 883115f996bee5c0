"""Values of JSON: the objects in one, and how deep it is."""

from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue


def objects_in(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    """The value if it is an object, and all objects in it. An object may be changed before the next one is asked for.

    Raises RecursionError for a value that is nested too deeply.
    """
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_in(inner)


def is_nested_deeper(value: object, levels: int) -> bool:
    """Whether objects and lists are in each other on more than so many levels. Linear in the value."""
    level: list[Any] = [value]
    for _ in range(levels):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return any(isinstance(one, dict | list) for one in level)
