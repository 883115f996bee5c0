"""What the kernel refuses to a command in the sandbox: memory that no limit counts, and more namespaces.

A user namespace would let a command mount a tmpfs of any size. Files of `memfd_create`, segments of System V and
buffers of io_uring are memory that belongs to no process. Each is answered as by a kernel that does not have it, so
that programs take another way.
"""

import errno
import platform
import struct
from collections.abc import Iterator
from typing import NamedTuple

_LOAD, _EQUAL, _GREATER, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
"""Offsets in the kernel's `seccomp_data`; arguments take 8 bytes, the lower half first."""
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.ENOSYS
_X32 = 0x40000000
"""Calls of programs with short pointers on x86-64: other numbers for the same calls."""
_NEW_NAMESPACES = 0x7E020000
"""All `CLONE_NEW…` of clone but that of time, whose bit means something else there."""
MAX_SEGMENT_BYTES = 65_536
"""Of shared memory of System V. There may be 4,096 segments; PostgreSQL makes one of 56 bytes."""
MAX_SEMAPHORES = 64
"""In a set of System V. There may be 32,000 sets."""


class _Machine(NamedTuple):
    """The number of its architecture, and those of the calls whose arguments are looked at. `column`: its numbers in
    `_REFUSED`.
    """

    audit: int
    clone: int
    shmget: int
    semget: int
    column: int


_MACHINES = {
    "x86_64": _Machine(0xC000003E, clone=56, shmget=29, semget=64, column=0),
    "aarch64": _Machine(0xC00000B7, clone=220, shmget=194, semget=190, column=1),
}
_REFUSED = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "io_uring_setup": (425, 425),
    "msgget": (68, 186),
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone3": (435, 435),  # its flags lie in memory; libraries use clone in its place
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
}
"""The numbers of calls on x86-64 and on aarch64, from the kernel's tables."""


def program() -> bytes | None:
    """The filter as the kernel takes it; None on machines whose numbers of calls are not known here."""
    machine = _MACHINES.get(platform.machine())
    return None if machine is None else b"".join(struct.pack("=HBBI", *one) for one in _instructions(machine))


def _instructions(machine: _Machine) -> Iterator[tuple[int, int, int, int]]:
    """Code, how many to skip where it is true, and where it is not, and the value."""
    refuse, allow = (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)
    yield (_LOAD, 0, 0, _ARCHITECTURE_AT)
    yield from [(_EQUAL, 1, 0, machine.audit), refuse]
    yield (_LOAD, 0, 0, _NUMBER_AT)
    yield from [(_AT_LEAST, 0, 1, _X32), refuse]
    for numbers in _REFUSED.values():
        yield from [(_EQUAL, 0, 1, numbers[machine.column]), refuse]
    yield from [(_EQUAL, 0, 4, machine.clone), _argument(0), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), refuse, allow]
    for number, most in ((machine.shmget, MAX_SEGMENT_BYTES), (machine.semget, MAX_SEMAPHORES)):
        upper, lower = (_GREATER, 2, 0, 0), (_GREATER, 0, 1, most)
        yield from [(_EQUAL, 0, 6, number), _argument(1, 4), upper, _argument(1), lower, refuse, allow]
    yield allow


def _argument(index: int, offset: int = 0) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index + offset)
