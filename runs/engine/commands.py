"""Commands on the files of an attempt: written into a folder of their own, run in a sandbox, thrown away."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from django.conf import settings

from runs import blobs
from runs.errors import InvalidInput
from runs.guarded import sandbox
from runs.pev.ports import CommandResult
from runs.reading.toolset import command_lines
from runs.trees import Overlay


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
        with tempfile.TemporaryDirectory(prefix="pevsite-command-") as temporary:
            folder = Path(temporary)
            for path, info in self._overlay.files().items():
                target = folder / path  # paths of trees leave no folder (S1)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(blobs.read(info.sha256))
                self._keep_going()
            limits = sandbox.CommandLimits(seconds=settings.COMMAND_SECONDS)
            hidden = [Path(settings.DATA_DIR)]
            ended = sandbox.run(argv, folder, limits, hidden=hidden, keep_going=self._keep_going)
        output = ended.output.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
        return CommandResult(ended.status, output, ended.seconds, ended.why)
