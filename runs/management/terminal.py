"""All output of commands to the terminal. It cannot move the cursor, change colours, or look like other text."""

import sys
from collections.abc import Callable
from typing import Any, TextIO, override

from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from runs.errors import StoreAway
from runs.text.visible import printable


class Terminal(OutputWrapper):
    """A stream that makes texts of models, files and people printable."""

    @override
    def write(  # type: ignore[override]  # Django's own differs from the class that it stands for
        self, msg: str = "", style_func: Callable[[str], str] | None = None, ending: str | None = None
    ) -> None:
        super().write(printable(msg), style_func, ending)


class TerminalCommand(BaseCommand):
    """The base of all commands. Their output, errors and final error are made printable."""

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: Any) -> None:
        super().__init__(stdout, stderr, **options)
        colour = self.stderr.style_func
        self.stdout, self.stderr = Terminal(stdout or sys.stdout), Terminal(stderr or sys.stderr)
        self.stderr.style_func = colour

    @override
    def execute(self, *args: Any, **options: Any) -> str | None:
        for name in ("stdout", "stderr"):
            if stream := options.pop(name, None):
                setattr(self, name, Terminal(stream))
        try:
            return super().execute(*args, **options)
        except StoreAway as error:
            cause = error.__cause__ or "it gave no reason"
            raise CommandError(f"{error} {cause}. Correct PEV_BLOBS and the AWS_… variables, or start it.") from error
