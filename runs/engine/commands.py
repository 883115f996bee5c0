"""Commands on the files of an attempt: written into a sandbox, run there, thrown away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from django.conf import settings

from runs.contracts.ports import Acting, CommandResult, Original, ToolResult, ToolSpec, ToolUse
from runs.engine.deadline import Deadline
from runs.engine.recording import RecordedTools, Recording
from runs.errors import InvalidInput
from runs.isolation import sandbox
from runs.lifecycle.toolset import command_lines, view_of_commands
from runs.pev.read_set import ReadTracker
from runs.pev.tools.run_command import RunCommand
from runs.store import blobs, journal
from runs.store.trees import Overlay


class TreeCommands:
    """Implements `pev.ports.Commands` over a workspace. `keep_going` raises to break a command off."""

    def __init__(self, overlay: Overlay, keep_going: Callable[[], None]) -> None:
        self._overlay = overlay
        self._keep_going = keep_going

    @property
    def known(self) -> Mapping[str, str]:
        return command_lines()

    def run(self, name: str) -> CommandResult:
        argv = settings.COMMANDS.get(name)
        if argv is None:
            raise InvalidInput(f"There is no command “{name[:60]}”; there are {', '.join(sorted(settings.COMMANDS))}.")

        def fill(folder: Path) -> None:
            for path, info in self._overlay.files().items():
                target = folder / path  # paths of trees leave no folder (S1)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(blobs.read(info.sha256))
                self._keep_going()

        limits = sandbox.CommandLimits(seconds=settings.COMMAND_SECONDS, files_megabytes=settings.COMMAND_FILES_MB)
        ended = sandbox.run(argv, fill, limits, view_of_commands(), keep_going=self._keep_going)
        output = ended.output.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
        return CommandResult(ended.status, output, ended.why)


def commands_for(recording: Recording, overlay: Overlay) -> TreeCommands | None:
    """Those that an executor may run on these files; None where the administrator has named none, or the policy has
    none run.
    """
    may = settings.COMMANDS and recording.item.run.policy.commands
    return TreeCommands(overlay, recording.lease.check) if may else None


def checking(
    recording: Recording, overlay: Overlay, deadline: Deadline | None = None, looks: ReadTracker | None = None
) -> Callable[[str], ToolResult] | None:
    """Runs a command for a check. It is in the journal like a tool call, so that after a crash the same result decides;
    criteria that name the same one share it.
    """
    commands = commands_for(recording, overlay)
    if commands is None:
        return None
    tools = RecordedTools(_Checks(commands), overlay, recording, deadline, looks, journal.CHECKS)

    @cache
    def run(name: str) -> ToolResult:
        return tools.run(ToolUse(journal.check_id(name), RunCommand.name, {"command": name}))

    return run


class _Checks:
    """A toolbox that runs commands for checks: a result is an error where the command did not succeed."""

    def __init__(self, commands: TreeCommands) -> None:
        self._commands = commands

    def specs(self) -> Sequence[ToolSpec]:
        return ()

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        return ()

    def acting(self, use: ToolUse) -> Acting | None:
        return None

    def run(self, use: ToolUse) -> ToolResult:
        try:
            return RunCommand.model_validate(use.input).checked(self._commands)
        except InvalidInput as error:
            return ToolResult(str(error), is_error=True)
