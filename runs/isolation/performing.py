"""What the process of a call does: imports a function of ours, calls it, and reports how it ended."""

import gc
import importlib
import math
import time
from collections.abc import Callable
from typing import Any

from runs.errors import InvalidInput
from runs.isolation.pipe_messages import Ending


def function_at(path: str) -> Any:
    """Returns the function at this dotted path. Its module is imported if necessary."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


_end = math.inf


def seconds_left() -> float:
    """Returns the wall-clock seconds until this process is ended, or infinity without limits. A function can use it to
    stop early and keep its result.
    """
    return _end - time.monotonic()


def performed(header: dict[str, Any], data: bytes, limit: Callable[..., None]) -> tuple[bytes, Ending]:
    """Returns the result of the function, or the sentence with which it refuses. `limit` is called with the limits
    first.
    """
    global _end
    # the process ends with the call, and looking for cycles would take a twentieth of the time of a long document
    gc.disable()
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
        return type(error).__name__.encode(), Ending.BROKE  # its message may contain any part of the data
    return (b"", Ending.LARGE) if len(output) > header["limits"]["output"] else (output, Ending.DONE)
