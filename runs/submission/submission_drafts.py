"""Drafts: files of a run that is not submitted yet. Browsers send them as soon as they are chosen."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from runs.contracts.ports import FileInfo
from runs.documents.encodings import CODECS
from runs.errors import InvalidInput, UploadRefused
from runs.models import Draft, DraftFile, Run, User
from runs.people import idempotency_keys
from runs.store import blobs, garbage_collection, input_examination, renditions, trees
from runs.store.input_limits import in_mb
from runs.store.renditions import Readings
from runs.submission import input_replacement, intake
from runs.submission.input_replacement import NOWHERE, InputPlace, InputPlaces
from runs.submission.intake import RefusedUpload, Upload, check_space, holds_secrets
from runs.submission.unpacking import note_problems, unpacked
from runs.text.paths import MAX_CHARACTERS, clashes, clean_path
from runs.text.truncate import truncate_path

log = logging.getLogger(__name__)
LIFETIME = timedelta(days=1)
"""The life of a draft since the last file was added."""
MAX_DRAFTS = 10
"""Drafts of one person."""
MAX_RUNS = 3
"""All drafts of a person, including removed files, may hold this many times the bytes of one run."""
MAX_LEFT_OUT = 200
EXPIRED = (
    "The files of this form are gone: they are kept for a day after the last one was added. Your words are still here; "
    "add the files again."
)


def of(owner: User) -> QuerySet[Draft]:
    """The drafts of a person that can still be submitted, the newest first."""
    return Draft.objects.filter(owner=owner, expires_at__gt=timezone.now()).order_by("-expires_at")


def files_of(draft: Draft) -> dict[str, FileInfo]:
    """The files of a draft, sorted by path like those of a tree."""
    rows = draft.files.filter(removed=False).values_list("path", "sha256", "size")
    return {path: FileInfo(sha256, size) for path, sha256, size in sorted(rows)}


def readings_of(files: Mapping[str, FileInfo]) -> Readings:
    """What is known of contents that are not UTF-8, as far as they have been read."""
    return renditions.readings({info.sha256 for info in files.values()})


def add(owner: User, token: uuid.UUID, uploads: Sequence[Upload]) -> list[RefusedUpload]:
    """Add files to the draft with this token, which begins with the first file. Returns the refused files.

    A file replaces one with the same path. Archives are unpacked. Raises UploadRefused if the person has too many
    drafts or too much in them, or if the form was submitted already. No draft begins then.
    """
    draft = Draft.objects.filter(token=token).first()
    if draft:
        _extend(draft, owner)
    else:
        _check_can_begin(owner, token)
    uploads, refused = unpacked(uploads)
    rows = input_replacement.rows_of(draft) if draft else []
    places = InputPlaces(input_replacement.before_of(draft) if draft else {}, rows)
    kept, more = _sort_uploads({row.path: FileInfo(row.sha256, row.size) for row in rows}, uploads, places)
    size = sum(upload.content.size or 0 for upload in kept.values())
    _check_quota(owner, len(kept), size)
    check_space(size)
    stored = {place: blobs.put_file(upload.content) for place, upload in kept.items()}
    note_problems((info, kept[place]) for place, info in stored.items())
    input_examination.examine({place.path: info for place, info in stored.items()})
    draft = draft or begin_with(owner, token, None)
    with transaction.atomic():
        _check_open_locked(draft)
        _make_room(draft, stored)
        DraftFile.objects.bulk_create(
            DraftFile(
                draft=draft,
                path=place.path,
                sent_as=place.sent_as,
                sha256=info.sha256,
                size=info.size,
                caution=kept[place].caution,
            )
            for place, info in stored.items()
        )
    return [*refused, *more]


def remove(draft: Draft, paths: Iterable[str] | None = None) -> None:
    """Remove files from a draft; all of them without `paths`."""
    files = draft.files.filter(removed=False)
    (files if paths is None else files.filter(path__in=list(paths))).update(removed=True)


def choose_encoding(draft: Draft, path: str, codec: str) -> None:
    """Replace a file by its text in this encoding of `CODECS`, as UTF-8. An empty `codec` restores the original file.

    Raises InvalidInput if it is no text in that encoding.
    """
    row = draft.files.filter(path=path, removed=False).first()
    if row is None or (codec and codec not in CODECS):
        raise InvalidInput(NOWHERE)
    given = row.given or row.sha256
    if codec:
        content = intake.as_utf8(path, blobs.read(given), codec)
        _check_quota(draft.owner, 1, len(content))
        check_space(len(content))
        info = blobs.put(content)
        input_examination.examine({path: info})
    else:
        info = FileInfo(given, blobs.size_of(given))
    with transaction.atomic():
        _check_open_locked(draft)
        if not draft.files.filter(pk=row.pk, removed=False).update(removed=True):
            raise InvalidInput(NOWHERE)
        row.pk, row.removed = None, False
        row.sha256, row.size = info.sha256, info.size
        row.encoding, row.given = (CODECS[codec], given) if codec else ("", "")
        row.save()


def remarks_on(draft: Draft, by: str) -> list[str]:
    """A sentence for the history for each file whose encoding `by` has chosen, or whose name is doubtful."""
    rows = draft.files.filter(removed=False).exclude(encoding="", caution="").order_by("path")
    chosen = [intake.encoding_remark(row.path, row.encoding, row.given, by) for row in rows if row.encoding]
    return [*chosen, *(f"{row.path}: {row.caution}" for row in rows if row.caution)]


def note_left_out(draft: Draft, paths: Sequence[str]) -> None:
    """Remember paths that the browser left out by itself, for the history. They are not trusted."""
    named = [*draft.left_out, *(path.replace("\0", "")[:MAX_CHARACTERS] for path in paths)]
    Draft.objects.filter(pk=draft.pk).update(left_out=tuple(dict.fromkeys(named))[:MAX_LEFT_OUT])


def discard(draft: Draft) -> None:
    """Delete the draft. Its contents are deleted by the next sweep."""
    Draft.objects.filter(pk=draft.pk).update(expires_at=timezone.now())


def begin_with(owner: User, token: uuid.UUID, before: Run | None) -> Draft:
    """The draft with this token, whose life is extended by a day. Raises UploadRefused as `add`.

    If it is new, it begins with the files of the run `before`, which is run again.
    """
    draft = Draft.objects.filter(token=token).first()
    if draft is None:
        _check_can_begin(owner, token)
        draft = _create(owner, token, before)
    _extend(draft, owner)
    return draft


def found(owner: User, token: uuid.UUID) -> Draft:
    """The draft with this token. Raises InvalidInput if it is gone or belongs to someone else."""
    draft = of(owner).filter(token=token).first()
    if draft is None:
        raise InvalidInput(EXPIRED)
    return draft


def take(draft: Draft, files: Mapping[str, FileInfo]) -> None:
    """End the draft, in the transaction in which a run is made of it: from here on no one can use it or add to it.

    Raises InvalidInput if it is gone, or no longer has exactly these files.
    """
    now = timezone.now()
    if not Draft.objects.filter(pk=draft.pk, expires_at__gt=now).update(expires_at=now):
        raise InvalidInput(EXPIRED)
    if files_of(draft) != files:
        raise InvalidInput("The files were changed in another tab while this was sent. Look at them and submit again.")
    draft.files.filter(removed=False).delete()
    if not draft.files.exists():  # else the sweep deletes what was removed before
        draft.delete()


def sweep() -> int:
    """Delete expired drafts, and their contents if nothing else uses them. Returns how many."""
    expired = Draft.objects.filter(expires_at__lte=timezone.now())
    if not expired.exists():  # nearly always, and no writer has to wait for it
        return 0
    with transaction.atomic():
        # Locked, because an upload may extend the life of a draft at this moment.
        tokens = dict(expired.select_for_update().values_list("pk", "token")[:1_000])
        rows = list(tokens)
        idempotency_keys.forget_uploads(tokens.values())
        contents = set(DraftFile.objects.filter(draft__in=rows).values_list("sha256", flat=True))
        Draft.objects.filter(pk__in=rows).delete()
    if contents:
        garbage_collection.delete(contents)
        log.info("%s drafts were not submitted within a day and are gone", len(rows))
    return len(rows)


def _extend(draft: Draft, owner: User) -> None:
    if draft.owner_id != owner.pk:
        raise UploadRefused("This form belongs to someone else. Reload the page.")
    Draft.objects.filter(pk=draft.pk).update(expires_at=timezone.now() + LIFETIME)


def _check_can_begin(owner: User, token: uuid.UUID) -> None:
    if Run.objects.filter(submission=token).exists():
        raise UploadRefused("This form was submitted already. Reload the page for another run.")
    if of(owner).count() >= MAX_DRAFTS:
        raise UploadRefused(
            f"You have {MAX_DRAFTS} drafts that are not submitted, which is the most there may be. Discard one of them."
        )


def _create(owner: User, token: uuid.UUID, before: Run | None) -> Draft:
    with transaction.atomic():
        # The first uploads of a form may arrive at the same moment.
        draft, _ = Draft.objects.get_or_create(
            token=token, defaults={"owner": owner, "before": before, "expires_at": timezone.now() + LIFETIME}
        )
        if before and not draft.files.exists():
            files = trees.files_of(before.inputs).items()
            DraftFile.objects.bulk_create(
                DraftFile(draft=draft, path=path, sha256=info.sha256, size=info.size) for path, info in files
            )
    return draft


def _make_room(draft: Draft, places: Iterable[InputPlace]) -> None:
    """Make room at the places of new files. A file that replaced another by its name gets its own path back."""
    by_path = {place.path: place for place in places}
    there = draft.files.filter(path__in=list(by_path), removed=False)
    back = [row for row in there.exclude(sent_as="") if not by_path[row.path].sent_as and row.sent_as not in by_path]
    for row in back:
        row.path, row.sent_as = row.sent_as, ""
    DraftFile.objects.bulk_update(back, ["path", "sent_as"], batch_size=500)
    there.update(removed=True)


def _check_open_locked(draft: Draft) -> None:
    """Lock the draft, because two tabs may send the same path at once.

    Raises UploadRefused if it was submitted or deleted in the meantime.
    """
    if not Draft.objects.select_for_update().filter(pk=draft.pk, expires_at__gt=timezone.now()).exists():
        raise UploadRefused("This form was submitted or discarded in the meantime. Reload the page for another run.")


def _sort_uploads(
    there: Mapping[str, FileInfo], uploads: Sequence[Upload], places: InputPlaces
) -> tuple[dict[InputPlace, Upload], list[RefusedUpload]]:
    """The uploads that fit into the draft, by place, and the refused ones."""
    chosen: dict[str, Upload] = {}
    refused: list[RefusedUpload] = []
    for upload in uploads:
        try:
            path = clean_path(upload.path)
            size = upload.content.size or 0
            if size > settings.FILE_BYTES:
                raise UploadRefused(f"It has {in_mb(size)}; one file may have {in_mb(settings.FILE_BYTES)}.")
            if holds_secrets(upload):
                raise _Secret("It may contain secrets, so it was left out. To include it, choose this file by itself.")
        except _Secret as error:
            refused.append(RefusedUpload(upload.path[:MAX_CHARACTERS], str(error), secret=True))
        except InvalidInput as error:
            refused.append(RefusedUpload(truncate_path(upload.path, MAX_CHARACTERS), str(error)))
        else:
            chosen[path] = upload
    placed = places.of(chosen)
    sizes = {path: info.size for path, info in there.items()}
    room = settings.UPLOAD_BYTES - sum(sizes.values())
    for path, upload in list(chosen.items()):
        place = placed[path].path
        size = upload.content.size or 0
        room_here = room + sizes.get(place, 0)  # of the file that it replaces, such as itself when it is sent again
        if len({*sizes, place}) > settings.UPLOAD_FILES:
            why = f"There are {settings.UPLOAD_FILES:,} files already, which is the most that a run may have."
        elif size > room_here:
            why = f"With it the files would have more than {in_mb(settings.UPLOAD_BYTES)} together."
        else:
            sizes[place], room = size, room_here - size
            continue
        refused.append(RefusedUpload(truncate_path(upload.path, MAX_CHARACTERS), why))
        del chosen[path], placed[path]
    kept = {place.path: path for path, place in placed.items()}
    beside = {other: one for one, other in clashes([*(path for path in there if path not in kept), *kept])}
    refused += [
        RefusedUpload(kept.pop(path), f"It cannot be next to “{beside[path]}”; rename one of the two.")
        for path in beside.keys() & kept.keys()
    ]
    return {placed[path]: chosen[path] for path in kept.values()}, refused


class _Secret(InvalidInput):
    pass


def _check_quota(owner: User, count: int, size: int) -> None:
    """Raises UploadRefused. Removed files count too, because they are on the disk until the draft is deleted."""
    held = DraftFile.objects.filter(draft__owner=owner).aggregate(files=Count("pk"), bytes=Sum("size"))
    too_many = held["files"] + count > MAX_RUNS * settings.UPLOAD_FILES
    if too_many or (held["bytes"] or 0) + size > MAX_RUNS * settings.UPLOAD_BYTES:
        raise UploadRefused(
            "Your drafts hold as much as they may, files that you have removed again included. Submit one of them, or "
            "wait for a day until those that you discarded are gone."
        )
