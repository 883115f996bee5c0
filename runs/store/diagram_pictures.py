"""Draws Mermaid diagrams for pages and exports, in isolated processes, and caches the pictures."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from importlib.metadata import version
from typing import NamedTuple

from runs import isolation
from runs.documents.packed_parts import LENGTHS, unpacked
from runs.isolation import Limits, NoTurn
from runs.store import page_pictures
from runs.text.visible import printable

LIMITS = Limits(megabytes=600, cpu_seconds=10, seconds=20)
"""A drawing takes half a second and 100 MB. A thread waits for it no longer than this."""
MAX_AT_ONCE = 2
"""Drawings at the same time. A page may need twenty, but checks and long texts need isolated processes as well."""
_DRAWING = "runs.documents.printing.diagrams.picture"
_VERSION = 1
"""The version of the pictures. Raise it when a change of the code changes how they look."""

MAX_DRAWN = 20
"""Diagrams of one text, as many as its check looks at."""
_DIAGRAM_TITLE = re.compile(
    r"^[ \t]*+(?:accTitle[ \t]*+:|(?:pie[ \t]++(?:showData[ \t]++)?)?title\b:?)[ \t]*+(\S.{0,119})", re.MULTILINE
)
_BEFORE = re.compile(r"\A(?:\s*+(?:---\n(?:(?![ \t]*+---\n)[^\n]*+\n)*+[ \t]*+---\n|%%[^\n]*+\n))*+\s*+")
_KINDS = {
    "flowchart": "Flowchart",
    "graph": "Flowchart",
    "sequenceDiagram": "Sequence diagram",
    "classDiagram": "Class diagram",
    "stateDiagram": "State diagram",
    "stateDiagram-v2": "State diagram",
    "erDiagram": "Entity relationship diagram",
    "gantt": "Gantt chart",
    "pie": "Pie chart",
    "mindmap": "Mind map",
    "timeline": "Timeline",
    "journey": "User journey",
    "gitGraph": "Git graph",
}


class DrawnDiagram(NamedTuple):
    """A picture (PNG) that is shown `width` by `height` pixels large. It has more pixels, so that it stays sharp."""

    width: int
    height: int
    png: bytes


def is_diagram(path: str) -> bool:
    """Whether the whole file is a diagram."""
    return path.lower().endswith(".mmd")


def source_of(text: str) -> str:
    """The normal form of a diagram, so that texts which differ only in their end are drawn once."""
    return printable(text.rstrip("\n"))


def name_of(source: str) -> str:
    """The key of its picture in addresses."""
    return hashlib.sha256(source.encode(errors="replace")).hexdigest()


def words_for(source: str) -> str:
    """The alternative text of its picture: its kind, and its title if it has one."""
    first = re.match(r"[\w-]+", source[_BEFORE.match(source[:2_000]).end() :]) if source else None  # type: ignore[union-attr]
    kind = _KINDS.get(first[0] if first else "", "Diagram")
    title = _DIAGRAM_TITLE.search(source[:2_000])
    return f"{kind}: {title[1].strip()}" if title else kind


def drawn(source: str) -> DrawnDiagram:
    """Its picture, always with the same bytes. Raises InvalidInput with the reason, as the end of a sentence, if it
    cannot be drawn; NoTurn or Interrupted if it may be tried again.
    """
    if not _turns.acquire(timeout=LIMITS.seconds):
        raise NoTurn("too many others are being drawn")
    try:
        return _unpack(
            page_pictures.cached_or_drawn(
                name_of(source), _engines(), lambda: isolation.run(_DRAWING, source.encode(errors="replace"), LIMITS)
            )
        )
    finally:
        _turns.release()


def drawn_before(source: str) -> DrawnDiagram | None:
    """Its picture if it is cached; does not draw it. Raises InvalidInput like `drawn`."""
    known = page_pictures.cached(name_of(source), _engines())
    return _unpack(known) if known is not None else None


def _engines() -> list[str]:
    engines = ("mermaidx", "novasvg", "lxml")
    return [_DRAWING, str(_VERSION), LENGTHS.format, *map(version, engines)]


def _unpack(kept: bytes) -> DrawnDiagram:
    header, png = unpacked(kept)
    size = json.loads(header)
    return DrawnDiagram(int(size["width"]), int(size["height"]), png)


_turns = threading.BoundedSemaphore(MAX_AT_ONCE)
