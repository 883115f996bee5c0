"""Results as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.errors import InvalidInput
from runs.evaluation.results import check_can_save, read_result, save
from tests.factories.evaluations import judged, result


def test_a_saved_result_can_be_read_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    file.write_text("{}")
    save(result(judged(1)), file)
    assert read_result(file) == result(judged(1))
    assert list(tmp_path.iterdir()) == [file]


def test_a_baseline_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Who has opened the earlier file reads it to its end. A link stays a link."""
    file, link = tmp_path / "baseline.json", tmp_path / "link.json"
    save(result(judged(1)), file)
    link.symlink_to(file)
    before = file.read_text("utf-8")
    with file.open(encoding="utf-8") as opened:
        save(result(judged(2)), link)
        assert opened.read() == before
    assert link.is_symlink()
    assert read_result(file) == result(judged(2))


@pytest.mark.parametrize("name", ["nowhere/result.json", "file/result.json", "folder", "x" * 256])
def test_where_a_result_cannot_be_saved_is_said_before(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput):
        check_can_save(tmp_path / name)
    check_can_save(tmp_path / "folder" / "result.json")
    assert list((tmp_path / "folder").iterdir()) == []
