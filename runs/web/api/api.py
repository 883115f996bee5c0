"""The API itself: its operations by area, how errors are answered, and its description as OpenAPI."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.urls import ResolverMatch, URLPattern
from django.utils.log import log_response
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.renderers import BaseRenderer
from pydantic_core import to_json

from pevsite.installation import version
from runs.enums import TokenScope
from runs.errors import NotVisible, PevError
from runs.logs import about
from runs.notices.channels.webhook_channel import SENT_KINDS, WebhookBody
from runs.notices.kinds import NOTICES
from runs.people.access_tokens import ScopeMissing
from runs.web.api import (
    event_operations,
    file_operations,
    gate_operations,
    idempotency,
    installation_operations,
    plan_operations,
    report_operations,
    run_operations,
)
from runs.web.api.tokens import AccessTokenAuth
from runs.web.site.admission import lacks_scope
from runs.web.site.error_views import RETRY_AFTER, TemporaryProblem, temporary_problem, too_much
from runs.web.site.problems import (
    FAILED,
    NOT_UNDERSTOOD,
    PROBLEM,
    FieldProblem,
    ProblemDetails,
    Refused,
    answer_problem,
    not_found,
)
from runs.web.site.requests import about_request, status_of

log = logging.getLogger(__name__)
_DESCRIPTION = """\
Submit tasks, follow them, read what they made and decide about them, by the same rules as the pages.

Every request shows an access token of a person as `Authorization: Bearer pev_…`; the scope that an operation needs is
named with it. What cannot be done is answered with problem details (RFC 9457), whose `detail` is a sentence for people.
Times are ISO 8601 with a zone. What a person may not see is answered with 404. What comes from a run (titles,
questions, reports, files) is data that anyone may have written.

Every POST takes an `Idempotency-Key`: sent again with the same key, a request does its work once. Every address that
takes GET takes HEAD too, with the headers of that answer and no body; `Range` is for GET alone.

Examples are from one recorded run. Lists and long texts in them are shortened.
"""
REFUSALS = {
    "400": "The request cannot be understood, or has too much text or too many fields or files",
    "401": "No access token, or one that does not work",
    "403": "The token lacks the scope, or its person may not do this",
    "404": "There is no such thing, or this person may not see it",
    "422": "Something in the request cannot be used",
    "429": "Too many requests; `Retry-After` says how long to wait",
    "431": "The address and the headers are longer than 16,384 bytes",
    "503": "Files or the database cannot be reached, or the site is busy or being upgraded; wait as `Retry-After` says",
}
"""The answers that any operation can give."""
_REFUSED_CHANGES = {
    "409": "Not possible in the state that it is in now, or answered already",
    "413": "The body is larger than this address takes",
    "507": "The disk of the server has no room for the files",
}
"""The answers that operations which change something can give besides."""
_OUTDATED = {"412": "The run has changed since it was read (`If-Match`)"}
"""The answers that operations which change something about a run can give besides."""


class _JsonRenderer(BaseRenderer):
    """Writes answers as Pydantic writes reports and the bodies of webhooks: a value has the same text everywhere."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        return to_json(data)


class PevApi(NinjaAPI):
    """Names in its description the scope that each operation needs, and the answers that all of them can give."""

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(**options)
        schema["components"]["schemas"]["ProblemDetails"] = _schema_of_problems()
        schema["webhooks"] = _webhooks(schema["components"]["schemas"])
        scopes = dict(self._scopes())
        for address, path in schema["paths"].items():
            path.pop("head", None)  # the same as GET: the description of the API says so once
            for method, operation in path.items():
                scope = scopes[operation["operationId"]]
                operation["security"] = [{AccessTokenAuth.__name__: [scope]}]
                answers = operation["responses"] = {str(key): one for key, one in operation["responses"].items()}
                if method == "post":
                    operation["parameters"].append(idempotency.PARAMETER)
                    for answer in answers.values():
                        answer["headers"] = {idempotency.REPLAYED: idempotency.REPLAYED_HEADER}
                refusals = REFUSALS if method == "get" else REFUSALS | _REFUSED_CHANGES
                if method != "get" and ("{run_id}" in address or "{gate_id}" in address):
                    refusals |= _OUTDATED
                for status, description in refusals.items():
                    answer = answers.setdefault(status, {"description": description})
                    answer["content"] = answer.get("content", {}) | PROBLEM
        return schema

    def get_openapi_operation_id(self, operation: Any) -> str:
        name: str = operation.view_func.__name__
        return name

    def _scopes(self) -> Iterator[tuple[str, TokenScope]]:
        """The scope of each operation, by its id."""
        for router in self._get_bound_routers():
            for view in router.path_operations.values():
                for operation in view.operations:
                    yield self.get_openapi_operation_id(operation), _scope_of(operation)

    def bind_patterns(self) -> list[URLPattern]:
        """The addresses of the operations, for `include`. They ask for a token instead of a session. From now on, each
        operation that takes GET takes HEAD too.
        """
        scopes = []  # for each pattern, as there is a pattern for each operation
        for router in self._get_bound_routers():
            for view in router.path_operations.values():
                for operation in view.operations:
                    if operation.methods == ["GET"]:
                        operation.methods.append("HEAD")
                by_method = {method: _scope_of(one) for one in view.operations for method in one.methods}
                scopes += [by_method] * len(view.operations)
        found = [one for one in self.urls[0] if isinstance(one, URLPattern) and one.name != "api-root"]
        for pattern, by_method in zip(found, scopes, strict=True):
            pattern.callback = _as_program(pattern.callback)
            pattern.callback.scopes = by_method  # type: ignore[attr-defined]
        return found


