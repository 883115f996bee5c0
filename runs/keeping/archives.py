"""The file of a back-up: a tar archive of the database, the contents by their hashes, and at its end a manifest.

Without the manifest an archive is not whole. Everything in it can be told from damaged by its digest alone.
"""

import hashlib
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Literal, Self

from pydantic import ValidationError

from runs.errors import InvalidInput
from runs.pev.contracts import Contract

DATABASE, MANIFEST = "database", "manifest.json"
_CONTENT = re.compile(r"blobs/([0-9a-f]{2})/([0-9a-f]{62})")
_PIECE = 1_048_576
"""Bytes in memory at a time."""
_MAX_MANIFEST = 1_000_000


class Manifest(Contract):
    """`migrations`: those that made its tables. `contents`: how many; `digest` is the SHA-256 over their hashes in
    order, each with a line end. `database_sha256` is of the file that `database` (a kind) can be restored from.
    """

    format: Literal[1] = 1
    version: str
    made_at: str
    database: Literal["sqlite", "postgresql"]
    database_sha256: str
    migrations: list[str]
    contents: int
    digest: str


class Writer:
    """An archive that is being written to an open file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._tar = tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115  `finish` closes it
        self._hashes: list[str] = []

    def add_database(self, path: Path) -> str:
        """Returns its SHA-256."""
        with path.open("rb") as file:
            digest = _digest_of(file)
            file.seek(0)
            self._add(DATABASE, path.stat().st_size, file)
        return digest

    def add_content(self, sha256: str, pieces: Iterable[bytes]) -> bool:
        """Add what has this hash. False, and nothing is added, where it has another one."""
        digest = hashlib.sha256()
        with tempfile.SpooledTemporaryFile(
            _PIECE
        ) as file:  # read once, from wherever it lies, and added if it is whole
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
            if digest.hexdigest() != sha256:
                return False
            size = file.tell()
            file.seek(0)
            self._add(f"blobs/{sha256[:2]}/{sha256[2:]}", size, file)
        self._hashes.append(sha256)
        return True

    def finish(self, describe: Callable[[int, str], Manifest]) -> Manifest:
        """Write the manifest, which `describe` makes of how many contents there are and their digest."""
        manifest = describe(len(self._hashes), digest_over(self._hashes))
        data = manifest.model_dump_json(indent=1).encode()
        self._add(MANIFEST, len(data), BytesIO(data))
        self._tar.close()
        return manifest

    def _add(self, name: str, size: int, file: IO[bytes]) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        self._tar.addfile(member, file)


class Archive:
    """A back-up that is read. Raises InvalidInput for what is none, is not whole, or does not match its digests."""

    def __init__(self, path: Path) -> None:
        try:
            # plain: what unpacks to more than it is cannot be in there
            self._tar = tarfile.open(path, mode="r:")  # noqa: SIM115  `__exit__` closes it
        except (OSError, tarfile.TarError) as error:
            raise InvalidInput(f"{path} cannot be read as a back-up ({error}).") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tar.close()

    def check(self) -> Manifest:
        """Read all of it, and return what it says of itself once everything matches."""
        manifest: Manifest | None = None
        hashes, database = list[str](), ""
        with _readable():
            for member, file in self._members():
                if member.name == MANIFEST:
                    manifest = _manifest(file.read(_MAX_MANIFEST))
                elif (digest := _digest_of(file)) and member.name == DATABASE:
                    database = digest
                elif (sha256 := _sha256_in(member.name)) != digest:
                    raise InvalidInput(f"The back-up is damaged: content {sha256[:12]} does not match its hash.")
                else:
                    hashes.append(sha256)
        if manifest is None:
            raise InvalidInput("The back-up is not whole: its end is missing. Use another one.")
        if database != manifest.database_sha256:
            raise InvalidInput("The back-up is damaged: its database does not match its hash.")
        if (len(hashes), digest_over(hashes)) != (manifest.contents, manifest.digest):
            raise InvalidInput("The back-up is damaged: it does not hold the files that it lists.")
        return manifest

    def contents(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Each content with its SHA-256; a file is to be read before the next one is asked for."""
        for member, file in self._members():
            if member.name.startswith("blobs/"):
                yield _sha256_in(member.name), file

    def database(self, into: Path) -> None:
        """Write the database to this file."""
        for member, file in self._members():
            if member.name == DATABASE:
                with into.open("wb") as target:
                    while piece := file.read(_PIECE):
                        target.write(piece)

    def _members(self) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
        for member in self._tar:
            known = member.name in {DATABASE, MANIFEST} or _CONTENT.fullmatch(member.name)
            if not (known and member.isreg() and (file := self._tar.extractfile(member))):
                raise InvalidInput(f"This is no back-up of pevsite: it holds “{member.name}”.")
            yield member, file


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (OSError, tarfile.TarError) as error:
        raise InvalidInput(f"The back-up is damaged: {error}.") from error


def digest_over(hashes: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{sha256}\n" for sha256 in hashes).encode()).hexdigest()


def _sha256_in(name: str) -> str:
    return name.removeprefix("blobs/").replace("/", "")


def _digest_of(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while piece := file.read(_PIECE):
        digest.update(piece)
    return digest.hexdigest()


def _manifest(data: bytes) -> Manifest:
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        raise InvalidInput(
            "The back-up was made by a newer version of pevsite, or is damaged: its manifest cannot be "
            "read. Restore it with the version that made it."
        ) from error
