"""How much one step of the rehearsal looks at and writes."""

import sys
from dataclasses import dataclass, replace

from runs.pev.conversation.turns import MAX_CALLS


@dataclass(frozen=True)
class Limits:
    """What is beyond a limit becomes an open point of the run; a test goes over all fields.

    `turns`: after so many turns nothing more is read or commented: 12 are usual, and the last are needed for the file
    and the report. `calls`: tool calls of one turn. `characters`: those read of all documents together. `file_chars`:
    those of a file that is written.
    """

    turns: int = 9
    calls: int = MAX_CALLS
    characters: int = 1_000_000
    file_chars: int = 1_000_000

    @property
    def of_own_files(self) -> "Limits":
        """For files that the run has written itself: they are read whole, however long they are."""
        return replace(self, characters=sys.maxsize)


DEFAULT = Limits()
