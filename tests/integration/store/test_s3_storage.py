"""The store of files in a bucket: as the one in a folder, whole runs with it, and what happens while it is away."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile, File
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from runs.contracts.ports import FileInfo
from runs.enums import EventKind, GateStatus, Outcome, WorkStatus
from runs.errors import StoreAway
from runs.lifecycle import deletion
from runs.models import Discarded, ModelCall, Rendition, User, WorkItem
from runs.store import blobs, garbage_collection, input_examination, s3_storage, trees
from runs.web.operations.setup_findings import findings
from tests import factories
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step
from tests.installation import ROOT, environ
from tests.integration.finished import Finished
from tests.services.processes import free_port
from tests.services.s3 import BUCKET, S3

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    found = S3()
    found.start()
    yield found
    found.stop()


@pytest.fixture
def bucket(server: S3, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    """Empty, and the store of this installation."""
    for name, value in server.variables.items():
        monkeypatch.setenv(name, value)
    use(settings, BUCKET)
    for key in server.names():
        server.client().delete_object(Bucket=BUCKET, Key=key)
    yield server
    server.fail_every = 0


def use(settings: Any, bucket: str) -> None:
    where = {"BACKEND": "runs.store.s3_storage.BucketStorage", "OPTIONS": {"bucket": bucket, "prefix": "some/where"}}
    settings.STORAGES = {**settings.STORAGES, "blobs": where}


def stored(content: bytes) -> str:
    return blobs.put(content).sha256


def is_there(sha256: str) -> bool:
    return blobs.store().exists(blobs.name_of(sha256))


def test_a_content_lies_under_its_hash_below_the_prefix_and_is_read_back(bucket: S3) -> None:
    data = bytes(range(256))
    found = blobs.put(data)
    assert bucket.names() == [f"some/where/{blobs.name_of(found.sha256)}"]
    assert (found.sha256, found.size) == (hashlib.sha256(data).hexdigest(), 256)
    assert blobs.read(found.sha256) == b"".join(blobs.pieces_of(found.sha256)) == data
    assert blobs.size_of(found.sha256) == 256
    assert blobs.put_file(ContentFile(data)) == found


@pytest.mark.exhaustive
def test_the_same_content_is_sent_once(bucket: S3) -> None:
    stored(b"same")
    before = bucket.client().head_object(Bucket=BUCKET, Key=bucket.names()[0])["LastModified"]
    blobs.put_file(ContentFile(b"same"))
    assert bucket.client().head_object(Bucket=BUCKET, Key=bucket.names()[0])["LastModified"] == before


@pytest.mark.exhaustive
def test_a_large_file_comes_and_goes_in_pieces(bucket: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    class Measured(io.BytesIO):
        most = 0

        def read(self, size: int | None = -1) -> bytes:
            found = super().read(size)
            Measured.most = max(Measured.most, len(found))
            return found

    data = b"0123456789abcdef" * 1_500_000  # 24 MB
    found = blobs.put_file(File(Measured(data), "large"))
    assert Measured.most <= 8 * 1024 * 1024, "never whole in memory"
    pieces = list(blobs.pieces_of(found.sha256))
    assert max(map(len, pieces)) <= 256 * 1024
    assert b"".join(pieces) == data
    with blobs.opened(found.sha256) as held:
        assert held.file._rolled, "on the disk"  # type: ignore[attr-defined]


@pytest.mark.parametrize("ask", [blobs.read, blobs.size_of, blobs.pieces_of, blobs.opened])
def test_what_is_not_there_is_said_at_once(bucket: S3, ask: Any) -> None:
    with pytest.raises(FileNotFoundError):
        ask("0" * 64)


@pytest.mark.parametrize("other", [b"changed", b"", b"of nobody ", b"x" * 20_000_000])
def test_a_content_that_was_changed_in_the_bucket_is_not_read(bucket: S3, other: bytes) -> None:
    sha256 = stored(b"of nobody")
    bucket.client().put_object(Bucket=BUCKET, Key=bucket.names()[0], Body=other)
    for ask in (blobs.read, blobs.opened):
        with pytest.raises(StoreAway, match="was changed"):
            ask(sha256)


def test_a_bucket_cannot_fill_the_disk(bucket: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_storage, "MAX_BYTES", 10_000_000)
    kept, large = stored(b"1" * 10_000_000), stored(b"0" * 10_000_001)
    assert len(blobs.read(kept)) == 10_000_000
    with pytest.raises(StoreAway, match="larger than 10,000,000"):
        blobs.read(large)


@pytest.mark.exhaustive
def test_each_tenth_request_may_fail(bucket: S3) -> None:
    bucket.fail_every, before = 10, bucket.refused
    contents = [f"content {number}".encode() for number in range(30)]
    hashes = [stored(content) for content in contents]
    assert [blobs.read(sha256) for sha256 in hashes] == contents
    assert bucket.refused - before >= 8


@pytest.mark.exhaustive
def test_threads_share_one_connection(bucket: S3) -> None:
    found = []
    threads = [threading.Thread(target=lambda: found.append(blobs.store().connection)) for _ in range(8)]  # type: ignore[attr-defined]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


@pytest.fixture
def away(bucket: S3, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens where the bucket should be, and nobody waits long for it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(s3_storage, "_TRIES", 1)
    use(settings, BUCKET)


@pytest.mark.usefixtures("away")
def test_while_the_bucket_is_away_everything_says_so() -> None:
    for ask in (blobs.read, blobs.size_of, blobs.pieces_of, blobs.opened):
        with pytest.raises(StoreAway):
            ask("0" * 64)
    with pytest.raises(StoreAway):
        blobs.put(b"new")
    assert blobs.store().problem().startswith("the bucket files cannot be used (")


@pytest.mark.exhaustive
def test_a_bucket_that_is_not_there_is_named(bucket: S3, settings: Any) -> None:
    assert blobs.store().problem() == ""
    use(settings, "others")
    assert blobs.store().problem() == "the bucket others is not there"
    with pytest.raises(StoreAway):
        blobs.put(b"new")


def test_a_whole_run_with_its_files_in_a_bucket(
    bucket: S3, api: FakeAnthropic, submitted: factories.Submit, alice: User
) -> None:
    bucket.fail_every, before = 10, bucket.refused
    api.script(Team())
    run = factories.finish(submitted(), alice)
    assert run.outcome == Outcome.SUCCEEDED
    named = {info.sha256 for tree in (run.inputs, run.head) for info in trees.files_of(tree).values()}
    assert len(named) == 3
    assert all(map(is_there, named))
    assert bucket.refused > before


def test_work_waits_for_a_bucket_that_is_away_and_goes_on(
    bucket: S3, api: FakeAnthropic, submitted: factories.Submit, alice: User, settings: Any
) -> None:
    api.script(Team(plan=plan(step("one"))))
    run = submitted()
    factories.drain(run)
    factories.answer(run, alice)
    with pytest.MonkeyPatch.context() as broken:
        broken.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        broken.setattr(s3_storage, "_TRIES", 1)
        use(settings, BUCKET)
        factories.drain(run)
    item = WorkItem.objects.get(run=run, status=WorkStatus.READY)
    assert item.tries == 0, "no model was asked in vain"
    assert not run.events.filter(kind=EventKind.WAITING_FOR_MODEL).exists()
    assert item.due_at > timezone.now() + timedelta(seconds=5)
    assert not run.gates.filter(status=GateStatus.OPEN).exists(), "no person is asked about it"
    use(settings, BUCKET)
    asked = len(api.requests)
    factories.hurry(run)
    assert factories.finish(run, alice).outcome == Outcome.SUCCEEDED
    assert ModelCall.objects.filter(run=run).count() == len(api.requests) > asked, "no call was made twice for it"


def test_a_page_with_a_file_says_that_files_are_away(bucket: S3, settings: Any, monkeypatch: Any) -> None:
    run = factories.finished_succeeded()
    path = next(iter(trees.files_of(run.inputs)))
    client = Client()
    client.force_login(run.owner)
    address = f"/runs/{run.pk}/files/{path}?download=1"
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(s3_storage, "_TRIES", 1)
    use(settings, BUCKET)
    answer = client.get(address)
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert "Files cannot be reached" in answer.content.decode()
    assert client.get(address, headers={"accept": "application/json"}).json()["errors"][0].startswith("The store of")


def discarded(*contents: bytes, minutes_ago: float = 1) -> list[str]:
    hashes = [stored(content) for content in contents]
    garbage_collection.discard(hashes)
    Discarded.objects.update(due_at=timezone.now() - timedelta(minutes=minutes_ago))
    return hashes


def test_what_nothing_names_is_deleted_when_it_is_due(bucket: S3) -> None:
    one, other = discarded(b"of nobody", b"nor this")
    assert deletion.delete_discarded() == 2
    assert (is_there(one), is_there(other), Discarded.objects.count()) == (False, False, 0)


def test_what_is_discarded_waits_first(bucket: S3) -> None:
    sha256 = stored(b"of nobody")
    garbage_collection.discard([sha256])
    assert (deletion.delete_discarded(), is_there(sha256)) == (0, True)
    assert Discarded.objects.get().due_at > timezone.now() + blobs.GRACE - timedelta(minutes=1)


@pytest.mark.exhaustive
def test_what_nobody_said_would_go_waits_first(bucket: S3) -> None:
    sha256 = stored(b"of a draft")
    assert garbage_collection.delete([sha256]) == {sha256}
    assert is_there(sha256)
    assert Discarded.objects.get().sha256 == sha256


def test_what_is_stored_again_stays(bucket: S3) -> None:
    [sha256] = discarded(b"stored again")
    stored(b"stored again")
    assert (deletion.delete_discarded(), is_there(sha256)) == (0, True)


def test_what_a_run_names_stays_and_is_no_longer_looked_at(bucket: S3) -> None:
    run = factories.finished_succeeded()
    named = {info.sha256 for info in trees.files_of(run.head).values()}
    garbage_collection.discard(named)
    Discarded.objects.update(due_at=timezone.now())
    deletion.delete_discarded()
    assert all(map(is_there, named))
    assert not Discarded.objects.exists()


@pytest.mark.exhaustive
def test_the_text_of_a_content_goes_after_it(bucket: S3) -> None:
    content = "Die Größe der Straße.".encode("utf-16")
    [sha256] = discarded(content)
    input_examination.examine({"a": FileInfo(sha256, len(content))})
    text = Rendition.objects.get(source=sha256).text
    Discarded.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    deletion.delete_discarded()
    assert (is_there(sha256), is_there(text)) == (False, True)
    Discarded.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    deletion.delete_discarded()
    assert not is_there(text)


def test_a_deletion_that_broke_off_is_done_again(bucket: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    [sha256] = discarded(b"of nobody")

    def broken(*_: object) -> None:
        raise StoreAway("gone")

    with monkeypatch.context() as patched:
        patched.setattr(s3_storage.BucketStorage, "delete_all", broken)
        with pytest.raises(StoreAway):
            deletion.delete_discarded()
    assert (is_there(sha256), Discarded.objects.count()) == (True, 1)
    deletion.delete_discarded()
    assert not is_there(sha256)


@pytest.mark.needs("PostgreSQL")  # SQLite has one writer
@pytest.mark.django_db(transaction=True)
def test_who_stores_a_content_that_is_being_deleted_waits_and_stores_it(
    bucket: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race: the content is still there when it is looked for, and gone when it is counted on."""
    [sha256] = discarded(b"wanted again")
    writers = []
    delete_all = s3_storage.BucketStorage.delete_all

    def raced(self: s3_storage.BucketStorage, names: Any) -> None:
        def write() -> None:
            blobs.put(b"wanted again")
            connection.close()

        writer = threading.Thread(target=write)
        writer.start()
        writer.join(0.5)
        assert writer.is_alive(), "it waits for the row"
        writers.append(writer)
        delete_all(self, names)

    monkeypatch.setattr(s3_storage.BucketStorage, "delete_all", raced)
    deletion.delete_discarded()
    writers[0].join(10)
    assert is_there(sha256)


