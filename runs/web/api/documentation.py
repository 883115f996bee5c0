"""The description of the API for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from runs.web.api.api import api
from runs.web.api.links import add_links
from runs.web.site.addresses import API_PATH

_EXAMPLES = Path(__file__).with_name("examples.json")
"""A request of each operation with its answer, and a notice of each kind to a webhook, recorded from a run by
`tests/api_examples.py`.
"""


@login_not_required
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document. It says nothing of the installation, so that it needs no token."""
    return JsonResponse(document())


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, which is the same on every installation of this version."""
    schema: dict[str, Any] = _simplified(api.get_openapi_schema(path_prefix=API_PATH.strip("/")))
    examples = json.loads(_EXAMPLES.read_text("utf-8"))
    for methods in (*schema["paths"].values(), *schema["webhooks"].values()):
        for operation in methods.values():
            if example := examples.get(operation["operationId"]):
                _add_example(operation, example)
    add_links(schema)
    return schema


def _simplified(value: Any) -> Any:
    """The same schema without `allOf` around one schema, which generators of clients take for an object of its own."""
    match value:
        case {"allOf": [schema], **others}:
            return _simplified({**schema, **others})
        case dict():
            return {key: _simplified(one) for key, one in value.items()}
        case list():
            return [_simplified(one) for one in value]
        case _:
            return value


def _add_example(operation: dict[str, Any], example: Mapping[str, Any]) -> None:
    for parameter in operation.get("parameters", []):
        name, own = parameter["name"], parameter["schema"].get("examples", [])
        if name in example["parameters"] or own:
            parameter["example"] = example["parameters"][name] if name in example["parameters"] else own[0]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        content["example"] = example["body"]
    if "answer" in example:
        content = operation["responses"][example["status"]]["content"]
        media_type = next(one for one in content if one.partition(";")[0] == example["media_type"])
        content[media_type]["example"] = example["answer"]
