"""The data folder and its key: made by what starts, once, readable by nobody else; never by reading the settings."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from pevsite.installation import data_dir, prepare, secret_key

ROOT = Path(__file__).resolve().parents[2]


def test_the_key_is_made_once_and_is_for_nobody_else(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    prepare(folder)
    key = secret_key(folder)
    assert len(key) >= 50
    prepare(folder)
    assert secret_key(folder) == key
    assert [path.name for path in folder.iterdir()] == ["secret.key"]
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "secret.key").stat().st_mode & 0o077 == 0


def test_a_draft_that_a_killed_process_of_the_same_number_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / f"secret.key.{os.getpid()}").write_text("half a ke")  # in a container the number is always the same
    prepare(tmp_path)
    assert len(secret_key(tmp_path)) >= 50


def test_those_that_start_at_once_agree_on_one_key(tmp_path: Path) -> None:
    together = Barrier(8)

    def start(_: int) -> str:
        together.wait()
        prepare(tmp_path)
        return secret_key(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(start, range(8)))
    assert keys == {(tmp_path / "secret.key").read_text()}


def test_where_nothing_was_prepared_the_key_lives_in_memory(tmp_path: Path) -> None:
    keys = {secret_key(tmp_path), secret_key(tmp_path)}
    assert [len(keys), *(len(key) >= 50 for key in keys)] == [2, True, True]
    assert list(tmp_path.iterdir()) == []


def test_a_key_of_the_environment_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEV_SECRET_KEY", "given")
    prepare(tmp_path)
    assert secret_key(tmp_path) == "given"
    assert list(tmp_path.iterdir()) == []


def test_the_folder_may_be_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PEV_DATA_DIR")
    assert data_dir() == ROOT / ".data"
    monkeypatch.setenv("PEV_DATA_DIR", str(tmp_path / "other"))
    assert data_dir() == tmp_path / "other"
    assert not (tmp_path / "other").exists()
