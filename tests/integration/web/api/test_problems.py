"""What refuses a request for the API before an operation is called answers with problem details as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings

from runs.errors import FromLaterVersion, StoreAway
from runs.web.site.error_views import UnansweredErrors
from tests import factories as made
from tests.integration.web.api.asking import program_of

pytestmark = pytest.mark.django_db


def failing(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """A middleware that fails."""

    def fail(request: HttpRequest) -> HttpResponse:
        raise ZeroDivisionError("a secret of the server")

    return fail


def problem_of(answer: Any) -> tuple[int, str]:
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem.keys() == {"type", "title", "status", "detail", "fields"}
    assert problem["status"] == answer.status_code
    return answer.status_code, problem["detail"]


def test_a_host_that_is_not_ours() -> None:
    alice = program_of(made.alice())
    with override_settings(ALLOWED_HOSTS=["pevsite.example"]):
        answer = alice.get("/runs", Host="evil.example")
        page = Client().get("/sign-in/", headers={"Host": "evil.example"})
    assert problem_of(answer) == (400, "The request could not be understood. Nothing was changed.")
    assert "evil.example" not in answer.text
    assert (page.status_code, page["Content-Type"]) == (400, "text/html; charset=utf-8")


def test_a_failure_outside_of_operations() -> None:
    middleware = [*settings.MIDDLEWARE, f"{__name__}.failing"]
    with override_settings(MIDDLEWARE=middleware):
        client = Client(raise_request_exception=False)
        answer, page = client.get("/api/v1/runs"), client.get("/sign-in/")
    sentence = "Something is wrong on the server, and is in its log. Try again later."
    assert problem_of(answer) == (500, sentence)
    assert (page.status_code, page["Content-Type"]) == (500, "text/html; charset=utf-8")
    assert "secret" not in answer.text + page.text


@pytest.mark.parametrize("error", [StoreAway("The store of files is away."), FromLaterVersion("This is newer.")])
def test_what_is_away_for_a_moment(error: Exception) -> None:
    middleware = UnansweredErrors(lambda request: HttpResponse())
    answer = middleware.process_exception(RequestFactory().get("/api/v1/runs"), error)
    assert answer is not None
    assert (answer.status_code, answer["Content-Type"], answer["Retry-After"]) == (
        503,
        "application/problem+json",
        "10",
    )
    assert str(error) in answer.text


@pytest.mark.parametrize("path", ["/nothing", "/", "/runs/", "/runs/1/nothing"])
@pytest.mark.parametrize("is_on", [True, False])
def test_an_address_that_there_is_not(path: str, is_on: bool) -> None:
    with override_settings(API=is_on):
        answer = program_of(made.alice()).get(path)
    assert problem_of(answer) == (404, f"There is nothing at /api/v1{path} that you may see.")
