"""What executors of this process have found, by the fingerprint of their result: steps that rest on it read nothing."""

from collections import OrderedDict
from typing import NamedTuple

MAX_REMEMBERED = 64


class Found(NamedTuple):
    """What an attempt hands on to the steps that rest on it, besides its files: findings, and notes beside them."""

    text: str
    notes: str


_texts: OrderedDict[str, Found] = OrderedDict()


def remember(fingerprint: str, found: Found) -> None:
    """Keep it in memory. The fingerprint is a digest over it, so it never means another one."""
    _texts[fingerprint] = found
    _texts.move_to_end(fingerprint)  # what is found again is new
    while len(_texts) > MAX_REMEMBERED:
        _texts.popitem(last=False)


def of(fingerprint: str) -> Found | None:
    """Findings and notes of the result with this fingerprint; None when another process wrote it, or long ago."""
    return _texts.get(fingerprint)
