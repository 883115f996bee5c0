"""The check of request bodies against the package's own types, made as strict as the API.

The types also admit response models, which take any key; those go, and every object is closed. Unions become
a switch on `type` or `role`, so that an error names the field at fault and not the whole message.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from anthropic.types.message_count_tokens_params import MessageCountTokensParams
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from pydantic import TypeAdapter

from tests.fakes.anthropic_answers import JsonObject

_OPEN_ON_PURPOSE = frozenset({"InputSchemaTyped"})
_TAGS = ("type", "role")


def schema_error(body: object, *, counting: bool = False) -> str | None:
    """The first thing in `body` that the types forbid, with its path; None if there is nothing."""
    validator = _count_validator() if counting else _create_validator()
    first = next(validator.iter_errors(body), None)
    if first is None:
        return None
    error = _innermost(first)
    path = ".".join(str(part) for part in error.absolute_path)
    return f"{path or 'body'}: {error.message[:400]}"


def _validator(schema: JsonObject) -> Any:
    """Parts that were valid before are not looked at again: each request repeats its tools and all that was said."""
    valid: set[bytes] = set()

    def reference(validator: Any, ref: str, instance: Any, schema: JsonObject) -> Iterator[ValidationError]:
        part = hashlib.sha256(json.dumps([ref, instance]).encode()).digest()
        if part in valid:
            return
        errors = list(Draft202012Validator.VALIDATORS["$ref"](validator, ref, instance, schema))
        if not errors:
            valid.add(part)
        yield from errors

    return validators.extend(Draft202012Validator, {"$ref": reference})(schema)  # type: ignore[no-untyped-call]


@functools.cache
def _create_validator() -> Any:
    schema = _strict(TypeAdapter(MessageCreateParamsNonStreaming).json_schema())
    schema["properties"]["stream"] = {"type": "boolean"}
    return _validator(schema)


@functools.cache
def _count_validator() -> Any:
    return _validator(_strict(TypeAdapter(MessageCountTokensParams).json_schema()))


def warm_up() -> None:
    """Builds both validators. Called once before threads start, so that no request waits for it."""
    _create_validator()
    _count_validator()


def _strict(schema: JsonObject) -> JsonObject:
    definitions: JsonObject = schema["$defs"]
    response_models = {
        name
        for name, definition in definitions.items()
        if definition.get("additionalProperties") is True and name not in _OPEN_ON_PURPOSE
    }
    requests = {name: value for name, value in definitions.items() if name not in response_models}
    # The open alternative to InputSchemaTyped would admit schemas that are no objects.
    requests["ToolParam"]["properties"]["input_schema"] = {"$ref": "#/$defs/InputSchemaTyped"}
    dropped = {f"#/$defs/{name}" for name in response_models}
    result: JsonObject = _tighten({**schema, "$defs": requests}, dropped, requests)
    return result


def _tighten(node: Any, dropped: set[str], definitions: JsonObject) -> Any:
    if isinstance(node, list):
        return [_tighten(item, dropped, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: _tighten(value, dropped, definitions) for key, value in node.items()}
    if result.get("type") == "object" and "properties" in result:
        result.setdefault("additionalProperties", False)
    if isinstance(result.get("anyOf"), list):
        kept = [branch for branch in result.pop("anyOf") if branch.get("$ref") not in dropped]
        result |= _switch(kept, definitions) or {"anyOf": kept}
    return result


def _switch(branches: list[JsonObject], definitions: JsonObject) -> JsonObject | None:
    """`branches` as if/then on their tag; at most one may lack it (a custom tool needs no `type`)."""
    if len(branches) < 2 or not all("$ref" in branch for branch in branches):
        return None
    for tag in _TAGS:
        tagged = {_tag_value(branch, tag, definitions): branch for branch in branches}
        if len(tagged) == len(branches):
            other = tagged.pop(None, None)
            known = {"properties": {tag: {"enum": list(tagged)}}, "required": [tag]}
            cases = [
                {"if": {"properties": {tag: {"const": value}}, "required": [tag]}, "then": branch}
                for value, branch in tagged.items()
            ]
            default = {"if": known, "else": other} if other else known
            return {"type": "object", "allOf": [default, *cases]}
    return None


def _tag_value(branch: JsonObject, tag: str, definitions: JsonObject) -> str | None:
    definition = definitions[branch["$ref"].removeprefix("#/$defs/")]
    value: str | None = definition.get("properties", {}).get(tag, {}).get("const")
    return value


def _innermost(error: ValidationError) -> ValidationError:
    """Follows the branch of a union that has the value's own type, such as list in `string or list`."""
    while error.context:
        wrong = {part.relative_schema_path[0] for part in error.context if _wrong_type(part)}
        fitting = (part for part in error.context if part.relative_schema_path[0] not in wrong)
        error = next(fitting, error.context[0])
    return error


def _wrong_type(error: ValidationError) -> bool:
    return error.validator == "type" and not error.relative_path
