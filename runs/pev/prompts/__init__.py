"""The instructions of the four roles, one Markdown file each, and the digest that names their version."""

import hashlib
from functools import cache
from importlib.resources import files

from runs.enums import Role


@cache
def instructions(role: Role) -> str:
    """The system prompt of a role: the same bytes every time, so that prompt caches hit."""
    common = files(__package__).joinpath("common.md").read_text("utf-8")
    return files(__package__).joinpath(f"{role}.md").read_text("utf-8") + "\n" + common


@cache
def version() -> str:
    """Changes when any prompt changes; part of what an approval and a reuse are bound to."""
    return hashlib.sha256("\0".join(instructions(role) for role in Role).encode()).hexdigest()[:16]
