"""Files as they come in: what is left out of folders, what is refused, the limits of a run, and chosen encodings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile, File

from runs import isolation
from runs.contracts.ports import FileInfo
from runs.documents import encodings
from runs.documents.encodings import CODECS
from runs.errors import InvalidInput, UploadRefused
from runs.isolation import ChildFailed
from runs.store import blobs, input_examination
from runs.store.input_limits import check_limits, in_mb
from runs.text.normalisation import caseless
from runs.text.paths import MAX_CHARACTERS, clashes, clean_path, selected
from runs.text.sensitive_names import MAX_KEY_BYTES, is_private_key, secret_part
from runs.text.truncate import quoted

MAX_EXCLUDED = 50
"""Patterns of files that no step has to deal with."""
MAX_LISTED = 20
"""Names of omitted files that the history lists."""


class LazyFile(File):  # type: ignore[type-arg]
    """A file on disk that is open only while it is read, so that ten thousand of them need few handles."""

    def __init__(self, path: Path) -> None:
        super().__init__(None, name=path.name)
        self._path = path
        self.size = path.stat().st_size

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            while chunk := file.read(chunk_size or self.DEFAULT_CHUNK_SIZE):
                yield chunk

    def seek(self, *args: int) -> int:
        return 0


@dataclass(frozen=True)
class Upload:
    """A file as it came in. Its `path` comes from the sender and must not be trusted.

    * `named`: a person chose this very file, so it is kept even if it may hold secrets. Others came with a folder.
    * `problem`: why it cannot be read, if that is known, as a clause that follows its name.
    * `caution`: what is doubtful about its name, as a sentence.
    """

    path: str
    content: File[Any]
    named: bool = True
    problem: str = ""
    caution: str = ""


@dataclass(frozen=True)
class RefusedUpload:
    """A file that was not taken, and why, as a sentence. A `secret` one is taken if a person chooses this very file."""

    path: str
    why: str
    secret: bool = False


def without_secrets(uploads: Sequence[Upload]) -> tuple[list[Upload], list[str]]:
    """The uploads without files that usually hold secrets, and the paths or folders that were left out.

    Files that a person chose one by one are kept. This comes before anything is stored, because stored files are shown
    to models before anyone approves a plan. Raises UploadRefused when nothing is left.
    """
    parts = [(upload, "" if upload.named else secret_part(upload.path)) for upload in uploads]
    left_out = dict.fromkeys(part for _, part in parts if part)
    kept = [upload for upload, part in parts if not part]
    if len(kept) <= settings.UPLOAD_FILES:  # more are refused, and need not be opened before that
        keys = [upload for upload in kept if not upload.named and _is_key(upload)]
        left_out |= dict.fromkeys(upload.path for upload in keys)
        meant = {id(upload) for upload in kept} - {id(upload) for upload in keys}
        kept = [upload for upload in kept if id(upload) in meant]
    if left_out and not kept:
        raise UploadRefused(
            f"No file is left: {', '.join(listed(left_out))} may contain secrets and are left out of "
            "folders. To include one, choose that file by itself."
        )
    return kept, list(left_out)


def holds_secrets(upload: Upload) -> bool:
    """Whether a file that came with a folder usually holds secrets, by its path or by how it begins."""
    return not upload.named and (bool(secret_part(upload.path)) or _is_key(upload))


def listed(left_out: Collection[str]) -> list[str]:
    more = len(left_out) - MAX_LISTED
    return [*islice(left_out, MAX_LISTED), *([f"and {more:,} more"] if more > 0 else [])]


def _is_key(upload: Upload) -> bool:
    if (upload.content.size or 0) > MAX_KEY_BYTES:
        return False
    beginning = next(iter(upload.content.chunks()), b"")
    upload.content.seek(0)
    return is_private_key(beginning)


def intake(uploads: Iterable[Upload], there: Mapping[str, FileInfo] = MappingProxyType({})) -> dict[str, Upload]:
    """The files by their clean paths, sorted, to be added to those that are `there`.

    Raises UploadRefused or PathRefused for the first bad one, unread.
    """
    chosen: dict[str, Upload] = {}
    for upload in uploads:
        path = clean_path(upload.path)
        if path in chosen or path in there:
            raise UploadRefused(f"“{path}” was sent twice; rename one of the two.")
        chosen[path] = upload
    sizes = [(path, info.size) for path, info in there.items()]
    check_limits([*sizes, *((path, upload.content.size or 0) for path, upload in chosen.items())])
    pairs = clashes([*there, *chosen])
    if pairs:
        one, other = pairs[0]
        raise UploadRefused(f"“{one}” and “{other}” cannot lie in one folder; rename one of the two.")
    return dict(sorted(chosen.items()))


def check_excluded(patterns: Sequence[str], paths: Collection[str]) -> None:
    """Raises InvalidInput for a pattern that matches no file, because its author would not notice."""
    if len(patterns) > MAX_EXCLUDED:
        raise InvalidInput(f"{len(patterns)} patterns exclude files; {MAX_EXCLUDED} may. Name folders instead.")
    for pattern in patterns:
        if len(pattern) > MAX_CHARACTERS or not selected([pattern], paths):
            raise InvalidInput(f"{quoted(pattern)} excludes no file: none of the files attached has such a path.")
    if len(selected(patterns, paths)) == len(paths) > 0:
        raise InvalidInput(
            "All files are excluded, so that none is left to work on. Do not attach them, or exclude less."
        )


def check_space(size: int) -> None:
    """Raises UploadRefused when files of so many bytes leave less free space than the installation keeps.

    It is also called for 0 bytes, because a run without files needs space for its journal.
    """
    free = blobs.free_bytes()
    if free - size < settings.MIN_FREE_BYTES:
        raise UploadRefused(
            f"The server's disk has {in_mb(free)} free, and {in_mb(settings.MIN_FREE_BYTES)} have to stay free. "
            "Nothing was stored. Ask the administrator of this site to make room."
        )


def as_utf8(path: str, content: bytes, codec: str) -> bytes:
    """The content of a file in this encoding of `CODECS` as UTF-8. Raises InvalidInput if it is no text in it."""
    try:
        return isolation.run(f"{encodings.__name__}.read_as", content, input_examination.LIMITS, codec=codec)
    except InvalidInput as error:
        raise InvalidInput(f"{path} {error}.") from error
    except ChildFailed as error:
        raise InvalidInput(f"{path} is more than can be read in another encoding: {error}.") from error


def encoding_remark(path: str, encoding: str, given: str, by: str) -> str:
    """A sentence for the history. `given` is the SHA-256 of the original file."""
    return (
        f"{path} was read as {encoding}, which {by} has chosen, and is kept as UTF-8. The file that was given has the "
        f"SHA-256 {given}."
    )


def encoded(uploads: Sequence[Upload], choices: Iterable[str], by: str) -> tuple[list[Upload], list[str]]:
    """The files, of which the chosen ones are converted to UTF-8, and a remark on each of these.

    A choice is a path or a pattern, `=` and the name of an encoding: "*.csv=Windows-1251". The last choice for a file
    counts. Raises InvalidInput for a choice that cannot be understood or matches no file, and UploadRefused for files
    that are too large.
    """
    found, remarks, chosen = list(uploads), list[str](), dict[str, str]()
    for choice in choices:
        pattern, equals, name = choice.rpartition("=")
        wanted = _plain(name)  # the name that people use, or the name in Python
        codec = next((codec for codec, title in CODECS.items() if wanted in {_plain(codec), _plain(title)}), "")
        if not (pattern and equals and codec):
            names = ", ".join(CODECS.values())
            raise InvalidInput(f"“{choice}” cannot be read. Write FILE=ENCODING, with one of {names}.")
        paths = set(selected([pattern], [one.path for one in found]))
        if not paths:
            raise InvalidInput(f"No file matches “{pattern}”. Name a file, a folder or a pattern such as *.csv.")
        chosen |= dict.fromkeys(paths, codec)
    check_limits([(one.path, one.content.size or 0) for one in found if one.path in chosen])
    for at, one in enumerate(found):
        if one.path in chosen:
            codec = chosen[one.path]
            content = b"".join(one.content.chunks())
            found[at] = replace(one, content=ContentFile(as_utf8(one.path, content, codec)))
            remarks.append(encoding_remark(one.path, CODECS[codec], sha256(content).hexdigest(), by))
    return found, remarks


def _plain(name: str) -> str:
    return caseless("".join(filter(str.isalnum, name)))
