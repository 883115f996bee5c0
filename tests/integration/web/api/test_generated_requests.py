"""Requests that are generated from the OpenAPI document: whatever is sent, the answer is one that the document has, and
shows nothing that the person may not see.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
import schemathesis
from django.core.files.base import ContentFile
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import override_settings
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation.stateful import run_state_machine_as_test
from schemathesis.generation.stateful.state_machine import StepInput, StepOutput
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from runs.enums import PersonRole, TokenScope
from runs.models import Gate, Run, User
from runs.submission import submission_drafts
from runs.submission.intake import Upload
from runs.submission.run_templates import save
from runs.web.site import throttle
from tests import factories as made
from tests.integration.web.api.asking import program_of

pytestmark = pytest.mark.django_db
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# Made of parts: Hypothesis sends the texts of this file too, and an answer may repeat what was sent.
IN_RUNS, PRIVATE = (f"Marker{whose}" for whose in ("OfRuns", "OfUploads"))
"""What is in the runs of Alice, which administrators see too, and in what is hers alone: an upload and a template."""
FEW, MANY = 3, 30
"""Requests for each operation and person, of generated values alone."""
FEW_STORIES, MANY_STORIES = 3, 45
"""Stories of each person: requests that use the answers to earlier ones."""
STEPS = 25
"""Requests of a story at most."""
EVERY = 5
"""In a story, each fifth request is about something that is there already."""
ROLES: Mapping[str, Callable[[], User | None]] = {
    "owner": made.alice,
    "viewer": lambda: made.person("victor", roles=[PersonRole.VIEWER]),
    "submitter": lambda: made.person("sue", roles=[PersonRole.SUBMITTER]),
    "approver": lambda: made.person("anna", roles=[PersonRole.APPROVER]),
    "administrator": lambda: made.person("root", roles=[PersonRole.ADMINISTRATOR]),
    "no token": lambda: None,
}
HIDDEN: Mapping[str, Collection[str]] = {"owner": (), "administrator": (PRIVATE,)}
"""The markers that a role must not see; the others must see none."""


@pytest.fixture(autouse=True)
def _no_limit_of_requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All requests come from one address, some of them without the token that they need."""
    monkeypatch.setattr(throttle, "MAX_WRONG", 1_000_000)
    with override_settings(API_RATE=1_000_000):
        yield


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


def _rows_of_alice() -> Mapping[str, Sequence[Any]]:
    """What Alice has, with the markers in it, by the parameters that name it."""
    alice, files = made.alice(), {f"{IN_RUNS}.md": f"{IN_RUNS} is in it.".encode()}
    finished = made.finished_succeeded()
    Run.objects.filter(pk=finished.pk).update(title=IN_RUNS, request=f"Write about {IN_RUNS}.")
    asked = made.submit_as(alice, f"Write about {IN_RUNS}.", files)
    made.propose(asked, made.plan(made.plan_step("s1", IN_RUNS, inputs=list(files))))
    planning = made.submit_as(alice, f"Write about {IN_RUNS}.", files)
    template = save(alice, finished, PRIVATE, PRIVATE)
    upload = uuid.UUID(int=1)
    submission_drafts.add(alice, upload, [Upload(f"{PRIVATE}.md", ContentFile(PRIVATE.encode()))])
    return {
        "run_id": [run.pk for run in (finished, asked, planning)],
        "gate_id": list(Gate.objects.values_list("pk", flat=True)),
        "path": list(files),
        "key": [str(template.pk)],
        "upload": [str(upload)],
    }


def _of_alice(hidden: Collection[str]) -> list[Any]:
    """What Alice has of what these markers are in. Someone who must not see it must not change it either."""
    alice = made.alice()
    runs = Run.objects.filter(owner=alice).order_by("pk").values_list("pk", "event_count", "title", "archived_at")
    private = [*alice.drafts.values_list("token", "expires_at"), *alice.templates.values_list("name")]
    return [*(runs if IN_RUNS in hidden else ()), *(private if PRIVATE in hidden else ())]


def _rows_of_others(person: User) -> Mapping[str, Sequence[Any]]:
    """What everyone else has or may see, by the parameters that name it: two runs of Sue that are shared with them."""
    sue = made.person("sue", roles=[PersonRole.SUBMITTER])
    runs = [made.awaiting_plan(owner=sue), made.submit_as(sue)]
    for run in runs:
        made.share(run, person)
    gates = Gate.objects.filter(run__in=runs).values_list("pk", flat=True)
    return {"run_id": [run.pk for run in runs], "gate_id": list(gates), "path": ["notes.md"]}


