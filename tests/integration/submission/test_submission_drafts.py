"""Files that come before the run: kept for their owner, within bounds, until they are submitted or a day is over."""

from __future__ import annotations

import os
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone
from pytest_django import Settings

from runs.errors import InvalidInput, UploadRefused
from runs.models import Draft, DraftFile, Run
from runs.store import blobs, trees
from runs.submission import submission_drafts
from runs.submission.intake import RefusedUpload, Upload
from runs.submission.submit import Submission, submit
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]

TOKEN = uuid.UUID("12345678-1234-5678-1234-567812345678")


def upload(path: str, content: bytes = b"Hello.", *, named: bool = True) -> Upload:
    return Upload(path, ContentFile(content), named=named)


def add(*uploads: Upload, token: uuid.UUID = TOKEN) -> list[RefusedUpload]:
    return submission_drafts.add(made.alice(), token, uploads)


def paths(token: uuid.UUID = TOKEN) -> list[str]:
    return list(submission_drafts.files_of(Draft.objects.get(token=token)))


def submission(**changes: Any) -> Submission:
    values: dict[str, Any] = {"policy": made.policy(), "token": TOKEN, "from_draft": True}
    return Submission("Write a poem.", (), **{**values, **changes})


def age(**fields: Any) -> None:
    Draft.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def place(sha256: str) -> Path:
    return Path(blobs.store().path(blobs.name_of(sha256)))


def test_files_come_one_after_the_other_and_become_the_run() -> None:
    assert add(upload("b.md"), upload("a.md")) == []
    assert add(upload("folder/c.md", b"c")) == []
    assert paths() == ["a.md", "b.md", "folder/c.md"]
    run = submit(made.alice(), submission())
    assert list(trees.files_of(run.inputs)) == ["a.md", "b.md", "folder/c.md"]
    assert (Draft.objects.count(), DraftFile.objects.count()) == (0, 0)


def test_a_file_with_the_same_path_takes_the_place_of_the_one_before() -> None:
    add(upload("a.md", b"old"))
    add(upload("a.md", b"newer"))
    assert {path: info.size for path, info in submission_drafts.files_of(Draft.objects.get()).items()} == {"a.md": 5}


def test_what_cannot_be_taken_is_said_file_by_file_and_the_rest_is_kept(settings: Settings) -> None:
    settings.FILE_BYTES = 100
    key = b"-----BEGIN PRIVATE KEY-----"
    refused = add(
        upload("../x"),
        upload("large.bin", b"x" * 101),
        upload("app/.env", named=False),
        upload("app/notes", key, named=False),
        upload("app"),
        upload("app/a.md", named=False),
    )
    assert {one.path: one.secret for one in refused} == {
        "../x": False,
        "large.bin": False,
        "app/.env": True,
        "app/notes": True,
        "app/a.md": False,
    }
    assert refused[-1].why == "It cannot be next to “app”; rename one of the two."
    assert paths() == ["app"]


def test_what_cannot_be_read_is_known_at_once() -> None:
    add(upload("film.mp4", b"\0\0\0 ftypisom"), upload("a.md"))
    files = submission_drafts.files_of(Draft.objects.get())
    assert submission_drafts.readings_of(files).problems == {
        files["film.mp4"].sha256: "is sound or film, which cannot be read"
    }


def test_a_draft_holds_what_a_run_may_have_and_not_more(settings: Settings) -> None:
    settings.UPLOAD_FILES, settings.UPLOAD_BYTES = 2, 10
    (full,) = add(upload("a", b"12345"), upload("b", b"123456"))
    assert full.why == "With it the files would have more than 0.0 MB together."
    (many,) = add(upload("b", b"1"), upload("c", b"1"))
    assert many.why == "There are 2 files already, which is the most that a run may have."
    assert paths() == ["a", "b"]


def test_a_file_can_be_sent_again_if_it_has_more_than_half_of_what_fits(settings: Settings) -> None:
    settings.UPLOAD_BYTES = 10
    add(upload("a", b"123456"))
    assert add(upload("a", b"123456"), upload("b", b"1234")) == []
    assert [one.path for one in add(upload("a", b"1234567"), upload("b", b"1234"))] == ["a"]
    draft = Draft.objects.get()
    assert {path: info.size for path, info in submission_drafts.files_of(draft).items()} == {"a": 6, "b": 4}


def test_a_person_cannot_fill_the_disk_by_adding_and_removing(settings: Settings) -> None:
    settings.UPLOAD_BYTES = 10
    for number in range(3):
        add(upload("a", b"%09d" % number))
        submission_drafts.remove(Draft.objects.get())
    with pytest.raises(UploadRefused, match="as much as they may, files that you have removed again included"):
        add(upload("a", b"123456789"))
    settings.UPLOAD_BYTES, settings.UPLOAD_FILES = 1_000, 1
    with pytest.raises(UploadRefused, match="as much as they may"):
        add(upload("a", b"1"))


