"""Schemas of tools in the form that the Messages API takes.

A request that offers one tool with a schema that the API refuses is refused as a whole, so such a tool is left out.
Where the same can be said in a form that the API takes, the schema is rewritten instead. The server checks the
arguments of each call against its own schema in any case.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from runs.errors import InvalidInput
from runs.text.nesting import is_nested_deeper

MAX_DEPTH = 100
"""Levels of objects and lists: parsers of JSON refuse a request with more than 128."""
_ARGUMENT = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""The API checks the names of the arguments themselves, not those of properties inside them."""
_COMBINING = ("anyOf", "oneOf", "allOf")
"""The API takes these everywhere but at the top."""
_ANNOTATIONS = frozenset({"$comment", "$defs", "definitions", "description", "title", "type"})
"""What may stand beside a `$ref` at the top without restricting what it refers to."""
_MAX_REFS = 10


def accepted_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, or one with the same meaning that the API takes. Linear in the schema.

    Raises InvalidInput with a clause that says why the API would refuse it.
    """
    if is_nested_deeper(schema, MAX_DEPTH):
        raise InvalidInput(f"its schema has more than {MAX_DEPTH} levels")
    try:
        text = json.dumps(schema, allow_nan=False)
    except ValueError as error:
        raise InvalidInput("its schema has a number that JSON does not have") from error
    accepted, reason = _accepted(text)
    if reason:
        raise InvalidInput(reason)
    found: dict[str, Any] = json.loads(accepted)
    return found


@lru_cache(maxsize=300)
def _accepted(text: str) -> tuple[str, str]:
    """The accepted schema as JSON, or the reason why there is none. Tools are listed before each call, so that the
    same schemas come again and again; a check takes up to 0.4 seconds.
    """
    try:
        return json.dumps(_checked(json.loads(text))), ""
    except InvalidInput as error:
        return "", str(error)


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    for key in ("$schema", "$id"):  # which dialect it is in, and where it was published
        schema.pop(key, None)
    schema = _with_type(_without_ref(schema))
    _modernize(schema)
    for key in _COMBINING:
        if key in schema:
            raise InvalidInput(f"its schema has {key} at the top, which the API refuses")
    _check_form(schema)
    for name in schema.get("properties", {}):
        if not _ARGUMENT.fullmatch(name):
            rule = "names of arguments have 1 to 64 letters, digits, dots, _ and -"
            raise InvalidInput(f"the API refuses the name of its argument “{name[:64]}”: {rule}")
    return schema


def _without_ref(schema: dict[str, Any]) -> dict[str, Any]:
    """With what a `$ref` at the top refers to in its place: the API wants to see an object there."""
    for _ in range(_MAX_REFS):
        if "$ref" not in schema:
            return schema
        target = _targets_in(schema)(schema["$ref"])
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        if not isinstance(target, dict) or not beside.keys() <= _ANNOTATIONS:
            raise InvalidInput("its schema has a $ref at the top that cannot be resolved")
        schema = target | {key: value for key, value in beside.items() if key != "type" or "type" not in target}
    raise InvalidInput("its schema has a $ref at the top that leads to itself")


def _with_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments are always an object, so that no type, or a choice of types with this one, means an object."""
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise InvalidInput("its arguments are no object")
    return {**schema, "type": "object"}


def _modernize(schema: dict[str, Any]) -> None:
    """Write keywords of older drafts as draft 2020-12 does, at every level."""
    for each in _subschemas(schema):
        if isinstance(items := each.get("items"), list):
            each["prefixItems"] = each.pop("items")
            if "additionalItems" in each:
                each["items"] = each.pop("additionalItems")
            if not items:
                del each["prefixItems"]
        for exclusive, inclusive in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if isinstance(each.get(exclusive), bool):
                is_exclusive = each.pop(exclusive)
                if is_exclusive and inclusive in each:
                    each[exclusive] = each.pop(inclusive)
        if isinstance(pattern := each.get("pattern"), str) and not _compiles(pattern):
            del each["pattern"]  # of another dialect of regular expressions, which only the server knows


def _subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and all schemas inside it, each before those inside it. Of a part that has not the form of a schema
    nothing is visited; `_check_form` refuses it.
    """
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        yield each
        try:
            waiting += [one for one in DRAFT202012.subresources_of(each) if isinstance(one, dict)]
        except (AttributeError, TypeError):
            continue


def _check_form(schema: dict[str, Any]) -> None:
    """Raises InvalidInput for what is not JSON Schema 2020-12, and for references that lead nowhere."""
    try:
        Draft202012Validator.check_schema(schema)
        target = _targets_in(schema)
        for each in _subschemas(schema):
            for key in ("$ref", "$dynamicRef"):
                if key in each:
                    target(each[key])
    except SchemaError as error:
        raise InvalidInput(_reason(error)) from error
    except InvalidInput:
        raise
    except Exception as error:  # a hostile schema can break the library in ways that no one has listed
        raise InvalidInput(f"its schema cannot be checked ({type(error).__name__})") from error


def _targets_in(schema: dict[str, Any]) -> Callable[[object], Any]:
    """A function that returns what a reference within the schema refers to, and raises InvalidInput."""
    resolver = Registry[Any]().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    return lambda ref: _target(ref, resolver.lookup)


def _target(ref: object, lookup: Callable[[str], Any]) -> Any:
    try:
        return lookup(str(ref)).contents
    except Exception as error:  # as in `_check_form`
        raise InvalidInput(f"its schema refers to “{str(ref)[:100]}”, which is not in it") from error


def _reason(error: SchemaError) -> str:
    path = "/".join(str(part) for part in error.absolute_path)[:100]
    if error.absolute_path and error.absolute_path[-1] == "type":
        return f"its schema has a type that does not exist, at {path}: {str(error.instance)[:60]}"
    return f"its schema is not valid JSON Schema 2020-12{f', at {path}' if path else ''}: {error.message[:150]}"


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
