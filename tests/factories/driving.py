"""Runs that are driven by hand: submitted, performed in the test's own thread, answered."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.core.files.base import ContentFile

from runs.engine.claim import due
from runs.engine.document_work import read_waiting
from runs.engine.perform import perform
from runs.enums import Executor, GateStatus, Role, Verb
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Attempt, Run, User, WorkItem, clock
from runs.pev.policy import Policy, RoleModel
from runs.store import blobs, input_examination, renditions
from runs.submission.intake import Upload
from runs.submission.submit import Submission, submit
from tests.factories.parts import open_gate

MODELS = {
    Role.PLANNER: RoleModel(model="claude-opus-5-5", effort="high"),
    Role.EXECUTOR: RoleModel(model="claude-sonnet-5-5"),
    Role.VERIFIER: RoleModel(model="claude-haiku-5-5", effort="low"),
}

type Submit = Callable[..., Run]
"""`submit_as` for Alice, as the fixture `submitted` gives it to a test."""


def submit_as(owner: User, request: str = "Do the work", files: dict[str, bytes] | None = None, **changes: Any) -> Run:
    """A run with one file; keywords change its policy; `excluded` leaves files out, `plan` comes with it.

    The documents of the fakes have one line, and rest on nothing. PEV_TEST_EXECUTOR names another executor, so that
    whole folders of tests can be run with it.
    """
    given = files if files is not None else {"notes.md": b"Some notes.\nMore of them.\n"}
    uploads = [Upload(path, ContentFile(content)) for path, content in given.items()]
    excluded, plan = changes.pop("excluded", ()), changes.pop("plan", None)
    executor = os.environ.get("PEV_TEST_EXECUTOR", Executor.MESSAGES)
    fakes = {"min_document_bytes": 0, "sources_needed": False, "executor": executor}
    chosen = Policy.model_validate({"models": MODELS, **fakes, **changes})
    return submit(
        owner, Submission(request, uploads, chosen, uuid.uuid4(), no_files=True, excluded=excluded, plan=plan)
    )


def read_ahead(files: Mapping[str, bytes]) -> None:
    """Read the documents among these now. In a transaction, the reader would wait for what the transaction holds."""
    stored = {path: blobs.put(content) for path, content in files.items()}
    input_examination.examine(stored)
    sources = [info.sha256 for info in stored.values()]
    for minutes in (False, True):
        read_waiting.call(minutes)
    while renditions.still_waiting(sources):
        time.sleep(0.05)  # a server is at it


def drain(run: Run, *, limit: int = 200) -> None:
    """Perform what is due now, in this thread, until nothing is. What was postponed stays postponed."""
    for _ in range(limit):
        work = WorkItem.objects.filter(due(), run=run).order_by("due_at", "pk").first()
        if work is None:
            run.refresh_from_db()
            return
        perform(work.pk)
    raise AssertionError("the run does not come to rest")


def hurry(run: Run) -> None:
    """Make postponed work due now, as if time had passed."""
    WorkItem.objects.filter(run=run).update(due_at=clock.now())


def answer(run: Run, user: User, verb: Verb = Verb.APPROVE, reason: str = "", how: str = "person") -> None:
    """Decide the only open gate."""
    gate = open_gate(run)
    decide(gate.pk, user, Decision(verb, gate.digest, reason, how))


def finish(run: Run, user: User) -> Run:
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


def leave_budget(run: Run, budget: str) -> Run:
    """The run with so small a budget as the form would refuse."""
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(budget=budget))
    run.refresh_from_db()
    return run
