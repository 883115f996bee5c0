"""Programs of the Agent SDK that are not there, end at once, or do nothing: the run waits, and says why."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from runs.enums import GateKind, WorkStatus
from runs.models import Run, WorkItem
from tests.factories import Submit, drain, open_gate
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.needs("the Agent SDK"),
]


def drained(api: FakeAnthropic, submitted: Submit) -> Run:
    api.script(Team(plan=plan(step("one"))))
    run = submitted(executor="agent-sdk")
    drain(run)
    return run


def a_program(folder: Path, script: str) -> str:
    path = folder / "claude"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return str(path)


def test_without_its_program_a_person_is_told(
    api: FakeAnthropic, submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.agent_sdk.session.program", lambda: None)
    gate = open_gate(drained(api, submitted))
    assert gate.kind == GateKind.ERROR
    assert "The program of the Agent SDK is not installed" in gate.question


def test_one_that_ends_at_once_is_tried_again_later(
    api: FakeAnthropic, submitted: Submit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("runs.agent_sdk.session.program", lambda: a_program(tmp_path, "exit 3"))
    run = drained(api, submitted)
    assert WorkItem.objects.values_list("status", "tries").get(run=run) == (WorkStatus.READY, 1)
    assert run.events.filter(
        kind="waiting_for_model", data__why__startswith="The agent's program does not run"
    ).exists()


def test_one_that_does_nothing_is_ended(
    api: FakeAnthropic, submitted: Submit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("runs.agent_sdk.session.program", lambda: a_program(tmp_path, "exec sleep 1000"))
    monkeypatch.setattr("runs.agent_sdk.session.MAX_SILENCE", 1.0)
    run = drained(api, submitted)
    assert run.events.filter(
        kind="waiting_for_model", data__why="The agent's program did nothing for 1 seconds."
    ).exists()
    assert [one for one in psutil.Process().children(recursive=True) if one.name() == "sleep"] == []