def test_there_may_be_so_many_drafts_of_one_person() -> None:
    for _ in range(submission_drafts.MAX_DRAFTS):
        add(upload("a.md"), token=uuid.uuid4())
    with pytest.raises(UploadRefused, match="You have 10 drafts that are not submitted"):
        add(upload("a.md"))
    assert submission_drafts.add(made.bob(), uuid.uuid4(), [upload("a.md")]) == []


def test_files_that_are_refused_begin_no_draft(settings: Settings) -> None:
    settings.UPLOAD_BYTES = 10
    for name in ("a", "b", "c"):
        add(upload(name, b"123456789"), token=uuid.uuid4())
    with pytest.raises(UploadRefused, match="as much as they may"):
        add(upload("a.md"))
    assert Draft.objects.count() == 3


def test_nobody_adds_to_the_draft_of_somebody_else_or_submits_it() -> None:
    add(upload("a.md"))
    with pytest.raises(UploadRefused, match="someone else"):
        submission_drafts.add(made.bob(), TOKEN, [upload("b.md")])
    with pytest.raises(InvalidInput, match="The files of this form are gone"):
        submit(made.bob(), submission())
    assert (paths(), Run.objects.count()) == (["a.md"], 0)


def test_a_draft_that_has_expired_is_one_sentence_and_nothing_is_submitted() -> None:
    add(upload("a.md"))
    age()
    with pytest.raises(InvalidInput) as refused:
        submit(made.alice(), submission())
    assert str(refused.value) == submission_drafts.EXPIRED
    assert Run.objects.count() == 0


def test_a_form_that_is_sent_twice_is_one_run_and_takes_no_more_files() -> None:
    add(upload("a.md"))
    first, second = submit(made.alice(), submission()), submit(made.alice(), submission())
    assert first == second
    with pytest.raises(UploadRefused, match="was submitted already"):
        add(upload("b.md"))


def test_files_that_another_tab_adds_while_it_is_submitted_are_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    add(upload("a.md"))
    take = submission_drafts.take

    def raced(*given: Any) -> None:
        Draft.objects.get().files.create(path="b.md", sha256="0" * 64, size=1)
        take(*given)

    monkeypatch.setattr(submission_drafts, "take", raced)
    with pytest.raises(InvalidInput, match="changed in another tab"):
        submit(made.alice(), submission())
    assert (Run.objects.count(), Draft.objects.filter(expires_at__gt=timezone.now()).count()) == (0, 1)


def test_what_the_browser_left_out_is_told_in_the_history() -> None:
    add(upload("a.md"))
    submission_drafts.note_left_out(Draft.objects.get(), ["app/.env", "x\0y", *(f"keys/{n}.pem" for n in range(300))])
    assert len(Draft.objects.get().left_out) == submission_drafts.MAX_LEFT_OUT
    run = submit(made.alice(), submission())
    assert run.events.get(kind="submitted").data["left_out"][:2] == ["app/.env", "xy"]


def test_the_sweep_deletes_what_was_given_up_and_nothing_that_a_run_has() -> None:
    add(upload("given up.md", b"given up"), upload("kept.md", b"kept"))
    given_up, kept = (info.sha256 for info in submission_drafts.files_of(Draft.objects.get()).values())
    other = uuid.uuid4()
    add(upload("kept.md", b"kept"), token=other)
    submit(made.alice(), submission(token=other))
    for sha256 in (given_up, kept):
        os.utime(place(sha256), (0, 0))
    assert submission_drafts.sweep() == 0
    age()
    assert submission_drafts.sweep() == 1
    assert (place(given_up).exists(), place(kept).exists(), Draft.objects.count()) == (False, True, 0)


def test_what_was_removed_before_it_was_submitted_goes_with_the_sweep() -> None:
    add(upload("a.md", b"meant"), upload("b.md", b"not meant"))
    submission_drafts.remove(Draft.objects.get(), ["b.md"])
    gone = DraftFile.objects.get(removed=True).sha256
    os.utime(place(gone), (0, 0))
    submit(made.alice(), submission())
    assert submission_drafts.sweep() == 1
    assert not place(gone).exists()


def test_a_draft_may_begin_with_the_files_of_a_run() -> None:
    run = made.finished_succeeded()
    draft = submission_drafts.begin_with(made.alice(), TOKEN, run)
    assert submission_drafts.files_of(draft) == trees.files_of(run.inputs)
    assert submission_drafts.begin_with(made.alice(), TOKEN, run).files.count() == len(trees.files_of(run.inputs))
