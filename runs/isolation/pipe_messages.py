"""What a guarded process and the one that asks say to each other, what a call may take, and how it fails."""

import json
import os
import secrets
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from runs.errors import PevError


@dataclass(frozen=True)
class Limits:
    """`megabytes` on top of what the function's module takes; `cpu_seconds` of the processor; `seconds` by the clock,
    and of waiting for a turn; both together where they are few; `files` it may open; `output` in bytes.
    """

    megabytes: int = 512
    cpu_seconds: float = 10.0
    seconds: float = 20.0
    files: int = 16
    output: int = 20_000_000


class ChildFailed(PevError):
    """The call ended without a result. The text is a part of a sentence that says why."""


class TimedOut(ChildFailed):
    """It took more time than it may, by the clock or of the processor."""


class NoTurn(TimedOut):
    """Too many others were before it: nothing is known of what it was called with."""


class TooLarge(ChildFailed):
    """It took more memory than it may, or its result is larger than it may be."""


class Crashed(ChildFailed):
    """The call failed: with an unexpected exception, or a signal such as that of a crash in C."""


class Interrupted(Crashed):
    """Its process was ended by someone else, as when the server stops: nothing is known of what it was called with."""


SIZES = struct.Struct("!II")
"""What a request begins with: bytes of the header, which is JSON, and bytes of the data."""
ROOT = Path(__file__).parents[2]
"""Where a process is started that is to find our modules."""
SEAL_BYTES = 8
type Option = str | int | float | bool | None
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
"""No keys, no address of a service; the last is what Python does not start without on Windows."""


class Ending(IntEnum):
    """How a call has ended; the number of a signal stands for itself, with a minus."""

    DONE = 0
    REFUSED = 10
    OUT_OF_MEMORY = 11
    LARGE = 12
    BROKE = 13
    LATE = 14
    BUSY = 15


class IsolatedCall:
    """One call as it is sent, and the answer as it has to come back: the output, a seal, and one byte for the ending.

    The seal is another for each call, so that no part of an output that was cut off counts as the whole of it.
    """

    def __init__(self, function: str, data: bytes, options: Mapping[str, Option], limits: Limits) -> None:
        self.limits = limits
        self._data = data
        self._header = {"function": function, "options": options, "limits": asdict(limits)}
        self._seal = secrets.token_bytes(SEAL_BYTES)

    def request(self, seconds: float) -> tuple[bytes, bytes]:
        """The beginning, and the data. `seconds`: what is left of those of the limits."""
        given = self._header | {"limits": asdict(self.limits) | {"seconds": seconds}, "seal": self._seal.hex()}
        header = json.dumps(given).encode()
        return SIZES.pack(len(header), len(self._data)) + header, self._data

    @property
    def most(self) -> int:
        """Bytes that an answer may have."""
        return self.limits.output + SEAL_BYTES + 1

    def answer(self, received: bytes) -> tuple[bytes, int] | None:
        """The output, and how the child has ended: a number of `Ending`, or less than 0 for a signal; None where that
        is missing.
        """
        if received[-SEAL_BYTES - 1 : -1] != self._seal:
            return None
        return received[: -SEAL_BYTES - 1], int.from_bytes(received[-1:], signed=True)


def ended(header: Mapping[str, Any], ending: int) -> bytes:
    """What a child, or who waits for it, sends behind the output."""
    return bytes.fromhex(header["seal"]) + ending.to_bytes(1, signed=True)


def environment() -> dict[str, str]:
    """All that a child inherits."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}
