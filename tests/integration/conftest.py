"""The fixtures of the integration tests: people, the fake Messages API, runs that are driven by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from django.db import transaction
from django.http import HttpResponse
from pytest_django import DjangoDbBlocker, Settings

from runs.engine import claim, recording
from runs.models import User
from runs.web.report import preparing
from tests import factories
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.smtp_server import SmtpServer
from tests.fakes.team import Team
from tests.installation import Installation
from tests.integration.finished import Finished
from tests.integration.source import without_layout
from tests.services.redis import Redis


@pytest.fixture(autouse=True)
def connected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model is connected, so that any task can be submitted. It is never asked: nobody has this key."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes a PDF late; that is no other answer."""
    monkeypatch.setattr(preparing, "WAIT_SECONDS", 60.0)


@pytest.fixture(autouse=True)
def no_heartbeat(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No beats in a test whose rows are rolled back: that one transaction keeps the database locked.

    The beat would wait 20 seconds for the test, as the next writer in this process, and the test behind it.
    """
    marker = request.node.get_closest_marker("django_db")
    if not (marker and marker.kwargs.get("transaction")):
        monkeypatch.setattr(claim.heartbeat, "keeping", lambda lease: nullcontext())


@pytest.fixture(scope="module")
def rows_of_module(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """For fixtures of a module that make rows: each test has them as they were made, whatever those before it did.

    One that has to do without them, or with `transaction=True`, lies in another module.
    """
    with django_db_blocker.unblock(), transaction.atomic(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")
        patch.setattr(claim.heartbeat, "keeping", lambda lease: nullcontext())
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, worker_id: str, installation: Installation) -> Finished:
    """For tests of processes that need a run with files, whatever it is."""
    base = tmp_path_factory.getbasetemp()
    return Finished(base if worker_id == "master" else base.parent, installation)  # the parent of all workers' folders


@pytest.fixture
def no_model(connected: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without a key."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")


@pytest.fixture
def alice(db: None) -> User:
    return factories.alice()


@pytest.fixture
def bob(db: None) -> User:
    return factories.bob()


@pytest.fixture
def charlie(db: None) -> User:
    return factories.charlie()


@pytest.fixture(scope="session")
def service() -> Iterator[FakeAnthropic]:
    """One for all tests, so that they share a client too: making one reads the certificates each time."""
    recording.clients.cache_clear()
    with FakeAnthropic() as server:
        yield server
    recording.clients.cache_clear()


@pytest.fixture
def api(service: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAnthropic]:
    """The fake Messages API; every request that the real one would refuse fails the test."""
    service.reset()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")
    yield service
    assert service.violations == []


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    """For a test that needs redis-server."""
    server = Redis(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def team(api: FakeAnthropic) -> Team:
    """A team of models that behave, answering for the fake; a test replaces those that are not to."""
    playing = Team()
    api.script(playing)
    return playing


@pytest.fixture
def submitted(alice: User) -> factories.Submit:
    """A run of Alice's with one file; keywords change its policy."""
    return partial(factories.submit_as, alice)


@pytest.fixture(autouse=True)
def _text_without_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """`text` of a page is its source without the white space that no browser shows; `content` is the page as it is."""

    def text(response: HttpResponse) -> str:
        source = response.content.decode(response.charset)
        return without_layout(source) if response.get("Content-Type", "").startswith("text/html") else source

    monkeypatch.setattr(HttpResponse, "text", property(text))


@pytest.fixture
def smtp(settings: Settings) -> Iterator[SmtpServer]:
    server = SmtpServer()
    settings.MAILERS = server.mailers
    settings.PUBLIC_URL = "https://pevsite.example.org"
    settings.DEFAULT_FROM_EMAIL = "pevsite@example.org"
    yield server
    server.stop()
