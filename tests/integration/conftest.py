"""Owns the fixtures of the integration tests: people, the fake Messages API, runs that are driven by hand."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.files.base import ContentFile
from django.utils import timezone

from runs.engine import recording
from runs.engine.perform import perform
from runs.engine.work import due
from runs.enums import GateStatus, Role, Verb
from runs.lifecycle.gates import Decision, decide
from runs.lifecycle.submission import Submission, Upload, submit
from runs.models import Attempt, Gate, Run, WorkItem
from runs.pev.policy import Policy, RoleModel
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team

MODELS = {
    Role.PLANNER: RoleModel(model="claude-opus-5-5", effort="high"),
    Role.EXECUTOR: RoleModel(model="claude-sonnet-5-5"),
    Role.VERIFIER: RoleModel(model="claude-haiku-5-5", effort="low"),
}


@pytest.fixture(autouse=True)
def connected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model is connected, so that any task can be submitted. It is never asked: nobody has this key."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")


@pytest.fixture
def no_model(connected: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without a key."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")


@pytest.fixture
def alice(db: None) -> Any:
    return get_user_model().objects.create_user("alice")


@pytest.fixture
def bob(db: None) -> Any:
    return get_user_model().objects.create_user("bob")


@pytest.fixture
def charlie(db: None) -> Any:
    return get_user_model().objects.create_user("charlie")


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAnthropic]:
    """The fake Messages API; every request that the real one would refuse fails the test."""
    with FakeAnthropic() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")
        recording.clients.cache_clear()
        yield server
        recording.clients.cache_clear()
    assert server.violations == []


@pytest.fixture
def team(api: FakeAnthropic) -> Team:
    """A team of models that behave, answering for the fake; a test replaces those that are not to."""
    playing = Team()
    api.script(playing)
    return playing


type Submit = Callable[..., Run]


@pytest.fixture
def submitted(alice: Any) -> Submit:
    """A run of Alice's with one file; keywords change its policy."""

    def make(request: str = "Do the work", files: dict[str, bytes] | None = None, **policy: Any) -> Run:
        given = files if files is not None else {"notes.md": b"Some notes.\nMore of them.\n"}
        uploads = [Upload(path, ContentFile(content)) for path, content in given.items()]
        chosen = Policy(models=policy.pop("models", MODELS), **policy)
        return submit(alice, Submission(request, uploads, chosen, uuid.uuid4(), no_files=True))

    return make


def drain(run: Run, *, limit: int = 200) -> None:
    """Perform what is due now, in this thread, until nothing is. What was postponed stays postponed."""
    for _ in range(limit):
        work = WorkItem.objects.filter(due(timezone.now()), run=run).order_by("due_at", "pk").first()
        if work is None:
            run.refresh_from_db()
            return
        perform(work.pk)
    raise AssertionError("the run does not come to rest")


def hurry(run: Run) -> None:
    """Make postponed work due now, as if time had passed."""
    WorkItem.objects.filter(run=run).update(due_at=timezone.now())


def open_gate(run: Run) -> Gate:
    return run.gates.get(status=GateStatus.OPEN)


def answer(run: Run, user: Any, verb: Verb = Verb.APPROVE, reason: str = "") -> None:
    gate = open_gate(run)
    decide(gate.pk, user, Decision(verb, gate.digest, reason))


def finish(run: Run, user: Any) -> Run:
    """Drain and approve everything until the run is over."""
    for _ in range(60):
        drain(run)
        gate = run.gates.filter(status=GateStatus.OPEN).first()
        if gate is None:
            return run
        decide(gate.pk, user, Decision(Verb.APPROVE, gate.digest))
    raise AssertionError("gates without end")


def reused(run: Run) -> list[str]:
    """The keys of the steps that took over the result of an earlier run."""
    found = Attempt.objects.filter(step__plan__run=run, reused_from__isnull=False)
    return sorted(found.values_list("step__key", flat=True))
