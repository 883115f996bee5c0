"""Long hostile texts and names: taking secrets out, quoting, and naming costs time and memory like their length."""

import os
from collections.abc import Callable

import pytest

from runs.errors import PathRefused
from runs.readmodel.csv_formulas import formulas_in
from runs.readmodel.markdown_escaping import code, line
from runs.redaction import redacted
from runs.reports.archive import entry_name
from runs.text.paths import clashes, clean_path
from runs.text.sensitive_names import is_obeyed, secret_part
from runs.text.visible import make_visible, printable, remarks, visible_text
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
    "alphabets": "p\u0430",
    "look-alikes": "\u0441\u043e\u0441 a ",
    "flags": "\U0001f3f4\U000e0067",
    "joiners": "\u200d",
    "digits": "1\u0661",
    "tags": "<a '\u200b",
    "controls": "\x1b[",
    "cells": '=1,"',
}


def cleaned(path: str) -> str:
    try:
        return clean_path(path)
    except PathRefused as error:
        return str(error)


def table(text: str) -> int:
    return formulas_in("a.csv", text).count


def names_of_many(text: str) -> int:
    return len(clashes([f"{number}{text[:100]}" for number in range(len(text) // 100)]))


CALLS: tuple[Callable[[str], object], ...] = (
    *(redacted, printable, visible_text, remarks, make_visible, line, code),
    *(cleaned, secret_part, is_obeyed, entry_name, table, names_of_many),
)


def each_of_all(characters: int) -> None:
    os.environ["ANTHROPIC_API_KEY"] = KEY
    texts = [(unit * (characters // len(unit) + 1))[:characters] for unit in TEXTS.values()]
    for call in CALLS:
        for text in texts:
            call(text)


@pytest.mark.slow
def test_no_text_takes_more_than_its_length_allows() -> None:
    """All of them together: a quadratic one would take longer alone."""
    within(1, 200, f"{__name__}.each_of_all", 12_000)
