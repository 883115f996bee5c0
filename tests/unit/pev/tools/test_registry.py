"""Every module that declares tools is found, and each tool declares all that others ask for."""

from pathlib import Path

import pytest

import runs.pev.tools
from runs.enums import Effect
from runs.pev.read_set import FileView, ReadTracker
from runs.pev.tools.registry import TOOLS, specs, subject_of
from runs.pev.tools.tool import Resource, Results, Shows, Tool
from tests.unit.pev.scripted import step
from tests.unit.pev.tools.bench import FILES, Memory

ABOVE = {"registry", "toolbox"}
HELPERS = {"__init__", "file_access", "tool"}
ELSEWHERE = {Resource.SERVICE, Resource.SUBAGENTS}


def test_each_module_declares_tools_or_helps_those_that_do() -> None:
    modules = {path.stem for path in Path(runs.pev.tools.__path__[0]).glob("*.py")}
    assert {tool.__module__.rpartition(".")[2] for tool in TOOLS.values()} == modules - ABOVE - HELPERS
    assert list(TOOLS) == sorted(TOOLS)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
class TestEachTool:
    def test_declares_all_that_others_ask_for(self, tool: type[Tool]) -> None:
        assert tool.description.endswith(".")
        assert isinstance(tool.effect, Effect)
        assert isinstance(tool.results, Results)
        assert bool(tool.requires) == bool(tool.needs), "a plan without it is told how a run gets it"
        assert tool.instead in {"", *TOOLS}
        assert tool.subject_field in {"", *tool.model_fields}

    def test_is_carried_out_here_unless_something_else_does(self, tool: type[Tool]) -> None:
        assert (tool.run is Tool.run) == (tool.requires in ELSEWHERE)

    def test_says_which_files_its_results_depend_on(self, tool: type[Tool]) -> None:
        assert tool.requires or tool.looks_at is not Tool.looks_at
        assert tool.effect is Effect.READS_FILES or tool.shows is Shows.TEXTS

    def test_what_strangers_say_is_asked_for_again(self, tool: type[Tool]) -> None:
        assert tool.depends_on_time or tool.results is not Results.WEB


def test_a_tool_that_does_not_say_what_it_looks_at_depends_on_everything() -> None:
    looks = ReadTracker()
    Tool().looks_at(looks)
    files = Memory(FILES).files()
    assert list(looks.recorded(FileView(files, files, step("one"))).sets) == ["everything"]


def test_planners_are_told_of_every_tool_but_that_for_subagents() -> None:
    assert [spec.name for spec in specs(commands={"tests": "pytest"})] == [name for name in TOOLS if name != "delegate"]
    assert [spec.name for spec in specs(["glob", "run_command"])] == ["glob"]


def test_a_call_is_about_its_path_or_whatever_else_it_was_given() -> None:
    assert subject_of("read_file", {"path": "a.md", "lines": 3}) == "a.md"
    assert subject_of("tracker__find", {"query": "rent", "limit": 3}) == "rent"
    assert subject_of("calculate", {"expression": "1 + 1"}) == ""
