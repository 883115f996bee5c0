"""Trees and overlays: the files of a run at a moment, by path and SHA-256.

Nothing in a tree is ever a link, a device or a path on a disk.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Protocol, cast

from runs.contracts.ports import Changes, FileInfo
from runs.documents import made_files
from runs.documents.content import text_of
from runs.documents.file_kinds import HEAD_BYTES, TAIL_BYTES, is_document, kind_of
from runs.errors import UploadRefused
from runs.models import Tree
from runs.models.files import tree_digest
from runs.store import blobs, input_examination, renditions
from runs.store.renditions import BLANK, EMPTY, Readings
from runs.text.paths import clashes, clean_path
from runs.text.plural import pluralize

ROOT_EVERY = 64
"""A tree that differs from its root in more paths becomes a root itself."""


def read_text(sha256: str) -> str | None:
    """The text of a content in any encoding; None if it is no text."""
    with blobs.opened(sha256) as blob:
        head = blob.read(HEAD_BYTES)
    if b"\0" not in head and not is_document(head):  # a large document is not read to find out that it is no text
        text = text_of(blobs.read(sha256))
        if text is not None:
            return text
    return text_of(renditions.content_of(sha256, renditions.readings([sha256])))


OF_RUN = ("inputs", "head")
DIGESTS = ("inputs__digest", "head__digest")
"""The trees of a run, and the fields that are enough for `files_of` these trees."""


def files_of(tree: Tree) -> Mapping[str, FileInfo]:
    """Every file of a tree, sorted by path."""
    files = _remembered.get(tree.digest)
    return files if files is not None else _remember(tree.digest, _read(tree.digest))


def readings_of(tree: Tree) -> Readings:
    """What is known of contents of a tree that are not UTF-8. Read once per instance of the row."""
    known = tree.readings
    if not isinstance(known, Readings) or known.waiting:
        load_readings([tree])
    return cast("Readings", tree.readings)


def load_readings(trees: Sequence[Tree]) -> None:
    """Load the `readings_of` these trees with one query.

    While documents wait for their reader, `readings_of` loads them again each time: another process may have read them.
    """
    sources = {info.sha256 for tree in trees for info in files_of(tree).values()}
    found = renditions.readings(sources)
    for tree in trees:
        tree.readings = found


def contents_of(tree: Tree) -> TreeBytes:
    """The contents of a tree. Texts in other encodings are returned as UTF-8."""
    return TreeBytes(files_of(tree), readings_of(tree))


def problems_of(tree: Tree) -> Mapping[str, str]:
    """The unreadable files of a tree by path, each with the reason as a clause that follows its name."""
    found = readings_of(tree).problems
    return {path: found[info.sha256] for path, info in files_of(tree).items() if info.sha256 in found} if found else {}


def notes_of(tree: Tree) -> Mapping[str, Sequence[str]]:
    """The files of a tree of which a part could not be read, by path, with sentences that say which."""
    return _by_path(tree, readings_of(tree).notes)


def cautions_of(tree: Tree) -> Mapping[str, Sequence[str]]:
    """The files of a tree whose texts are doubtful, by path, with sentences that say why."""
    return _by_path(tree, readings_of(tree).cautions)


def blank_in(tree: Tree) -> frozenset[str]:
    """The paths of files in a tree without visible characters, including empty files that were examined."""
    blank = {source for source, extent in readings_of(tree).extents.items() if extent in (BLANK, EMPTY)}
    return frozenset(path for path, info in files_of(tree).items() if info.sha256 in blank) if blank else frozenset()


def _by_path(tree: Tree, found: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    return {path: found[info.sha256] for path, info in files_of(tree).items() if info.sha256 in found} if found else {}


_remembered: OrderedDict[str, Mapping[str, FileInfo]] = OrderedDict()
"""Files by the digest of their tree. A digest always means the same files, so that entries stay valid.