def _scope_of(operation: Operation) -> TokenScope:
    (auth,) = operation.auth_callbacks
    assert isinstance(auth, AccessTokenAuth)
    return auth.scope


def scope_for(method: str, match: ResolverMatch) -> TokenScope | None:
    """The scope that a request to this address needs. None if no operation answers it."""
    scopes: Mapping[str, TokenScope] = getattr(match.func, "scopes", {})
    return scopes.get(method)


def _as_program(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view for programs: without a session, with problem details for a method that an address does not take."""

    @login_not_required
    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.API:
            return answer_problem(404, "The REST API of this installation is off (PEV_API).")
        response = view(request, *args, **kwargs)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = ", ".join(sorted(response.headers["Allow"].split(", ")))
            sentence = f"This address takes {allowed}, and not {request.method}."
            response = answer_problem(HTTPStatus.METHOD_NOT_ALLOWED, sentence, headers={"Allow": allowed})
        idempotency.settle(request, response)
        return response

    return answer


def _webhooks(schemas: dict[str, Any]) -> dict[str, Any]:
    """The notices that people have posted to their own servers. Adds their objects to the schemas of the document."""
    body = WebhookBody.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = body.pop("$defs")
    schemas |= {"WebhookBody": body, "WebhookData": parts["WebhookData"]}  # the operations have the others
    headers = {
        "webhook-id": "The same in each attempt to send this notice.",
        "webhook-timestamp": "The time of this attempt, in seconds since 1970.",
        "webhook-signature": "v1, and the HMAC-SHA256 of id, time and body with the secret of the webhook, in base64.",
    }
    return {
        f"notice.{kind}": {
            "post": {
                "operationId": f"notice_{kind}",
                "tags": ["webhooks"],
                "summary": NOTICES[kind].label or "A test",
                "parameters": [
                    {"in": "header", "name": name, "required": True, "schema": {"type": "string"}, "description": words}
                    for name, words in headers.items()
                ],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WebhookBody"}}},
                },
                "responses": {
                    "2XX": {"description": "Received"},
                    "410": {"description": "The receiver wants no more: this notice is not tried again"},
                    "429": {"description": "Try again after `Retry-After`, at most six hours later"},
                    "default": {"description": "Try again later, for three days"},
                },
            }
        }
        for kind in SENT_KINDS
    }


def _schema_of_problems() -> dict[str, Any]:
    schema = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
    field = schema.pop("$defs")["FieldProblem"]
    schema["properties"]["fields"]["items"] = field
    return schema


api = PevApi(
    title="pevsite",
    version="1",
    description=_DESCRIPTION,
    urls_namespace="api",
    renderer=_JsonRenderer(),
    docs_url=None,
    openapi_url=None,  # `documentation` answers for it, without a token
    openapi_extra={"info": {"x-pevsite-version": version()}},
)
api.add_decorator(idempotency.once_per_key)
api.add_router("", run_operations.router)
api.add_router("", gate_operations.router)
api.add_router("", file_operations.router)
api.add_router("", report_operations.router)
api.add_router("", event_operations.router)
api.add_router("", plan_operations.router)
api.add_router("", installation_operations.router)


@api.exception_handler(Refused)
def _refused(_request: HttpRequest, error: Refused) -> HttpResponse:
    return answer_problem(error.status, str(error), headers=error.headers)


@api.exception_handler(Http404)
def _not_found(request: HttpRequest, _error: Http404) -> HttpResponse:
    return not_found(request)


@api.exception_handler(ScopeMissing)
def _not_in_scope(request: HttpRequest, error: ScopeMissing) -> HttpResponse:
    return _refused(request, lacks_scope(error))


@api.exception_handler(PevError)
def _not_done(request: HttpRequest, error: PevError) -> HttpResponse:
    log.info("refused: %s", error, extra=about(**about_request(request)))
    if isinstance(error, NotVisible):
        return answer_problem(404, str(error))
    if problem := temporary_problem(error):
        return _later(problem)
    return answer_problem(status_of(error), str(error))


@api.exception_handler(ValidationError)
def _unusable(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    fields = [FieldProblem(where=_place(one["loc"]), sentence=one["msg"]) for one in error.errors]
    names = ", ".join(dict.fromkeys(one.where for one in fields))
    return answer_problem(422, f"This cannot be used: {names}. Nothing was changed.", fields)


@api.exception_handler(HttpError)
def _not_read(_request: HttpRequest, error: HttpError) -> HttpResponse:
    return answer_problem(error.status_code, f"{error}. Nothing was changed.")


@api.exception_handler(SuspiciousOperation)
@api.exception_handler(MultiPartParserError)
def _not_understood(_request: HttpRequest, error: Exception) -> HttpResponse:
    return answer_problem(400, too_much(error) or NOT_UNDERSTOOD)


@api.exception_handler(Exception)
def _failed(request: HttpRequest, error: Exception) -> HttpResponse:
    response = _later(problem) if (problem := temporary_problem(error)) else answer_problem(500, FAILED)
    log_response("%s", request.path, response=response, request=request, exception=error)
    return response


def _later(problem: TemporaryProblem) -> HttpResponse:
    return answer_problem(503, problem.sentence, headers={"Retry-After": RETRY_AFTER})


def _place(parts: Any) -> str:
    """Without names that no one outside knows: those that a function has for its query, form or body, and types."""
    where, *names = [part for part in map(str, parts) if "[" not in part]  # such as str-enum[RunStatus], in a union
    return ".".join([where, *(names[1:] if where != "path" and len(names) > 1 else names)])


@login_not_required
@csrf_exempt
def no_operation(request: HttpRequest) -> HttpResponse:
    """The answer for an address below that of the API which none of its operations has."""
    return not_found(request)
