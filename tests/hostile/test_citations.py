"""Citations of hostile texts: what is dear to take apart, to look up and to compare."""

import pytest

from runs.evidence.citations.citation_reader import MAX_SEARCHED
from runs.evidence.citations.citing import broken_in
from runs.evidence.citations.lookup import citations_in
from runs.evidence.citations.statements import uncited
from runs.evidence.sources import GivenFiles, Sources
from tests.hostile.bounds import within

pytestmark = pytest.mark.slow

CHARACTERS = 60_000
LINKS = 900
ALLOWANCE = MAX_SEARCHED // 10
LINES = 4_000
SOURCES = {
    "nda.md": "The notice period is thirty days.\n" * (LINES // 6),
    "big.md": (" thirty days of notice 41" * 8 + "\n") * LINES,
}
UNITS = {
    "brackets": "[",
    "pairs of brackets": "[[]]",
    "halves": "[a](",
    "links in a paragraph": "[“thirty days”](nda.md#L1) ",
    "sentences in a paragraph": "It is 31 days [“thirty days”](nda.md#L{n}). ",
    "wrong words": "It is {n} [“forty {n} days”](nda.md#L{n}). ",
    "wrong words in a large file": "- It is {n} [“forty {n} days”](big.md#L{n}).\n",
    "right words, wrong figures": "It is {n} [“thirty days”](big.md#L{n}).\n\n",
    "names": "It is Anna Muster{n} [“thirty days”](big.md#L{n}).\n\n",
    "rows": "|[“thirty days”](nda.md#L{n})|x 1|\n",
    "cells": "|a",
    "nested quotes": ">" * 500 + " a\n",
    "references": "[a][b] ",
    "definitions": "[a{n}]: x\n",
    "figures": "1 ",
    "a name": "a Ab Ab ",
    "quotations": "“",
    "ends": "a. B",
    "backticks": "`a``b ",
    "lines": "a\n\n",
    "items": "- a\n",
    "angles": "<a:",
    "quoted links": "[x{n}](a.md) ",
}


def looked_up(unit: str, characters: int, links: int) -> tuple[int, int]:
    """How many links of a text of such units were found, and how many sentences say what is wrong."""
    count = min(characters // len(unit), links if "](" in unit and unit[-1] != "(" else characters)
    text = "".join(unit.replace("{n}", str(n % LINES)) for n in range(count))
    given = {name: data.encode() for name, data in SOURCES.items()} | {"readme.md": b"[x](a.md)" * 20_000}
    uncited(text)
    cited = citations_in(text, Sources({}, GivenFiles(given)), ALLOWANCE)
    return len(cited.links), len(broken_in(cited))


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_citations_are_looked_up_in_bounded_time_and_memory(unit: str) -> None:
    within(0.6, 60, f"{__name__}.looked_up", unit, CHARACTERS, LINKS)


def test_time_and_memory_grow_no_faster_than_the_text() -> None:
    said = within(2, 100, f"{__name__}.looked_up", UNITS["wrong words"], 400_000, 6_000)
    assert said == (6_000, 6_000)
