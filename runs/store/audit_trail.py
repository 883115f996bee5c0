"""The only writer of the audit trail, and its check: who did what, when, from where, through what and on which basis.

A line is written in the transaction of the change that it records, as its last statements, so that the newest line is
locked for as short as possible and always after everything else. The hash of a line is the SHA-256 over its canonical
JSON, which includes the hash of the line before.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.db import connection
from django.utils import timezone

from runs.contracts.audit import MAX_TEXT, AuditDetails
from runs.enums import AuditChannel, AuditKind
from runs.models import AuditEntry, AuditHead, User
from runs.store import audit_triggers, event_log
from runs.text.visible import printable

_HEAD = 1
"""The primary key of the only row of AuditHead."""
_AT_ONCE = 2_000
"""Lines in memory at the same time while the trail is checked."""
_HASHED = (
    *("number", "at", "kind", "by_id", "by", "address", "channel", "through"),
    *("run_number", "subject", "digest", "details", "previous"),
)


def _nobody() -> User | None:
    return None


def _nothing() -> str:
    return ""


@dataclass(frozen=True)
class Origin:
    """Where the actions of a request or a command come from. `person` and `through` are asked when a line is written:
    a request knows its person only after the sign-in.
    """

    channel: AuditChannel = AuditChannel.SYSTEM
    address: str = ""
    through: Callable[[], str] = _nothing
    person: Callable[[], User | None] = _nobody


_SYSTEM = Origin()
_origin: ContextVar[Origin] = ContextVar("audit_origin", default=_SYSTEM)


@contextmanager
def coming_from(origin: Origin) -> Iterator[None]:
    """Lines that are recorded in the block have this origin."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


@contextmanager
def decided_by_provider() -> Iterator[None]:
    """Lines that are recorded in the block come through the identity provider: its groups decide, and no person."""
    with coming_from(replace(_origin.get(), channel=AuditChannel.PROVIDER, person=_nobody)):
        yield


def record(
    kind: AuditKind,
    *,
    by: User | None = None,
    run_id: int | None = None,
    subject: str = "",
    digest: str = "",
    **details: Any,
) -> None:
    """Add a line, in the transaction of the caller if there is one. If that is undone, there is no line.

    Outside of `event_log.writing`, call it after all else that waits for rows: two transactions that wait for the
    newest line and for each other's rows would be a deadlock.

    `by` is the person who acts, if it is not the one of the origin. `subject` names what the action is about. `details`
    are fields of AuditDetails; they and the subject contain no secret and no words that must be deletable.
    """
    origin = _origin.get()
    person = by or origin.person()
    line = AuditEntry(
        at=timezone.now(),
        kind=kind.value,
        by_id=person.pk if person else None,
        by=person.get_username() if person else "",
        address=_text(origin.address, 64),
        channel=origin.channel.value,
        through=_text(origin.through(), 200),
        run_number=run_id,
        subject=_text(subject, 200),
        digest=digest,
        details=AuditDetails(**_printable(details)).model_dump(mode="json", exclude_defaults=True),
    )
    event_log.at_end(partial(_append, line))


def digest_of_words(words: str) -> str:
    """The SHA-256 of what a person wrote; empty if they wrote nothing. The words themselves are in the run."""
    return hashlib.sha256(words.strip().encode(errors="replace")).hexdigest() if words.strip() else ""


def _printable(details: dict[str, Any]) -> dict[str, Any]:
    return {name: _text(value, MAX_TEXT) if isinstance(value, str) else value for name, value in details.items()}


def _text(text: str, length: int) -> str:
    return printable(text)[:length]


def lock() -> AuditHead:
    """Keep others from adding lines until the transaction ends. Returns what the newest line is."""
    head = AuditHead.objects.select_for_update().filter(pk=_HEAD).first()
    if head is None:
        # Of two first writers one makes the row; the other waits for it, and then finds it.
        AuditHead.objects.bulk_create([AuditHead(pk=_HEAD, number=0, hash="")], ignore_conflicts=True)
        head = AuditHead.objects.select_for_update().get(pk=_HEAD)
    return head


def is_there() -> bool:
    """Whether the tables are there. A command may work on those of an earlier version."""
    return AuditEntry._meta.db_table in connection.introspection.table_names()


def _append(line: AuditEntry) -> None:
    head = lock()
    line.number, line.previous = head.number + 1, head.hash
    line.hash = _hash_of({name: getattr(line, name) for name in _HASHED})
    line.save(force_insert=True)
    AuditHead.objects.filter(pk=_HEAD).update(number=line.number, hash=line.hash)


def _hash_of(values: dict[str, Any]) -> str:
    at: datetime = values["at"]
    canonical = values | {"at": at.astimezone(UTC).isoformat(timespec="microseconds")}
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class AuditCheck:
    """How many lines were checked, and the hash of the newest. Noted down elsewhere, it proves the trail up to here:
    `noted` is such a hash of an earlier check, empty for none.
    """

    noted: str = ""
    lines: int = 0
    newest: str = ""


def problems(seen: AuditCheck) -> Iterator[str]:
    """A sentence for each line that is missing, changed or put in between, and for each missing trigger."""
    for name in audit_triggers.missing(connection):
        yield f"The trigger {name} of the audit trail is missing or was changed: lines could be changed or removed."
    number, previous = 0, ""
    before = _newest()
    at_head, is_noted = before[0] == 0, not seen.noted
    for values in _rows():
        number += 1
        if values["number"] != number:
            last = values["number"] - 1
            missing = f"Lines {number} to {last}" if number < last else f"Line {number}"
            yield f"{missing} of the audit trail {'are' if number < last else 'is'} missing."
            number = values["number"]
        elif values["previous"] != previous:
            yield f"Line {number} of the audit trail does not follow from line {number - 1}: one of them was replaced."
        if values["hash"] != _hash_of({name: values[name] for name in _HASHED}):
            yield f"Line {number} of the audit trail does not match its hash: it was changed."
        previous = values["hash"]
        at_head = at_head or (number, previous) == before
        is_noted = is_noted or previous == seen.noted
        seen.lines, seen.newest = seen.lines + 1, previous
    # Lines may have been added during the check: those before are there, and there are no more than were written.
    after = _newest()
    if number < before[0]:
        yield f"The audit trail ends with line {number}, and line {before[0]} was written: the last lines are missing."
    elif not at_head or number > after[0] or (number == after[0] and previous != after[1]):
        yield f"The audit trail ends with line {number}, which pevsite has not written like that."
    if not is_noted:
        yield f"No line of the audit trail has the hash {printable(seen.noted)}: the trail was written again since."


def _newest() -> tuple[int, str]:
    """The number and the hash of the line that was written last."""
    head = AuditHead.objects.filter(pk=_HEAD).first()
    return (head.number, head.hash) if head else (0, "")


def _rows() -> Iterator[dict[str, Any]]:
    rows: Iterator[dict[str, Any]] = AuditEntry.objects.order_by("number").values(*_HASHED, "hash").iterator(_AT_ONCE)
    return rows
