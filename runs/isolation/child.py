"""The process of one call where processes cannot be forked: reads the request, performs it, and writes how it ended."""

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
    """Standard output carries the answer, so what the function prints must not get into it."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    header_size, size = SIZES.unpack(sys.stdin.buffer.read(SIZES.size))
    header: dict[str, Any] = json.loads(sys.stdin.buffer.read(header_size))
    data = sys.stdin.buffer.read(size)

    with suppress(Exception):  # the call will fail in the same way and report it
        function_at(header["function"])
    # The asking process measures memory and time from here on, so that imports do not count.
    answers.write(READY)
    answers.flush()
    output, ending = performed(header, data, _limit)
    answers.write(output + ended(header, ending))
    answers.close()


def _limit(*, seconds: float, **_: float) -> None:
    """Sets the alarm. The asking process watches the other limits."""
    # The call itself cannot be interrupted, so the whole process ends.
    clock = threading.Timer(seconds, os._exit, [1])
    clock.daemon = True
    clock.start()


if __name__ == "__main__":
    main()
