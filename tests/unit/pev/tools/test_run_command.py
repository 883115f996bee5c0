"""What a model and a check are told of how a command has ended."""

import pytest

from runs.contracts.ports import CommandResult
from runs.pev.tools.run_command import ending_of


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (CommandResult(0, "x"), "ended with status 0"),
        (CommandResult(1, "x", "its files took all"), "ended with status 1, and its files took all"),
        (CommandResult(None, "x", "its time was over"), "was ended, since its time was over"),
    ],
)
def test_how_a_command_has_ended_names_the_limit_that_it_met(result: CommandResult, words: str) -> None:
    assert ending_of(result) == words
