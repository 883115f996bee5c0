"""The messages between the process of a call and the asking process, the limits of a call, and its errors."""

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
    """The limits of a call.

    * `megabytes`: memory, in addition to what the function's module takes.
    * `cpu_seconds`: processor time.
    * `seconds`: wall-clock time, and time to wait for a turn; both together if it is short.
    * `files`: open files.
    * `output`: bytes.
    """

    megabytes: int = 512
    cpu_seconds: float = 10.0
    seconds: float = 20.0
    files: int = 16
    output: int = 20_000_000


class ChildFailed(PevError):
    """The call ended without a result. The message is a clause that says why."""


class TimedOut(ChildFailed):
    """It exceeded its wall-clock or processor time."""


class NoTurn(TimedOut):
    """Too many calls were waiting. Nothing is known about its input."""


class TooLarge(ChildFailed):
    """It exceeded its memory, or its result is too large."""


class Crashed(ChildFailed):
    """The call failed with an unexpected exception, or with a signal such as that of a crash in C code."""


class Interrupted(Crashed):
    """Its process was ended from outside, as when the server stops. Nothing is known about its input."""


SIZES = struct.Struct("!II")
"""The beginning of a request: the sizes of the header (JSON) and of the data."""
ROOT = Path(__file__).parents[2]
"""The folder in which processes are started so that they find our modules."""
SEAL_BYTES = 8
type Option = str | int | float | bool | None
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
"""Variables that a child inherits: no keys and no addresses of services. Python does not start on Windows without the
last.
"""


class Ending(IntEnum):
    """How a call ended. Signals have their own numbers, negated."""

    DONE = 0
    REFUSED = 10
    OUT_OF_MEMORY = 11
    LARGE = 12
    BROKE = 13
    LATE = 14
    BUSY = 15


class IsolatedCall:
    """One call as it is sent, and the expected form of the answer: the output, a seal, and one byte for the ending.

    The seal is random for each call, so that a truncated output is not taken for a complete one.
    """

    def __init__(self, function: str, data: bytes, options: Mapping[str, Option], limits: Limits) -> None:
        self.limits = limits
        self._data = data
        self._header = {"function": function, "options": options, "limits": asdict(limits)}
        self._seal = secrets.token_bytes(SEAL_BYTES)

    def request(self, seconds: float) -> tuple[bytes, bytes]:
        """Returns the header and the data. `seconds`: what is left of the time limit."""
        given = self._header | {"limits": asdict(self.limits) | {"seconds": seconds}, "seal": self._seal.hex()}
        header = json.dumps(given).encode()
        return SIZES.pack(len(header), len(self._data)) + header, self._data

    @property
    def most(self) -> int:
        """The maximum number of bytes of an answer."""
        return self.limits.output + SEAL_BYTES + 1

    def answer(self, received: bytes) -> tuple[bytes, int] | None:
        """Returns the output and how the child ended (an `Ending`, or a negative signal number), or None if the answer
        is incomplete.
        """
        if received[-SEAL_BYTES - 1 : -1] != self._seal:
            return None
        return received[: -SEAL_BYTES - 1], int.from_bytes(received[-1:], signed=True)


def ended(header: Mapping[str, Any], ending: int) -> bytes:
    """Returns what a child or its supervisor sends after the output."""
    return bytes.fromhex(header["seal"]) + ending.to_bytes(1, signed=True)


def environment() -> dict[str, str]:
    """Returns the environment of a child."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}
