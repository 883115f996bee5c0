"""What the audit trail records of refusals: sign-ins, links and tokens that do not work, and requests of people who may
not do something. They are bounded, so that no one can fill the trail with them.

Of the same refusals within an hour the first ones are lines of their own. After that there is a line whenever their
number has doubled, with that number, so that even a million of them are a few lines. Each process counts refusals for
itself unless there is Redis.
"""

import hashlib
import re
import time

from django.db.models import QuerySet

from runs.enums import AuditKind
from runs.models import AuditEntry, Run, User
from runs.store import audit_trail
from runs.web.site import throttle

FULL_REFUSALS = 5
"""Refusals of one address, or of one person at one page, that are lines of their own."""
MAX_REFUSALS = 300
"""Lines on refused sign-ins from all addresses together, before there is one only when their number has doubled."""
MAX_PERSON_REFUSALS = 100
"""Lines on refused requests of one person, before there is one only when their number has doubled."""
_HOUR = 3_600  # seconds
_VALUE = re.compile(r"<[^<>]*>|\(\?P<.*")


def sign_in_refused(method: str, address: str, name: str = "", now: float | None = None) -> None:
    """A sign-in, a link or a token was refused. `name` is what was typed: it is recorded only if it is somebody's name,
    because people type passwords there.
    """
    recorded = AuditEntry.objects.filter(kind=AuditKind.SIGN_IN_REFUSED)
    count = _worth_a_line(f"refused/{throttle.network(address)}", "refused-lines", recorded, MAX_REFUSALS, now)
    if count:
        known = User.objects.filter(username__iexact=name).first() if name and "\0" not in name else None
        subject = known.get_username() if known else ""
        audit_trail.record(AuditKind.SIGN_IN_REFUSED, subject=subject, name=method, count=count)


def request_refused(person: User, what: str, why: str, run_id: int | None = None, now: float | None = None) -> None:
    """A person was refused something: a page, a socket or a tool. `run_id` may be that of no run."""
    key = f"refused-to/{person.pk}/{hashlib.sha256(what.encode(errors='replace')).hexdigest()}"
    recorded = AuditEntry.objects.filter(kind=AuditKind.REQUEST_REFUSED, by=person.get_username())
    count = _worth_a_line(key, f"refused-to-lines/{person.pk}", recorded, MAX_PERSON_REFUSALS, now)
    if count:
        is_run = run_id is not None and Run.objects.filter(pk=run_id).exists()
        run_number = run_id if is_run else None
        audit_trail.record(AuditKind.REQUEST_REFUSED, by=person, run_id=run_number, subject=what, name=why, count=count)


def page_named(route: str) -> str:
    """The address of a page without its values: one may be a token, or a name that must be deletable."""
    return "/" + _VALUE.sub("…", route).lstrip("^")


def _worth_a_line(
    key: str, key_of_lines: str, recorded: QuerySet[AuditEntry], max_lines: int, now: float | None
) -> int:
    """How many refusals with this key there were in this hour; 0 if the newest one is not worth a line.

    Lines are counted in `recorded` as well: counts of a process alone can be pushed out by someone with many addresses.
    """
    hour = int((time.time() if now is None else now) // _HOUR)
    count = throttle.count_up(f"{key}/{hour}", 2 * _HOUR)
    if not _is_early_or_doubled(count, FULL_REFUSALS):
        return 0
    lines = throttle.count_up(f"{key_of_lines}/{hour}", 2 * _HOUR)
    if not _is_early_or_doubled(lines, max_lines):
        return 0
    if lines > max_lines:
        return count
    last = recorded.order_by("-number").values_list("at", flat=True)[max_lines - 1 : max_lines]
    is_full = any(at.timestamp() >= hour * _HOUR for at in last)
    return 0 if is_full else count


def _is_early_or_doubled(count: int, most: int) -> bool:
    times, rest = divmod(count, most)
    return count <= most or (rest == 0 and times & (times - 1) == 0)
