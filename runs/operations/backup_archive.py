"""The file of a back-up: a tar archive of the contents by their hashes, the database, a manifest and a signature.

An archive without a manifest is incomplete. Its digests show whether anything is damaged. The signature is an HMAC with
the installation's key over every byte before it, and it alone shows that no one has changed the back-up. Until it is
checked the archive is hostile, so it may hold only plain files of these names, each once and in this order.
"""

import hashlib
import hmac
import io
import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Any, Literal, Self, cast

from django.utils.crypto import salted_hmac
from pydantic import StringConstraints, ValidationError

from runs.contracts.base import Contract
from runs.engine.process_registry import key_mark
from runs.errors import InvalidInput
from runs.store.file_parts import FilePart

DATABASE, MANIFEST, SIGNATURE = "database", "manifest.json", "signature.json"
_CONTENT = re.compile(r"blobs/[0-9a-f]{2}/[0-9a-f]{62}")
_LARGE = re.compile(rb"[0-9]{1,3} size=([0-9]{1,19})\n")
"""The only extended header in a back-up: sizes of 8 GiB and more."""
_PIECE = 1_048_576
"""Bytes in memory at the same time."""
_BLOCK = tarfile.BLOCKSIZE
_MAX_SHORT = 1_000_000
"""The most bytes of the manifest and of the signature."""


class Manifest(Contract):
    """`migrations`: those that made its tables. `contents`: how many; `digest` is the SHA-256 over their hashes in
    order, each with a line end. `database_sha256` is of the file that `database` (a kind) can be restored from.
    """

    format: Literal[1] = 1
    version: str
    made_at: str
    database: Literal["sqlite", "postgresql"]
    database_sha256: str
    migrations: list[Annotated[str, StringConstraints(pattern=r"^\w+$")]]
    contents: int
    digest: str


class ArchiveSignature(Contract):
    """The signature. `key` identifies the key (`key_mark`), `hmac` is over all bytes before its own header."""

    key: str
    hmac: str


class Signer(StrEnum):
    """Who has signed a back-up, as far as this installation knows."""

    OURS = "this installation"
    OTHER = "another installation"
    NOBODY = "nobody"


