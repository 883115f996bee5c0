"""What checks look for, in words."""

from runs.lifecycle.toolset import command_lines
from runs.pev.checks.base import Check


def check_in_words(check: Check) -> str:
    """What a check looks for, as a clause."""
    return check.words(command_lines())
