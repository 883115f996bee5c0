"""JSON and JSON Schema from outside: no schema fetches anything, runs for long or escapes its limits.

Draft 2020-12, and draft 7 for schemas that name draft 7 or older. `jsonschema` does the validation, with
those keywords replaced whose cost a hostile schema or document could raise without bound.
"""

import json
from collections import Counter
from collections.abc import Callable, ItemsView, Iterator, Mapping
from typing import Any, cast

from jsonschema import Draft7Validator, Draft202012Validator, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import create
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable

from runs.errors import InvalidInput
from runs.text.json_values import objects_in
from runs.text.patterns import Budget, Pattern, compiled, found
from runs.text.truncate import cut_after

MAX_CHARACTERS = 20_000
"""Characters of a schema. Checking the schema itself takes up to about 0.1 ms for each."""

_NOT_SUPPORTED = frozenset(
    {"unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef", "$dynamicAnchor"}
)
_OLDER = ("draft-07", "draft-06", "draft-04", "draft-03")

type _Errors = Iterator[ValidationError]
type _Keyword = Callable[[Any, Any, Any, Any], _Errors]


def parsed(text: str, *, once: bool = False) -> JsonValue:
    """The JSON value. Raises InvalidInput with a part of a sentence: what is wrong, line and column.

    `once`: an object that has a name twice is refused too, instead of losing the first of the two.
    """
    try:
        hook = _each_name_once if once else None
        return cast(
            "JsonValue", json.loads(text, parse_int=_whole, parse_constant=_no_constant, object_pairs_hook=hook)
        )
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{error.msg}, line {error.lineno}, column {error.colno}") from error
    except ValueError as error:
        raise InvalidInput(str(error)) from error
    except RecursionError as error:
        raise InvalidInput("it is nested too deeply") from error


