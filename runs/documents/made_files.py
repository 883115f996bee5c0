"""Makes files in the formats that people use from what a model writes, each in an isolated process with limits."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from runs import isolation
from runs.documents.packed_parts import packed
from runs.errors import InvalidInput
from runs.isolation import Limits

PRINTED = Limits(megabytes=2_000, cpu_seconds=40, seconds=40, files=64, output=50_000_000)
"""As for reports: the threads of typst reserve much address space that they never use."""
LIMITS = Limits(megabytes=1_024, cpu_seconds=30, seconds=60, files=32, output=50_000_000)


class Maker(NamedTuple):
    """How files of one format are made: a `function` converts the `source` that a model writes, in
    an isolated process.
    """

    function: str
    source: Literal["Markdown", "CSV"]
    limits: Limits


MAKERS: Mapping[str, Maker] = {
    "docx": Maker("runs.documents.printing.deliverables.docx", "Markdown", PRINTED),
    "pdf": Maker("runs.documents.printing.deliverables.pdf", "Markdown", PRINTED),
    "xlsx": Maker("runs.documents.writers.xlsx.xlsx", "CSV", LIMITS),
}
"""By suffix, which is also the name of the format."""


def make(form: str, data: bytes) -> bytes:
    """Returns the file, always the same bytes for the same data. Raises InvalidInput (a clause
    after the file's name).
    """
    maker = MAKERS[form]
    try:
        return isolation.run(maker.function, data, maker.limits)
    except isolation.ChildFailed as error:
        raise InvalidInput(f"was not made: {error}; write less, or split it") from error


def add_comment(data: bytes, place: tuple[int, int], words: str, dated: datetime | None) -> bytes:
    """Returns the Word file with one more comment on these characters of the text that its reader makes. Raises like
    `make`.
    """
    on = f"{dated.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if dated else ""
    given = packed([json.dumps([*place, words, on]).encode(), data])
    try:
        return isolation.run("runs.documents.writers.comments.add_packed_comment", given, LIMITS)
    except isolation.ChildFailed as error:
        raise InvalidInput(f"did not get the comment: {error}") from error
