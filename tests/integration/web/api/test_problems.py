"""What refuses a request for the API before an operation is called answers with problem details as well."""

from __future__ import annotations

import logging
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection
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


def test_a_host_that_is_not_ours_is_one_line_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    log = StringIO()
    [console] = (one for one in logging.getLogger().handlers if type(one) is logging.StreamHandler)
    monkeypatch.setattr(console, "stream", log)
    monkeypatch.setattr(logging.getLogger("django.request"), "disabled", True)  # it has a line of its own
    Client().get("/sign-in/", headers={"Host": "evil.example"})
    [line] = log.getvalue().splitlines()
    assert " WARNING django.security.DisallowedHost: Invalid HTTP_HOST header: 'evil.example'." in line


@pytest.mark.parametrize("where", ["from the first query on", "in the view"])
def test_a_database_that_is_away(where: str) -> None:
    def fail(execute: Any, sql: str, *arguments: Any) -> Any:
        if where == "in the view" and "runs_run" not in sql:
            return execute(sql, *arguments)
        raise OperationalError("database or disk is full")

    person = made.alice()
    program, browser = program_of(person), Client(raise_request_exception=False)
    browser.force_login(person)
    with connection.execute_wrapper(fail):
        answers = [
            program.get("/runs"),
            browser.get("/"),
            browser.get("/", headers={"Accept": "application/json"}),
        ]
    assert [(one.status_code, one["Retry-After"]) for one in answers] == [(503, "10")] * 3
    sentence = "The database does not answer, or has no room. Runs wait for it: try again in a moment."
    assert problem_of(answers[0]) == (503, sentence)
    assert sentence in answers[1].text
    assert answers[2].json() == {"errors": [sentence]}
    assert "disk is full" not in "".join(one.text for one in answers)


class DriverError(Exception):
    """What sqlite3 and psycopg say of an error."""

    def __init__(self, sqlite_errorname: str = "", sqlstate: str | None = None) -> None:
        super().__init__(sqlite_errorname or sqlstate)
        self.sqlite_errorname, self.sqlstate = sqlite_errorname, sqlstate


@pytest.mark.parametrize(
    ("cause", "status"),
    [
        (DriverError("SQLITE_BUSY"), 503),
        (DriverError("SQLITE_IOERR_WRITE"), 503),
        (DriverError(sqlstate="57P03"), 503),
        (DriverError(), 503),
        (DriverError("SQLITE_ERROR"), 500),
        (DriverError("SQLITE_READONLY_DBMOVED"), 500),
        (DriverError(sqlstate="54001"), 500),
    ],
    ids=str,
)
def test_only_an_error_that_passes_by_itself_is_tried_again(cause: DriverError, status: int) -> None:
    def fail(*arguments: Any) -> Any:
        raise OperationalError("no") from cause

    person = made.alice()
    program, browser = program_of(person), Client(raise_request_exception=False)
    browser.force_login(person)
    with connection.execute_wrapper(fail):
        assert [program.get("/runs").status_code, browser.get("/").status_code] == [status, status]


@pytest.mark.parametrize("path", ["/nothing", "/", "/runs/", "/runs/1/nothing"])
@pytest.mark.parametrize("is_on", [True, False])
def test_an_address_that_there_is_not(path: str, is_on: bool) -> None:
    with override_settings(API=is_on):
        answer = program_of(made.alice()).get(path)
    assert problem_of(answer) == (404, f"There is nothing at /api/v1{path} that you may see.")
