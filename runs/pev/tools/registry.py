"""The registry of tools: finds the modules of this package that declare tools, and answers questions about a tool by
name.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules

from pydantic import ValidationError

import runs.pev.tools
from runs.contracts.base import JsonObject
from runs.contracts.ports import ToolResult, ToolSpec
from runs.enums import CHANGES_NOTHING, INSIDE, Effect
from runs.errors import InvalidInput
from runs.evidence.sources import FailedSearch
from runs.pev.contracts import PlanStep
from runs.pev.read_set import ReadTracker
from runs.pev.tools.tool import NO_COMMANDS, Resource, Results, Shows, Tool

SUBJECTS = ("path", "pattern", "query", "glob", "address", "url", "command", "code", "agent")
"""Arguments that say what a call is about, also for tools of servers. The first one that a call has is used."""


def _declared() -> Iterator[type[Tool]]:
    for module in iter_modules(runs.pev.tools.__path__, "runs.pev.tools."):
        if module.name in (__name__, "runs.pev.tools.toolbox"):  # these two import this module
            continue
        for value in vars(import_module(module.name)).values():
            is_tool = isinstance(value, type) and issubclass(value, Tool) and value.__module__ == module.name
            if is_tool and hasattr(value, "name"):
                yield value


TOOLS: Mapping[str, type[Tool]] = {tool.name: tool for tool in sorted(_declared(), key=lambda tool: tool.name)}
"""By name, sorted, because prompts are cached by their beginning."""
TOOL_NAMES = frozenset(TOOLS)


def _with_effect(effects: Collection[Effect]) -> frozenset[str]:
    return frozenset(name for name, tool in TOOLS.items() if tool.effect in effects)


WRITING = _with_effect([Effect.WRITES_FILES])
LOOKING = _with_effect(CHANGES_NOTHING)
"""Tools that change nothing."""
SHOWING_FILES = frozenset(name for name, tool in TOOLS.items() if tool.results is Results.FILES)
ABOUT_FILES = SHOWING_FILES | WRITING
"""Tools whose results only repeat or confirm what is in files, which are sources themselves."""
BASIC = frozenset(name for name, tool in TOOLS.items() if tool.is_basic)
DEPENDING_ON_TIME = frozenset(name for name, tool in TOOLS.items() if tool.depends_on_time)


def specs(names: Collection[str] = TOOL_NAMES, commands: Mapping[str, str] = NO_COMMANDS) -> Sequence[ToolSpec]:
    """Returns the descriptions of these tools for planners, sorted by name.

    Without `commands` the tool that runs commands is left out. `Delegate.spec_for` describes the tool for subagents.
    """
    absent = {Resource.SUBAGENTS, *([] if commands else [Resource.COMMANDS])}
    return [tool.spec(commands) for name, tool in TOOLS.items() if name in names and tool.requires not in absent]


def effect_of(name: str) -> Effect:
    """Returns what calls of a tool touch. An unknown tool has the worst effect."""
    return TOOLS[name].effect if name in TOOLS else Effect.ACTS


def why_missing(name: str, there: Collection[str]) -> str:
    """Returns why a plan cannot have a tool that is not among `there`, as the end of a sentence, and what to use
    instead.
    """
    tool = TOOLS.get(name)
    if tool is None or not tool.needs:
        return f"which does not exist. There are: {', '.join(sorted(there))}."
    instead = ""
    if other := tool.instead:
        has = f" {other}, which it has, serves as well."
        instead = has if other in there else f" Or {other}: it needs {TOOLS[other].needs}."
    return f"which this run does not have: it needs {tool.needs}.{instead}"


def tools_of(step: PlanStep) -> frozenset[str]:
    """Returns the tools that a step may use: those that it names, or all tools that touch nothing outside the run."""
    return frozenset(step.tools) or _with_effect(INSIDE)


def _shows(names: Collection[str]) -> set[Shows]:
    """Returns what these tools show of files, for those that read files."""
    reading = (TOOLS[name] for name in names if effect_of(name) is Effect.READS_FILES)
    return {tool.shows for tool in reading} - {Shows.NONE}


def may_run_commands(step: PlanStep) -> bool:
    """Whether a step names a tool that runs commands, or is checked by a command. Commands get a copy of all files,
    whatever the step names as input.
    """
    checked = any(criterion.check and criterion.check.commands for criterion in step.acceptance_criteria)
    return checked or any(effect_of(name) is Effect.RUNS_COMMANDS for name in step.tools)


def only_runs_commands(step: PlanStep) -> bool:
    """Whether a step names no files and plans only commands. Commands get a copy of all files, and what they read is
    unknown.
    """
    planned = {action.tool for action in step.actions} or set(step.tools)
    checked = all(criterion.check and criterion.check.commands for criterion in step.acceptance_criteria)
    runs = any(effect_of(name) is Effect.RUNS_COMMANDS for name in planned & set(step.tools))
    return not step.inputs and not _shows(planned) and (runs or checked)


def reads_files(step: PlanStep) -> bool:
    """Whether a step deals with the contents of its files.

    It does not if its tools only list them, or if it runs commands. The tools that a step plans do not keep its
    executor from reading.
    """
    return _shows(step.tools) != {Shows.NAMES} and not only_runs_commands(step)


def subject_of(name: str, arguments: JsonObject) -> str:
    """Returns the path, pattern, query or address that a call was given, as it was written, or an empty string."""
    tool = TOOLS.get(name)
    fields = (tool.subject_field,) if tool and tool.subject_field else SUBJECTS
    return next((str(arguments[field]) for field in fields if arguments.get(field)), "")


def note_looks(looks: ReadTracker, name: str, arguments: JsonObject, result: ToolResult) -> None:
    """Notes what a completed call has looked at in the files. The call may be from before a crash."""
    tool = TOOLS.get(name)
    if tool is None:
        return
    try:
        tool.model_validate(arguments).looks_at(looks)
    except (ValidationError, InvalidInput):
        return  # the call was refused before it read any file
    if result.is_error and tool.requires is None:
        looks.names()  # a refusal may mention other files, such as similar names or what is in the way
    for one in result.shown:
        if one.lines:
            looks.file(one.path)


def calculation_in(name: str, arguments: JsonObject) -> str:
    """Returns what a completed call has calculated, or an empty string for other calls."""
    return TOOLS[name].calculation_in(arguments) if name in TOOLS else ""


def missing_in(name: str, arguments: JsonObject, result: str) -> FailedSearch | None:
    """Returns what a completed call searched for and did not find, or None."""
    return TOOLS[name].missing_in(arguments, result) if name in TOOLS else None