It has no lock: threads may lose each other's entries, which only costs another query.
"""
MAX_REMEMBERED = 64
"""Trees in the cache. A run has one for each passed step; one with 10,000 files takes a few megabytes."""


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
    """Get or create the tree with exactly these files. Paths must be clean."""
    return _get_or_create(files, root_id=None, changes=dict(files))


def with_changes(base: Tree, changes: Changes) -> Tree:
    """The tree `base` with `changes`; `base` itself if nothing differs."""
    if not changes:
        return base
    files = dict(files_of(base))
    for path, entry in changes.items():
        if entry is None:
            files.pop(path, None)
        else:
            files[path] = entry
    files = dict(sorted(files.items()))
    root = base.root or base
    before = files_of(root)
    since_root: Changes = {path: entry for path, entry in files.items() if before.get(path) != entry}
    since_root |= dict.fromkeys(before.keys() - files.keys())
    if len(since_root) > ROOT_EVERY:
        return make_tree(files)
    return _get_or_create(files, root_id=root.pk, changes=since_root)


def conflicts(base: Tree, head: Tree, changes: Changes) -> list[str]:
    """The changed paths that another step changed between `base` and `head`, or whose names now clash (D4)."""
    if base.pk == head.pk:
        return []
    before, now = files_of(base), files_of(head)
    touched = {path for path in changes if before.get(path) != now.get(path)}
    written = [path for path, entry in changes.items() if entry is not None and path not in now]
    new = [path for path in now if path not in before]
    for pair in clashes([*new, *written]):
        touched |= set(pair) & set(written)
    return sorted(touched)


def _get_or_create(files: Mapping[str, FileInfo], root_id: int | None, changes: Changes) -> Tree:
    """Get or create the tree of these files. A stored tree keeps its root."""
    size = sum(info.size for info in files.values())
    tree = Tree(digest=tree_digest(files), root_id=root_id, changes=changes, file_count=len(files), total_size=size)
    # One statement creates the row or returns the existing one. It updates the count, which an equal tree has as well,
    # because a conflict that is ignored would not return the row.
    Tree.objects.bulk_create([tree], update_conflicts=True, unique_fields=["digest"], update_fields=["file_count"])
    _remember(tree.digest, files)
    return tree


class DatabaseCall(Protocol):
    """Calls a function that uses the database, in the thread where that is allowed."""

    def __call__[Value](self, do: Callable[[], Value], /) -> Value: ...


def _directly[Value](do: Callable[[], Value], /) -> Value:
    return do()


def _with_written(known: Readings, changes: Changes) -> Readings:
    """The readings with those of changed documents, which were read when they were written. No query without any."""
    written = {entry.sha256 for entry in changes.values() if entry is not None and _is_document(entry.sha256)}
    return renditions.joined(known, renditions.readings(sorted(written))) if written else known


def _is_document(sha256: str) -> bool:
    """Whether a written content is a document. A text is none, even if it begins like a mail or RTF."""
    with suppress(FileNotFoundError):
        return _begins_as_document(sha256)
    return False


@lru_cache(maxsize=16_384)  # contents never change, and each step looks at those of all its attempts
def _begins_as_document(sha256: str) -> bool:
    with blobs.opened(sha256) as file:
        head = file.read(HEAD_BYTES)
        if not input_examination.is_binary(head):
            return False
        file.seek(max(0, blobs.size_of(sha256) - TAIL_BYTES))
        return bool(kind_of(head, file.read()).format)


class TreeBytes(Mapping[str, bytes]):
    """The contents of files by path, read when needed.

    According to `readings`, a text in another encoding is returned as UTF-8 (`Converted`), and what is no text as
    `Unreadable`.
    """

    def __init__(self, files: Mapping[str, FileInfo], readings: Readings) -> None:
        self._infos = files
        self._readings = readings

    def __getitem__(self, path: str) -> bytes:
        return renditions.content_of(self._infos[path].sha256, self._readings)

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def __contains__(self, path: object) -> bool:
        return path in self._infos


class Overlay:
    """A workspace (`contracts.ports.Workspace`): a tree with an attempt's own changes on top (D4).

    Writes go to the blob store and to `changes`; the tree stays as it is. A document is read as soon as it is written.
    `call` runs functions that use the database. `given` are the files of the task, by default all of the tree. `dated`
    is the date of comments that are put into documents. Limits are in bytes and files.
    """

    def __init__(
        self,
        base: Tree,
        changes: Changes,
        *,
        max_files: int,
        max_bytes: int,
        given: Mapping[str, FileInfo] | None = None,
        dated: datetime | None = None,
        call: DatabaseCall = _directly,
    ) -> None:
        self._base = files_of(base)
        self._given = self._base if given is None else given
        self._dated = dated
        self._readings = readings_of(base)
        self.changes: Changes = {}
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._call = call
        self.put_back(changes)

    def put_back(self, changes: Changes) -> None:
        """Apply changes that were made before, such as by a process that has ended."""
        self.changes |= changes
        if any(entry and _is_document(entry.sha256) for entry in changes.values()):
            self._readings = self._call(lambda: _with_written(self._readings, changes))

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
        """The content of a file; a text in another encoding as UTF-8 (`Converted`)."""
        return TreeBytes({path: self._entry(path)}, self._readings)[path]

    def is_given(self, path: str) -> bool:
        return path in self._given and self._given[path] == self.files().get(path)

    def make(self, form: str, data: bytes) -> bytes:
        return made_files.make(form, data)

    def comment(self, path: str, place: tuple[int, int], words: str) -> bytes:
        return made_files.add_comment(blobs.read(self._entry(path).sha256), place, words, self._dated)

    def extent(self, path: str) -> str:
        return self._readings.extents.get(self._entry(path).sha256, "")

    def problem(self, path: str) -> str:
        return self._readings.problems.get(self._entry(path).sha256, "")

    def notes(self, path: str) -> Sequence[str]:
        return self._readings.notes.get(self._entry(path).sha256, ())

    def _entry(self, path: str) -> FileInfo:
        entry = self.changes[path] if path in self.changes else self._base[path]
        if entry is None:
            raise KeyError(path)
        return entry

    def write(self, path: str, content: bytes) -> None:
        path = clean_path(path)
        files = self.files()
        if path not in files:
            other = next((set(pair) - {path} for pair in clashes([*files, path]) if path in pair), None)
            if other:
                raise UploadRefused(f"“{path}” cannot be next to “{min(other)}”; choose another name.")
            if len(files) >= self._max_files:
                held = pluralize(len(files), "file")
                raise UploadRefused(f"The workspace holds {held}, which is the most it may hold.")
        total = sum(info.size for other, info in files.items() if other != path) + len(content)
        if total > self._max_bytes:
            raise UploadRefused(f"The workspace would grow over {self._max_bytes:,} bytes.")
        info = blobs.put(content)
        if _is_document(info.sha256):
            self._read_document(path, info)
        self.put_back({path: info})

    def _read_document(self, path: str, info: FileInfo) -> None:
        """Read a document that may be new. Its text is committed before the write, so that no write lacks it."""
        self._call(lambda: input_examination.examine({path: info}))
        row = self._call(lambda: renditions.waiting_row(info.sha256))
        if row:
            renditions.make(row)
            self._call(lambda: renditions.keep(row))