def read_schema(text: str) -> JsonValue:
    """The schema, checked and made safe to use. Raises InvalidInput with a part of a sentence."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(f"it has {len(text):,} characters and may have {MAX_CHARACTERS:,}")
    schema = parsed(text)
    if not isinstance(schema, dict | bool):
        raise InvalidInput("it is not a JSON object")
    try:
        cast("Any", _base(schema)).check_schema(schema, format_checker=None)
        for node in objects_in(schema):
            _refuse(node, is_root=node is schema)
    except SchemaError as error:
        raise InvalidInput(_sentence(error)) from error
    except RecursionError as error:
        raise InvalidInput("it is nested too deeply") from error
    return schema


def problem_with_value(value: JsonValue, schema: JsonValue, budget: Budget) -> str | None:
    """The first thing in which the value breaks a schema from `read_schema`, or None.

    Raises TooSlow when the budget is used up, InvalidInput when the schema cannot be applied at all.
    """
    rules = {**schema} if isinstance(schema, dict) else schema
    if isinstance(rules, dict):
        rules.pop("$schema", None)
        rules.pop("$id", None)
    validator = _validator(_base(schema), budget)(cast("Any", rules), registry=Registry())
    try:
        error = next(validator.iter_errors(value), None)
    except InvalidInput:
        raise
    except (RecursionError, Unresolvable) as broken:
        raise InvalidInput("a $ref in it leads nowhere or goes round in circles") from broken
    except Exception as broken:  # a hostile schema can break the library in ways that no one has listed
        raise InvalidInput(f"it cannot be applied ({type(broken).__name__})") from broken
    return _sentence(error) if error else None


def _base(schema: JsonValue) -> type[Validator]:
    named = schema.get("$schema") if isinstance(schema, dict) else None
    older = isinstance(named, str) and any(name in named for name in _OLDER)
    return cast("type[Validator]", Draft7Validator if older else Draft202012Validator)


def _refuse(node: dict[str, JsonValue], *, is_root: bool) -> None:
    """Raises InvalidInput for keywords that would let a schema load something, or replace its validator."""
    for key in _NOT_SUPPORTED & node.keys():
        raise InvalidInput(f"{key} is not supported; write the schema without it")
    for key in ("$schema", "$id"):
        if isinstance(node.get(key), str) and not is_root:
            raise InvalidInput(f"{key} may only stand at the top of it")
    ref = node.get("$ref")
    if isinstance(ref, str) and not ref.startswith("#"):
        raise InvalidInput(f"$ref may only point into the schema itself (#/…), not to {ref[:100]}")
    if isinstance(pattern := node.get("pattern"), str):
        _checked(pattern)
    if isinstance(patterns := node.get("patternProperties"), dict):
        for each in patterns:
            _checked(each)


def _validator(base: type[Validator], budget: Budget) -> type[Validator]:
    """The base validator with a budget that is checked whenever a schema is applied to a value."""

    def in_time(schema: Mapping[str, Any]) -> ItemsView[str, Any]:
        budget.left()
        return schema.items()

    keywords = {**base.VALIDATORS, **_Keywords(budget).by_name()}
    make = cast("Callable[..., type[Validator]]", create)
    return make(base.META_SCHEMA, keywords, type_checker=base.TYPE_CHECKER, applicable_validators=in_time)


class _Keywords:
    """Our own keywords, as functions of validator, value of the keyword, instance and schema."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def by_name(self) -> dict[str, _Keyword]:
        return {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "uniqueItems": self._unique_items,
            "anyOf": self._any_of,
            "oneOf": self._one_of,
        }

    def _matches(self, pattern: str, text: str) -> bool:
        return found(_checked(pattern), text, self._budget)

    def _fits(self, validator: Any, schema: Any, value: Any) -> bool:
        self._budget.left()
        return next(validator.descend(value, schema), None) is None

    def _pattern(self, _validator: Any, pattern: Any, value: Any, _schema: Any) -> _Errors:
        if isinstance(value, str) and not self._matches(pattern, value):
            yield ValidationError(f"{value[:80]!r} does not match {pattern!r}")

    def _pattern_properties(self, validator: Any, patterns: Any, value: Any, _schema: Any) -> _Errors:
        for pattern, rules in patterns.items() if isinstance(value, dict) else ():
            for name in value:
                if self._matches(pattern, name):
                    yield from validator.descend(value[name], rules, path=name, schema_path=pattern)

    def _additional_properties(self, validator: Any, rules: Any, value: Any, schema: Any) -> _Errors:
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name in value if isinstance(value, dict) else ():
            if name in known or any(self._matches(pattern, name) for pattern in patterns):
                continue
            if rules is False:
                yield ValidationError(f"{name[:80]!r} is not among the properties allowed")
            else:
                yield from validator.descend(value[name], rules, path=name)

    def _unique_items(self, _validator: Any, wanted: Any, value: Any, _schema: Any) -> _Errors:
        if wanted and isinstance(value, list) and len({_key(item) for item in value}) < len(value):
            yield ValidationError("the same element occurs twice")

    def _any_of(self, validator: Any, choices: Any, value: Any, _schema: Any) -> _Errors:
        if not any(self._fits(validator, choice, value) for choice in choices):
            yield ValidationError("it fits none of the forms in anyOf")

    def _one_of(self, validator: Any, choices: Any, value: Any, _schema: Any) -> _Errors:
        fitting = sum(1 for choice in choices if self._fits(validator, choice, value))
        if fitting != 1:
            yield ValidationError(f"it fits {fitting} of the forms in oneOf and must fit exactly one")


def _checked(pattern: str) -> Pattern:
    try:
        return compiled(pattern)
    except InvalidInput as error:
        raise InvalidInput(f"the pattern “{pattern[:80]}” in it cannot be used: {error}") from error


def _key(value: JsonValue) -> object:
    """Equal for equal JSON values only: 1 is 1.0 but not true."""
    if isinstance(value, dict):
        return "object", frozenset((name, _key(item)) for name, item in value.items())
    if isinstance(value, list):
        return "array", tuple(_key(item) for item in value)
    return isinstance(value, bool), value


def _each_name_once(pairs: list[tuple[str, JsonValue]]) -> JsonValue:
    made = dict(pairs)
    if len(made) < len(pairs):
        repeated = Counter(name for name, _ in pairs).most_common(1)[0][0]
        shown = repeated[:80].encode(errors="replace").decode()
        raise ValueError(f"the name “{shown}” is given twice in one object")
    return made


def _whole(digits: str) -> int:
    if len(digits) > 1_000:
        raise ValueError("a number in it has more than 1,000 digits")
    return int(digits)


def _no_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is not JSON")


def _sentence(error: ValidationError | SchemaError) -> str:
    message = cut_after(error.message, 200, "…")
    where = "/".join(str(part) for part in error.absolute_path)
    return f"{message}, at {where[:200]}" if where else message
