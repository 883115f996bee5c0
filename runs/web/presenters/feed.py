"""A line of a run's history as a page that is open is sent it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from runs.events.kinds import read
from runs.events.sentences import Tone, sentence, tone
from runs.models import Event


@dataclass(frozen=True)
class FeedLine:
    seq: int
    at: datetime
    kind: str
    sentence: str
    tone: Tone


def line(event: Event, names: Mapping[str, str]) -> FeedLine:
    """`names` maps the keys of steps to their names."""
    typed = read(event.kind, event.data)
    return FeedLine(event.seq, event.at, event.kind, sentence(typed, names), tone(typed))
