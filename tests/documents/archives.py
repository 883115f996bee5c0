"""Archives, as programs and attackers make them."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return made.getvalue()


def tarred(files: Mapping[str, bytes], mode: str = "w") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def with_members(*members: tarfile.TarInfo) -> bytes:
    """A tar file of headers alone, and a text behind them."""
    text = tarfile.TarInfo("a.md")
    text.size = 3
    return b"".join(one.tobuf() for one in [*members, text]) + b"abc".ljust(512, b"\0") + bytes(1024)


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def encrypted(files: Mapping[str, bytes]) -> bytes:
    """With the bit that says so; what they are encrypted with makes no difference."""
    data = bytearray(zipped(files))
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(signature, at + 4)
    return bytes(data)


def large(size: int = 1_500_000_000, name: str = "a.txt") -> bytes:
    """A zip file with one file of so many zeros, made without them."""
    return _raw([(name, _packed(size >> 20), (size >> 20) << 20)])


def large_gz(size: int = 1_500_000_000, before: bytes = b"", after: bytes = b"") -> bytes:
    """So many zeros, compressed, with something before and after them."""
    check, piece = zlib.crc32(before), bytes(1 << 20)
    for _ in range(size >> 20):
        check = zlib.crc32(piece, check)
    whole = len(before) + ((size >> 20) << 20) + len(after)
    ends = struct.pack("<LL", zlib.crc32(after, check), whole & 0xFFFFFFFF)
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + _packed(size >> 20, before, after) + ends


def _packed(megabytes: int, before: bytes = b"", after: bytes = b"") -> bytes:
    """Likewise as raw deflate. One megabyte is packed, and a flush lets its copies stand one behind the other."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(before) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + piece * megabytes + packer.compress(after) + packer.flush()


def lying() -> bytes:
    """A file of 60 MB that says that it has 10 bytes."""
    packed = zlib.compress(bytes(60_000_000), 9, -15)
    return _raw([("a.txt", packed, 10)])


def overlapping(count: int) -> bytes:
    """So many names of one content of 10 MB."""
    packed = zlib.compress(bytes(10_000_000), 9, -15)
    return _raw([("a.txt", packed, 10_000_000)], [f"{number}.txt" for number in range(count)])


def _raw(files: list[tuple[str, bytes, int]], names: list[str] | None = None) -> bytes:
    body, directory = b"", b""
    for name, packed, size in files:
        start = len(body)
        fields = struct.pack("<HHHHHLLLHH", 20, 0, 8, 0, 33, 0, len(packed), size, len(name), 0)
        body += b"PK\3\4" + fields + name.encode() + packed
        for listed in names or [name]:
            entry = struct.pack(
                "<HHHHHHLLLHHHHHLL", 20, 20, 0, 8, 0, 33, 0, len(packed), size, len(listed), *[0] * 5, start
            )
            directory += b"PK\1\2" + entry + listed.encode()
    count = min(len(names or files), 65_535)
    return body + directory + b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, count, count, len(directory), len(body), 0)


def large_tar(size: int = 1_500_000_000) -> bytes:
    """A compressed tar file with one file of so many zeros."""
    info = tarfile.TarInfo("a.txt")
    info.size = (size >> 20) << 20
    return large_gz(size, info.tobuf(), bytes(1024))


def negative() -> bytes:
    """A tar file whose size is less than nothing, so that readers go back to its beginning."""
    header = bytearray(tarfile.TarInfo("a.txt").tobuf())
    header[124:136] = b"\xff" + (2**88 - 512).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + bytes(1024)


def of_properties(size: int = 300_000_000) -> bytes:
    """A compressed tar file with a header of so many bytes of properties."""
    info = tarfile.TarInfo("properties")
    info.type, info.size = tarfile.XHDTYPE, size
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb") as packer:
        packer.write(info.tobuf(tarfile.USTAR_FORMAT))
        for _ in range(size >> 20):
            packer.write(bytes(1 << 20))
    return made.getvalue()


def of_gaps(lines: int = 60_000_000) -> bytes:
    """A compressed tar file with one file that has so many gaps, as a map before its content says."""
    info = tarfile.TarInfo("gaps")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x"}
    info.size = 2 * lines
    return gzip.compress(info.tobuf(tarfile.PAX_FORMAT) + b"99999999\n" + b"1\n" * lines, 1)


def of_chained_gaps(blocks: int = 400_000) -> bytes:
    """The same in the older form: blocks of gaps, each of which says that another one follows."""
    header = bytearray(member("gaps", tarfile.GNUTYPE_SPARSE).tobuf(tarfile.GNU_FORMAT))
    header[482] = 1
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return gzip.compress(bytes(header) + ((b"00000000001\0" * 42) + b"\1").ljust(512, b"\0") * blocks, 1)
