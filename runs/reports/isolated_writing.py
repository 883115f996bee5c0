"""Writes files from a report in an isolated process, with limits for time and memory. Diagrams are drawn before."""

from __future__ import annotations

import base64
import time
from dataclasses import replace

from runs import isolation
from runs.documents.printing import blocks
from runs.errors import InvalidInput, PevError
from runs.isolation import ChildFailed
from runs.store import diagram_pictures
from runs.store.diagram_pictures import MAX_DRAWN

LIMITS = isolation.Limits(megabytes=2_000, cpu_seconds=40, seconds=40, files=64, output=100_000_000)
"""A report of 40 steps with three attempts each takes a second. The threads of typst reserve much address space that
they never use.
"""


class ReportNotWritten(PevError):
    """The file could not be written. The text is a sentence that says why, and what to take instead."""


def write_isolated(writer: str, data: bytes, what: str) -> bytes:
    """Calls `writer` (a dotted name) with the JSON of a report. The same report gives the same bytes.

    Raises ReportNotWritten, whose sentence calls the file `what`.
    """
    if b'"kind":"diagram"' in data:
        # Drawn here and not in the isolated process, because drawing needs the store.
        data = blocks.REPORT.dump_json(pictured(blocks.REPORT.validate_json(data)))
    try:
        return isolation.run(writer, data, LIMITS)
    except (isolation.ChildFailed, InvalidInput) as error:
        why = str(error).rstrip(".")
        raise ReportNotWritten(f"The {what} was not made: {why}. Take the report as HTML instead.") from error


MAX_BYTES = 20_000_000
"""Of all pictures of a report; one has some 50 kB."""
MAX_SECONDS = 60.0
"""For all that were not drawn before; one takes half a second."""


def pictured(report: blocks.PrintableReport) -> blocks.PrintableReport:
    """The report with a picture of each diagram, or a clause that says why there is none; the same for the same one."""
    return report.changed(_Drawing())


class _Drawing:
    """Draws the diagrams among blocks, up to the limits of a report."""

    def __init__(self) -> None:
        self._found = self._bytes = 0
        self._end = time.monotonic() + MAX_SECONDS

    def __call__(self, block: blocks.Block) -> blocks.Block:
        if not isinstance(block, blocks.Diagram) or block.picture:
            return block
        self._found += 1
        if self._found > MAX_DRAWN:
            return replace(block, problem=f"only the first {MAX_DRAWN} of a report are")
        if time.monotonic() > self._end:
            return replace(block, problem="the others took too long; make the file again")
        try:
            drawn = diagram_pictures.drawn(block.text)
        except (InvalidInput, ChildFailed) as error:
            return replace(block, problem=str(error).rstrip("."))
        self._bytes += len(drawn.png)
        if self._bytes > MAX_BYTES:
            return replace(block, problem="the pictures of this report would be too large together")
        picture = base64.b64encode(drawn.png).decode()
        words = diagram_pictures.words_for(block.text)
        return replace(block, picture=picture, width=drawn.width, height=drawn.height, words=words)
