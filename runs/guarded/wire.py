"""What a guarded process and the one that asks say to each other."""

import struct
from enum import IntEnum

SIZES = struct.Struct("!II")
"""What a request begins with: bytes of the header, which is JSON, and bytes of the data."""


class Ending(IntEnum):
    """The exit status of a child; it is sent behind the output, as the number of a signal is with a minus."""

    DONE = 0
    REFUSED = 10
    OUT_OF_MEMORY = 11
    LARGE = 12
    BROKE = 13
