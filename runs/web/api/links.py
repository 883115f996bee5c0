"""OpenAPI links: which operations can follow an answer, because it names what they are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_NAMED_BY = {
    "run_id": ("run", "runs/0/run"),
    "gate_id": ("gate", "gates/0/gate"),
    "upload": ("upload",),
    "path": ("files/0/path",),
    "version": ("version", "plans/0/version"),
    "step_id": ("step_id", "steps/0/step_id"),
    "number": ("attempts/0/number",),
    "key": ("templates/0/key",),
}
"""The parameters of addresses, with the fields of answers that name such a thing."""
_FINGERPRINTS = {"gate": "fingerprint", "gates/0/gate": "gates/0/fingerprint"}
"""Fields that name a decision, with the one that its answer has to send back."""
_FIELDS = ("next", *(field for fields in _NAMED_BY.values() for field in fields))


class _Operation(NamedTuple):
    name: str
    parameters: tuple[str, ...]
    """Those of its path."""
    pages: bool
    """Whether it takes a cursor."""
    demanded: Mapping[str, Any]
    """The fields that its JSON must have, with their examples."""


def add_links(document: dict[str, Any]) -> None:
    """Links each answer that names something new to the operations about that, a decision to its answers, and each page
    of a list to the next.
    """
    schemas = document["components"]["schemas"]
    described = [operation for methods in document["paths"].values() for operation in methods.values()]
    operations = [_operation(one, schemas) for one in described]
    for description, operation in zip(described, operations, strict=True):
        status, answer = next((key, one) for key, one in description["responses"].items() if key.startswith("2"))
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        fields = [field for field in _FIELDS if _has(schema, field, schemas)]
        if links := dict(_links(operation, operations, fields, status)):
            answer["links"] = links


def _links(
    operation: _Operation, operations: Sequence[_Operation], fields: Sequence[str], status: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Links from an answer with these fields."""
    known = {parameter: f"$request.path.{parameter}" for parameter in operation.parameters}
    named = {parameter: _in_body(field) for parameter, names in _NAMED_BY.items() for field in names if field in fields}
    new = named.keys() if status == "201" else named.keys() - known.keys()
    values = known | {parameter: value for parameter, value in named.items() if parameter in new}
    fingerprint = next((_FINGERPRINTS[field] for field in _FINGERPRINTS if field in fields), "")
    for target in operations:
        about_gate = "gate_id" in target.parameters and target is not operation
        decides = fingerprint and about_gate and "fingerprint" in target.demanded
        about = set(target.parameters)
        if about <= values.keys() and (decides or about & new):
            parameters = {parameter: values[parameter] for parameter in target.parameters}
            link: dict[str, Any] = {"operationId": target.name, "parameters": parameters}
            if decides:
                link["requestBody"] = {**target.demanded, "fingerprint": _in_body(fingerprint)}
            yield target.name, link
    if operation.pages and "next" in fields:
        yield "next_page", {"operationId": operation.name, "parameters": known | {"cursor": _in_body("next")}}


def _operation(description: Mapping[str, Any], schemas: Mapping[str, Any]) -> _Operation:
    parameters = description.get("parameters", [])
    body = description.get("requestBody", {}).get("content", {}).get("application/json", {"schema": {}})
    required, example = _resolved(body["schema"], schemas).get("required", ()), body.get("example", {})
    return _Operation(
        description["operationId"],
        tuple(one["name"] for one in parameters if one["in"] == "path"),
        any(one["name"] == "cursor" for one in parameters),
        {field: example[field] for field in required if field in example},
    )


def _in_body(field: str) -> str:
    return f"$response.body#/{field}"


def _has(schema: Mapping[str, Any], field: str, schemas: Mapping[str, Any]) -> bool:
    """Whether an answer has this field, such as `run`, or `runs/0/run` in the first line of a list."""
    name, _, rest = field.partition("/0/")
    found = _resolved(schema, schemas).get("properties", {}).get(name)
    return found is not None and (not rest or _has(found.get("items", {}), rest, schemas))


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found
