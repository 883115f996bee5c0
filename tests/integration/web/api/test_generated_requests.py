"""Requests that are generated from the OpenAPI document: whatever is sent, the answer is one that the document has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from runs.enums import PersonRole, TokenScope
from runs.models import Gate, Run, User
from tests import factories as made
from tests.integration.web.api.asking import program_of

pytestmark = pytest.mark.django_db
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
FEW, MANY = 5, 150
"""Requests for each operation and person."""
ROLES: Mapping[str, Callable[[], User]] = {
    "owner": made.alice,
    "stranger": made.charlie,
    "administrator": lambda: made.person("root", roles=[PersonRole.ADMINISTRATOR]),
}


@pytest.fixture(autouse=True)
def _connection_stays_open() -> Iterator[None]:
    """As with the client of Django's tests: a request does not end the connection, and with it the transaction."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


def _closing(application: WSGIHandler) -> Callable[..., list[bytes]]:
    """The application, which also closes the file with the body of a request, as Werkzeug's client does not."""

    def answer(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        with closing(environ["wsgi.input"]), closing(application(environ, start_response)) as response:
            return list(response)

    return answer


def _ask(person: User, hidden: list[str], requests: int) -> None:
    """Sends generated requests to each operation, half of them about rows that there are."""
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", _closing(get_wsgi_application()))
    token = program_of(person, *(one for one in TokenScope if person.may_grant(one))).token
    rows = {
        "run_id": list(Run.objects.values_list("pk", flat=True)),
        "gate_id": list(Gate.objects.values_list("pk", flat=True)),
    }
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()

        @given(case=operation.as_strategy(), data=st.data())
        @settings(
            max_examples=requests,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any, data: st.DataObject) -> None:
            for name in case.path_parameters:
                if name in rows and data.draw(st.booleans()):
                    case.path_parameters[name] = data.draw(st.sampled_from(rows[name]))
            response = case.call(headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"})
            case.validate_response(response, checks=CHECKS)
            assert [title for title in hidden if title in response.text] == []

        check()


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_whatever_is_sent_the_answer_is_one_of_the_document(role: str) -> None:
    _everything_of(role, FEW)


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", ROLES)
def test_ten_thousand_requests_are_answered_as_the_document_says(role: str) -> None:
    _everything_of(role, MANY)


def _everything_of(role: str, requests: int) -> None:
    hers = [made.awaiting_plan(), made.finished_succeeded()]
    Run.objects.filter(pk__in=[run.pk for run in hers]).update(title="A title of Alice")
    with override_settings(API_DECIDES=True, API_RATE=1_000_000, ALLOWED_HOSTS=["*"]):
        _ask(ROLES[role](), ["A title of Alice"] if role == "stranger" else [], requests)
