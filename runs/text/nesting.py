"""How deep JSON values are nested: what reads them later calls itself for each level."""

from typing import Any


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
