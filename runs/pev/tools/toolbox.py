"""The tools of an executor over one workspace: what they answer, and how they say no (rule S1)."""

from collections.abc import Collection, Sequence

from pydantic import ValidationError

from runs.contracts.ports import Acting, Original, Reach, ToolResult, ToolSpec, ToolUse, Workspace
from runs.errors import InvalidInput
from runs.pev.conversation.mistakes import MAX_SHOWN, place_of, words_for
from runs.pev.tools.registry import TOOL_NAMES, TOOLS, specs
from runs.pev.tools.tool import NO_COMMANDS, Tool, ToolContext, ToolLimits, resources_of
from runs.text.truncate import quoted

NOTHING = Reach()


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
        self._resources = resources_of(reach)
        there = reach.servers.specs() if reach.servers else ()
        self._elsewhere = {spec.name: spec for spec in there if spec.name in allowed}
        self._served = {spec.name: spec for spec in reach.service if spec.name in allowed}
        own = {name for name, tool in TOOLS.items() if name in allowed and self._has(tool)}
        self._allowed = own | self._elsewhere.keys()

    def _has(self, tool: type[Tool]) -> bool:
        return tool.requires is None or tool.requires in self._resources

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
        tool = TOOLS.get(use.name)
        if tool and tool.refusal and not self._has(tool):
            return self._refuse(tool.refusal)
        if use.name in self._served:
            return self._refuse(f"{use.name} is run by your service. Call it as its tool, not as one of ours.")
        if tool is None or use.name not in self._allowed:
            why = "The plan does not give this step the tool" if tool else "There is no tool"
            return self._refuse(f"{why} {quoted(use.name)}; there are {', '.join(sorted(self._allowed))}.")
        try:
            return tool.model_validate(use.input).run(ToolContext(self._workspace, self._reach, self._limits))
        except ValidationError as error:
            return self._refuse(wrong_arguments(tool, error))
        except InvalidInput as error:
            return self._refuse(str(error))

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        """The pages of the files that a call has shown, as far as the limits have them shown as they look."""
        if use.name not in TOOLS or result.is_error:
            return ()
        return TOOLS[use.name].originals(self._workspace, use.input, result, self._limits)

    def _refuse(self, sentence: str) -> ToolResult:
        return ToolResult(sentence[: self._limits.result_chars], is_error=True)


def wrong_arguments(tool: type[Tool], error: ValidationError) -> str:
    """The error for a model whose call has the wrong input."""
    errors = error.errors(include_url=False, include_input=False)[:MAX_SHOWN]
    wrong = [f"{place_of(item['loc'])} {words_for(item)}" for item in errors]
    takes = ", ".join(
        name if field.is_required() else f"{name} (optional)" for name, field in tool.model_fields.items()
    )
    return f"{tool.name} was not run. {'; '.join(wrong)}. It takes {takes}."
