"""The tool that runs a command which an administrator has named, such as the tests of a project."""

from typing import Annotated

from pydantic import Field, StringConstraints

from runs.enums import Effect
from runs.pev.ports import CommandResult, Commands, ToolResult
from runs.pev.tools.arguments import Described


class RunCommand(Described):
    name = "run_command"
    effect = Effect.RUNS_COMMANDS
    description = (
        "Runs one of these commands on a copy of the files, without a network, and gives its exit status and what it "
        "printed. What it writes is not kept."
    )

    command: Annotated[str, StringConstraints(min_length=1, max_length=60), Field(description="Its name")]

    def ran(self, commands: Commands, limit: int) -> ToolResult:
        """Raises InvalidInput for a command that is not there. One that fails is a result like any other."""
        found = commands.run(self.command)
        line = commands.known[self.command]
        return ToolResult(f"{self.command} ({line}) {ending_of(found)}.\n{found.output}"[:limit])


def ending_of(found: CommandResult) -> str:
    """How it ended, as a part of a sentence."""
    how = f"was ended, since {found.why}," if found.status is None else f"ended with status {found.status}"
    return f"{how} after {found.seconds:.1f} s"
