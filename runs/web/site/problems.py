"""Answers of the REST API for what cannot be done: problem details (RFC 9457) with the sentences that people see.

Operations give them, and so does everything in front of them that refuses a request under `API_PATH`: the server before
Django sees it, and middleware before a view is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from pydantic import BaseModel, Field

from runs.web.site.addresses import API_PATH

MEDIA_TYPE = "application/problem+json"
PROBLEM = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
"""The content of such an answer, in the OpenAPI document."""
NOT_UNDERSTOOD = "The request could not be understood. Nothing was changed."
FAILED = "Something is wrong on the server, and is in its log. Try again later."


class FieldProblem(BaseModel):
    """One part of a request that cannot be used."""

    where: Annotated[str, Field(description="Its place, such as body.request.", examples=["body.request"])]
    sentence: Annotated[str, Field(examples=["Field required"])]


class ProblemDetails(BaseModel):
    """Why something was not done (RFC 9457)."""

    type: Annotated[str, Field(description="Always about:blank: `status` says which kind it is.")] = "about:blank"
    title: Annotated[str, Field(description="The phrase of the status.", examples=["Conflict"])]
    status: Annotated[int, Field(examples=[409])]
    detail: Annotated[str, Field(description="A sentence for people.", examples=["This run is already finished."])]
    fields: Annotated[list[FieldProblem], Field(description="The parts of the request that cannot be used.")] = []


class Refused(Exception):
    """A request is refused with this status and sentence, and with these headers besides."""

    def __init__(self, status: HTTPStatus, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, dict(headers or {})


def reads_problems(path: str) -> bool:
    """Whether this is an address for programs, which read problem details, also where the API is off."""
    return path.startswith(API_PATH)


def problem_json(status: int, sentence: str, fields: list[FieldProblem] | None = None) -> bytes:
    """Problem details, as the body of an answer of type `MEDIA_TYPE`."""
    status = HTTPStatus(status)
    problem = ProblemDetails(title=status.phrase, status=status, detail=sentence, fields=fields or [])
    return problem.model_dump_json().encode()


def answer_problem(
    status: int, sentence: str, fields: list[FieldProblem] | None = None, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    body = problem_json(status, sentence, fields)
    return HttpResponse(body, status=status, content_type=MEDIA_TYPE, headers=dict(headers or {}))


def not_found(request: HttpRequest, *_: object) -> HttpResponse:
    """The answer for an address of the API that is none, and for what a person may not see."""
    return answer_problem(404, f"There is nothing at {request.path[:200]} that you may see.")
