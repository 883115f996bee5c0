"""Whole runs on servers that ignore parts of the API: what is asked differs, what comes of it is the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs.engine import probes
from runs.enums import Outcome, Role
from runs.llm.capabilities import Probed, use_probed
from runs.llm.model_servers import ModelServer
from runs.models import ModelCall, User
from runs.pev.policy import RoleModel
from tests.factories import Submit, finish
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_servers import FORCING, LLAMA_CPP, VLLM, Dialect, served
from tests.fakes.team import Team

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
MODELS = {role: RoleModel(model="qwen3-4b") for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)}


@pytest.fixture(autouse=True)
def nothing_probed() -> Iterator[None]:
    yield
    use_probed({})


@pytest.mark.parametrize(
    ("dialect", "asked"),
    [
        (FORCING, {"planner": "plan", "verifier": "verdict", "synthesizer": "answer"}),
        (VLLM, {"planner": "format", "verifier": "format", "synthesizer": "format"}),
        (LLAMA_CPP, {"planner": "prompt", "verifier": "prompt", "synthesizer": "prompt"}),
    ],
    ids=["forced tool", "format", "prompt"],
)
def test_a_run_succeeds(
    api: FakeAnthropic, submitted: Submit, alice: User, dialect: Dialect, asked: dict[str, str]
) -> None:
    shown = Probed(format=dialect.format, forced_tool=dialect.forced_tool, no_tools=dialect.no_tools, tools=True)
    probes.remember(ModelServer(api.url), "qwen3-4b", shown)
    team = Team()
    api.script(served(dialect, team))
    api.dialect = dialect
    run = finish(submitted(models=MODELS, same_model_verifier=True), alice)
    assert run.outcome == Outcome.SUCCEEDED
    found = {role: {how(request.body) for request in requests} for role, requests in team.seen.items()}
    assert {role: ways for role, ways in found.items() if role != "executor"} == {r: {w} for r, w in asked.items()}
    stored = [block for call in ModelCall.objects.filter(run=run) for block in call.content]
    assert {block["name"] for block in stored if block["type"] == "tool_use"} == {"write_file"}


def how(body: dict[str, object]) -> str:
    """By which rung of the ladder a request asks for its answer."""
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice["type"] == "tool":
        return str(choice["name"])
    return "format" if "output_config" in body else "prompt"
