"""The reference of the API as a page, made from its OpenAPI document."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from itertools import groupby
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from runs.enums import TokenScope
from runs.reports.markdown_html import render_markdown
from runs.web.api.api import REFUSALS
from runs.web.api.documentation import document

_JSON = "application/json"
_WORDS = {"date-time": "date and time", "binary": "file"}
_REFERENCE = "#/components/schemas/"


@dataclass(frozen=True)
class Kind:
    """A type in words, such as “list of” with the name of an object, if it is one."""

    words: str
    of: str = ""


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of an object."""

    name: str
    kinds: tuple[Kind, ...]
    required: bool
    meaning: SafeString
    example: str


@dataclass(frozen=True)
class Data:
    """An object by its fields, or a word by its values."""

    name: str
    meaning: SafeString
    fields: tuple[Field, ...]
    values: tuple[str, ...]


@dataclass(frozen=True)
class Content:
    """What is sent or answered: a type of media, and either what it is or its fields. `example`: empty for none."""

    media_type: str
    kinds: tuple[Kind, ...]
    fields: tuple[Field, ...]
    example: str


@dataclass(frozen=True)
class Reply:
    status: HTTPStatus
    meaning: str
    contents: tuple[Content, ...]


@dataclass(frozen=True)
class Operation:
    key: str
    area: str
    method: str
    path: str
    summary: str
    meaning: SafeString
    scope: TokenScope
    parameters: tuple[Field, ...]
    bodies: tuple[Content, ...]
    replies: tuple[Reply, ...]
    command: str
    """The beginning of a curl command, up to the address."""
    example_path: str


@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    context = {
        "areas": [(area, list(found)) for area, found in groupby(_operations(), lambda one: one.area)],
        "data": _data(),
        "refusals": [(HTTPStatus(int(status)), render_markdown(meaning)) for status, meaning in REFUSALS.items()],
        "webhooks": [(name, one["post"]["summary"]) for name, one in document()["webhooks"].items()],
        "meaning": render_markdown(document()["info"]["description"]),
        "site": request.build_absolute_uri("/").rstrip("/"),
        "is_on": settings.API,
    }
    return render(request, "api/reference.html", context)


@cache
def _data() -> tuple[Data, ...]:
    return tuple(
        Data(
            name,
            render_markdown(schema.get("description", "")),
            _fields(schema),
            tuple(map(str, schema.get("enum", ()))),
        )
        for name, schema in sorted(document()["components"]["schemas"].items())
    )


@cache
def _operations() -> tuple[Operation, ...]:
    """All operations, those of an area together."""
    found = [
        _operation(method.upper(), path, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]
    areas = list(dict.fromkeys(one.area for one in found))
    return tuple(sorted(found, key=lambda one: areas.index(one.area)))


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Operation:
    (scope,) = next(iter(operation["security"][0].values()))
    body = operation.get("requestBody", {}).get("content", {})
    parameters = operation.get("parameters", ())
    example_path = path
    for one in parameters:
        if one["in"] == "path":
            example_path = example_path.replace(f"{{{one['name']}}}", str(one["example"]))
    return Operation(
        key=operation["operationId"],
        area=operation["tags"][0],
        method=method,
        path=path,
        summary=operation["summary"],
        meaning=render_markdown(operation.get("description", "")),
        scope=TokenScope(scope),
        parameters=tuple(
            _field(one["name"], {**one["schema"], "examples": [one["example"]]}, one["required"]) for one in parameters
        ),
        bodies=tuple(_contents(body)),
        replies=tuple(
            Reply(HTTPStatus(int(status)), reply["description"], tuple(_contents(reply.get("content", {}))))
            for status, reply in operation["responses"].items()
            if status not in REFUSALS
        ),
        command=_command(method, body),
        example_path=example_path,
    )


def _contents(content: Mapping[str, Any]) -> Iterator[Content]:
    for media_type, one in content.items():
        fields = _fields(one["schema"])
        example = one.get("example", "")
        text = example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
        yield Content(media_type, () if fields else _kinds(one["schema"]), fields, text)


def _fields(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    required = schema.get("required", ())
    return tuple(_field(name, one, name in required) for name, one in schema.get("properties", {}).items())


def _field(name: str, schema: Mapping[str, Any], required: bool) -> Field:
    examples = schema.get("examples", ())
    example = json.dumps(examples[0], ensure_ascii=False) if examples else ""
    return Field(name, _kinds(schema), required, render_markdown(schema.get("description", "")), example)


def _kinds(schema: Mapping[str, Any]) -> tuple[Kind, ...]:
    """The types that a value may have."""
    match schema:
        case {"$ref": reference}:
            return (Kind("", reference.removeprefix(_REFERENCE)),)
        case {"anyOf": several} | {"oneOf": several} | {"allOf": several}:
            return tuple(dict.fromkeys(kind for one in several for kind in _kinds(one)))
        case {"enum": values}:
            return (Kind("one of " + ", ".join(map(json.dumps, values))),)
        case {"const": value}:
            return (Kind(json.dumps(value)),)
        case {"type": "array", "items": items}:
            return tuple(Kind(f"list of {kind.words}".strip(), kind.of) for kind in _kinds(items))
        case {"type": "object", "additionalProperties": dict(values)}:
            return tuple(Kind(f"object with values of {kind.words}".strip(), kind.of) for kind in _kinds(values))
        case {"type": kind}:
            return (Kind(_WORDS.get(schema.get("format", ""), kind)),)
        case _:
            return (Kind("anything"),)


def _command(method: str, body: Mapping[str, Any]) -> str:
    """A curl command as far as its address."""
    parts = ["curl" if method == "GET" else f"curl --request {method}", '--header "Authorization: Bearer $TOKEN"']
    for media_type, content in body.items():
        example = content["example"]
        if media_type == _JSON:
            sent = json.dumps(example, ensure_ascii=False)
            parts += ['--header "Content-Type: application/json"', f"--data {shlex.quote(sent)}"]
            continue
        for name, value in example.items():
            values = [f"@{path}" for path in example["paths"]] if name == "files" else value
            for one in values if isinstance(values, list) else [values]:
                text = one if isinstance(one, str) else json.dumps(one)
                parts.append(f"--form {shlex.quote(f'{name}={text}')}")
    return " \\\n  ".join(parts)
