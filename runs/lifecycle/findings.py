"""What executors of this process have found, by the fingerprint of their result: steps that rest on it read nothing."""

from collections import OrderedDict

MAX_REMEMBERED = 64
_texts: OrderedDict[str, str] = OrderedDict()


def remember(fingerprint: str, text: str) -> None:
    """Keep a text in memory. The fingerprint is a digest over it, so it never means another one."""
    _texts[fingerprint] = text
    _texts.move_to_end(fingerprint)  # what is found again is new
    while len(_texts) > MAX_REMEMBERED:
        _texts.popitem(last=False)


def of(fingerprint: str) -> str | None:
    """The findings of the result with this fingerprint; None when another process wrote it, or long ago."""
    return _texts.get(fingerprint)
