"""Long hostile texts and names: taking secrets out, quoting, and naming costs time and memory like their length."""

import os
import time
from collections.abc import Callable

from runs.characters import printable
from runs.errors import PathRefused
from runs.pev.files.paths import clashes, clean_path
from runs.pev.files.sensitive import is_obeyed, secret_part
from runs.reading.escaping import code, line
from runs.reading.tables import formulas_in
from runs.redaction import redacted
from runs.reports.archive import entry_name
from tests.fakes.echoes import KEY
from tests.hostile.bounds import within

TEXTS = {
    "backslashes": "\\",
    "escapes of one": "\\\\\\u00",
    "zeros": "&#x000000",
    "zeros at once": "0",
    "percent signs": "%25",
    "parts of the key": KEY[:11] + "!",
    "keys": KEY,
    "keys in escapes": "".join(f"%25{ord(char):02x}" for char in KEY),
    "slashes": ".git/",
    "dots": ".env",
    "invisible": "a\u200b",
    "combining": "\u0301",
    "controls": "\x1b[",
    "cells": '=1,"',
}


def cleaned(path: str) -> str:
    try:
        return clean_path(path)
    except PathRefused as error:
        return str(error)


def table(text: str) -> int:
    return formulas_in("a.csv", text)


def names_of_many(text: str) -> int:
    return len(clashes([f"{number}{text[:100]}" for number in range(len(text) // 100)]))


CALLS: tuple[Callable[[str], object], ...] = (
    *(redacted, printable, line, code),
    *(cleaned, secret_part, is_obeyed, entry_name, table, names_of_many),
)


def slowest(characters: int) -> tuple[float, str]:
    os.environ["ANTHROPIC_API_KEY"] = KEY
    pairs = [(call, name, unit) for call in CALLS for name, unit in TEXTS.items()]
    taken = []
    for call, name, unit in pairs:
        text = (unit * (characters // len(unit) + 1))[:characters]
        began = time.process_time()
        call(text)
        taken.append((time.process_time() - began, f"{getattr(call, '__name__', '')} of {name}"))
    return max(taken)


def test_no_text_takes_more_than_its_length_allows() -> None:
    """The slowest takes 0.1 seconds for 12,000 characters, and its time grows like their number."""
    seconds, what = within(10, 200, "tests.hostile.test_texts.slowest", 12_000)
    assert (seconds < 1, what) == (True, what)
