"""The keys by which a request that is sent again is done once, as the server and its command line both know them."""

import re
from datetime import timedelta

MAX_KEY = 200
"""Characters of a key."""
FORM = "^[!-~]([ -~]*[!-~])?$"
"""The characters of ASCII that can be seen, with spaces between them."""
KEPT = timedelta(hours=24)
"""How long a key identifies its first request."""
KEPT_IN_WORDS = f"{KEPT // timedelta(hours=1)} hours"
LEASE = timedelta(minutes=2)
"""How long a process may work on a request before another may. It is longer than nearly all requests take."""


def is_usable(key: str) -> bool:
    return len(key) <= MAX_KEY and re.fullmatch(FORM, key) is not None
