"""All output of commands to the terminal. It cannot move the cursor, change colours, or look like other text."""

import getpass
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO, override

from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from runs.enums import AuditChannel
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
    """The base of all commands. Their output, errors and final error are made printable.

    `channel` says in the audit trail through what the actions of a command come.
    """

    channel = AuditChannel.TERMINAL

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: Any) -> None:
        super().__init__(stdout, stderr, **options)
        colour = self.stderr.style_func
        self.stdout, self.stderr = Terminal(stdout or sys.stdout), Terminal(stderr or sys.stderr)
        self.stderr.style_func = colour

    @override
    def execute(self, *args: Any, **options: Any) -> str | None:
        from runs.store.audit_trail import Origin, coming_from  # with the tables, which `--help` does not need

        for name in ("stdout", "stderr"):
            if stream := options.pop(name, None):
                setattr(self, name, Terminal(stream))
        command = type(self).__module__.rpartition(".")[2]
        try:
            with coming_from(Origin(self.channel, through=lambda: f"{command}, by {_system_user()}")):
                return super().execute(*args, **options)
        except StoreAway as error:
            cause = error.__cause__ or "it gave no reason"
            raise CommandError(f"{error} {cause}. Correct PEV_BLOBS and the AWS_… variables, or start it.") from error


def _system_user() -> str:
    """The account of the operating system that has started the command."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number without a name
        return f"user {os.getuid()}"
