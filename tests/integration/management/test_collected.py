"""What `--files` takes from a folder: regular files, no links, and no secrets but those that are named."""

from pathlib import Path

import pytest

from runs.errors import InvalidInput
from runs.management.headless import collected
from runs.submission.intake import without_secrets


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (".env", ".env.example", ".git/config", ".ssh/id_rsa", "a.md", "deep/.git", "deep/.npmrc", "deep/b.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link.md").symlink_to("/etc/passwd")
    (tmp_path / "linked").symlink_to("/etc")
    return tmp_path


def test_secrets_in_a_folder_are_left_out_and_listed(folder: Path) -> None:
    kept, left_out = without_secrets(collected(folder))
    assert [upload.path for upload in kept] == [".env.example", "a.md", "deep/b.md"]
    assert left_out == [".env", ".git/", ".ssh/", "deep/.git", "deep/.npmrc"]


def test_a_file_that_is_named_comes_along(folder: Path) -> None:
    kept, left_out = without_secrets(collected(folder, ["deep/.npmrc"]))
    assert [upload.path for upload in kept] == [".env.example", "a.md", "deep/.npmrc", "deep/b.md"]
    assert left_out == [".env", ".git/", ".ssh/", "deep/.git"]
    assert without_secrets(collected(folder / ".env"))[1] == []


def test_a_name_that_is_not_there_is_said(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="--include names “nope”, which is not a file in"):
        collected(folder, ["nope"])
