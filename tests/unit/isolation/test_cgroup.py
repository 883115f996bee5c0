"""The cgroup of a command: made where systemd has delegated the server's, and not touched elsewhere."""

import os
from pathlib import Path

import pytest

from runs.isolation.resource_usage import cgroup

OWN = "2:cpu:/else\n0::/system.slice/pevsite.service/server\n"


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The delegated cgroup of a unit, as files."""
    folder = tmp_path / "system.slice" / "pevsite.service"
    (folder / "server").mkdir(parents=True)
    os.setxattr(folder, "user.delegate", b"1")
    (tmp_path / "own").write_text(OWN)
    return folder


def test_memory_and_processes_are_limited_together(unit: Path, tmp_path: Path) -> None:
    with cgroup(5_000_000, 70, mount=tmp_path, own=tmp_path / "own") as group:
        assert group is not None
        folder = group.members.parent
        assert folder.parent == unit
        assert {path.name: path.read_text() for path in folder.iterdir()} == {
            "memory.max": "5000000",
            "memory.oom.group": "1",
            "memory.swap.max": "0",
            "pids.max": "70",
        }
        assert (unit / "cgroup.subtree_control").read_text() == "+memory +pids"
        (folder / "memory.events").write_text("oom 0\noom_kill 0\n")
        assert not group.ran_out
        (folder / "memory.events").write_text("oom 1\noom_kill 3\n")
        assert group.ran_out
        for path in folder.iterdir():  # the kernel's own are no obstacle to rmdir
            path.unlink()
    assert not folder.exists()


@pytest.mark.parametrize("own", ["", "0::/\n", "2:cpu:/else\n", "0::/system.slice/other.service/server\n"])
def test_without_a_delegated_one_nothing_is_made(unit: Path, tmp_path: Path, own: str) -> None:
    (tmp_path / "own").write_text(own)
    with cgroup(5_000_000, 70, mount=tmp_path, own=tmp_path / "own") as group:
        assert group is None
    assert [path.name for path in unit.iterdir()] == ["server"]
