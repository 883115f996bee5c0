"""Which tools a step may use, what they touch, and files that are found by patterns."""

import pytest

from runs.contracts.ports import ToolResult, ToolUse
from runs.enums import INSIDE, Effect
from runs.pev.read_set import FileView, ReadTracker
from runs.pev.tools.registry import TOOL_NAMES, WRITING, note_looks, tools_of
from runs.pev.tools.service_tools import SERVICE_TOOLS
from runs.pev.tools.toolbox import RunTools
from tests.unit.pev.scripted import step
from tests.unit.pev.tools.bench import FILES, Memory, run


def test_every_tool_says_what_it_touches() -> None:
    effects = {spec.name: spec.effect for spec in RunTools(Memory({})).specs()}
    assert {name for name, effect in effects.items() if effect is Effect.WRITES_FILES} == WRITING
    assert set(effects.values()) == INSIDE - {Effect.ASKS}


def test_a_tool_that_the_plan_does_not_give_to_the_step_is_refused_in_words() -> None:
    memory = Memory(FILES)
    few = RunTools(memory, allowed={"read_file", "glob"})
    refused = few.run(ToolUse("1", "write_file", {"path": "a.md", "content": "other"}))
    assert (refused.is_error, refused.text) == (
        True,
        "The plan does not give this step the tool “write_file”; there are glob, read_file.",
    )
    assert memory.content == FILES
    assert [spec.name for spec in few.specs()] == ["glob", "read_file"]
    assert few.run(ToolUse("1", "read_file", {"path": "a.md"})).is_error is False


@pytest.mark.parametrize(
    ("named", "may"),
    [
        ([], TOOL_NAMES - SERVICE_TOOLS - {"delegate", "fetch_page", "run_command"}),
        (["glob"], {"glob"}),
        (["glob", "run_command"], {"glob", "run_command"}),
    ],
)
def test_a_step_that_names_no_tools_may_use_all_that_stay_within_the_run(named: list[str], may: set[str]) -> None:
    assert tools_of(step("one", tools=named)) == may


class TestGlob:
    def test_lists_what_a_pattern_means(self) -> None:
        assert run("glob", {"pattern": "*.md"}).text == "2 files, size in bytes and path:\n19\ta.md\n12\tdocs/b.md"
        assert run("glob", {"pattern": "docs"}).text == run("list_files", {"prefix": "docs/"}).text
        assert run("glob", {"pattern": "*.py"}).text == "No path of 4 files matches “*.py”."

    def test_a_pattern_that_is_too_wild_is_refused_in_words(self) -> None:
        result = run("glob", {"pattern": "*a" * 9})
        assert (result.is_error, "8 wildcards in each" in result.text) == (True, True)

    def test_what_does_not_fit_is_said(self) -> None:
        assert run("glob", {"pattern": "*"}, listed_files=1).text.endswith(
            "[3 more are not listed; use a narrower pattern]"
        )


def test_a_command_depends_on_every_file() -> None:
    looks = ReadTracker()
    note_looks(looks, "run_command", {"command": "tests"}, ToolResult("tests ended with status 0"))
    files = Memory(FILES).files()
    assert "contents " in looks.recorded(FileView(files, files, step("one"))).sets
