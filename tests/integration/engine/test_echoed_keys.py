"""A whole run with models that repeat the key wherever they speak: no row, log line, file or export holds it (S5)."""

from __future__ import annotations

import io
import json
import logging
import zipfile
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from runs.enums import EventKind, GateKind, RunStatus
from runs.logs import LineFormatter
from runs.models import Run, User
from runs.reports import archive
from runs.store import blobs, trees
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.fakes.anthropic_answers import Answer, Fail, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.echoes import ECHOES, KEY, leaks
from tests.fakes.team import Team, plan, step
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

ALL = "\n".join(f"{way}: {echo(KEY)}" for way, echo in ECHOES.items())


@dataclass
class Echoing:
    """A sound team, that says the key in every way in all its texts after it has failed with it."""

    team: Team = field(default_factory=lambda: Team(plan=echoing_plan()))
    failed: bool = False

    def __call__(self, request: Request) -> Answer:
        if not self.failed:
            self.failed = True
            return Fail(400, "invalid_request_error", f"{'x' * 200} {ALL}")
        right = self.team(request)
        match right:
            case UseTools(tools=tools):
                return UseTools(*(ToolUse(use.name, {**use.input, "content": ALL}) for use in tools), text=ALL)
            case Say(text):
                return Say(json.dumps(said(json.loads(text))))
        return right


def echoing_plan() -> dict[str, Any]:
    whole = plan(step("one", complexity="high"))
    whole["context"] = [{"name": way, "value": echo(KEY)} for way, echo in ECHOES.items()]
    return whole


def said(contract: dict[str, Any]) -> dict[str, Any]:
    """The same answer, with the key in its free texts."""
    free = {"findings", "reasoning", "notes", "answer"}
    return {name: f"{value} {ALL}" if name in free else value for name, value in contract.items()}


def rows() -> str:
    """Every row of every table."""
    tables = [list(model._default_manager.values_list()) for model in apps.get_models()]
    return json.dumps(tables, ensure_ascii=False, default=str)


def zipped(run: Run) -> str:
    whole = zipfile.ZipFile(io.BytesIO(b"".join(archive.stream(run))))
    return "\n".join(f"{name}\n{whole.read(name).decode()}" for name in whole.namelist())


def test_no_row_line_event_file_or_export_holds_the_key(
    api: FakeAnthropic,
    submitted: Submit,
    alice: User,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    caplog.set_level(logging.DEBUG, "runs")
    api.script(Echoing())
    run = submitted()
    drain(run)
    assert open_gate(run).kind == GateKind.ERROR
    answer(run, alice)
    run = finish(run, alice)
    assert (run.status, run.outcome) == (RunStatus.FINISHED, "succeeded")
    assert run.events.filter(kind=EventKind.TOOL_CALLED).exists()
    client.force_login(alice)
    formatter = LineFormatter()
    shown = {
        "rows": rows(),
        "log": "\n".join(formatter.format(record) for record in caplog.records),
        "files": "\n".join(blobs.read(info.sha256).decode() for info in trees.files_of(run.head).values()),
        "json": json.dumps(as_json(run), ensure_ascii=False),
        "report": as_markdown(run),
        "zip": zipped(run),
        "page": client.get(f"/runs/{run.pk}/?events=all").text,
    }
    assert {name: left[:3] for name, text in shown.items() if (left := leaks(text))} == {}
    assert leaks(ALL) != []