def manage(data: Path, variables: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    ours = {"PEV_REHEARSAL_DELAY": "0", "PEV_REDIS_URL": "", "ANTHROPIC_API_KEY": ""}
    found = environ(data, **ours | variables)
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=found, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.exhaustive
def test_a_back_up_of_a_folder_is_restored_into_a_bucket_and_the_other_way_round(
    bucket: S3, tmp_path: Path, finished: Finished
) -> None:
    folder = finished.copy(tmp_path / "one")
    key = {"PEV_SECRET_KEY": "the same for all of them"}
    there = bucket.variables | {"PEV_BLOBS": f"s3://{BUCKET}/some/where"}
    for data, variables, command, file in (
        ("one", {}, "backup", "of a folder"),
        ("two", there, "restore", "of a folder"),
        ("two", there, "backup", "of a bucket"),
        ("three", {}, "restore", "of a bucket"),
    ):
        done = manage(tmp_path / data, variables | key, command, str(tmp_path / file))
        assert done.returncode == 0, done.stderr
        assert command == "backup" or done.stdout.splitlines()[-1] == "Everything matches its hash."
    assert not (tmp_path / "two" / "blobs").exists()
    names = {str(path.relative_to(folder / "blobs")) for path in (folder / "blobs").rglob("*") if path.is_file()}
    assert len(names) > 5
    assert {key.removeprefix("some/where/") for key in bucket.names()} == names


@pytest.mark.parametrize("command", ["serve", "worker"])
@pytest.mark.exhaustive
def test_nothing_starts_on_a_bucket_that_cannot_be_used(bucket: S3, tmp_path: Path, command: str) -> None:
    variables = bucket.variables | {"PEV_BLOBS": "s3://others", "PEV_REDIS_URL": "redis://127.0.0.1:9/0"}
    options = ["--port", str(free_port())] if command == "serve" else []
    done = manage(tmp_path / "data", variables, command, *options)
    assert done.returncode == 1
    *_, line = done.stderr.splitlines()  # before it, that Redis does not answer
    assert "the bucket others is not there. Correct PEV_BLOBS" in line


@pytest.mark.parametrize("command", [["run", "--sample", "contracts"], ["verify"]], ids=["run", "verify"])
@pytest.mark.exhaustive
def test_commands_that_need_a_bucket_that_is_away_end_with_one_sentence(
    bucket: S3, request: pytest.FixtureRequest, command: list[str]
) -> None:
    factories.finished_succeeded()
    request.getfixturevalue("away")
    with pytest.raises(CommandError, match=r"^The store of files does not answer\. Could not connect"):
        call_command(*command)


_ONE_TRY = """
import django
django.setup()
from pevsite.command_line import main
from runs.store import s3_storage
s3_storage._TRIES = 1
main()
"""


@pytest.mark.exhaustive
def test_nothing_is_left_of_a_backup_from_a_bucket_that_is_away(bucket: S3, tmp_path: Path, finished: Finished) -> None:
    variables = bucket.variables | {"PEV_BLOBS": f"s3://{BUCKET}", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    data, archive = finished.copy(tmp_path / "data"), tmp_path / "backup.tar"
    command = [sys.executable, "-c", _ONE_TRY, "backup", str(archive)]
    known = environ(data, PEV_REDIS_URL="", **variables)
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("CommandError: The store of files does not answer. Could not connect")
    assert not archive.exists()


@pytest.mark.exhaustive
def test_what_is_set_up_is_said(bucket: S3, settings: Any) -> None:
    assert "The bucket of PEV_BLOBS answers." in {one.text for one in findings()}
    use(settings, "others")
    [wrong] = [one for one in findings() if one.about == "Files" and one.is_wrong]
    assert wrong.text.startswith("The bucket others is not there. Correct PEV_BLOBS")