@dataclass
class Asking:
    """Sends generated requests as one person, and counts them."""

    headers: Mapping[str, str]
    hidden: Collection[str]
    rows: Sequence[Mapping[str, Sequence[Any]]]
    sent: int = 0

    def row(self, number: int) -> int | None:
        """Generated values first, then a row of each person, then generated values again and the next rows."""
        turn, place = divmod(number, 1 + len(self.rows))
        return (turn + 1) * len(self.rows) - place if place else None

    def send(self, case: Any, row: int | None) -> Any:
        """`row`: which of the rows the request is about, with the body of the example; None for what was generated."""
        if row is not None:
            number, whose = divmod(row, len(self.rows))
            rows = self.rows[whose]
            for name in case.path_parameters.keys() & rows.keys():
                case.path_parameters[name] = rows[name][number % len(rows[name])]
            content = case.operation.definition.raw.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                case.body = _answering(content["application/json"]["example"], case.path_parameters)
        self.sent += 1
        response = case.call(headers={**self.headers, "Accept-Encoding": "identity"})
        case.validate_response(response, checks=CHECKS)
        assert [marker for marker in self.hidden if marker.encode() in response.content] == []
        return response


def _answering(example: Mapping[str, Any], parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """The example of a body, with the fingerprint of the decision that the request is about."""
    about = {"gate_id": "pk", "run_id": "run"}
    gates = Gate.objects.filter(**{about[name]: parameters[name] for name in about if name in parameters})
    gate = gates.order_by("-pk").first()
    return {**example, "fingerprint": gate.digest} if gate and "fingerprint" in example else example


@contextmanager
def _asking(role: str) -> Iterator[tuple[Asking, Any]]:
    """Someone in this role, and what the document says."""
    person = ROLES[role]()
    rows = (_rows_of_alice(), *([_rows_of_others(person)] if person else []))
    with override_settings(API_DECIDES=True, ALLOWED_HOSTS=["*"]):
        token = program_of(person, *(one for one in TokenScope if person.may_grant(one))).token if person else ""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        schema = schemathesis.openapi.from_wsgi("/api/openapi.json", _closing(get_wsgi_application()))
        hidden = HIDDEN.get(role, (IN_RUNS, PRIVATE))
        before = _of_alice(hidden)
        yield Asking(headers, hidden, rows), schema
        assert _of_alice(hidden) == before


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        phases=[Phase.generate],  # making a failure smaller sends hundreds of further requests
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def _ask_each(asking: Asking, schema: Any, requests: int) -> None:
    """Sends so many requests to each operation, most of them about what is there already."""
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        _ask(asking, found.ok(), requests)


def _ask(asking: Asking, operation: Any, requests: int) -> None:
    numbers = count()

    @given(case=operation.as_strategy())
    @_settings(requests)
    def send(case: Any) -> None:
        asking.send(case, asking.row(next(numbers)))

    send()


def _tell(asking: Asking, schema: Any, stories: int) -> None:
    """Sends so many rows of requests that follow each other by the links of the document, some about what is there.

    Each begins with the same rows in the database: the same choices have to lead to the same answers.
    """

    class Story(schema.as_state_machine()):  # type: ignore[misc]  # made while the test runs
        def setup(self) -> None:
            self._before = asking.sent
            self._change = transaction.atomic()
            self._change.__enter__()

        def step(self, step: StepInput) -> StepOutput:
            turn, place = divmod(asking.sent - self._before, EVERY)
            return StepOutput(asking.send(step.case, None if place else turn), step.case)

        def teardown(self) -> None:
            transaction.set_rollback(True)
            self._change.__exit__(None, None, None)

    run_state_machine_as_test(Story, settings=_settings(stories))


@pytest.mark.slow(every_case=True)
@pytest.mark.parametrize("role", ROLES)
def test_whatever_is_sent_the_answer_is_one_of_the_document_and_hides_what_is_of_others(role: str) -> None:
    with _asking(role) as (asking, schema):
        _ask_each(asking, schema, FEW)
        _tell(asking, schema, FEW_STORIES)


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("role", ROLES)
def test_ten_thousand_requests_are_answered_as_the_document_says(role: str) -> None:
    with _asking(role) as (asking, schema):
        _ask_each(asking, schema, MANY)
        _tell(asking, schema, MANY_STORIES)
    assert asking.sent * len(ROLES) >= 10_000, asking.sent
