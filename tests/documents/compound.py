"""Compound files (OLE), the container of Outlook mails: small ones, whose streams all lie in the mini stream."""

import struct
from collections.abc import Mapping
from itertools import pairwise

_SECTOR, _MINI = 512, 64
_FREE, _END, _FAT, _NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
_ROOT, _STORAGE, _STREAM = 5, 1, 2


def compound(streams: Mapping[str, bytes]) -> bytes:
    """`streams`: contents by their paths, whose folder may be one storage."""
    names = sorted({path.partition("/")[0] for path in streams})
    entries: list[tuple[str, int, int, int, int, int]] = []  # name, kind, right, child, start, size
    mini, mini_fat = b"", list[int]()

    def add(name: str, data: bytes) -> int:
        nonlocal mini
        start, count = len(mini) // _MINI, -(-len(data) // _MINI)
        mini += data.ljust(count * _MINI, b"\0")
        mini_fat.extend([*range(start + 1, start + count), _END][: max(count, 0)] if count else [])
        entries.append((name, _STREAM, _NONE, _NONE, start if count else _END, len(data)))
        return len(entries)

    def chain(numbers: list[int]) -> int:
        """Brothers one to the right of the other: no tree that is balanced, and one that can be read."""
        for one, other in pairwise(numbers):
            name, kind, _, child, start, size = entries[one - 1]
            entries[one - 1] = (name, kind, other, child, start, size)
        return numbers[0] if numbers else _NONE

    top = []
    for name in names:
        inside = {path.partition("/")[2]: data for path, data in streams.items() if path.startswith(f"{name}/")}
        if inside:
            child = chain([add(one, inside[one]) for one in sorted(inside)])
            entries.append((name, _STORAGE, _NONE, child, 0, 0))
            top.append(len(entries))
        else:
            top.append(add(name, streams[name]))
    return _written(entries, chain(top), mini, mini_fat)


def _written(entries: list[tuple[str, int, int, int, int, int]], top: int, mini: bytes, mini_fat: list[int]) -> bytes:
    directory_sectors = -(-(len(entries) + 1) // 4)
    mini_fat_sectors = -(-len(mini_fat) // 128)
    mini_sectors = -(-len(mini) // _SECTOR)
    first_mini_fat = 1 + directory_sectors
    first_mini = first_mini_fat + mini_fat_sectors
    everything = [("Root Entry", _ROOT, _NONE, top, first_mini, len(mini)), *entries]
    directory = b"".join(map(_entry, everything)).ljust(directory_sectors * _SECTOR, b"\0")
    chains = [_FAT]
    for first, count in ((1, directory_sectors), (first_mini_fat, mini_fat_sectors), (first_mini, mini_sectors)):
        chains += [*range(first + 1, first + count), _END][:count] if count else []
    fat = struct.pack(f"<{len(chains)}I", *chains).ljust(_SECTOR, b"\xff")
    minis = struct.pack(f"<{len(mini_fat)}I", *mini_fat).ljust(mini_fat_sectors * _SECTOR, b"\xff")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, first_mini_fat, mini_fat_sectors, _END, 0)
    header += struct.pack("<I", 0).ljust(436, b"\xff")
    return header + fat + directory + minis + mini.ljust(mini_sectors * _SECTOR, b"\0")


def _entry(entry: tuple[str, int, int, int, int, int]) -> bytes:
    name, kind, right, child, start, size = entry
    written = name.encode("utf-16-le") + b"\0\0"
    places = struct.pack("<III", _NONE, right, child)
    return (
        written.ljust(64, b"\0")
        + struct.pack("<HBB", len(written), kind, 1)
        + places
        + bytes(36)
        + struct.pack("<IQ", start, size)
    )
