"""Numbers that people write: bounded before anything is computed with them."""

import re
from decimal import Decimal

_AMOUNT = re.compile(r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})")
_KEY = re.compile(r"[0-9]{1,18}")


def amount(text: str) -> Decimal:
    """The number in digits. Raises ValueError for any other text.

    Without an exponent, of which seven characters are enough to hold a processor for half a minute: 1e999990.
    """
    if not _AMOUNT.fullmatch(text.strip()):
        raise ValueError("write it in digits, such as 5 or 2.50")
    return Decimal(text.strip())


def key(text: object) -> int:
    """The number of a row. Raises ValueError for what no database takes as one."""
    if not _KEY.fullmatch(str(text)):
        raise ValueError("no row has this number")
    return int(str(text))
