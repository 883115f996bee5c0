"""Deletes contents of discarded drafts and deleted runs that nothing else uses."""

import re
import time
from collections.abc import Collection
from datetime import timedelta
from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING, cast

from django.db import transaction
from django.utils import timezone

from runs.contracts.ports import FileInfo
from runs.models import Discarded, DraftFile, Rendition
from runs.store import blobs, input_examination, page_pictures
from runs.store.input_examination import texts_naming_contents

if TYPE_CHECKING:
    from runs.store.s3_storage import BucketStorage

_IN_A_QUERY = 5_000
"""Hashes in one query, because databases limit the number of parameters."""
_OF_A_BUCKET = 500
"""Objects deleted in one transaction, which holds their rows."""
_HASH = re.compile(r'"([0-9a-f]{64})"')


def delete(sha256s: Collection[str]) -> set[str]:
    """Delete the contents that no tree, attempt, tool call or draft names, and the texts that were read from them.

    Returns unused contents that were stored within `blobs.GRACE`: to be tried again later. Call it after the rows that
    named the contents are deleted, and with many contents at once, because it searches all trees.
    """
    unnamed = set(sha256s) - _used(sha256s)
    read = [
        made
        for some in batched(unnamed, _IN_A_QUERY)
        for made in Rendition.objects.filter(source__in=some).order_by("id").values_list("source", "text", "layout")
    ]
    sources = {source for source, *_ in read}
    if blobs.store().is_local:
        kept = {sha256 for sha256 in unnamed if not _delete(sha256, has_renditions=sha256 in sources)}
    else:
        kept = {sha256 for some in batched(sorted(unnamed), _OF_A_BUCKET) for sha256 in _delete_objects(some)}
    texts = {sha256 for source, *made in read if source not in kept for sha256 in made if sha256}
    return kept | (delete(texts) if texts else set())


def discard(sha256s: Collection[str]) -> None:
    """Delete these contents later, if nothing names them then."""
    wait = timedelta(0) if blobs.store().is_local else blobs.GRACE
    rows = [Discarded(sha256=sha256, due_at=timezone.now() + wait) for sha256 in sha256s]
    Discarded.objects.bulk_create(rows, ignore_conflicts=True)  # a content may be waiting already


def _delete_objects(sha256s: Collection[str]) -> set[str]:
    """Delete contents of a bucket. Returns those that are not due yet."""
    # In a folder a content is renamed, checked again and then deleted; a bucket cannot do that. Instead, rows are
    # locked: a process that stores the content again changes the time of its row, and has to wait for this transaction.
    with transaction.atomic():
        due = Discarded.objects.select_for_update().filter(sha256__in=sha256s, due_at__lte=timezone.now())
        held = set(due.values_list("sha256", flat=True))
        later = set(sha256s) - held
        discard(later)
        unnamed = held - _used(held)  # checked again under the lock
        Rendition.objects.filter(source__in=unnamed).delete()
        cast("BucketStorage", blobs.store()).delete_all(map(blobs.name_of, unnamed))
        Discarded.objects.filter(sha256__in=held).delete()
    for sha256 in unnamed:
        page_pictures.forget(sha256)
    return later


def _used(sha256s: Collection[str]) -> set[str]:
    wanted, found = set(sha256s), set[str]()
    for some in batched(wanted, _IN_A_QUERY):
        found.update(DraftFile.objects.filter(sha256__in=some).values_list("sha256", flat=True))
        for column in ("text", "layout"):
            found.update(Rendition.objects.filter(**{f"{column}__in": some}).values_list(column, flat=True))
    for texts in texts_naming_contents():
        for text in texts.iterator():
            found |= wanted.intersection(_HASH.findall(text))
    return found


def _delete(sha256: str, *, has_renditions: bool) -> bool:
    """False if the content was stored again in the meantime. Then it is kept."""
    path = Path(blobs.store().path(blobs.name_of(sha256)))
    if _was_touched(path):
        return False
    if has_renditions:  # before the content: what is stored from now on is read again
        Rendition.objects.filter(source=sha256).delete()
    aside = path.with_suffix(".unused")
    try:
        path.replace(aside)  # a process that stores it from now on does not find it, and writes it again
    except FileNotFoundError:
        return True
    if _was_touched(aside):  # someone found it in the last moment
        aside.replace(path)
        if has_renditions:
            input_examination.examine({"": FileInfo(sha256, path.stat().st_size)})
        return False
    aside.unlink()
    page_pictures.forget(sha256)
    return True


def _was_touched(path: Path) -> bool:
    try:
        return path.stat().st_mtime > time.time() - blobs.GRACE.total_seconds()
    except FileNotFoundError:
        return False
