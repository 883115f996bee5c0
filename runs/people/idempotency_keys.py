"""Requests of programs that are carried out once, however often they are sent with the same `Idempotency-Key`.

A request is claimed before it is carried out, and its answer is kept for a while (`KEPT`), unless the run or the upload
that it is about is deleted before. A process that is killed in between may
have done what was asked. Another may then claim the request after a while, and carries it out once more: what it makes
has the same id (`IdempotencyKey.makes`), and a decision is made once, also if two requests bring it.
"""

import math
from collections.abc import Collection
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from runs.errors import InvalidInput, PevError
from runs.http_client.idempotency_key import KEPT, KEPT_IN_WORDS, LEASE
from runs.models import IdempotencyKey, Run, User

MAX_KEYS = 10_000
"""Keys that a person may have in use, each with an answer: one every nine seconds of a day."""


class InProgress(PevError):
    """The same request is being carried out."""

    def __init__(self) -> None:
        super().__init__("This request is being worked on already. Send it again in a moment for its answer.")


class TooManyKeys(PevError):
    """A person has as many keys in use as one may have. `seconds`: when the oldest of them is free again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"{MAX_KEYS:,} Idempotency-Keys of the last {KEPT_IN_WORDS} are in use for you, and there can be no more. "
            "Send this request without a key, or with a new one later. Nothing was changed."
        )
        self.seconds = seconds


def claim(person: User, key: str, fingerprint: str) -> IdempotencyKey:
    """The request with this key. If it has no answer yet, the caller has to carry it out, and to settle it afterwards.

    Raises InvalidInput if the key belongs to another request, InProgress while another process works on this one, and
    TooManyKeys if it is new and there is no room for it.
    """
    now = timezone.now()
    own = person.idempotency_keys
    own.filter(key=key, created_at__lte=now - KEPT).delete()
    first = {"fingerprint": fingerprint, "created_at": now, "lease_until": now + LEASE}
    try:
        row, is_new = own.get_or_create(key=key, defaults=first)
    except IntegrityError as error:  # another process has claimed it, and has just given it up
        raise InProgress from error
    if is_new:
        _check_room(person, row)
    if row.fingerprint != fingerprint:
        raise InvalidInput(
            f"This Idempotency-Key belongs to another request of the last {KEPT_IN_WORDS}, or to a token with other "
            "scopes. "
            "Use a new key for a new request. Nothing was changed."
        )
    if not is_new and row.lease_until is not None:
        ended = own.filter(pk=row.pk, lease_until=row.lease_until, lease_until__lte=now)
        if not ended.update(lease_until=now + LEASE):
            raise InProgress
        row.lease_until, row.taken_over = now + LEASE, True
    return row


def _check_room(person: User, row: IdempotencyKey) -> None:
    """Raises TooManyKeys, and gives the new row up, if the person has too many. Old ones do not count."""
    own = person.idempotency_keys
    if own.count() <= MAX_KEYS:
        return
    own.filter(created_at__lte=row.created_at - KEPT).delete()
    if own.count() <= MAX_KEYS:
        return
    row.delete()
    oldest = own.order_by("created_at").values_list("created_at", flat=True).first() or row.created_at
    raise TooManyKeys(max(1, math.ceil((oldest + KEPT - row.created_at).total_seconds())))


def note_upload(row: IdempotencyKey, upload: UUID) -> None:
    """Note which upload a request is about, before it adds files: the run that is made of them may come first."""
    row.makes = upload
    IdempotencyKey.objects.filter(pk=row.pk).update(makes=upload)


def keep(row: IdempotencyKey, status: int, headers: dict[str, str], body: str, run_id: int | None) -> None:
    """Keep the answer to a request that was carried out. `run_id`: the run that it is about; None for an upload, whose
    run `upload_became` notes, perhaps before this.
    """
    answer = {"status": status, "headers": headers, "body": body} | ({"run_id": run_id} if run_id is not None else {})
    with transaction.atomic():
        IdempotencyKey.objects.filter(pk=row.pk, lease_until=row.lease_until).update(lease_until=None, **answer)


def forget(row: IdempotencyKey) -> None:
    """Give up a request that was refused. What it asked for was not done, so its key can be used again at once."""
    IdempotencyKey.objects.filter(pk=row.pk, lease_until=row.lease_until).delete()


def let_retry(row: IdempotencyKey) -> None:
    """Give up a request that has failed, perhaps after a part of it was done. The same one may come again at once."""
    IdempotencyKey.objects.filter(pk=row.pk, lease_until=row.lease_until).update(lease_until=timezone.now())


def upload_became(run: Run) -> None:
    """From now on, what was answered to the uploads that this new run is made of is about the run."""
    run.owner.idempotency_keys.filter(makes=run.submission, run=None).update(run=run)


def forget_uploads(uploads: Collection[UUID]) -> None:
    """Forget what was answered to uploads that no run was made of."""
    IdempotencyKey.objects.filter(makes__in=uploads, run=None).delete()


def forget_old() -> None:
    IdempotencyKey.objects.filter(created_at__lte=timezone.now() - KEPT).delete()
