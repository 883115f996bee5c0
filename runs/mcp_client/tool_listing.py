"""Descriptions of a server's tools. Models import them, so this module does not import the client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True)
class ServerTool:
    """A tool as its server describes it. `schema`: that of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


class Listing(NamedTuple):
    """The usable tools of a server, sorted by name, and a sentence for each unusable one."""

    tools: Sequence[ServerTool]
    problems: Sequence[str]
