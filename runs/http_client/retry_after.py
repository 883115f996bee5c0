"""How long a server asks to wait before the next request, in the header Retry-After: seconds or a date of HTTP."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds_to_wait(header: str, now: datetime) -> float | None:
    """Never less than 0. None for an empty text, and for one that is neither a number nor a date."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            at = parsedate_to_datetime(header)
        except (ValueError, TypeError, OverflowError):
            return None
        seconds = (at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
