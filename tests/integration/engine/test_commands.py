"""Commands that an administrator has named: run on a copy of the files, for steps of a plan that names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runs.engine.reach import TreeCommands
from runs.enums import GateKind, Outcome
from runs.errors import InvalidInput
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.toolset import tool_names
from runs.models import ToolCall, User
from runs.pev.contracts import PlanContract
from runs.pev.soundness import problems_in
from runs.store.trees import Overlay, files_of
from tests.factories import Submit, answer, drain, finish, open_gate, reused
from tests.fakes.anthropic_answers import Answer, Request, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, looking, plan, step
from tests.hostile.test_sandbox import PYTHON
from tests.reporting import as_json

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
CODE = """
import os, sys
print(sorted(os.listdir(".")))
open("made", "w").close()
sys.exit(0 if os.path.exists("one.md") else 1)
"""
TESTS = (*PYTHON, CODE)
RUN = ToolUse("run_command", {"command": "tests"})
ALLOWED = plan(step("one") | {"tools": ["write_file", "run_command"]})


@pytest.fixture
def commands(settings: Any) -> None:
    settings.COMMANDS = {"tests": TESTS}


def running(request: Request, right: Answer) -> Answer:
    """Runs the tests before and after it writes, and what is no command."""
    other = ToolUse("run_command", {"command": "rm"})
    return UseTools(RUN, *right.tools, RUN, other) if isinstance(right, UseTools) else right


@pytest.mark.needs("bubblewrap")
@pytest.mark.usefixtures("commands")
def test_a_step_that_names_the_tool_runs_commands_on_a_copy(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    team = Team(plan=ALLOWED, executor=running)
    api.script(team)
    run = submitted()
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    first, second, other = ToolCall.objects.filter(run=run, name="run_command")
    assert "ended with status 1." in first.result
    assert "ended with status 0." in second.result
    assert "'one.md'" in second.result.splitlines()[-1]
    assert "made" not in second.result.splitlines()[-1]
    assert (other.is_error, other.result) == (True, "There is no command “rm”; there are tests.")
    assert [tool["name"] for tool in team.seen["executor"][0].tools] == ["run_command", "write_file"]
    run.refresh_from_db()
    assert "made" not in files_of(run.head)


@pytest.mark.slow
@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"COMMAND_FILES_MB": 1},
            "The files of this run take more than 1 MB, which is all that a command has for files.",
        ),
        ({"COMMAND_FOLDERS": ()}, "and commands do not see its folder."),
        ({"COMMAND_SECONDS": 0}, "its time was over"),
    ],
)
def test_commands_are_held_by_the_settings(
    submitted: Submit, settings: Any, changes: dict[str, Any], said: str
) -> None:
    python = Path(settings.COMMAND_FOLDERS[0]) / "bin" / "python3"
    settings.COMMANDS = {"tests": (str(python), "-c", "import time; time.sleep(20)")}
    for name, value in changes.items():
        setattr(settings, name, value)
    run = submitted(files={"notes.md": b"x" * 2_000_000})
    commands = TreeCommands(Overlay(run.inputs, {}, max_files=0, max_bytes=0), lambda: None)
    try:
        why = commands.run("tests").why
    except InvalidInput as refused:
        why = str(refused)
    assert said in why


@pytest.mark.slow
@pytest.mark.usefixtures("commands")
def test_a_step_that_does_not_name_it_is_refused(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team(plan=plan(step("one")), executor=looking(one=[RUN])))
    run = submitted()
    finish(run, alice)
    call = ToolCall.objects.get(run=run, name="run_command")
    assert call.is_error
    assert call.result.startswith("The plan does not give this step the tool “run_command”; there are ask_person, ")


def test_without_commands_no_plan_may_name_it(api: FakeAnthropic, submitted: Submit) -> None:
    team = Team(plan=ALLOWED)
    api.script(team)
    run = submitted()
    drain(run)
    gate = open_gate(run)
    assert gate.kind == GateKind.ERROR
    assert "names the tool “run_command”, which this run does not have: it needs commands" in gate.question
    assert "run_command" not in str(team.seen["planner"][0].messages[0])


@pytest.mark.usefixtures("commands")
def test_an_approval_is_bound_to_what_the_commands_are(
    api: FakeAnthropic, submitted: Submit, alice: User, settings: Any
) -> None:
    api.script(Team(plan=ALLOWED))
    run = submitted()
    drain(run)
    answer(run, alice)
    approved = run.plans.get()
    assert fingerprint.differences(approved, run) == []
    settings.COMMANDS = {"tests": ("rm", "-rf", ".")}
    assert fingerprint.differences(approved, run) == ["commands"]


@pytest.mark.needs("bubblewrap")
@pytest.mark.usefixtures("commands")
@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_result_is_taken_over_only_where_the_commands_are_the_same(
    api: FakeAnthropic, submitted: Submit, alice: User, settings: Any
) -> None:
    api.script(Team(plan=ALLOWED, executor=running))
    finish(submitted(), alice)
    assert reused(finish(submitted(), alice)) == ["one"]
    settings.COMMANDS = {"tests": (*TESTS, "again")}
    assert reused(finish(submitted(), alice)) == []


def test_a_plan_by_hand_may_name_it_only_where_there_are_commands(alice: User, settings: Any) -> None:
    def problems() -> list[str]:
        contract = PlanContract.model_validate(ALLOWED)
        return problems_in(contract, tool_names(), max_steps=5)

    assert [one for one in problems() if "“run_command”, which this run does not have" in one]
    settings.COMMANDS = {"tests": TESTS}
    assert problems() == []


@pytest.mark.slow
@pytest.mark.needs("bubblewrap")
@pytest.mark.usefixtures("commands")
def test_files_of_a_step_that_only_runs_commands_are_no_open_point(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    """The command is given a copy of them: what it reads of it is not known, and no model need be shown it."""
    tests = step("one") | {"tools": ["write_file", "run_command"]}
    tests["actions"] = [{"tool": "run_command", "purpose": "run the tests"}]
    api.script(Team(plan=plan(tests), executor=running))
    run = finish(submitted(files={"test_mod.py": b"assert True\n"}, sources_needed=True), alice)
    found: Any = as_json(run)
    assert [point["sentence"] for point in found["open_points"] if "test_mod.py" in point["sentence"]] == []
