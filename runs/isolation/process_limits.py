"""What a guarded call may take, and how it fails."""

from dataclasses import dataclass

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
    """It broke: an exception that nobody expected, or a signal such as that of a crash in C."""


class Interrupted(Crashed):
    """Its process was ended by somebody else, as when the server stops: nothing is known of what it was called with."""
