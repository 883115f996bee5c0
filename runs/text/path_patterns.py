"""Patterns of paths, as people and planners write them."""

import fnmatch
import re
import unicodedata
from collections.abc import Iterable, Sequence

from runs.errors import InvalidInput

MAX_PATTERNS = 50
MAX_WILDCARDS = 8
"""Patterns with wildcards, and wildcards in one of them: 10,000 long paths are compared with them within a second."""
_WILD = re.compile(r"[*?\[]")


def selected(patterns: Iterable[str], paths: Iterable[str]) -> list[str]:
    """The paths that at least one of the patterns means, in their order. Raises InvalidInput for too many wildcards.

    A path means itself, and a folder all that lies in it (`contracts` and `contracts/` alike). `*`, `?` and `[…]` stand
    for anything, slashes too: `*.pdf` means every PDF file, in whichever folder. Capitals count. `.` and `/` mean all.
    """
    named = {_clean(pattern) for pattern in patterns}
    if "" in named:
        return list(paths)
    wild = sorted(pattern for pattern in named if _WILD.search(pattern))
    if len(wild) > MAX_PATTERNS or any(len(_WILD.findall(pattern)) > MAX_WILDCARDS for pattern in wild):
        raise InvalidInput(
            f"There may be {MAX_PATTERNS} patterns with wildcards, and {MAX_WILDCARDS} wildcards in each; name folders."
        )
    forms = [re.compile(fnmatch.translate(form)) for pattern in wild for form in (pattern, f"{pattern}/*")]
    plain = named.difference(wild)
    return [path for path in paths if not plain.isdisjoint(_and_above(path)) or any(form.match(path) for form in forms)]


def _clean(pattern: str) -> str:
    path = unicodedata.normalize("NFC", pattern.strip()).replace("\\", "/").lstrip("/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return re.sub(r"\*+", "*", path.removeprefix("**/")).rstrip("/") if path != "." else ""


def _and_above(path: str) -> Sequence[str]:
    """The path and every folder that it lies in."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
