"""The lines of a run's history as its page shows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from runs.events.kinds import read
from runs.events.sentences import Tone, sentence, tone
from runs.models import Event

SHOWN = 200
"""Lines of history on a page, and the most that a socket sends at once."""
SHOWN_ALL = 5_000
"""Lines when all are asked for: about a megabyte of page. The export has every line."""


@dataclass(frozen=True)
class FeedLine:
    seq: int
    at: datetime
    kind: str
    sentence: str
    tone: Tone


@dataclass(frozen=True)
class Feed:
    """The latest lines, oldest first; `earlier` of them are not shown."""

    lines: tuple[FeedLine, ...]
    last: int
    earlier: int
    all: bool


def feed(events: Iterable[Event], names: Mapping[str, str], *, whole: bool = False) -> Feed:
    """`names` maps the keys of steps to their names."""
    lines = tuple(line(event, names) for event in events)
    return Feed(lines, lines[-1].seq if lines else 0, lines[0].seq - 1 if lines else 0, whole)


def line(event: Event, names: Mapping[str, str]) -> FeedLine:
    typed = read(event.kind, event.data)
    return FeedLine(event.seq, event.at, event.kind, sentence(typed, names), tone(typed))
