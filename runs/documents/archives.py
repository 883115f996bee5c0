"""Unpacks zip and tar archives and compressed files, batch by batch and within limits.

It runs in isolated processes, so it knows no Django. Names and sizes that an archive states are not trusted.
"""

import bz2
import gzip
import io
import json
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, cast

from runs.documents import archive_names
from runs.documents.archive_names import EntryName
from runs.documents.encoding_guess import strictly
from runs.documents.packed_parts import packed
from runs.documents.reading.package_parts import NEEDS_PASSWORD
from runs.errors import InvalidInput
from runs.text.sensitive_names import junk_part

MAX_FILES = 5_000  # of one archive
MAX_FILE_BYTES = 64_000_000  # unpacked
MAX_BYTES = 256_000_000
"""Of all files together, and of an unpacked tar file including the entries that are left out."""
MAX_ENTRIES = 50_000
"""Including folders and entries that are left out. The object store of a Git repository may have so many."""
MAX_REFUSED = 20
"""Files that are listed by name. Further ones are counted."""
MAX_NAME = 1_000  # characters of a path
_PIECE = 1 << 18
_MAX_HEADER = 1_000_000
"""Of a tar file, per entry: names, properties and the map of gaps."""
_ENCRYPTED, _UTF8 = 0x1, 0x800
_WINDOWS = frozenset({0, 6, 10, 14})
"""Codes of the systems DOS, OS/2 and Windows in zip files."""
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2})
_DAMAGED = "is a damaged archive; pack it again"
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError),
    *(ValueError, OSError, OverflowError, LookupError, struct.error, tarfile.TarError, RecursionError),
)
"""Raised by the standard library on damaged archives."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class ArchiveEntry(NamedTuple):
    """A file in an archive.

    `refusal`: a sentence that says why the file is refused, or empty. `read` returns so many bytes of it. `caution`: a
    sentence on what is doubtful about its name.
    """

    name: str
    refusal: str
    read: Callable[[int], bytes]
    caution: str = ""


def read(
    data: bytes,
    first: int = 0,
    taken: int = 0,
    used: int = 0,
    max_batch: int = MAX_FILE_BYTES,
    max_file: int = MAX_FILE_BYTES,
    max_bytes: int = MAX_BYTES,
    max_files: int = MAX_FILES,
) -> bytes:
    """Returns the files from number `first` on: as many as fit into `max_batch` bytes, but at least one.

    `taken` and `used` are the number and the bytes of the files in earlier batches. The result is packed: a JSON
    object, then the contents. The object has the `names` of the files and their `cautions`, `refused` (name and
    reason), `more` (number of further refused files), `junk` (what was left out) and `next` (the arguments of the next
    call, or null at the end).

    Raises InvalidInput with a clause that continues the archive's name.
    """
    batch = _Batch(taken, used, max_batch, max_file, max_bytes, max_files)
    following = None
    try:
        for number, entry in enumerate(_entries(data)):
            if number >= first and not batch.take(entry):
                following = {"first": number, "taken": batch.taken, "used": batch.used}
                break
    except _BROKEN as error:
        raise InvalidInput(_DAMAGED) from error
    header = {
        "names": batch.names,
        "cautions": batch.cautions,
        "refused": batch.refused,
        "more": batch.more,
        "junk": list(batch.junk),
        "next": following,
    }
    return packed([json.dumps(header).encode(), *batch.contents])


class _Batch:
    def __init__(self, taken: int, used: int, max_batch: int, max_file: int, max_bytes: int, max_files: int) -> None:
        self.taken, self.used = taken, used
        self._room, self._max_file, self._max_bytes, self._max_files = max_batch, max_file, max_bytes, max_files
        self.names: list[str] = []
        self.cautions: list[str] = []
        self.contents: list[bytes] = []
        self.refused: list[tuple[str, str]] = []
        self.more = 0
        self.junk: dict[str, None] = {}

    def take(self, entry: ArchiveEntry) -> bool:
        """Returns False if the entry does not fit into this batch. It is then the first one of the next batch."""
        if junk := junk_part(entry.name):
            self.junk[junk[:MAX_NAME]] = None
            return True
        if entry.refusal or len(entry.name) > MAX_NAME:
            self._refuse(entry.name, entry.refusal or "Its name is too long.")
            return True
        if self.taken >= self._max_files:
            raise InvalidInput(f"has more than {self._max_files:,} files; give fewer, or the folder itself")
        try:
            content = entry.read(min(self._max_file, self._max_bytes - self.used) + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError):
            self._refuse(entry.name, "It is damaged in the archive.")
            return True
        if self.names and len(content) > self._room:
            return False
        self.used += len(content)
        if self.used > self._max_bytes:
            raise InvalidInput(f"unpacks to more than {_megabytes(self._max_bytes)}; give less at a time")
        if len(content) > self._max_file and not entry.name:
            raise InvalidInput(f"unpacks to more than {_megabytes(self._max_file)}; give less at a time")
        if len(content) > self._max_file:
            self._refuse(entry.name, f"It has more than the {_megabytes(self._max_file)} that one file may have.")
            return True
        self.names.append(entry.name)
        self.cautions.append(entry.caution)
        self.contents.append(content)
        self.taken += 1
        self._room -= len(content)
        return True

    def _refuse(self, name: str, why: str) -> None:
        if len(self.refused) < MAX_REFUSED:
            self.refused.append((name[:MAX_NAME], why))
        else:
            self.more += 1


def _entries(data: bytes) -> Iterator[ArchiveEntry]:
    if data.startswith((b"PK\3\4", b"PK\5\6")):
        return _zip_entries(data)
    source = _TarStream(_decompress(data))
    return _tar_entries(source, data) if _is_tar(source.peek()) else iter([ArchiveEntry("", "", source.take)])


def _zip_entries(data: bytes) -> Iterator[ArchiveEntry]:
    if data.count(b"PK\1\2") > MAX_ENTRIES:  # before zipfile creates an object for each
        raise InvalidInput(f"has more than {MAX_ENTRIES:,} entries; give the folder itself")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if all(info.header_offset for info in archive.infolist()) and archive.infolist():
            raise InvalidInput(_DAMAGED)  # the archive is cut off, and this directory belongs to a zip file inside it
        names = _zip_names(archive.infolist())
        infos = [info for info in archive.infolist() if not names[info.orig_filename].name.endswith("/")]
        if infos and all(info.flag_bits & _ENCRYPTED for info in infos):
            raise InvalidInput(NEEDS_PASSWORD)
        for info in infos:
            name = names[info.orig_filename]
            yield ArchiveEntry(name.name, _why_not_zipped(info), _reading(archive, info), name.caution)


def _reading(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[int], bytes]:
    def read(size: int) -> bytes:
        with archive.open(info) as file:
            return _exactly(file, size)

    return read


def _zip_names(infos: Iterable[zipfile.ZipInfo]) -> Mapping[str, EntryName]:
    """Maps the names as zipfile decodes them to the guessed ones. It uses code page 437 unless a UTF-8 flag is set."""
    # A name with the UTF-8 flag, or with a second name in UTF-8, needs no guess.
    raws = {
        info.orig_filename: info.filename.encode("cp437")
        for info in infos
        if not (info.flag_bits & _UTF8 or info.filename != info.orig_filename.partition("\0")[0])
    }
    guessed = archive_names.decode_names(raws.values())
    return {
        info.orig_filename: archive_names.with_folders(
            guessed[raws[info.orig_filename]] if info.orig_filename in raws else EntryName(info.filename),
            from_windows=info.create_system in _WINDOWS,
        )
        for info in infos
    }


def _why_not_zipped(info: zipfile.ZipInfo) -> str:
    mode = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & _ENCRYPTED:
        return "It needs a password."
    if mode == stat.S_IFLNK:
        return "It is a link, and links are not followed."
    if mode not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "It is not a file but a device or something similar."
    if info.compress_type not in _METHODS:
        return "It is packed in a way that cannot be read; pack it as usual zip files are."
    return ""


def _tar_entries(source: "_TarStream", data: bytes) -> Iterator[ArchiveEntry]:
    names: Mapping[bytes, EntryName] = {}
    for info in _members(source):
        if info.isdir():
            continue
        raw = info.name.encode("utf-8", "surrogateescape")
        if raw not in names and strictly(raw, "utf-8") is None:
            names = archive_names.decode_names(
                one.name.encode("utf-8", "surrogateescape") for one in _members(_TarStream(_decompress(data)))
            )
        name = archive_names.with_folders(names.get(raw) or EntryName(info.name), from_windows=False)
        yield ArchiveEntry(name.name, _why_not_tarred(info), _content(source, info), name.caution)


def _members(source: "_TarStream") -> Iterator[tarfile.TarInfo]:
    archive = tarfile.TarFile(fileobj=cast("Any", source), encoding="utf-8", errors="surrogateescape")
    entries = 0
    while info := archive.next():
        source.begin_member()
        entries += 1
        if entries > MAX_ENTRIES:
            raise InvalidInput(f"has more than {MAX_ENTRIES:,} entries; give the folder itself")
        yield info
    if source.last.strip(b"\0"):  # tarfile mistakes a damaged header for the end
        raise InvalidInput(_DAMAGED)


def _content(source: "_TarStream", info: tarfile.TarInfo) -> Callable[[int], bytes]:
    def read(size: int) -> bytes:
        content = source.take(min(size, info.size))
        if len(content) < min(size, info.size):
            raise InvalidInput(_DAMAGED)
        return content

    return read


def _why_not_tarred(info: tarfile.TarInfo) -> str:
    if info.issym() or info.islnk():
        return "It is a link, and links are not followed."
    if info.issparse():
        return "It is a file with gaps (sparse), which is not unpacked."
    if not info.isreg():
        return "It is not a file but a device or something similar."
    return ""


def _decompress(data: bytes) -> "_Readable":
    raw = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)
    if data.startswith(b"BZh"):
        return bz2.BZ2File(raw)
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMAFile(raw)
    return raw


def _is_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


class _TarStream:
    """The stream that a tar file is read from. It can only move forwards, and its size is limited."""

    def __init__(self, file: "_Readable") -> None:
        self._file = file
        self._ahead = b""
        self._at = 0
        self._header_left = _MAX_HEADER
        self.last = b""

    def begin_member(self) -> None:
        """Allows tarfile to read another header."""
        self._header_left = _MAX_HEADER

    def peek(self) -> bytes:
        """Returns the first block. Must be called before anything is read."""
        self._ahead = _exactly(self._file, tarfile.BLOCKSIZE)
        return self._ahead

    def read(self, size: int) -> bytes:
        """Called by tarfile, which reads only headers."""
        if not 0 <= size <= self._header_left:
            raise InvalidInput(_DAMAGED)
        self._header_left -= size
        self.last = self.take(size)
        return self.last

    def take(self, size: int) -> bytes:
        if self._at > MAX_BYTES:
            raise InvalidInput(f"unpacks to more than {_megabytes(MAX_BYTES)}; give less at a time")
        piece, self._ahead = self._ahead[:size], self._ahead[size:]
        piece += _exactly(self._file, size - len(piece))
        self._at += len(piece)
        return piece

    def tell(self) -> int:
        return self._at

    def seek(self, to: int) -> None:
        if to < self._at:
            raise InvalidInput(_DAMAGED)
        while self._at < to and self.take(min(to - self._at, _PIECE)):
            pass


def _exactly(file: "_Readable", size: int) -> bytes:
    """Returns so many bytes, or fewer at the end."""
    pieces = []
    while size > 0 and (piece := file.read(min(size, _PIECE))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.0f} MB"
