"""`manage.py backup` and `restore`: everything comes back as it was, and what is damaged is refused before it does."""

from __future__ import annotations

import io
import json
import resource
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from pevsite.installation import KEY_FILE
from runs.engine.process_registry import BACKUP, HeldLock
from runs.engine.sweeper import Sweeper
from runs.lifecycle import deletion
from runs.operations.backup_archive import SIGNATURE, Archive, Signer
from tests import databases
from tests.installation import ROOT, environ
from tests.integration.finished import Finished


def manage(data: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    settings = environ(data, PEV_REHEARSAL_DELAY="0", PEV_REDIS_URL="")
    return subprocess.run(
        command, cwd=ROOT, env=settings, capture_output=True, text=True, timeout=240, check=False, **options
    )


def refused(data: Path, *arguments: str, **options: Any) -> str:
    """The one sentence that it ends with."""
    done = manage(data, *arguments, **options)
    assert done.returncode == 1, done.stdout
    assert done.stderr.count("\n") == 1, done.stderr
    [line] = done.stderr.splitlines()
    return line.removeprefix("CommandError: ")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, finished: Finished) -> Path:
    """An installation in which a run has finished."""
    return finished.copy(tmp_path_factory.mktemp("original") / "data")


@pytest.fixture(scope="module")
def backup(data: Path) -> Path:
    file = data.with_name("backup.tar")
    done = manage(data, "backup", str(file))
    assert done.returncode == 0, done.stderr
    assert (done.stderr, oct(file.stat().st_mode)[-3:]) == ("", "600")
    return file


def with_key_of(data: Path, restored: Path) -> Path:
    """A data folder in which there is nothing but the key of an installation."""
    restored.mkdir(mode=0o700)
    shutil.copy(data / KEY_FILE, restored)
    return restored


def tables(data: Path) -> dict[str, list[Any]]:
    """All rows. Who was at what duty is of the moment: the back-up itself is one, and a line of the audit trail."""
    left_out = {"runs_leaderlock", "runs_auditentry", "runs_audithead"}
    names = {model._meta.db_table for model in apps.get_models(include_auto_created=True)} - left_out
    return {name: databases.rows(data, f'SELECT * FROM "{name}" ORDER BY 1') for name in names}


def audited(data: Path) -> list[Any]:
    return databases.rows(data, "SELECT number, kind, subject FROM runs_auditentry ORDER BY number")


