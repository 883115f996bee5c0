"""The tools of an executor: what they take, what they answer, and how they say no (rule S1)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pydantic import ValidationError

from runs.contracts.answer_schemas import schema_for
from runs.contracts.base import JsonObject
from runs.contracts.ports import Acting, Original, Reach, ToolResult, ToolSpec, ToolUse, Workspace
from runs.enums import CHANGES_NOTHING, INSIDE, Effect
from runs.errors import InvalidInput
from runs.pev.agents import AgentDefinition
from runs.pev.contracts import PlanStep
from runs.pev.conversation.mistakes import MAX_SHOWN, place_of, words_for
from runs.pev.read_set import ReadTracker
from runs.pev.tools.ask_person import AskPerson
from runs.pev.tools.calculate import Calculate
from runs.pev.tools.comment_document import CommentDocument
from runs.pev.tools.delegate import Delegate
from runs.pev.tools.fetch_page import FetchPage
from runs.pev.tools.find_files import Finding, Glob, ListFiles, SearchFiles
from runs.pev.tools.limits import ToolLimits
from runs.pev.tools.originals import originals_of
from runs.pev.tools.read_file import ReadFile
from runs.pev.tools.run_command import RunCommand
from runs.pev.tools.service_tools import SERVICE_TOOLS, SERVING, Serving, WebSearch
from runs.pev.tools.table import ReadTable
from runs.pev.tools.tool import Arguments, Described, Reaching
from runs.pev.tools.write_files import EditFile, WriteFile
from runs.text.truncate import quoted

NO_COMMANDS: Mapping[str, str] = MappingProxyType({})
_WORKING: Mapping[str, type[Arguments]] = {
    tool.name: tool
    for tool in (Calculate, CommentDocument, EditFile, Glob, ListFiles, ReadFile, ReadTable, SearchFiles, WriteFile)
}
_REACHING: Mapping[str, type[Reaching]] = {tool.name: tool for tool in (AskPerson, FetchPage, RunCommand)}
_SERVING: Mapping[str, type[Serving]] = {tool.name: tool for tool in SERVING}
_TOOLS: Mapping[str, type[Arguments] | type[Reaching]] = {**_WORKING, **_REACHING}
_KNOWN: Mapping[str, type[Described]] = {**_TOOLS, **_SERVING, Delegate.name: Delegate}
_EITHER: Mapping[str, str] = {FetchPage.name: WebSearch.name, WebSearch.name: FetchPage.name}
"""Tools that look things up on the web, and the one that does so in its place."""
NOTHING = Reach()
TOOL_NAMES = frozenset(_KNOWN)


def specs(names: Collection[str] = TOOL_NAMES, commands: Mapping[str, str] = NO_COMMANDS) -> Sequence[ToolSpec]:
    """Sorted by name, the same bytes every time: prompts are cached by their beginning. Without `commands` that can be
    run there is no tool for them. That for subagents comes apart.
    """
    there = TOOL_NAMES.intersection(names).difference([Delegate.name, *([] if commands else [RunCommand.name])])
    return [_spec(_KNOWN[name], commands) for name in sorted(there)]


def spec_of_delegate(subagents: Mapping[str, AgentDefinition]) -> ToolSpec:
    """The tool that hands parts of a step to these."""
    spec, there = (
        _spec(Delegate, NO_COMMANDS),
        [f"{name}: {agent.purpose}" for name, agent in sorted(subagents.items())],
    )
    return replace(spec, description=f"{spec.description} There are: {'; '.join(there)}")


def effect_of(name: str) -> Effect:
    """What calls of a tool touch; of one that is not there, the worst."""
    return _KNOWN[name].effect if name in _KNOWN else Effect.ACTS


def why_missing(name: str, there: Collection[str]) -> str:
    """Why a plan cannot have a tool that is not `there`, as the end of a sentence, and which would do as well."""
    if needs := _needs(name):
        return f"which this run does not have: it needs {needs}.{_instead(name, there)}"
    return f"which does not exist. There are: {', '.join(sorted(there))}."


def _needs(name: str) -> str:
    return getattr(_KNOWN.get(name), "needs", "")


def _instead(name: str, there: Collection[str]) -> str:
    other = _EITHER.get(name, "")
    if not other:
        return ""
    return f" {other}, which it has, serves as well." if other in there else f" Or {other}: it needs {_needs(other)}."


def tools_of(step: PlanStep) -> frozenset[str]:
    """The tools that a step may use."""
    return frozenset(step.tools) or frozenset(name for name, tool in _TOOLS.items() if tool.effect in INSIDE)


def only_runs_commands(step: PlanStep) -> bool:
    """Whether a step names no files and plans nothing but commands: they are given a copy of all files, and what they
    read of it is not known.
    """
    planned = {action.tool for action in step.actions} or set(step.tools)
    reading = {name for name in planned if effect_of(name) is Effect.READS_FILES and name != Calculate.name}
    checked = all(criterion.check and criterion.check.commands for criterion in step.acceptance_criteria)
    runs = RunCommand.name in planned and RunCommand.name in step.tools
    return not step.inputs and not reading and (runs or checked)


def reads_files(step: PlanStep) -> bool:
    """Whether a step is to deal with what is in its files: not where its tools only list them, or it runs commands.
    What it plans to do with its tools keeps no executor from reading.
    """
    looking = {name for name in step.tools if effect_of(name) is Effect.READS_FILES and name != Calculate.name}
    only_lists = bool(looking) and looking <= {ListFiles.name, Glob.name}
    return not (only_lists or only_runs_commands(step))


def looking_tools() -> frozenset[str]:
    """The tools that leave everything as it is."""
    return frozenset(name for name, tool in _TOOLS.items() if tool.effect in CHANGES_NOTHING)


def note_looks(looks: ReadTracker, name: str, arguments: JsonObject, result: ToolResult) -> None:
    """Note what a call that was carried out, now or before a crash, has looked at of the files."""
    if name == RunCommand.name:
        looks.contents("")  # it is given a copy of all files
    tool = _WORKING.get(name)
    if tool is None:
        return
    try:
        tool.model_validate(arguments).looks_at(looks)
    except (ValidationError, InvalidInput):
        return  # refused before it saw any file
    if result.is_error:
        looks.names()  # a refusal may speak of other files: what is called alike, what lies in the way
    for one in result.shown:
        if one.lines:
            looks.file(one.path)


def expression_of(name: str, arguments: JsonObject) -> str:
    """What a call that was carried out has computed; empty for all but calculations."""
    return Calculate.model_validate(arguments).expression if name == Calculate.name else ""


def nothing_found_by(name: str, arguments: JsonObject, result: str) -> Finding | None:
    """What a call looked for that was carried out and found nothing; None for all others."""
    tool = _WORKING.get(name)
    if tool is None or not issubclass(tool, Finding) or not result.startswith(tool.nothing):
        return None
    return tool.model_validate(arguments)


class RunTools:
    """A Toolbox over one workspace, with the tools that are `allowed` and for which `reach` has what they need. What a
    model asks for wrongly comes back as a result with `is_error`.

    Only what is no fault of the model (LeaseLost, AnswerAwaited, a database that is away) passes through `run`.
    """

    def __init__(
        self,
        workspace: Workspace,
        limits: ToolLimits | None = None,
        allowed: Collection[str] = TOOL_NAMES,
        reach: Reach = NOTHING,
    ) -> None:
        self._workspace = workspace
        self._limits = limits or ToolLimits()
        self._reach = reach
        absent = {name for name, tool in _REACHING.items() if not tool.is_there(reach)}
        there = reach.servers.specs() if reach.servers else ()
        self._elsewhere = {spec.name: spec for spec in there if spec.name in allowed}
        self._served = {spec.name: spec for spec in reach.service if spec.name in allowed}
        own = TOOL_NAMES.intersection(allowed) - absent - SERVICE_TOOLS - {Delegate.name}
        self._allowed = own | self._elsewhere.keys()

    def specs(self) -> Sequence[ToolSpec]:
        commands = self._reach.commands
        own = specs(self._allowed, commands.known if commands else NO_COMMANDS)
        others = [*self._elsewhere.values(), *self._served.values()]
        return sorted([*own, *others], key=lambda spec: spec.name)

    def acting(self, use: ToolUse) -> Acting | None:
        return self._reach.servers.acting(use.name) if self._reach.servers and use.name in self._elsewhere else None

    def run(self, use: ToolUse) -> ToolResult:
        if self._reach.servers and use.name in self._elsewhere:
            return self._reach.servers.call(use)
        if use.name == AskPerson.name and self._reach.people is None:
            return self._refused("No one can be asked here. Decide yourself, and say what you decided.")
        if use.name in self._served:
            return self._refused(f"{use.name} is run by your service. Call it as its tool, not as one of ours.")
        if use.name not in self._allowed:
            why = "The plan does not give this step the tool" if use.name in _KNOWN else "There is no tool"
            return self._refused(f"{why} {quoted(use.name)}; there are {', '.join(sorted(self._allowed))}.")
        tool = _TOOLS[use.name]
        try:
            call = tool.model_validate(use.input)
            if isinstance(call, Reaching):
                return call.reached(self._reach, self._limits)
            return call.answer(self._workspace, self._limits)
        except ValidationError as error:
            return self._refused(wrong_arguments(tool, error))
        except InvalidInput as error:
            return self._refused(str(error))

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        """The pages that `read_file` has shown, as far as the limits have them shown as they look."""
        if use.name != ReadFile.name or result.is_error:
            return ()
        return originals_of(self._workspace, use, result.shown, self._limits.originals)

    def _refused(self, sentence: str) -> ToolResult:
        return ToolResult(sentence[: self._limits.result_chars], is_error=True)


def _spec(tool: type[Described], commands: Mapping[str, str]) -> ToolSpec:
    schema = {key: value for key, value in schema_for(tool).items() if key != "title"}
    schema["required"] = [name for name, field in tool.model_fields.items() if field.is_required()]
    there = f" There are: {', '.join(f'{name} ({line})' for name, line in sorted(commands.items()))}."
    description = f"{tool.description}{there if tool is RunCommand else ''}"
    return ToolSpec(tool.name, description, schema, tool.effect)


def wrong_arguments(tool: type[Described], error: ValidationError) -> str:
    """What a model is told whose call does not have what the tool takes."""
    errors = error.errors(include_url=False, include_input=False)[:MAX_SHOWN]
    wrong = [f"{place_of(item['loc'])} {words_for(item)}" for item in errors]
    takes = ", ".join(
        name if field.is_required() else f"{name} (optional)" for name, field in tool.model_fields.items()
    )
    return f"{tool.name} was not run. {'; '.join(wrong)}. It takes {takes}."
