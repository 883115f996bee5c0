"""Starts an MCP server and forwards its messages, as long as they are JSON-RPC and neither too long nor too many.

It is a separate program, run by path: a server that floods its output would otherwise fill the worker's memory or log.
It ends with the worker, and ends the server.
"""

import json
import os
import select
import signal
import subprocess
import sys

PIECE = 65_536  # bytes that are read at once
MAX_MESSAGES = 10_000
MAX_OTHERS = 1_000
"""Lines that are not messages. Some servers print diagnostics, which are dropped."""


def main(limit: int, command: list[str]) -> int:
    parent = os.getppid()
    server = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603  an administrator named it
    assert server.stdout is not None
    source, rest, messages, others = server.stdout.fileno(), b"", 0, 0
    # The output of the server ends with it, and then the loop below.
    signal.signal(signal.SIGTERM, lambda *_: server.kill())
    try:
        while os.getppid() == parent and max(messages - MAX_MESSAGES, others - MAX_OTHERS) < 0:
            # Woken every second to see whether the parent process has ended.
            if not select.select([source], [], [], 1.0)[0]:
                continue
            piece = os.read(source, PIECE)
            if not piece:
                # The output has ended, so the server should end soon; otherwise it is killed below.
                return server.wait(2.0)
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > limit:
                return 1
            for line in lines:
                if len(line) <= limit and _is_message(line):
                    messages += 1
                    data = line + b"\n"
                    # A pipe may take only a part of the message.
                    while data:
                        data = data[os.write(1, data) :]
                else:
                    others += 1
    except (OSError, subprocess.TimeoutExpired):
        return 1
    finally:
        server.kill()
    return 1


def _is_message(line: bytes) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("jsonrpc") == "2.0"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
