"""The instructions of the four roles and of subagents, one Markdown file each, and digests that name their versions."""

import hashlib
from functools import cache
from importlib.resources import files

from runs.enums import Role

SIMPLE_ROLES = (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)
"""Those that have a simple form. The final answer is one text in any case."""


@cache
def instructions(role: Role) -> str:
    """The system prompt of a role: the same bytes every time, so that prompt caches hit."""
    common = files(__package__).joinpath("common.md").read_text("utf-8")
    return files(__package__).joinpath(f"{role}.md").read_text("utf-8") + "\n" + common


@cache
def simple(role: Role) -> str:
    """The system prompt for models that cannot give an answer in the whole form of a role: short, with an example."""
    return files(__package__).joinpath(f"simple_{role}.md").read_text("utf-8")


@cache
def of_subagents() -> str:
    """The system prompt of subagents, whatever they are."""
    return files(__package__).joinpath("subagent.md").read_text("utf-8")


@cache
def version_for_subagents() -> str:
    """Changes when their prompt does; part of what is bound where there are some, so that no other approval ends."""
    return hashlib.sha256(of_subagents().encode()).hexdigest()[:16]


@cache
def version() -> str:
    """Changes when the prompt of a role changes; part of what an approval and a reuse are bound to."""
    texts = [*map(instructions, Role), *map(simple, SIMPLE_ROLES)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
