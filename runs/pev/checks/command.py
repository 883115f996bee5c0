"""Checks that a command of the administrator succeeds."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import StringConstraints

from runs.contracts.base import COMMAND
from runs.errors import InvalidInput
from runs.evidence.results import Evidence
from runs.pev.checks.base import Check, Label, evidence_of
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.patterns import Budget

SHOWN_LINES, SHOWN_CHARS = 10, 1_000
"""From the end of a command's output, for evidence and feedback."""


class CommandSucceeds(Check):
    """A command that the administrator has named, `command`, ends with status 0 on a copy of the files."""

    order = 160
    title = "a command of the administrator succeeds"

    kind: Literal["command"]
    command: Annotated[str, StringConstraints(min_length=1, max_length=60), Label("Command", "Its name")]

    @property
    def subject(self) -> str:
        return COMMAND + self.command

    @property
    def commands(self) -> Sequence[str]:
        return (self.command,)

    def words(self, commands: Mapping[str, str]) -> str:
        line = commands.get(self.command, "which this installation does not have")
        return f"the command {self.command} ({line}) succeeds"

    def decide(self, material: CheckInput, budget: Budget) -> Evidence:
        """Runs the command, which has a time limit of its own.

        The end of its output, where test runners summarise, is the evidence. The whole output is stored under the name
        of the source.
        """
        if material.command is None:
            raise InvalidInput(f"{self.command} was not run: no commands are run here")
        result = material.command(self.command)
        sentence, _, printed = result.text.partition("\n")
        lines = [line for line in printed.splitlines() if line.strip()]
        quote = "\n".join(lines[-SHOWN_LINES:])[-SHOWN_CHARS:]
        found = CheckResult(not result.is_error, sentence.removesuffix("."), quote=quote)
        return evidence_of(self.subject, result.text.encode(), found)
