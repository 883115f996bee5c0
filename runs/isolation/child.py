"""The process of one guarded call where none can be forked: reads the request, performs it, writes how it has ended."""

import json
import os
import sys
import threading
from contextlib import suppress
from typing import Any

from runs.isolation.performing import function_at, performed
from runs.isolation.pipe_messages import SIZES, ended
from runs.isolation.spawned import READY


def main() -> None:
    """Standard output is ours alone: what the function prints must not get between."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    header_size, size = SIZES.unpack(sys.stdin.buffer.read(SIZES.size))
    header: dict[str, Any] = json.loads(sys.stdin.buffer.read(header_size))
    data = sys.stdin.buffer.read(size)

    with suppress(Exception):  # the call fails in the same way, and says so
        function_at(header["function"])
    answers.write(READY)
    answers.flush()
    output, ending = performed(header, data, _limit)
    answers.write(output + ended(header, ending))
    answers.close()


def _limit(*, seconds: float, **_: float) -> None:
    """The clock; the rest is watched by the process that asks."""
    clock = threading.Timer(seconds, os._exit, [1])
    clock.daemon = True
    clock.start()


if __name__ == "__main__":
    main()
