"""All tools: the modules of this package that declare some, and what others ask about a tool by its name."""

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
"""Arguments that say what a call is about, also of tools of servers; the first that a call has counts."""


def _declared() -> Iterator[type[Tool]]:
    for module in iter_modules(runs.pev.tools.__path__, "runs.pev.tools."):
        if module.name in (__name__, "runs.pev.tools.toolbox"):  # which import this one
            continue
        for value in vars(import_module(module.name)).values():
            is_tool = isinstance(value, type) and issubclass(value, Tool) and value.__module__ == module.name
            if is_tool and hasattr(value, "name"):
                yield value


TOOLS: Mapping[str, type[Tool]] = {tool.name: tool for tool in sorted(_declared(), key=lambda tool: tool.name)}
"""By name, sorted: prompts are cached by their beginning."""
TOOL_NAMES = frozenset(TOOLS)


def _with_effect(effects: Collection[Effect]) -> frozenset[str]:
    return frozenset(name for name, tool in TOOLS.items() if tool.effect in effects)


WRITING = _with_effect([Effect.WRITES_FILES])
LOOKING = _with_effect(CHANGES_NOTHING)
"""They leave everything as it is."""
SHOWING_FILES = frozenset(name for name, tool in TOOLS.items() if tool.results is Results.FILES)
BASIC = frozenset(name for name, tool in TOOLS.items() if tool.is_basic)
DEPENDING_ON_TIME = frozenset(name for name, tool in TOOLS.items() if tool.depends_on_time)


def specs(names: Collection[str] = TOOL_NAMES, commands: Mapping[str, str] = NO_COMMANDS) -> Sequence[ToolSpec]:
    """The descriptions of these tools for planners, sorted by name. Without `commands` that can be run there is no tool
    for them. `Delegate.spec_for` makes the one for subagents.
    """
    absent = {Resource.SUBAGENTS, *([] if commands else [Resource.COMMANDS])}
    return [tool.spec(commands) for name, tool in TOOLS.items() if name in names and tool.requires not in absent]


def effect_of(name: str) -> Effect:
    """What calls of a tool touch; of an unknown tool, the worst."""
    return TOOLS[name].effect if name in TOOLS else Effect.ACTS


def why_missing(name: str, there: Collection[str]) -> str:
    """Why a plan cannot have a tool that is not `there`, as the end of a sentence, and which would do as well."""
    tool = TOOLS.get(name)
    if tool is None or not tool.needs:
        return f"which does not exist. There are: {', '.join(sorted(there))}."
    instead = ""
    if other := tool.instead:
        has = f" {other}, which it has, serves as well."
        instead = has if other in there else f" Or {other}: it needs {TOOLS[other].needs}."
    return f"which this run does not have: it needs {tool.needs}.{instead}"


def tools_of(step: PlanStep) -> frozenset[str]:
    """The tools that a step may use: those it names, or all that touch nothing outside the run."""
    return frozenset(step.tools) or _with_effect(INSIDE)


def _shows(names: Collection[str]) -> set[Shows]:
    """What those of the tools show that read files."""
    reading = (TOOLS[name] for name in names if effect_of(name) is Effect.READS_FILES)
    return {tool.shows for tool in reading} - {Shows.NONE}


def only_runs_commands(step: PlanStep) -> bool:
    """Whether a step names no files and plans nothing but commands: they are given a copy of all files, and what they
    read of it is not known.
    """
    planned = {action.tool for action in step.actions} or set(step.tools)
    checked = all(criterion.check and criterion.check.commands for criterion in step.acceptance_criteria)
    runs = any(effect_of(name) is Effect.RUNS_COMMANDS for name in planned & set(step.tools))
    return not step.inputs and not _shows(planned) and (runs or checked)


def reads_files(step: PlanStep) -> bool:
    """Whether a step is to deal with what is in its files: not if its tools only list them, or it runs commands. What
    it plans to do with its tools keeps no executor from reading.
    """
    return _shows(step.tools) != {Shows.NAMES} and not only_runs_commands(step)


def subject_of(name: str, arguments: JsonObject) -> str:
    """The path, pattern, query, address or the like that a call was given, as it was written; empty without one."""
    tool = TOOLS.get(name)
    fields = (tool.subject_field,) if tool and tool.subject_field else SUBJECTS
    return next((str(arguments[field]) for field in fields if arguments.get(field)), "")


def note_looks(looks: ReadTracker, name: str, arguments: JsonObject, result: ToolResult) -> None:
    """Note what a call that was carried out, now or before a crash, has looked at of the files."""
    tool = TOOLS.get(name)
    if tool is None:
        return
    try:
        tool.model_validate(arguments).looks_at(looks)
    except (ValidationError, InvalidInput):
        return  # refused before it saw any file
    if result.is_error and tool.requires is None:
        looks.names()  # a refusal may speak of other files: what is called alike, what lies in the way
    for one in result.shown:
        if one.lines:
            looks.file(one.path)


def calculation_in(name: str, arguments: JsonObject) -> str:
    """What a call that was carried out has computed; empty for all but calculations."""
    return TOOLS[name].calculation_in(arguments) if name in TOOLS else ""


def missing_in(name: str, arguments: JsonObject, result: str) -> FailedSearch | None:
    """What a call that was carried out looked for and did not find; None for all others."""
    return TOOLS[name].missing_in(arguments, result) if name in TOOLS else None
