"""Trees, overlays and the content-addressed store behind them.

A tree names files by path and SHA-256; nothing in it is ever a link, a device or a path on a disk. Blobs lie
in Django's storage `blobs` under their hash, so the same content is stored once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, storages
from django.db import transaction

from runs.documents import renditions
from runs.documents.kinds import HEAD_BYTES, is_document
from runs.documents.renditions import Readings
from runs.errors import UploadRefused
from runs.models import Tree
from runs.models.trees import tree_digest
from runs.pev.files.paths import Converted, Unreadable, clashes, clean_path, text_of
from runs.pev.ports import Changes, FileInfo

_PIECE = 256 * 1024
"""Bytes read of a file at once: few turns of a thread, and little memory for each download."""
ROOT_EVERY = 64
"""A tree that differs from its root in more paths than this becomes a root itself."""


class BlobStorage(FileSystemStorage):
    """Writes a file under a temporary name first, so that a crash never leaves half a blob under its hash.

    The bytes, then their name, are on the disk before `save` returns: no row ever names what a loss of power took.
    """

    def _save(self, name: str, content: File[Any]) -> str:
        target = Path(self.path(name))
        new_folder = not target.parent.exists()
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, draft = tempfile.mkstemp(dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(target)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
        _keep_names(target.parent)
        if new_folder:
            _keep_names(target.parent.parent)
        return name

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Always the name itself: another writer at the same moment stored the same bytes."""
        return name

    def touch(self, name: str) -> bool:
        """Say that a blob is about to be used (`runs.unused` leaves it alone for a while); False if there is none."""
        try:
            os.utime(self.path(name))
        except FileNotFoundError:
            return False
        return True


def _keep_names(folder: Path) -> None:
    """Put the names in a folder on the disk. Only POSIX systems can be told to."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def put(content: bytes) -> FileInfo:
    """Store a blob and say what it is. Storing the same bytes again costs one look."""
    sha256 = hashlib.sha256(content).hexdigest()
    if not blobs().touch(name_of(sha256)):
        blobs().save(name_of(sha256), ContentFile(content))
    return FileInfo(sha256, len(content))


def put_file(source: File[Any]) -> FileInfo:
    """Store an uploaded file without holding it in memory."""
    digest = hashlib.sha256()
    size = 0
    for chunk in source.chunks():
        digest.update(chunk)
        size += len(chunk)
    source.seek(0)
    sha256 = digest.hexdigest()
    if not blobs().touch(name_of(sha256)):
        blobs().save(name_of(sha256), source)
    return FileInfo(sha256, size)


def free_bytes() -> int:
    """Free space on the disk of the data folder, database and blobs alike."""
    return shutil.disk_usage(settings.DATA_DIR).free


def open_blob(sha256: str) -> IO[bytes]:
    """The blob, open for reading. Raises FileNotFoundError when the store lost it."""
    return blobs().open(name_of(sha256))


def pieces_of(sha256: str) -> Iterator[bytes]:
    """The blob piece by piece. Raises FileNotFoundError at once when the store lost it."""
    with open_blob(sha256):
        pass

    def read() -> Iterator[bytes]:
        with open_blob(sha256) as blob:
            while piece := blob.read(_PIECE):
                yield piece

    return read()


def size_of(sha256: str) -> int:
    """Bytes of a blob. Raises FileNotFoundError when the store lost it."""
    return storages["blobs"].size(name_of(sha256))


def read_blob(sha256: str) -> bytes:
    with open_blob(sha256) as file:
        return file.read()


def read_text(sha256: str) -> str | None:
    """The text of a content, in whatever encoding it is; None if it cannot be read as text."""
    data = read_blob(sha256)
    text = text_of(data)
    if text is not None and not is_document(data[:HEAD_BYTES]):
        return text
    return text_of(TreeBytes({"": FileInfo(sha256, len(data))}, renditions.readings([sha256]))[""])


def examine(files: Mapping[str, FileInfo]) -> None:
    """Find out which of these stored files are text. Raises UploadRefused when that takes too long."""
    renditions.examine(files, renditions.Store(pieces_of, put))
    _readings.clear()


def blobs() -> BlobStorage:
    """The store behind all trees."""
    return cast("BlobStorage", storages["blobs"])


def name_of(sha256: str) -> str:
    """What a blob is called in the store."""
    return f"{sha256[:2]}/{sha256[2:]}"


def files_of(tree: Tree) -> Mapping[str, FileInfo]:
    """Every file of a tree, sorted by path."""
    files = _remembered.get(tree.digest)
    return files if files is not None else _remember(tree.digest, _read(tree.digest))


def readings_of(tree: Tree) -> Readings:
    """What the contents of a tree read as that are no UTF-8."""
    found = _readings.get(tree.digest)
    if found is None:
        found = renditions.readings({info.sha256 for info in files_of(tree).values()})
        _remember_readings(tree.digest, found)
    return found


def contents_of(tree: Tree) -> TreeBytes:
    """The contents of a tree as they are read: what is text in another encoding as UTF-8."""
    return TreeBytes(files_of(tree), readings_of(tree))


def problems_of(tree: Tree) -> Mapping[str, str]:
    """The files of a tree that cannot be read, by path, each with the reason as a clause behind its name."""
    found = readings_of(tree).problems
    return {path: found[info.sha256] for path, info in files_of(tree).items() if info.sha256 in found} if found else {}


_remembered: OrderedDict[str, Mapping[str, FileInfo]] = OrderedDict()
"""By digest and not by id: an id may come back after a rollback, a digest always means the same files."""
MAX_REMEMBERED = 64
"""A run has as many trees as passed steps; a tree of 10,000 files takes some megabytes."""


_readings: OrderedDict[str, Readings] = OrderedDict()
"""By digest. Threads may lose each other's entries; that costs a read."""
_known_runs: OrderedDict[int, None] = OrderedDict()
MAX_KNOWN_RUNS = 1_000


