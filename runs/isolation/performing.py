"""What a guarded process does: import one of our functions, call it, and say how that has ended."""

import gc
import importlib
import math
import time
from collections.abc import Callable
from typing import Any

from runs.errors import InvalidInput
from runs.isolation.pipe_messages import Ending


def function_at(path: str) -> Any:
    """The function of this dotted path, whose module is imported if need be."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


_end = math.inf


def seconds_left() -> float:
    """By the clock, until this process is ended; without end in one that is not guarded. A function that can do with
    less stops before that, and keeps what it has.
    """
    return _end - time.monotonic()


def performed(header: dict[str, Any], data: bytes, limit: Callable[..., None]) -> tuple[bytes, Ending]:
    """What the function returns, or the sentence with which it refuses. `limit` is called with the limits before it."""
    global _end
    gc.disable()  # the process ends with the call; looking for cycles takes a twentieth of the time of a long document
    try:
        _end = time.monotonic() + header["limits"]["seconds"]
        function = function_at(header["function"])
        limit(**header["limits"])
        output = function(data, **header["options"])
    except MemoryError:
        return b"", Ending.OUT_OF_MEMORY
    except InvalidInput as error:
        return str(error).encode(), Ending.REFUSED
    except Exception as error:
        return type(error).__name__.encode(), Ending.BROKE  # its text may be anything of the data
    return (b"", Ending.LARGE) if len(output) > header["limits"]["output"] else (output, Ending.DONE)
