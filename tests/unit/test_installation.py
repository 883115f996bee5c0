"""The data folder and its key: made by what starts, once, readable by nobody else; never by reading the settings."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from pevsite.installation import UnsafeFolder, data_option, key_of, prepare

ROOT = Path(__file__).resolve().parents[2]


def test_the_key_is_made_once_and_is_for_nobody_else(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    prepare(folder)
    key = key_of(folder)
    assert len(key) >= 50
    prepare(folder)
    assert key_of(folder) == key
    assert [path.name for path in folder.iterdir()] == ["secret.key"]
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "secret.key").stat().st_mode & 0o077 == 0


def test_a_draft_that_a_killed_process_of_the_same_number_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / f"secret.key.{os.getpid()}").write_text("half a ke")  # in a container the number is always the same
    prepare(tmp_path)
    assert len(key_of(tmp_path)) >= 50


def test_those_that_start_at_once_agree_on_one_key(tmp_path: Path) -> None:
    together = Barrier(8)

    def start(_: int) -> str:
        together.wait()
        prepare(tmp_path)
        return key_of(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(start, range(8)))
    assert keys == {(tmp_path / "secret.key").read_text()}


def test_where_nothing_was_prepared_the_key_lives_in_memory(tmp_path: Path) -> None:
    keys = {key_of(tmp_path), key_of(tmp_path)}
    assert [len(keys), *(len(key) >= 50 for key in keys)] == [2, True, True]
    assert list(tmp_path.iterdir()) == []


def test_a_key_of_the_environment_needs_no_file(tmp_path: Path) -> None:
    prepare(tmp_path, with_key=False)
    assert list(tmp_path.iterdir()) == []


def modes(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): oct(path.stat().st_mode & 0o777) for path in [folder, *folder.rglob("*")]}


def open_installation(folder: Path) -> Path:
    """As earlier versions left one where the folder had been there before them: open to everyone."""
    for name in ("pevsite.sqlite3", "pevsite.sqlite3-wal", "pevsite.sqlite3-shm", "secret.key", "blobs/ab/abcdef"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("sessions")
        path.chmod(0o644)
    for path in (folder, folder / "blobs", folder / "blobs" / "ab"):
        path.chmod(0o755)
    return folder


def test_a_folder_that_was_there_before_is_closed_to_others_with_all_that_is_in_it(tmp_path: Path) -> None:
    folder = open_installation(tmp_path / "data")
    prepare(folder)
    assert modes(folder) == {
        ".": "0o700",
        "blobs": "0o700",
        "blobs/ab": "0o700",
        "blobs/ab/abcdef": "0o600",
        "pevsite.sqlite3": "0o600",
        "pevsite.sqlite3-shm": "0o600",
        "pevsite.sqlite3-wal": "0o600",
        "secret.key": "0o600",
    }


def test_an_empty_folder_that_was_there_before_is_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    folder.chmod(0o777)
    prepare(folder)
    assert modes(folder) == {".": "0o700", "secret.key": "0o600"}


def test_links_in_the_folder_close_nothing_elsewhere(tmp_path: Path) -> None:
    folder = open_installation(tmp_path / "data")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    elsewhere.chmod(0o755)
    (folder / "blobs" / "link").symlink_to(elsewhere)
    prepare(folder)
    assert modes(elsewhere) == {".": "0o755"}


def test_a_folder_of_other_things_that_is_open_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "letters").write_text("mine")
    folder.chmod(0o755)
    with pytest.raises(UnsafeFolder, match="is open to other users and holds other things than an installation"):
        prepare(folder)
    assert (modes(folder)["."], (folder / "secret.key").exists()) == ("0o755", False)


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(UnsafeFolder, match="belongs to another user, who could read everything in it"):
        prepare(tmp_path)


def test_a_file_system_that_keeps_no_modes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = open_installation(tmp_path / "data")
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)
    with pytest.raises(UnsafeFolder, match="stays open to other users: this file system keeps no modes"):
        prepare(folder)


def test_what_cannot_be_closed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = open_installation(tmp_path / "data")

    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(UnsafeFolder, match=r"cannot be made or closed to other users \(Operation not permitted\)"):
        prepare(folder)


def test_files_that_are_made_from_then_on_are_for_nobody_else(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        prepare(tmp_path)
        (tmp_path / "pevsite.sqlite3").write_text("")
        assert modes(tmp_path)["pevsite.sqlite3"] == "0o600"
    finally:
        os.umask(before)


def test_commands_are_told_of_a_data_folder_that_is_not_the_usual_one(tmp_path: Path) -> None:
    assert data_option(ROOT / ".data") == ""
    assert data_option(tmp_path / "my data") == f" --data-dir '{tmp_path}/my data'"
