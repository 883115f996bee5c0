"""The tool that runs a command which an administrator has named, such as the tests of a project."""

from typing import Annotated

from pydantic import Field, StringConstraints

from runs.contracts.ports import CommandResult, Commands, Reach, ToolResult
from runs.enums import Effect
from runs.pev.tools.limits import ToolLimits
from runs.pev.tools.tool import Reaching


class RunCommand(Reaching):
    name = "run_command"
    effect = Effect.RUNS_COMMANDS
    needs = "commands that the installation has (PEV_COMMANDS) and its policy allows"
    description = (
        "Runs one of these commands on a copy of the files, without a network, and gives its exit status and what it "
        "printed. What it writes is not kept."
    )

    command: Annotated[str, StringConstraints(min_length=1, max_length=60), Field(description="Its name")]

    @classmethod
    def is_there(cls, reach: Reach) -> bool:
        return reach.commands is not None

    def reached(self, reach: Reach, limits: ToolLimits) -> ToolResult:
        """Raises InvalidInput for a command that is not there. One that fails is a result like any other."""
        assert reach.commands is not None
        return ToolResult(self._told(reach.commands, reach.commands.run(self.command))[: limits.result_chars])

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
