"""Lets long-lived processes give memory back to the system once they have used it."""

import ctypes
from contextlib import suppress

_M_MMAP_THRESHOLD = -3  # the option of mallopt(3)
LARGE_BYTES = 256 * 1024
"""Bytes from which on glibc maps blocks separately, and returns them as soon as they are freed."""


def give_back_large_blocks() -> None:
    """Have glibc return large blocks when they are freed. Other C libraries do so, or have no such setting.

    By default, glibc raises this limit with the size of blocks that were freed: after a few archives were unpacked, a
    process would keep hundreds of megabytes for the next ones.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
