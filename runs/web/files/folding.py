"""A JSON file as objects and lists that fold, within the limits of a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from runs.text.truncate import cut_after

MAX_CHARACTERS = 1_000_000
"""Characters of a text that is shown as an outline."""
MAX_NODES = 3_000
MAX_ITEMS = 300
"""Members of one object or list that are shown."""
MAX_DEPTH = 20
MAX_VALUE = 1_000
OPEN_DEPTH = 3
OPEN_ITEMS = 30
"""Members up to which a level is open at first."""

type Kind = Literal["open", "close", "value", "more"]


class _Number(str):
    """A number or constant as it is written: no digit is lost."""

    __slots__ = ()


class _Object(tuple[tuple[str, Any], ...]):
    """The members of an object in order, also those of one name."""

    __slots__ = ()


@dataclass(frozen=True)
class JsonFold:
    """One part of the outline. `open` begins an object or a list and `close` ends it; between them stand its members.

    `sort` of a value: string, number, constant; of what opens: object or list. `count`: its members, or those that
    `more` stands for. `unfolded`: whether it is open at first.
    """

    kind: Kind
    name: str = ""
    sort: str = ""
    text: str = ""
    count: int = 0
    unfolded: bool = False


def is_json(path: str) -> bool:
    return path.lower().endswith((".json", ".geojson", ".webmanifest", ".ipynb"))


def folded(text: str) -> Sequence[JsonFold] | None:
    """The outline; None if it is no JSON, nested too deeply, or too large."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        value = json.loads(
            text, object_pairs_hook=_Object, parse_int=_Number, parse_float=_Number, parse_constant=_Number
        )
    except (ValueError, RecursionError):
        return None
    return list(_Outline().of("", value, 0))


class _Outline:
    def __init__(self) -> None:
        self._left = MAX_NODES

    def of(self, name: str, value: Any, depth: int) -> Iterator[JsonFold]:
        self._left -= 1
        if not isinstance(value, list | _Object):
            yield _scalar(name, value)
            return
        sort = "object" if isinstance(value, _Object) else "list"
        if depth >= MAX_DEPTH or not value:
            yield JsonFold("value", name, sort, f"{sort} of {len(value):,}" if value else f"empty {sort}")
            return
        yield JsonFold("open", name, sort, count=len(value), unfolded=depth < OPEN_DEPTH and len(value) <= OPEN_ITEMS)
        shown = 0
        members = value if isinstance(value, _Object) else ((str(at), item) for at, item in enumerate(value))
        for key, item in members:
            if shown == MAX_ITEMS or self._left <= 0:
                break
            yield from self.of(key, item, depth + 1)
            shown += 1
        if shown < len(value):
            yield JsonFold("more", count=len(value) - shown)
        yield JsonFold("close")


def _scalar(name: str, value: Any) -> JsonFold:
    if isinstance(value, _Number):
        return JsonFold("value", name, "number", value[:MAX_VALUE])
    if isinstance(value, str):
        return JsonFold("value", name, "string", cut_after(value, MAX_VALUE))
    return JsonFold("value", name, "constant", json.dumps(value))
