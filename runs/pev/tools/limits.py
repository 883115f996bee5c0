"""How much one answer of a tool may show, and how long it may take."""

from dataclasses import dataclass, replace

from runs.enums import OriginalPages
from runs.pev.conversation.window import MAX_RESULT_CHARS, result_chars


@dataclass(frozen=True)
class ToolLimits:
    """`result_chars` is for one answer, `file_bytes` for a file written, `hit_chars` for a line of a hit. `originals`:
    which pages are shown as they look beside the text.
    """

    result_chars: int = MAX_RESULT_CHARS
    file_bytes: int = 5_000_000
    search_seconds: float = 2.0
    listed_files: int = 500
    hits: int = 200
    hit_chars: int = 300
    originals: OriginalPages = OriginalPages.NEVER


def limits_for(window: int | None, originals: OriginalPages = OriginalPages.NEVER) -> ToolLimits:
    """The usual limits; a model with a small context window is shown less at a time, and reads on in parts."""
    usual = ToolLimits()
    return replace(usual, result_chars=result_chars(window, usual.result_chars), originals=originals)
