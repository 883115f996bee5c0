"""Every command prints through one door."""

import pkgutil
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from runs.management import commands
from runs.management.terminal import TerminalCommand


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(commands.__path__)])
def test_every_command_prints_through_the_door(name: str) -> None:
    assert issubclass(import_module(f"{commands.__name__}.{name}").Command, TerminalCommand)


class Printing(TerminalCommand):
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> str:
        self.stdout.write("\x1b[2Jout")
        self.stderr.write("\x9berr")
        return "returned \u202e"


def test_no_escape_sequence_comes_out_of_either_stream() -> None:
    out, err = StringIO(), StringIO()
    call_command(Printing(), stdout=out, stderr=err)
    assert (out.getvalue(), err.getvalue()) == ("\\u001b[2Jout\nreturned \\u202e\n", "\\u009berr\n")
    made = Printing(stdout=out, stderr=err)
    made.stderr.write("\x07")
    assert err.getvalue() == "\\u009berr\n\\u0007\n"
