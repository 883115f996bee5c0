"""The store of contents: nothing half-written is seen, and the same content is stored once."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from runs.store import blobs


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """A store of this test's own."""
    settings.STORAGES = {
        **settings.STORAGES,
        "blobs": {"BACKEND": "runs.store.blobs.BlobStorage", "OPTIONS": {"location": tmp_path}},
    }
    return tmp_path


def stored(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix().replace("/", "") for path in folder.rglob("*") if path.is_file())


def test_a_blob_lies_under_its_hash_and_is_read_back(folder: Path) -> None:
    data = bytes(range(256))
    found = blobs.put(data)
    assert (found.sha256, found.size, stored(folder)) == (hashlib.sha256(data).hexdigest(), 256, [found.sha256])
    assert blobs.read(found.sha256) == data
    assert blobs.put_file(ContentFile(data)) == found


def test_the_same_content_is_stored_once(folder: Path) -> None:
    assert blobs.put(b"same") == blobs.put(b"same") == blobs.put_file(ContentFile(b"same"))
    assert len(stored(folder)) == 1


def test_a_crash_in_the_middle_of_a_write_leaves_nothing_under_the_hash_and_the_next_write_succeeds(
    folder: Path,
) -> None:
    class Crash(BaseException):
        pass

    class Broken(ContentFile):  # type: ignore[type-arg]
        calls = 0

        def chunks(self, chunk_size: int | None = None) -> Any:
            self.calls += 1
            yield b"the first half"
            if self.calls == 2:
                raise Crash
            yield b" and the second"

    whole = b"the first half and the second"
    with pytest.raises(Crash):
        blobs.put_file(Broken(whole))
    assert stored(folder) == []
    assert blobs.read(blobs.put(whole).sha256) == whole


def test_a_draft_that_a_killed_process_left_is_never_taken_for_a_blob(folder: Path) -> None:
    sha256 = hashlib.sha256(b"whole").hexdigest()
    shelf = folder / sha256[:2]
    shelf.mkdir()
    (shelf / "tmpdraft").write_bytes(b"who")
    assert blobs.read(blobs.put(b"whole").sha256) == b"whole"


def test_the_bytes_are_on_the_disk_before_they_have_their_name_and_then_the_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, int, int]] = []
    fsync = os.fsync

    def watched(handle: int) -> None:
        found = os.fstat(handle)
        kind = "folder" if stat.S_ISDIR(found.st_mode) else f"file of {found.st_size}"
        synced.append((kind, found.st_ino, len([name for name in stored(folder) if len(name) == 64])))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    sha256 = blobs.put(b"whole").sha256
    shelf = folder / sha256[:2]
    assert synced == [
        ("file of 5", (shelf / sha256[2:]).stat().st_ino, 0),
        ("folder", shelf.stat().st_ino, 1),
        ("folder", folder.stat().st_ino, 1),
    ]


def test_many_threads_that_store_the_same_blob_store_one(folder: Path) -> None:
    data = b"x" * 300_000
    barrier = threading.Barrier(8)
    found = []

    def put() -> None:
        barrier.wait()
        found.append(blobs.put(data))

    threads = [threading.Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert stored(folder) == [found[0].sha256]
    assert blobs.read(found[0].sha256) == data


def test_whoever_finds_the_blob_stored_in_the_meantime_leaves_no_second_copy(folder: Path) -> None:
    name = blobs.name_of(blobs.put(b"same").sha256)
    assert storages["blobs"].save(name, ContentFile(b"same")) == name
    assert len(stored(folder)) == 1


def test_a_blob_that_is_lost_is_an_error_and_not_an_empty_file(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        blobs.read("0" * 64)


def test_only_the_installation_may_read_the_store(folder: Path) -> None:
    sha256 = blobs.put(b"secret").sha256
    assert (folder / sha256[:2]).stat().st_mode & 0o077 == 0
    assert (folder / sha256[:2] / sha256[2:]).stat().st_mode & 0o077 == 0
