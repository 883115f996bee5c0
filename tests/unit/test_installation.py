"""The installation's key: made once, readable by nobody else, whatever a process that was killed has left."""

from __future__ import annotations

import os
from pathlib import Path

from pevsite.installation import secret_key


def test_the_key_is_made_once_and_is_for_nobody_else(tmp_path: Path) -> None:
    key = secret_key(tmp_path)
    assert len(key) >= 50
    assert secret_key(tmp_path) == key
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0


def test_a_draft_that_a_killed_process_of_the_same_number_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / f"secret.key.{os.getpid()}").write_text("half a ke")  # in a container the number is always the same
    assert len(secret_key(tmp_path)) >= 50
