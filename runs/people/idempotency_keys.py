"""Requests of programs that are carried out once, however often they are sent with the same `Idempotency-Key`.

A request is claimed before it is carried out, and its answer is kept for a day. A process that is killed in between may
have done what was asked. Another may then claim the request after a while, and carries it out once more: what it makes
has the same id (`IdempotencyKey.makes`), and a decision is made once, whoever brings it.
"""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from runs.errors import InvalidInput, PevError
from runs.models import IdempotencyKey, User

KEPT = timedelta(hours=24)
"""How long a key identifies its first request."""
LEASE = timedelta(minutes=2)
"""How long a process may work on a request before another may. It is longer than nearly all requests take."""


class InProgress(PevError):
    """The same request is being carried out."""

    def __init__(self) -> None:
        super().__init__("This request is being worked on already. Send it again in a moment for its answer.")


def claim(person: User, key: str, fingerprint: str) -> IdempotencyKey:
    """The request with this key. If it has no answer yet, the caller has to carry it out, and to settle it afterwards.

    Raises InvalidInput if the key belongs to another request, and InProgress while another process works on this one.
    """
    now = timezone.now()
    own = person.idempotency_keys
    own.filter(key=key, created_at__lte=now - KEPT).delete()
    first = {"fingerprint": fingerprint, "created_at": now, "lease_until": now + LEASE}
    try:
        row, is_new = own.get_or_create(key=key, defaults=first)
    except IntegrityError as error:  # another process has claimed it, and has just given it up
        raise InProgress from error
    if row.fingerprint != fingerprint:
        raise InvalidInput(
            "This Idempotency-Key belongs to another request of the last 24 hours. Use a new key for a new request. "
            "Nothing was changed."
        )
    if not is_new and row.lease_until is not None:
        ended = own.filter(pk=row.pk, lease_until=row.lease_until, lease_until__lte=now)
        if not ended.update(lease_until=now + LEASE):
            raise InProgress
        row.lease_until = now + LEASE
    return row


def keep(row: IdempotencyKey, status: int, headers: dict[str, str], body: str, run_id: int | None) -> None:
    """Keep the answer to a request that was carried out."""
    answer = {"status": status, "headers": headers, "body": body, "run_id": run_id}
    with transaction.atomic():
        IdempotencyKey.objects.filter(pk=row.pk, lease_until=row.lease_until).update(lease_until=None, **answer)


def forget(row: IdempotencyKey) -> None:
    """Give up a request that was refused. It has changed nothing, so that its key can be used again at once."""
    IdempotencyKey.objects.filter(pk=row.pk, lease_until=row.lease_until).delete()


def let_retry(row: IdempotencyKey) -> None:
    """Give up a request that has failed, perhaps after a part of it was done. The same one may come again at once."""
    IdempotencyKey.objects.filter(pk=row.pk, lease_until=row.lease_until).update(lease_until=timezone.now())


def forget_old() -> None:
    IdempotencyKey.objects.filter(created_at__lte=timezone.now() - KEPT).delete()