def contents(data: Path) -> dict[str, bytes]:
    return {str(path.relative_to(data)): path.read_bytes() for path in (data / "blobs").rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.services
def test_all_rows_and_files_come_back(data: Path, backup: Path, tmp_path: Path) -> None:
    restored = with_key_of(data, tmp_path / "restored")
    done = manage(restored, "restore", str(backup))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Everything matches its hash."
    assert done.stderr == ""
    assert tables(restored) == tables(data)
    assert len(tables(data)["runs_run"]) == 1
    assert contents(restored) == contents(data)
    made, came_back = audited(data), audited(restored)
    assert len(came_back) > 1
    assert made == [*came_back[:-1], (came_back[-1][0], "back_up_made", "backup.tar")]
    assert came_back[-1][1:] == ("back_up_restored", "backup.tar")
    assert refused(restored, "restore", str(backup)).startswith("There is an installation here already.")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_nobody_is_signed_in_where_a_backup_was_restored(data: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(data, tmp_path / "copy")
    databases.copy(data, copy)
    name = databases.rows(data, "SELECT username FROM runs_user ORDER BY id")[0][0]
    assert manage(copy, "people", "link", name).returncode == 0
    assert len(tables(copy)["runs_link"]) == 1
    assert manage(copy, "backup", str(tmp_path / "backup.tar")).returncode == 0
    restored = with_key_of(data, tmp_path / "restored")
    assert manage(restored, "restore", str(tmp_path / "backup.tar")).returncode == 0
    assert (tables(restored)["runs_link"], tables(restored)["django_session"]) == ([], [])


@pytest.mark.slow
@pytest.mark.exhaustive
def test_where_there_is_no_key_a_backup_says_that_it_is_not_signed(data: Path, tmp_path: Path) -> None:
    (with_key := shutil.copytree(data, tmp_path / "data") / KEY_FILE).unlink()
    databases.copy(data, with_key.parent)
    done = manage(with_key.parent, "backup", str(tmp_path / "backup.tar"))
    assert done.returncode == 0
    assert done.stderr.startswith(f"The back-up is not signed: there is no {KEY_FILE} in {with_key.parent}")
    with Archive(tmp_path / "backup.tar") as archive:
        assert archive.check()[1] is Signer.NOBODY


@pytest.mark.exhaustive
@pytest.mark.slow
def test_what_another_key_has_signed_is_restored_only_when_asked_for(backup: Path, tmp_path: Path) -> None:
    restored = tmp_path / "restored"
    said = refused(restored, "restore", str(backup))
    assert said.startswith("The back-up is signed with another key than the one here")
    assert f"Put {KEY_FILE} of the installation that made it into {restored}" in said
    (tmp_path / "unsigned.tar").write_bytes(rewritten(lambda name, data: (name, data))(backup.read_bytes()))
    assert refused(restored, "restore", str(tmp_path / "unsigned.tar")).startswith("The back-up is not signed: ")
    assert not (restored / "blobs").exists()
    done = manage(restored, "restore", str(backup), "--unsigned")
    assert done.returncode == 0
    assert done.stderr == "It is signed by another installation: whether someone has changed it was not checked.\n"


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_backup_replaces_nothing(data: Path, backup: Path) -> None:
    before = backup.read_bytes()
    assert refused(data, "backup", str(backup)).startswith(f"{backup} exists already.")
    assert backup.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("room", [0.3, 0.95], ids=["for nothing", "for the database"])
@pytest.mark.exhaustive
def test_nothing_is_left_where_the_disk_is_full(data: Path, backup: Path, tmp_path: Path, room: float) -> None:
    most = int(backup.stat().st_size * room)
    said = refused(
        data,
        "backup",
        str(tmp_path / "backup.tar"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    assert "Nothing is left of it" in said or "Nothing was changed" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
@pytest.mark.slow
def test_what_the_store_has_lost_is_said_and_the_rest_is_kept(data: Path, tmp_path: Path) -> None:
    copy, restored = tmp_path / "data", tmp_path / "restored"
    shutil.copytree(data, copy)
    databases.copy(data, copy)
    lost, damaged, *_ = sorted(path for path in (copy / "blobs").rglob("*") if path.is_file())
    lost.unlink()
    damaged.write_bytes(b"other")
    done = manage(copy, "backup", str(tmp_path / "backup.tar"))
    assert done.returncode == 0
    told = sorted(line.partition(": ")[0] for line in done.stderr.splitlines())
    short = [f"{path.parent.name}{path.name}"[:12] for path in (lost, damaged)]
    expected = [f"Content {short[0]} is missing in the store", f"Content {short[1]} is damaged in the store"]
    assert told == sorted(expected)
    done = manage(with_key_of(data, restored), "restore", str(tmp_path / "backup.tar"))
    assert done.returncode == 1
    assert len([line for line in done.stdout.splitlines() if " is missing: " in line]) == 2


def rewritten(change: Callable[[str, bytes], tuple[str, bytes] | None]) -> Callable[[bytes], bytes]:
    """An archive with members that `change` has changed, or left out; its signature is left out too."""

    def rewrite(data: bytes) -> bytes:
        target = io.BytesIO()
        with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=target, mode="w") as new:
            for member in old:
                file = old.extractfile(member)
                assert file is not None
                if member.name != SIGNATURE and (changed := change(member.name, file.read())):
                    info = tarfile.TarInfo(changed[0])
                    info.size = len(changed[1])
                    new.addfile(info, io.BytesIO(changed[1]))
        return target.getvalue()

    return rewrite


def manifest(**changes: object) -> Callable[[bytes], bytes]:
    def changed(name: str, data: bytes) -> tuple[str, bytes]:
        return name, json.dumps(json.loads(data) | changes).encode() if name == "manifest.json" else data

    return rewritten(changed)


def with_link(data: bytes) -> bytes:
    target = io.BytesIO(data)
    with tarfile.open(fileobj=target, mode="a") as archive:
        link = tarfile.TarInfo("blobs/aa/" + "b" * 62)
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return target.getvalue()


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "no archive": (lambda data: b"not a tar file " * 100, "cannot be read as a back-up"),
    "cut off": (lambda data: data[: len(data) // 2], "The back-up is "),
    "without its end": (rewritten(lambda name, data: None if "." in name else (name, data)), "is not whole"),
    "another database": (
        rewritten(lambda name, data: (name, data + b" " if name == "database" else data)),
        "its database does not match its hash",
    ),
    "another file": (
        rewritten(lambda name, data: (name, b"x" if name.startswith("blobs/") else data)),
        "does not match its hash",
    ),
    "without its files": (
        rewritten(lambda name, data: None if name.startswith("blobs/") else (name, data)),
        "does not hold the files that it lists",
    ),
    "a path outside": (
        rewritten(lambda name, data: (f"../{name}" if name == "database" else name, data)),
        "it holds “../database”",
    ),
    "a link": (with_link, "it holds “blobs/aa/bbb"),
    "of a newer version": (manifest(migrations=["9999_new"], version="9.0"), "a newer version of pevsite (9.0, 9999_"),
    "of another form": (manifest(format=2), "its manifest cannot be read"),
    "of another database": (manifest(database="sqlite" if databases.GIVEN else "postgresql"), "The back-up is of "),
}


_RESTORE_EACH = """
import sys
from pathlib import Path
import django
from django.conf import settings
from django.core.management import CommandError, call_command
django.setup()
for file in sys.argv[1:]:
    try:
        call_command("restore", file, unsigned=True, stdout=sys.stderr)
        said = "restored"
    except CommandError as error:
        said = str(error)
    print(Path(settings.DATA_DIR, "blobs").exists(), said.replace("\\n", " "))
"""
"""A process for all damages: starting one for each takes longer than everything else."""


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_damaged_backup_is_refused_and_leaves_the_folder_empty(backup: Path, tmp_path: Path) -> None:
    """As many as there are, one after the other, and then the sound one."""
    files = [tmp_path / f"{name}.tar" for name in DAMAGES]
    for file, (damage, _) in zip(files, DAMAGES.values(), strict=True):
        file.write_bytes(damage(backup.read_bytes()))
    command = [sys.executable, "-c", _RESTORE_EACH, *map(str, files), str(backup)]
    known = environ(tmp_path / "data", PEV_REDIS_URL="")
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=240, check=True)
    *refusals, last = done.stdout.splitlines()
    assert last == "True restored"
    wrong = [
        (name, said)
        for name, (_, sentence), said in zip(DAMAGES, DAMAGES.values(), refusals, strict=True)
        if not (said.startswith("False ") and sentence in said)
    ]
    assert wrong == []


@pytest.mark.django_db
def test_files_are_not_deleted_while_a_backup_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    swept = list[int]()
    monkeypatch.setattr(deletion, "delete_discarded", lambda: swept.append(1))
    turn, sweeper = HeldLock(BACKUP), Sweeper(lambda due: None)
    assert turn.is_mine()
    sweeper._keep_up()
    assert swept == []
    turn.give_up()
    sweeper._next_upkeep = 0.0
    sweeper._keep_up()
    assert swept == [1]
