"""What programs rely on in one OpenAPI document and do not find in another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Path = tuple[str, ...]
"""A part of a document, such as ("GET /api/v1/runs", "answer 200", "application/json", "field runs", "field title")."""


_AT_MOST = {"maximum", "exclusiveMaximum", "maxLength", "maxItems"}
_AT_LEAST = {"minimum", "exclusiveMinimum", "minLength", "minItems"}
_LIMITS = (*_AT_MOST, *_AT_LEAST, "pattern", "format", "multipleOf")


class Part(NamedTuple):
    """One part of a document."""

    path: Path
    demanded: bool = False
    """Whether it breaks programs that do not know it: a request needs it, or an answer may have this type."""
    limit: Any = None
    """The value of a limit to what may be sent."""


def breaking_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A sentence for each change that breaks programs written for the old document."""
    before, after = ({part.path: part for part in _parts(document)} for document in (old, new))
    gone = {path for path in before if path not in after}
    said = [
        f"{path[0]} no longer has: {', '.join(path[1:]) or 'anything'}."
        for path, part in before.items()
        if path in gone and path[:-1] not in gone and part.limit is None
    ]
    for path, part in after.items():
        was = before.get(path, Part(path))
        if path[:-1] in before and part.demanded and not was.demanded:
            said.append(f"{path[0]} now {'demands' if _is_sent(path) else 'may have'}: {', '.join(path[1:])}.")
        if path[:-1] in before and _is_narrower(path[-1], was.limit, part.limit):
            said.append(f"{path[0]} now takes less: {', '.join(path[1:])} {part.limit}.")
    return said


def _is_sent(path: Path) -> bool:
    """Whether programs send this. Answers and webhooks are what they receive."""
    return not path[0].startswith("webhook ") and not path[1].startswith("answer ")


def _is_narrower(name: str, old: Any, new: Any) -> bool:
    if new is None or old is None:
        return new is not None
    if name in _AT_MOST | _AT_LEAST:
        return bool(new < old if name in _AT_MOST else new > old)
    return bool(new != old)


def _parts(document: dict[str, Any]) -> Iterator[Part]:
    schemas = document["components"]["schemas"]
    for address, methods in document["paths"].items():
        for method, operation in methods.items():
            path: Path = (f"{method.upper()} {address}",)
            yield Part(path)
            for scheme in operation["security"]:
                for scope in next(iter(scheme.values())):
                    yield Part((*path, f"scope {scope}"), demanded=True)
            for parameter in operation.get("parameters", []):
                place = (*path, f"parameter {parameter['name']} ({parameter['in']})")
                yield Part(place, parameter["required"])
                yield from _parts_of(parameter["schema"], place, schemas)
            if body := operation.get("requestBody"):
                yield Part((*path, "body"), body["required"])
                yield from _contents(body, (*path, "body"), schemas)
            for status, answer in operation["responses"].items():
                yield Part((*path, f"answer {status}"))
                yield from _contents(answer, (*path, f"answer {status}"), schemas)
    for name, methods in document.get("webhooks", {}).items():
        path = (f"webhook {name}",)
        yield Part(path)
        for operation in methods.values():
            for parameter in operation["parameters"]:
                yield Part((*path, f"parameter {parameter['name']} ({parameter['in']})"))
            yield from _contents(operation["requestBody"], path, schemas)


def _contents(of: dict[str, Any], path: Path, schemas: dict[str, Any]) -> Iterator[Part]:
    for kind, content in of.get("content", {}).items():
        yield Part((*path, kind))
        yield from _parts_of(content["schema"], (*path, kind), schemas)


def _parts_of(
    schema: dict[str, Any], path: Path, schemas: dict[str, Any], within: tuple[str, ...] = ()
) -> Iterator[Part]:
    """The types, values, limits and fields of what a schema allows. What contains itself is read once."""
    if reference := schema.get("$ref"):
        if reference not in within:
            within = (*within, reference)
            yield from _parts_of(schemas[reference.rpartition("/")[2]], path, schemas, within)
        return
    sent = _is_sent(path)
    if "type" in schema:
        yield Part((*path, f"type {schema['type']}"), demanded=not sent)
    for value in schema.get("enum", [schema["const"]] if "const" in schema else []):
        yield Part((*path, f"value {value!r}"))
    if sent:
        yield from (Part((*path, name), limit=schema[name]) for name in _LIMITS if name in schema)
        if schema.get("additionalProperties") is False:
            yield Part((*path, "other fields"), limit=False)
    elif "format" in schema:
        yield Part((*path, f"format {schema['format']}"))
    for name, field in schema.get("properties", {}).items():
        place, always = (*path, f"field {name}"), name in schema.get("required", [])
        yield Part(place, sent and always)
        if always and not sent:
            yield Part((*place, "always"))
        yield from _parts_of(field, place, schemas, within)
    for one in (one for key in ("anyOf", "allOf", "oneOf", "prefixItems") for one in schema.get(key, [])):
        yield from _parts_of(one, path, schemas, within)
    for key in ("items", "additionalProperties"):
        if isinstance(one := schema.get(key), dict):
            yield Part((*path, "each"))
            yield from _parts_of(one, (*path, "each"), schemas, within)
