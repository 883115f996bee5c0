"""Limits of the size of a tool's answer and of its time."""

from dataclasses import dataclass, replace

from runs.enums import OriginalPages
from runs.pev.conversation.window import MAX_RESULT_CHARS, result_chars


@dataclass(frozen=True)
class ToolLimits:
    """`result_chars`: of one answer. `file_bytes`: of a written file. `hit_chars`: of a line that search finds.
    `originals`: which pages are shown as pictures next to their text.
    """

    result_chars: int = MAX_RESULT_CHARS
    file_bytes: int = 5_000_000
    search_seconds: float = 2.0
    listed_files: int = 500
    hits: int = 200
    hit_chars: int = 300
    originals: OriginalPages = OriginalPages.NEVER


def limits_for(window: int | None, originals: OriginalPages = OriginalPages.NEVER) -> ToolLimits:
    """Returns the default limits. A model with a small context window gets smaller answers and reads on in parts."""
    usual = ToolLimits()
    return replace(usual, result_chars=result_chars(window, usual.result_chars), originals=originals)
