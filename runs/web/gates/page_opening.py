"""When the page of a decision was made: signed in its form, so that no one can claim to have read for longer."""

from __future__ import annotations

import time

from django.core import signing

from runs.models import Gate

_SALT = "runs.page_opening"
MAX_SECONDS = 30 * 86_400
"""A page that was open for longer says nothing about reading."""


def opening_of(gate: Gate) -> str:
    """The text for the form of this gate."""
    return signing.dumps([gate.pk, round(time.time(), 1)], salt=_SALT)


def seconds_since(text: str, gate: Gate) -> float | None:
    """How long the page of this gate has been open; None for a text that was not made for it, or is too old."""
    try:
        made_for, at = signing.loads(text, salt=_SALT)
    except signing.BadSignature:
        return None
    seconds = time.time() - float(at)
    return max(0.0, seconds) if made_for == gate.pk and seconds <= MAX_SECONDS else None
