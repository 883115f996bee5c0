"""The errors of an answer in words that a small model understands: the first ones, each with its place."""

import json
from typing import Any, get_args, get_origin

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from runs.contracts.base import Contract
from runs.errors import InvalidInput
from runs.pev.conversation.examples import example_at, example_of
from runs.text.json_schemas import parsed

MAX_SHOWN = 3
"""Mistakes that are named at once: a model that gets twenty corrects only the last of them."""
_EXAMPLE_CHARS = 200
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not asked for; leave it out",
    "literal_error": "has to be {expected}",
    "enum": "has to be {expected}",
    "less_than_equal": "has to be {le:g} or less",
    "greater_than_equal": "has to be {ge:g} or more",
    "string_type": "has to be a text in quotation marks",
    "string_too_short": "must not be empty",
    "string_too_long": "has more than {max_length} characters",
    "too_short": "needs at least {min_length} item",
    "too_long": "has more than {max_length} items",
    "bool_type": "has to be true or false",
    "bool_parsing": "has to be true or false",
    "float_type": "has to be a number",
    "float_parsing": "has to be a number",
    "int_type": "has to be a whole number",
    "int_parsing": "has to be a whole number",
    "list_type": "has to be a list in [ ]",
    "model_type": "has to be an object in {{ }}",
    "json_invalid": "is not valid JSON: {error}. Write one object, from {{ to }}, and nothing around it",
}


def mistakes_in(text: str, contract: type[Contract], error: ValidationError) -> list[str]:
    """A sentence for each of the first errors, or the sentence that explains them all: only a part was given."""
    if sentence := _only_a_part(text, contract):
        return [sentence]
    found = [_sentence(contract, item) for item in error.errors(include_url=False, include_input=False)[:MAX_SHOWN]]
    more = error.error_count() - len(found)
    return [*found, f"More mistakes of this kind: {more}. Look at the form of the answer again."] if more else found


def place_of(location: tuple[int | str, ...]) -> str:
    """The place of a value in an answer, from the inside to the outside."""
    parts = [f"item {part + 1}" if isinstance(part, int) else f"`{str(part)[:80]}`" for part in reversed(location)]
    return " of ".join(parts) or "The answer"


def words_for(item: ErrorDetails) -> str:
    """What is wrong, worded to follow the place. For other errors it is the message of Pydantic."""
    words = _WORDS.get(item["type"])
    return words.format(**item.get("ctx", {})) if words else f"cannot be used: {item['msg']}"


def _sentence(contract: type[Contract], item: ErrorDetails) -> str:
    location = item["loc"]
    sentence = f"{place_of(location)} {words_for(item)}."
    if item["type"] in ("extra_forbidden", "json_invalid") or not location:
        return sentence
    example = json.dumps(example_at(contract, location), ensure_ascii=False)
    known = example != "null" and len(example) <= _EXAMPLE_CHARS
    name = f'"{location[-1]}": ' if isinstance(location[-1], str) else ""
    return f"{sentence} Right is, for example: {name}{example}" if known else sentence


def _only_a_part(text: str, contract: type[Contract]) -> str:
    """Small models do this: one step instead of the plan, a list of steps, or the whole inside one more object."""
    try:
        given = parsed(text)
    except InvalidInput:
        return ""
    if isinstance(given, dict) and len(given) == 1:
        ((outer, inner),) = given.items()
        if isinstance(inner, dict) and inner.keys() >= {
            name for name, field in contract.model_fields.items() if field.is_required()
        }:
            return f"Leave out “{outer[:80]}” around your answer: begin with what is inside it."
    items = given[:MAX_SHOWN] if isinstance(given, list) else [given]
    fitting = (name for name, part in _parts_of(contract) if all(_is_one(item, part, contract) for item in items))
    name = next(fitting, "") if items else ""
    if not name:
        return ""
    what = f"one item of `{name}`" if isinstance(given, dict) else f"the list `{name}`"
    fields = [f'"{key}": {"[ your answer ]" if key == name else "..."}' for key in example_of(contract)]
    return f"You answered with {what}, not with the whole. Wrap it: {{{', '.join(fields)}}}"


def _is_one(value: JsonValue, part: type[Contract], contract: type[Contract]) -> bool:
    """Whether this is meant to be a `part`: it has at least two of its fields, and none of the whole."""
    keys = value.keys() if isinstance(value, dict) else set[str]()
    return len(keys & part.model_fields.keys()) >= 2 and not keys & contract.model_fields.keys()


def _parts_of(contract: type[Contract]) -> list[tuple[str, type[Contract]]]:
    """The lists of objects in an answer, first those whose names and fields are most like the part."""
    found: list[tuple[str, Any]] = []
    for name, field in contract.model_fields.items():
        items = get_args(field.annotation) if get_origin(field.annotation) is list else ()
        found += [(name, item) for item in items if isinstance(item, type) and issubclass(item, Contract)]
    return sorted(found, key=lambda one: -len(one[1].model_fields))