def fresh_for(run_id: int) -> None:
    """Forget what contents read as, when this process comes upon a run for the first time.

    Its files were examined before it was there, maybe by another process, and maybe after this one had asked about the
    same tree for an older run: "no text" must not stay true for ever.
    """
    if run_id not in _known_runs:
        _readings.clear()
        _known_runs[run_id] = None
        while len(_known_runs) > MAX_KNOWN_RUNS:
            _known_runs.popitem(last=False)


def _remember_readings(digest: str, readings: Readings) -> None:
    _readings[digest] = readings
    _readings.move_to_end(digest)
    while len(_readings) > MAX_REMEMBERED:
        _readings.popitem(last=False)


def _remember(digest: str, files: Mapping[str, FileInfo]) -> Mapping[str, FileInfo]:
    _remembered[digest] = files
    _remembered.move_to_end(digest)
    while len(_remembered) > MAX_REMEMBERED:
        _remembered.popitem(last=False)
    return files


def _read(digest: str) -> Mapping[str, FileInfo]:
    tree = Tree.objects.select_related("root").get(digest=digest)
    changes = {**(tree.root.changes if tree.root else {}), **tree.changes}
    return {path: entry for path, entry in sorted(changes.items()) if entry is not None}


def make_tree(files: Mapping[str, FileInfo]) -> Tree:
    """The tree of exactly these files. Paths must be clean."""
    return _stored(files, root_id=None, changes=dict(files))


def with_changes(base: Tree, changes: Changes) -> Tree:
    """`base` with `changes` on top; `base` itself when nothing differs."""
    if not changes:
        return base
    files = dict(files_of(base))
    for path, entry in changes.items():
        if entry is None:
            files.pop(path, None)
        else:
            files[path] = entry
    files = dict(sorted(files.items()))
    since_root: Changes = {**(base.changes if base.root_id else {}), **changes}
    is_root = len(since_root) > ROOT_EVERY
    tree = make_tree(files) if is_root else _stored(files, root_id=base.root_id or base.pk, changes=since_root)
    if base.digest in _readings:  # what a run writes is UTF-8: a step must not ask for it again
        _remember_readings(tree.digest, _readings[base.digest])
    return tree


def conflicts(base: Tree, head: Tree, changes: Changes) -> list[str]:
    """The changed paths that somebody else has changed between `base` and `head`, or made impossible (D4)."""
    if base.pk == head.pk:
        return []
    before, now = files_of(base), files_of(head)
    touched = {path for path in changes if before.get(path) != now.get(path)}
    written = [path for path, entry in changes.items() if entry is not None and path not in now]
    new = [path for path in now if path not in before]
    for pair in clashes([*new, *written]):
        touched |= set(pair) & set(written)
    return sorted(touched)


