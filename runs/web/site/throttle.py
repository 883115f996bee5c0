"""Access tokens and sign-in links that do not work, counted by address: after some in a minute the answer is to wait.

What works is let in before anything is counted, so that nobody is kept out by somebody else behind the same address.
256 random bits are not guessed, however often one may try; this keeps a program that goes on with a token which has
ended, and whoever tries, from filling the log.
"""

import ipaddress
import logging
import time

from django.core.cache import cache

from runs.logs import LogFields, about

log = logging.getLogger(__name__)
MAX_WRONG = 20
"""Failures of one address in a minute. With Redis all processes count together, otherwise each for itself."""
WINDOW = 60
"""Seconds from the first failure."""
_NETWORK = 64
"""Bits of an IPv6 address that are counted together, because a client usually has all addresses that begin with them.
"""


def wrong(what: str, fields: LogFields, now: float | None = None) -> int:
    """Count and log one that did not work. Returns the seconds to wait, 0 while there were not too many.

    `fields` has the address; `now` is in seconds, the time of the clock if it is not said.
    """
    seconds = int(time.time() if now is None else now)
    who = f"wrong/{network(fields.get('address', ''))}"
    since = cache.get(who)
    if since is None or seconds - since >= WINDOW:
        since = seconds
        cache.set(who, since, timeout=WINDOW)
    count = count_up(f"{who}/{since}", 2 * WINDOW)
    if count <= MAX_WRONG:
        log.warning("refused: %s", what, extra=about(**fields))
        return 0
    if count == MAX_WRONG + 1:
        log.warning("refused: %s, too often; more are not logged for a while", what, extra=about(**fields))
    return int(since) + WINDOW - seconds


def count_up(key: str, seconds: int) -> int:
    """Count one more, and return how many there are. The count is kept for so many seconds."""
    for _ in range(2):
        try:
            return cache.incr(key)
        except ValueError:  # it is the first one, or those of many other addresses have pushed the count out
            if cache.add(key, 1, timeout=seconds):
                break
    return 1


def network(address: str) -> str:
    """What counts as one address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ""  # a socket of this machine
    if found.version == 4:
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped or ipaddress.ip_network((int(found), _NETWORK), strict=False))
