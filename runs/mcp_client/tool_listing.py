"""What a server says of its tools. Imported by models, so without the client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True)
class ServerTool:
    """A tool as its server describes it. `schema`: of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


class Listing(NamedTuple):
    """The tools of a server that can be used, sorted by name, and a sentence for each that cannot."""

    tools: Sequence[ServerTool]
    problems: Sequence[str]