def _stored(files: Mapping[str, FileInfo], root_id: int | None, changes: Changes) -> Tree:
    """The tree of these files. One that is stored already stays as it is, whichever root it was stored with."""
    size = sum(info.size for info in files.values())
    tree = Tree(digest=tree_digest(files), root_id=root_id, changes=changes, file_count=len(files), total_size=size)
    # An equal tree has the same count: writing it once more is how one statement says which row it is.
    Tree.objects.bulk_create([tree], update_conflicts=True, unique_fields=["digest"], update_fields=["file_count"])
    _remember(tree.digest, files)
    _keep(tree)
    return tree


_rows: OrderedDict[int, Tree] = OrderedDict()


def tree(pk: int) -> Tree:
    """A tree's row, read once in a process: it never changes."""
    if pk not in _rows:
        _keep(found := Tree.objects.get(pk=pk))
        return found
    return _rows[pk]


def _keep(tree: Tree) -> None:
    """After the commit: the id of a row that was rolled back goes to another tree."""

    def keep() -> None:
        _rows[tree.pk] = tree
        _rows.move_to_end(tree.pk)
        while len(_rows) > MAX_REMEMBERED:
            _rows.popitem(last=False)

    transaction.on_commit(keep)


class TreeBytes(Mapping[str, bytes]):
    """Contents of files, read when asked for. One that is text in another encoding comes as UTF-8 (`Converted`), one
    that is no text as `Unreadable`, as its tree's `readings` know.
    """

    def __init__(self, files: Mapping[str, FileInfo], readings: Readings) -> None:
        self._infos = files
        self._readings = readings

    def __getitem__(self, path: str) -> bytes:
        sha256 = self._infos[path].sha256
        if text := self._readings.texts.get(sha256):
            return Converted(read_blob(text), sha256)
        data = read_blob(sha256)
        return Unreadable(data) if sha256 in self._readings.problems else data

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def __contains__(self, path: object) -> bool:
        return path in self._infos


class Overlay:
    """A workspace (`pev.ports.Workspace`): a tree with an attempt's own changes on top (D4).

    Writes go to the blob store and to `changes`; the tree stays as it is. Limits are in bytes and files.
    """

    def __init__(self, base: Tree, changes: Changes, *, max_files: int, max_bytes: int) -> None:
        self._base = files_of(base)
        self._readings = readings_of(base)
        self.changes: Changes = dict(changes)
        self._max_files = max_files
        self._max_bytes = max_bytes

    def files(self) -> Mapping[str, FileInfo]:
        if not self.changes:
            return self._base
        merged = dict(self._base)
        for path, entry in self.changes.items():
            if entry is None:
                merged.pop(path, None)
            else:
                merged[path] = entry
        return dict(sorted(merged.items()))

    def contents(self) -> TreeBytes:
        return TreeBytes(self.files(), self._readings)

    def read(self, path: str) -> bytes:
        """The content; of text in another encoding the UTF-8 that it reads as (`Converted`)."""
        return TreeBytes({path: self._entry(path)}, self._readings)[path]

    def problem(self, path: str) -> str:
        return self._readings.problems.get(self._entry(path).sha256, "")

    def _entry(self, path: str) -> FileInfo:
        entry = self.changes[path] if path in self.changes else self._base[path]
        if entry is None:
            raise KeyError(path)
        return entry

    def write(self, path: str, content: bytes) -> None:
        path = clean_path(path)
        files = self.files()
        if path not in files:
            self._check_place(path, files)
        total = sum(info.size for other, info in files.items() if other != path) + len(content)
        if total > self._max_bytes:
            raise UploadRefused(f"The workspace would grow over {self._max_bytes:,} bytes.")
        info = put(content)
        self.changes[path] = info

    def _check_place(self, path: str, files: Mapping[str, FileInfo]) -> None:
        other = next((set(pair) - {path} for pair in clashes([*files, path]) if path in pair), None)
        if other:
            raise UploadRefused(f"“{path}” cannot lie beside “{min(other)}”; choose another name.")
        if len(files) >= self._max_files:
            raise UploadRefused(f"The workspace holds {len(files)} files, which is the most it may hold.")


def reset_cache() -> None:
    """Tests roll back the rows that the cache was read from."""
    _remembered.clear()
    _readings.clear()
    _known_runs.clear()
    _rows.clear()
