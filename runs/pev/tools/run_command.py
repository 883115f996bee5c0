"""The tool that runs a command that an administrator has named, such as the tests of a project."""

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
        """Raises InvalidInput for an unknown command. A command that fails has a normal result."""
        commands = context.reach.commands
        assert commands is not None
        return ToolResult(self._in_words(commands, commands.run(self.command))[: context.limits.result_chars])

    def looks_at(self, looks: ReadTracker) -> None:
        """Depends on all files, because the command gets a copy of them."""
        looks.contents("")

    def checked(self, commands: Commands) -> ToolResult:
        """Returns the result for a check, as an error if the command failed."""
        found = commands.run(self.command)
        return ToolResult(self._in_words(commands, found), is_error=found.status != 0)

    def _in_words(self, commands: Commands, found: CommandResult) -> str:
        line = commands.known[self.command]
        return f"{self.command} ({line}) {ending_of(found)}.\n{found.output}"


def ending_of(found: CommandResult) -> str:
    """Returns how it ended, as a clause. The duration is left out so that equal runs give equal text."""
    if found.status is None:
        return f"was ended, since {found.why}"
    return f"ended with status {found.status}" + (f", and {found.why}" if found.why else "")
