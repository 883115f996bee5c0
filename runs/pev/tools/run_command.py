"""The tool that runs a command which an administrator has named, such as the tests of a project."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field, StringConstraints

from runs.contracts.ports import CommandResult, Commands, ToolResult, ToolSpec
from runs.enums import Effect
from runs.pev.read_set import ReadTracker
from runs.pev.tools.tool import NO_COMMANDS, Resource, Results, Tool, ToolContext


class RunCommand(Tool):
    name = "run_command"
    effect = Effect.RUNS_COMMANDS
    results = Results.COMMAND
    requires = Resource.COMMANDS
    needs = "commands that the installation has (PEV_COMMANDS) and its policy allows"
    description = (
        "Runs one of these commands on a copy of the files, without a network, and gives its exit status and what it "
        "printed. What it writes is not kept."
    )

    command: Annotated[str, StringConstraints(min_length=1, max_length=60), Field(description="Its name")]

    @classmethod
    def spec(cls, commands: Mapping[str, str] = NO_COMMANDS) -> ToolSpec:
        lines = ", ".join(f"{name} ({line})" for name, line in sorted(commands.items()))
        return replace(super().spec(), description=f"{cls.description} There are: {lines}.")

    def run(self, context: ToolContext) -> ToolResult:
        """Raises InvalidInput for a command that does not exist. One that fails is a result like any other."""
        commands = context.reach.commands
        assert commands is not None
        return ToolResult(self._told(commands, commands.run(self.command))[: context.limits.result_chars])

    def looks_at(self, looks: ReadTracker) -> None:
        """It is given a copy of all files."""
        looks.contents("")

    def checked(self, commands: Commands) -> ToolResult:
        """For a check: one that fails is an error."""
        found = commands.run(self.command)
        return ToolResult(self._told(commands, found), is_error=found.status != 0)

    def _told(self, commands: Commands, found: CommandResult) -> str:
        line = commands.known[self.command]
        return f"{self.command} ({line}) {ending_of(found)}.\n{found.output}"


def ending_of(found: CommandResult) -> str:
    """How it ended, as a part of a sentence. For how long it ran is no part of it: the same should come out twice."""
    if found.status is None:
        return f"was ended, since {found.why}"
    return f"ended with status {found.status}" + (f", and {found.why}" if found.why else "")
