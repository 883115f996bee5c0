"""What programs rely on in one OpenAPI document and do not find in another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Path = tuple[str, ...]
"""A part of a document, such as ("GET /api/v1/runs", "answer 200", "application/json", "field runs", "field title")."""


def breaking_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A sentence for each change that breaks programs written for the old document."""
    before, after = dict(_parts(old)), dict(_parts(new))
    gone = {path for path in before if path not in after}
    said = [
        f"{path[0]} no longer has: {', '.join(path[1:]) or 'anything'}."
        for path in before
        if path in gone and path[:-1] not in gone
    ]
    demanded = [path for path, required in after.items() if required and path[:-1] in before]
    return said + [f"{path[0]} now demands: {', '.join(path[1:])}." for path in demanded if not before.get(path)]


def _parts(document: dict[str, Any]) -> Iterator[tuple[Path, bool]]:
    """Each part of a document, and whether a request needs it."""
    schemas = document["components"]["schemas"]
    for address, methods in document["paths"].items():
        for method, operation in methods.items():
            path: Path = (f"{method.upper()} {address}",)
            yield path, False
            for scheme in operation["security"]:
                for scope in next(iter(scheme.values())):
                    yield (*path, f"scope {scope}"), True
            for parameter in operation.get("parameters", []):
                place = (*path, f"parameter {parameter['name']} ({parameter['in']})")
                yield place, parameter["required"]
                yield from _parts_of(parameter["schema"], place, schemas, sent=True)
            if body := operation.get("requestBody"):
                yield (*path, "body"), body["required"]
                yield from _contents(body, (*path, "body"), schemas, sent=True)
            for status, answer in operation["responses"].items():
                yield (*path, f"answer {status}"), False
                yield from _contents(answer, (*path, f"answer {status}"), schemas, sent=False)
    for name, methods in document.get("webhooks", {}).items():
        path = (f"webhook {name}",)
        yield path, False
        for operation in methods.values():
            for parameter in operation["parameters"]:
                yield (*path, f"parameter {parameter['name']} ({parameter['in']})"), False
            yield from _contents(operation["requestBody"], path, schemas, sent=False)  # the programs receive it


def _contents(of: dict[str, Any], path: Path, schemas: dict[str, Any], *, sent: bool) -> Iterator[tuple[Path, bool]]:
    for kind, content in of.get("content", {}).items():
        yield (*path, kind), False
        yield from _parts_of(content["schema"], (*path, kind), schemas, sent=sent)


def _parts_of(
    schema: dict[str, Any], path: Path, schemas: dict[str, Any], *, sent: bool, within: tuple[str, ...] = ()
) -> Iterator[tuple[Path, bool]]:
    """The types, values and fields of what a schema allows. What contains itself is read once."""
    if reference := schema.get("$ref"):
        if reference not in within:
            within = (*within, reference)
            yield from _parts_of(schemas[reference.rpartition("/")[2]], path, schemas, sent=sent, within=within)
        return
    if "type" in schema:
        yield (*path, f"type {schema['type']}"), False
    for value in schema.get("enum", [schema["const"]] if "const" in schema else []):
        yield (*path, f"value {value!r}"), False
    for name, field in schema.get("properties", {}).items():
        place = (*path, f"field {name}")
        yield place, sent and name in schema.get("required", [])
        yield from _parts_of(field, place, schemas, sent=sent, within=within)
    nested = [one for key in ("anyOf", "allOf", "oneOf", "prefixItems") for one in schema.get(key, [])]
    nested += [one for key in ("items", "additionalProperties") if isinstance(one := schema.get(key), dict)]
    for one in nested:
        yield from _parts_of(one, path, schemas, sent=sent, within=within)
