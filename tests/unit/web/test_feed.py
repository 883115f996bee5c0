"""Each line of a run's history is a sentence."""

import pytest
from django.utils import timezone

from runs.enums import EventKind
from runs.models import Event
from runs.web.presenters.feed import line


@pytest.mark.parametrize("kind", list(EventKind))
@pytest.mark.parametrize(
    "data", [{}, {"step": "gone", "attempt": 1, "feedback": None, "kind": "?", "ms": None, "new": 1}]
)
def test_every_event_has_a_sentence_whatever_its_data(kind: EventKind, data: dict[str, object]) -> None:
    event = Event(seq=1, kind=kind.value, at=timezone.now(), data=data)
    assert line(event, {}).sentence.strip() or kind is EventKind.NOTE
