"""Templates read what presenters have read: no statement reaches the database while a page is rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, override

import pytest
from django.db import connection
from django.http import HttpRequest
from django.template import engines
from django.template.backends.django import DjangoTemplates, Template
from django.test import Client
from django.utils.safestring import SafeString

from runs.models import Attempt, Run, User
from tests import factories
from tests.factories.agents import WRITER, agent

pytestmark = pytest.mark.django_db
OUTSIDE_OF_RUNS = [
    "/",
    "/?show=all",
    "/?q=nowhere",
    "/access-tokens/",
    "/agents/",
    "/agents/new/",
    f"/agents/{WRITER}/",
    f"/agents/{WRITER}/delete/",
    "/help/",
    "/help/glossary/",
    "/metrics/",
    "/people/",
    "/runs/new/",
    "/runs/{run}/again/",
    "/runs/{run}/again/with/",
    "/runs/{run}/template/",
    "/status/",
    "/status/servers/",
    "/status/notices/",
    "/status/calibrations/",
    "/account/notices/",
    "/templates/",
    "/templates/document-review/",
]
"""Pages without the header of a run."""
OVERVIEWS: Mapping[str, Callable[[], Run]] = {
    "planning": factories.planning,
    "plan": factories.awaiting_plan,
    "second plan": factories.awaiting_second_plan,
    "plan again": factories.replanned,
    "executing": factories.failed_attempt,
    "start": factories.start_gate,
    "step": factories.step_gate,
    "step with points": lambda: factories.reporting(factories.cited()),
    "blocked": factories.blocked,
    "exhausted": factories.exhausted_gate,
    "question": factories.question_gate,
    "call": lambda: factories.tool_gate("issues.file_issue", {"title": "Roof", "body": "Leaks"}),
    "budget": factories.budget_gate,
    "time": factories.time_gate,
    "error of the planner": factories.error_gate,
    "error of a step": factories.step_error,
    "succeeded": factories.finished_succeeded,
    "partial": factories.finished_partial,
    "stopped": factories.stopped,
}
"""The overview with each kind of gate, and without one."""
OF_A_RUN = [
    "?view=timeline",
    "?view=table",
    "?part=unread",
    "?part=gates",
    "?part=result",
    "plan/",
    "plan/?version=1",
    "plan/?part=plan",
    "steps/?part=steps",
    "steps/?part=step-{step}",
    "steps/?part=step-{step}-body",
    "files/?part=files",
    "history/?part=tree",
    "cost/?part=costs",
    "texts/attempt-{attempt}-output/",
    "texts/attempt-{attempt}-output/?panel=1",
    "steps/",
    "steps/{step}/",
    "files/",
    "files/?from=0",
    "history/",
    "history/?show=calls",
    "cost/",
    "report/",
    "manage/",
    "delete/",
    "people/",
    "files/{file}",
    "files/{file}?view=text&line=2",
    "files/{file}?panel=1",
]
"""Pages of a run, and parts of them."""


class WatchedTemplates(DjangoTemplates):
    """The engine, which notes the statements that are executed while it renders."""

    statements: ClassVar[list[str]] = []

    @override
    def get_template(self, template_name: str) -> Template:
        return _WatchedTemplate(super().get_template(template_name).template, self)


class _WatchedTemplate(Template):
    @override
    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        with connection.execute_wrapper(_note):
            return SafeString(super().render(context, request))


def _note(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
    WatchedTemplates.statements.append(sql)
    return execute(sql, *arguments)


@pytest.fixture
def statements(settings: Any) -> Iterator[list[str]]:
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "BACKEND": f"{__name__}.WatchedTemplates"}]
    WatchedTemplates.statements.clear()
    yield WatchedTemplates.statements
    WatchedTemplates.statements.clear()


@pytest.mark.parametrize("address", OUTSIDE_OF_RUNS)
def test_a_page_is_rendered_without_the_database(
    address: str, statements: list[str], client: Client, alice: User, bob: User
) -> None:
    run = factories.finished_succeeded()
    agent()
    client.force_login(User.objects.get(username="zoe"))  # an administrator
    answer = client.get(address.format(run=run.pk))
    assert (answer.status_code, statements) == (200, [])


@pytest.mark.parametrize("state", OVERVIEWS)
def test_the_overview_is_rendered_without_the_database(state: str, statements: list[str], alice_client: Client) -> None:
    run = OVERVIEWS[state]()
    answer = alice_client.get(f"/runs/{run.pk}/")
    assert (answer.status_code, statements) == (200, [])


@pytest.mark.parametrize("state", ["step with points", "partial"])
@pytest.mark.parametrize("address", OF_A_RUN)
def test_a_page_of_a_run_is_rendered_without_the_database(
    address: str, state: str, statements: list[str], alice_client: Client
) -> None:
    run = OVERVIEWS[state]()
    attempt = Attempt.objects.of_run(run).order_by("pk").last()
    assert attempt
    path = address.format(step=attempt.step_id, attempt=attempt.pk, file=factories.DATA)
    answer = alice_client.get(f"/runs/{run.pk}/{path}")
    assert (answer.status_code, statements) == (200, [])


@pytest.mark.parametrize("state", ["plan", "second plan", "plan again"])
@pytest.mark.parametrize("address", ["plan/", "plan/?part=plan"])
def test_a_plan_with_an_open_gate_is_rendered_without_the_database(
    address: str, state: str, statements: list[str], alice_client: Client
) -> None:
    answer = alice_client.get(f"/runs/{OVERVIEWS[state]().pk}/{address}")
    assert (answer.status_code, statements) == (200, [])


@pytest.mark.parametrize("fold", ["report", "criteria", "changes", "how"])
def test_a_fold_of_a_gate_is_rendered_without_the_database(
    fold: str, statements: list[str], alice_client: Client
) -> None:
    run = factories.reporting(f"{factories.cited()}\n\n## Further\n\nSee [the lease](contracts/lease.md).")
    answer = alice_client.get(f"/runs/{run.pk}/gates/{run.gates.open().get().pk}/{fold}/")
    assert (answer.status_code, statements) == (200, [])


@pytest.mark.parametrize("path", factories.KINDS)
def test_a_file_of_each_kind_is_rendered_without_the_database(
    path: str, statements: list[str], alice_client: Client
) -> None:
    run = factories.files_of_all_kinds()
    answer = alice_client.get(f"/runs/{run.pk}/files/{path}")
    assert (answer.status_code, statements) == (200, [])


def test_the_editor_of_a_plan_is_rendered_without_the_database(statements: list[str], alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.get(f"/runs/{run.pk}/plan/edit/")
    assert (answer.status_code, statements) == (200, [])


def test_a_template_that_asks_the_database_is_noticed(statements: list[str], alice: User) -> None:
    (engine,) = engines.all()
    assert isinstance(engine, WatchedTemplates)
    template = _WatchedTemplate(engine.from_string("{{ people|length }}").template, engine)
    assert (template.render({"people": User.objects.all()}), len(statements)) == ("1", 1)
