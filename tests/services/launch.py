"""Becomes a program that ends with whoever started it: python launch.py PARENT SIGNAL UID GID PROGRAM ARGUMENT ...

A program of its own, since what has to happen between fork and exec is not safe in a process with threads. It imports
next to nothing, so that it takes no time.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, signal, uid, gid = map(int, sys.argv[1:5])
    if uid >= 0:  # first: changing the user forgets the signal
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal)
        if os.getppid() != parent:  # it was killed before it could be told
            sys.exit(1)
    os.execvp(sys.argv[5], sys.argv[5:])


main()
