"""Functions of pdfium that take plain numbers, and tables of what they say of many handles.

Long documents have a hundred thousand pieces of text: such a call takes a tenth of the time of one with pointers.
"""

import ctypes
from array import array
from collections.abc import Callable, Sequence
from typing import Any

type Handle = int
"""The address of something of pdfium."""
INT, HANDLE = ctypes.c_int, ctypes.c_void_p


def direct(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function of pdfium that takes and gives handles as plain numbers, and goes on holding the lock of the
    interpreter: giving it back would take longer than the call.
    """
    return ctypes.PYFUNCTYPE(result, *arguments)(address(function))


def address(handle: Any) -> Handle:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0


class Table:
    """Asks pdfium for some numbers of each of many handles, which it writes to as many places: its `function` takes the
    handle and that many addresses, or that of the first. All of a page are asked in one map, and the addresses are kept
    for the next page. Where pdfium does not know, the numbers are those of `unknown`.
    """

    def __init__(self, function: Any, kind: str, unknown: Sequence[int], *, addresses: int = 1) -> None:
        self._function = direct(function, INT, *[HANDLE] * (1 + addresses))
        self._numbers, self._unknown, self._places = array(kind), array(kind, unknown), [list[int]()] * addresses

    def of(self, handles: Sequence[Handle]) -> "array[Any]":
        size = len(self._unknown)
        if len(handles) > len(self._places[0]):
            self._numbers = array(self._numbers.typecode, self._unknown * len(handles))
            begin, length = self._numbers.buffer_info()
            step = self._numbers.itemsize
            self._places = [
                list(range(begin + at * step, begin + length * step, size * step)) for at in range(len(self._places))
            ]
        known = list(map(self._function, handles, *self._places))
        found = self._numbers[: size * len(handles)]
        if not all(known):
            for at in (at for at, is_known in enumerate(known) if not is_known):
                found[size * at : size * at + size] = self._unknown
        return found
