"""Templates read what presenters have read: no statement reaches the database while a page is rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, override

import pytest
from django.db import connection
from django.http import HttpRequest
from django.template import engines
from django.template.backends.django import DjangoTemplates, Template
from django.test import Client
from django.utils.safestring import SafeString

from runs.models import User
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
    "/templates/",
    "/templates/document-review/",
]
"""Pages without the header of a run. That header and the tabs below it are read as far as a part of them is shown."""


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


def test_a_template_that_asks_the_database_is_noticed(statements: list[str], alice: User) -> None:
    (engine,) = engines.all()
    assert isinstance(engine, WatchedTemplates)
    template = _WatchedTemplate(engine.from_string("{{ people|length }}").template, engine)
    assert (template.render({"people": User.objects.all()}), len(statements)) == ("1", 1)
