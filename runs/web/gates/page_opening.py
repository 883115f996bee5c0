"""When a person opened the page of a run: signed in its forms, so that no one can claim to have read for longer.

It is not a part of the regions of the page, which are rendered once for all who read them.
"""

from __future__ import annotations

import time

from django.core import signing

from runs.models import Gate, Run, User

_SALT = "runs.page_opening"
MAX_SECONDS = 30 * 86_400
"""A page that was open for longer says nothing about reading."""


def opening_of(run: Run, person: User) -> str:
    """The text for the forms of a page that this person opens now."""
    return signing.dumps([run.pk, person.pk, round(time.time(), 1)], salt=_SALT)


def seconds_on_page(text: str, gate: Gate, person: User) -> float | None:
    """For how long this person has had the page open, or the decision on it where that was asked for later. None for a
    text that was made for another run or person, or is too old.
    """
    try:
        run, who, at = signing.loads(text, salt=_SALT)
    except (signing.BadSignature, ValueError):  # the second one: a text of a version of before
        return None
    seconds = time.time() - float(at)
    if (run, who) != (gate.run_id, person.pk) or seconds > MAX_SECONDS:
        return None
    return max(0.0, min(seconds, time.time() - gate.opened_at.timestamp()))
