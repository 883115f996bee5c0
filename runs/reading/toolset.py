"""Which tools there are in this installation, and what those of a step do beyond the files of the run."""

import shlex
from collections.abc import Iterator, Mapping

from django.conf import settings

from runs.enums import INSIDE, Effect
from runs.pev.contracts import PlanStep
from runs.pev.tools.commands import RunCommand
from runs.pev.tools.toolbox import TOOL_NAMES, effect_of


def tool_names() -> frozenset[str]:
    """What plans may name."""
    return TOOL_NAMES - (frozenset() if settings.COMMANDS else {RunCommand.name})


def command_lines() -> Mapping[str, str]:
    """What the administrator of this installation lets models run: name to command line."""
    return {name: shlex.join(argv) for name, argv in settings.COMMANDS.items()}


def effects_of(step: PlanStep) -> Iterator[str]:
    """What the tools of a step do beyond reading and writing files of the run, for people who approve it."""
    for effect in sorted({effect_of(name) for name in step.tools} - INSIDE):
        if effect is Effect.RUNS_COMMANDS:
            yield f"runs {', '.join(f'{name} ({line})' for name, line in command_lines().items()) or 'no command'}"
        else:
            yield effect.words
