"""Reading what a model has nearly answered: the repairs that change nothing of what is proven.

Small models put an object where a text is asked for, name a kind of check and not what it looks for, add fields, and
take the tag of a delimiter for a folder. Each repair gives a sentence for people. What cannot be repaired without
guessing is refused as before.
"""

import json
import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from runs.contracts.base import Contract
from runs.errors import InvalidInput
from runs.text.json_schemas import parsed
from runs.text.truncate import quoted

MAX_ROUNDS = 4
"""Repairs one after the other: one may reveal the next error, as in a list whose items are objects."""
MAX_REPAIRS = 500
"""Repairs of one answer. A sound plan has some hundred fields, and a hostile one may have a million."""
_TAGGED = re.compile(r"<?(?:[a-z_]{1,40}-)?([0-9a-f]{16})>?/")
_PATHS = frozenset({"path", "source", "inputs", "expected_outputs", "files"})
_NAMES_OF_PATHS = frozenset({"path", "file", "filename", "pattern", "name"})
_NAMES_OF_TEXTS = frozenset({"text", "criterion", "description", "quote", "title", "name"})
"""Fields that hold paths, and what small models call a path, or another text, inside an object."""
_NO_CHECK = frozenset({"dict_type", "model_attributes_type", "union_tag_not_found", "missing"})
"""Errors by which a check does not say what it looks for."""


class Read[Answer: Contract](NamedTuple):
    """An answer. `notes`: a sentence for people for each thing that was read as something else, or left out."""

    answer: Answer
    notes: tuple[str, ...] = ()


def read_json[Answer: Contract](text: str, contract: type[Answer], tags: Callable[[], Collection[str]]) -> Read[Answer]:
    """The answer in this text. `tags` returns the tags of the delimiters in the question. Raises ValidationError."""
    notes: dict[str, None] = {}
    if _TAGGED.search(text):
        text = _without_tags(text, tags(), notes)
    for _ in range(MAX_ROUNDS):
        try:
            return Read(contract.model_validate_json(text), tuple(notes))
        except ValidationError as error:
            refused = error
            text = _repaired(text, error, notes)
        if not text:
            break
    raise refused


def _without_tags(text: str, tags: Collection[str], notes: dict[str, None]) -> str:
    """The text without tags of our delimiters before paths. A text cannot have such a tag by chance: it is a hash."""
    if any(tag in tags for tag in _TAGGED.findall(text)):
        notes["The mark of a list was removed in front of a path."] = None
    return _TAGGED.sub(lambda found: "" if found[1] in tags else found[0], text)


class _ErrorPlace(NamedTuple):
    """The place of an error: `key` in `holder`, an object or a list, in the field of this name."""

    holder: Any
    key: int | str
    field: str


def _repaired(text: str, error: ValidationError, notes: dict[str, None]) -> str:
    """The text with every error repaired; empty if one cannot be repaired."""
    try:
        value = parsed(text)
    except InvalidInput:
        return ""
    if error.error_count() > MAX_REPAIRS:
        return ""
    for item in reversed(error.errors(include_url=False, include_context=False)):
        if _is_in_no_check(value, item):
            continue  # one of its mistakes made us leave it out
        place = _place_of(value, item)
        if place is None or (item["type"] == "extra_forbidden" and "check" in item["loc"][:-1]):
            return ""  # what a check does not know may turn its meaning round
        if not _repair(place, item["type"], notes):
            return ""
    return json.dumps(value)


def _is_in_no_check(value: JsonValue, item: ErrorDetails) -> bool:
    """Whether the error is in a check that was replaced by another one."""
    location = item["loc"]
    if "check" not in location or (location[-1] == "check" and item["type"] not in _NO_CHECK):
        return False
    found: Any = value
    for part in location[: location.index("check") + 1]:
        found = found[part]
    return found is None


def _place_of(value: JsonValue, item: ErrorDetails) -> _ErrorPlace | None:
    """The place to repair. A check with something missing counts as a whole, because it looks for nothing."""
    location = list(item["loc"])
    if "check" in location:
        at = location.index("check") + 1
        # behind it stands its kind, which is no key of the value
        location = location[:at] if item["type"] in _NO_CHECK else [*location[:at], *location[at + 1 :]]
    if not location:
        return None
    holder: Any = value
    for part in location[:-1]:
        holder = holder[part]
    names = [part for part in location if isinstance(part, str)]
    return _ErrorPlace(holder, location[-1], names[-1] if names else "")


def _repair(place: _ErrorPlace, mistake: str, notes: dict[str, None]) -> bool:
    """Whether this error could be repaired."""
    holder, key, field = place
    match mistake:
        case "extra_forbidden":
            del holder[key]
            notes[f"Left out, since there is no such field: {quoted(str(key), 60)}."] = None
        case _ if field == "check" and mistake in _NO_CHECK:
            kind = holder[key].get("kind") if isinstance(holder[key], dict) else holder[key]
            named = f" {quoted(kind, 60)}" if isinstance(kind, str) else ""
            holder[key] = None
            notes[f"A check{named} that does not say what it looks for was left out: its criterion is reviewed."] = None
        case "string_type" if (text := _text_in(holder[key], field)) is not None:
            holder[key] = text
            notes[f"An object was read as its text {quoted(text, 60)}."] = None
        case "string_type" if isinstance(holder[key], int) and not isinstance(holder[key], bool):
            holder[key] = str(holder[key])
            notes["A number was read as text."] = None
        case "string_type" | "list_type" if holder[key] is None:
            holder[key] = "" if mistake == "string_type" else []
            notes["What is null was read as empty."] = None
        case "list_type" if isinstance(holder[key], str | dict):
            holder[key] = [holder[key]]
            notes["What stands alone was read as a list of one."] = None
        case _:
            return False
    return True


def _text_in(value: JsonValue, field: str) -> str | None:
    """The only text in an object or a list that can be meant; None if there is none or more than one."""
    if isinstance(value, list):
        return value[0] if len(value) == 1 and isinstance(value[0], str) else None
    if not isinstance(value, dict):
        return None
    names = _NAMES_OF_PATHS if field in _PATHS else _NAMES_OF_TEXTS
    texts = {name: part for name, part in value.items() if isinstance(part, str) and part.strip()}
    fitting = [part for name, part in texts.items() if name in names] or list(texts.values())
    return fitting[0] if len(fitting) == 1 else None