class ArchiveWriter:
    """Writes an archive to an open file. It is not signed if the installation has no key."""

    def __init__(self, file: IO[bytes], *, signed: bool) -> None:
        self._outlet = _SigningFile(file)
        self._tar = tarfile.open(  # noqa: SIM115  `finish` closes it
            fileobj=cast("Any", self._outlet), mode="w", format=tarfile.PAX_FORMAT
        )
        self._signed = signed
        self._contents = _Contents()

    def add_database(self, path: Path) -> str:
        """Add the database. Returns its SHA-256."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            self._add(DATABASE, path.stat().st_size, file)
        return digest

    def add_content(self, sha256: str, pieces: Iterable[bytes]) -> bool:
        """Add the content with this hash. False, and nothing is added, if its bytes have another hash."""
        digest = hashlib.sha256()
        # The store is read only once, which may be far away; the copy is added if its hash is right.
        with tempfile.SpooledTemporaryFile(_PIECE) as file:
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
            if digest.hexdigest() != sha256:
                return False
            size = file.tell()
            file.seek(0)
            self._add(f"blobs/{sha256[:2]}/{sha256[2:]}", size, file)
        self._contents.add(sha256)
        return True

    def finish(self, describe: Callable[[int, str], Manifest]) -> Manifest:
        """Write the manifest, which `describe` makes from the number of contents and their digest, and sign."""
        manifest = describe(self._contents.count, self._contents.digest)
        self._add_json(MANIFEST, manifest)
        if self._signed:
            self._add_json(SIGNATURE, ArchiveSignature(key=key_mark(), hmac=self._outlet.mac.hexdigest()))
        self._tar.close()
        return manifest

    def _add_json(self, name: str, content: Contract) -> None:
        data = content.model_dump_json(indent=1).encode()
        self._add(name, len(data), io.BytesIO(data))

    def _add(self, name: str, size: int, file: IO[bytes]) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        self._tar.addfile(member, file)


class Archive:
    """Reads a back-up. Raises InvalidInput if the file is no back-up, is incomplete, or does not match its digests."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read as a back-up ({error}).") from error
        self._path = path
        self._size = os.fstat(self._file.fileno()).st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def check(self) -> tuple[Manifest, Signer]:
        """Read and check the whole archive. Returns its manifest and who has signed it."""
        manifest, signer, mac = None, Signer.NOBODY, _new_mac()
        contents, database = _Contents(), ""
        for member in self._members():
            if member.name == SIGNATURE:
                signer = _signer(self._read_short(member), mac)
                continue
            mac.update(member.header)
            digest = self._digest_of(member, mac)
            if member.name == MANIFEST:
                manifest = _manifest(self._read_short(member))
            elif member.name == DATABASE:
                database = digest
            elif (sha256 := member.sha256) != digest:
                raise InvalidInput(f"The back-up is damaged: content {sha256[:12]} does not match its hash.")
            elif not contents.add(sha256):
                raise InvalidInput(f"The back-up is damaged: it holds “{member.name}” twice.")
        if manifest is None:
            raise InvalidInput("The back-up is not whole: its end is missing. Use another one.")
        if database != manifest.database_sha256:
            raise InvalidInput("The back-up is damaged: its database does not match its hash.")
        if (contents.count, contents.digest) != (manifest.contents, manifest.digest):
            raise InvalidInput("The back-up is damaged: it does not hold the files that it lists.")
        return manifest, signer

    def contents(self) -> Iterator[tuple[str, IO[bytes]]]:
        """The contents with their SHA-256. The archive must have been checked."""
        for member in self._members():
            if member.name.startswith("blobs/"):
                yield member.sha256, io.BufferedReader(FilePart(self._file, member.start, member.size))

    def database(self, into: Path, sha256: str) -> None:
        """Write the database to this file. Raises InvalidInput if it is not the checked database."""
        digest = hashlib.sha256()
        [member] = (one for one in self._members() if one.name == DATABASE)
        with into.open("wb") as target:
            for piece in self._pieces(member.start, member.size):
                digest.update(piece)
                target.write(piece)
        if digest.hexdigest() != sha256:
            raise InvalidInput("The back-up was changed while it was restored. Use another copy of it.")

    def _members(self) -> "Iterator[_Member]":
        """The members. Raises InvalidInput for everything that `ArchiveWriter` does not write."""
        # Headers are parsed one by one, because the reader of the standard library accepts gaps and links, and reads
        # extended headers of any size into memory.
        at, before = 0, ""
        while any(block := self._read_exactly(at, _BLOCK)):
            info, at = self._header(block), at + _BLOCK
            if info.type == tarfile.XHDTYPE and 0 <= info.size <= _BLOCK:
                if (large := _LARGE.fullmatch(self._read_exactly(at, info.size))) is None:
                    raise self._not_a_backup(info.name)
                after = at + _BLOCK  # its properties fill one block
                block += self._read_exactly(at, 2 * _BLOCK)
                info, at = self._header(block[-_BLOCK:]), after + _BLOCK
                info.size = int(large[1])
            name, size = info.name, info.size
            known = name in {DATABASE, MANIFEST, SIGNATURE} or _CONTENT.fullmatch(name)
            if not known or info.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or size < 0:
                raise self._not_a_backup(name)
            if name == before:
                raise InvalidInput(f"The back-up is damaged: it holds “{name}” twice.")
            if _place(name) < _place(before):
                raise InvalidInput(f"The back-up was changed: it holds “{name}” behind “{before}”. Use another one.")
            if at + size > self._size:
                raise InvalidInput(f"The back-up is not whole: it ends within “{name}”. Use another one.")
            yield _Member(name, block, at, size)
            at, before = at + -(-size // _BLOCK) * _BLOCK, name
        if any(any(piece) for piece in self._pieces(at, self._size - at)):
            raise InvalidInput("The back-up was changed: there is something behind its end. Use another one.")

    def _header(self, block: bytes) -> tarfile.TarInfo:
        try:
            return tarfile.TarInfo.frombuf(block, "utf-8", "backslashreplace")
        except (tarfile.HeaderError, ValueError) as error:
            raise InvalidInput(f"{self._path} cannot be read as a back-up ({error}).") from error

    def _not_a_backup(self, name: str) -> InvalidInput:
        return InvalidInput(f"This is no back-up of pevsite: it holds “{name}”, or holds it as something else.")

    def _digest_of(self, member: "_Member", mac: "hmac.HMAC") -> str:
        """The SHA-256 of a member. The padding of its last block only enters the HMAC."""
        digest = hashlib.sha256()
        for piece in self._pieces(member.start, member.size):
            digest.update(piece)
            mac.update(piece)
        mac.update(self._read_exactly(member.start + member.size, -member.size % _BLOCK))
        return digest.hexdigest()

    def _read_short(self, member: "_Member") -> bytes:
        if member.size > _MAX_SHORT:
            raise self._not_a_backup(member.name)
        return self._read_exactly(member.start, member.size)

    def _read_exactly(self, at: int, size: int) -> bytes:
        piece = b"".join(self._pieces(at, size))
        if len(piece) < size:
            raise InvalidInput("The back-up is not whole: its end is missing. Use another one.")
        return piece

    def _pieces(self, at: int, size: int) -> Iterator[bytes]:
        """Bytes from a position on, fewer if the file ends before."""
        try:
            while size > 0:
                self._file.seek(at)
                if not (piece := self._file.read(min(size, _PIECE))):
                    return
                yield piece
                at, size = at + len(piece), size - len(piece)
        except OSError as error:
            raise InvalidInput(f"The back-up cannot be read ({error.strerror}). Use another copy of it.") from error


@dataclass(frozen=True)
class _Member:
    """A file in the archive. `header` are the bytes before its content, which begins at `start`."""

    name: str
    header: bytes
    start: int
    size: int

    @property
    def sha256(self) -> str:
        """The hash that a content must have according to its name."""
        return self.name.removeprefix("blobs/").replace("/", "")


class _Contents:
    """Counts contents, computes their digest, and remembers which there were."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._known = set[bytes]()

    def add(self, sha256: str) -> bool:
        """Add a hash. Returns whether it is new."""
        before = self.count
        self._digest.update(f"{sha256}\n".encode())
        self._known.add(bytes.fromhex(sha256))
        return self.count > before

    @property
    def count(self) -> int:
        return len(self._known)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()


class _SigningFile:
    """The file to which the archive is written. Everything also enters the HMAC."""

    def __init__(self, file: IO[bytes]) -> None:
        self.mac = _new_mac()
        self._file = file

    def write(self, data: bytes) -> int:
        self.mac.update(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._file.tell()


def _place(name: str) -> int:
    """The position of a member in the order of an archive: contents come first."""
    return (DATABASE, MANIFEST, SIGNATURE).index(name) + 1 if name in {DATABASE, MANIFEST, SIGNATURE} else 0


def _new_mac() -> hmac.HMAC:
    key = salted_hmac("pevsite.backup", "signature", algorithm="sha256").digest()
    return hmac.new(key, digestmod="sha256")


def _signer(data: bytes, mac: hmac.HMAC) -> Signer:
    try:
        signature = ArchiveSignature.model_validate_json(data)
    except ValidationError as error:
        raise InvalidInput("The back-up is damaged: its signature cannot be read. Use another one.") from error
    if signature.key != key_mark():
        return Signer.OTHER
    if not hmac.compare_digest(signature.hmac.encode(), mac.hexdigest().encode()):
        raise InvalidInput("The back-up was changed after this installation had signed it. Use another one.")
    return Signer.OURS


def _manifest(data: bytes) -> Manifest:
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        raise InvalidInput(
            "The back-up was made by a newer version of pevsite, or is damaged: its manifest cannot be "
            "read. Restore it with the version that made it."
        ) from error
