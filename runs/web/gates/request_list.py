"""What people asked for, as a gate shows it: the latest first, and the same answer to several requests said once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from runs.lifecycle.change_requests import ChangeRequest, Word

_ORDER: Sequence[Word] = ("not met", "not done", "not provable", "not judged", "met", "answered by the plan")
"""The states, with failures first."""


@dataclass(frozen=True)
class SameRequests:
    """Requests with the same state."""

    requests: Sequence[ChangeRequest]

    @property
    def first(self) -> ChangeRequest:
        return self.requests[0]

    @property
    def tone(self) -> str:
        """The mark of their line."""
        status = self.first.status
        if status == "not_met":
            return "bad"
        return "warn" if self.first.failing else "good" if status == "met" else "calm"


@dataclass(frozen=True)
class RequestGroup:
    """Requests by number. With `folds` those of earlier decisions stand in one line: a gate has shown them before."""

    requests: Sequence[ChangeRequest]
    folds: bool

    @cached_property
    def failing(self) -> list[SameRequests]:
        return _alike([one for one in self._latest if one.failing])

    @cached_property
    def fine(self) -> list[SameRequests]:
        return _alike([one for one in self._latest if not one.failing])

    @property
    def doubtful(self) -> bool:
        """Whether anything that was asked for, now or earlier, was not done or cannot be proved."""
        unproved = (one.result is not None and one.result.unproved for one in self.requests)
        return any(unproved) or any(one.status == "not_met" for one in self.requests)

    @property
    def fails(self) -> bool:
        """Whether any line about the requests says that one is not met or still open."""
        return any(one.failing for one in self.requests)

    @cached_property
    def earlier(self) -> list[ChangeRequest]:
        """The folded requests, failing ones first."""
        latest = self._latest
        return sorted((one for one in self.requests if one not in latest), key=lambda one: not one.failing)

    @property
    def earlier_failing(self) -> bool:
        return any(one.failing for one in self.earlier)

    @property
    def earlier_tone(self) -> str:
        """The mark of the line for earlier requests."""
        if any(one.status == "not_met" for one in self.earlier):
            return "bad"
        return "warn" if self.earlier_failing else "calm"

    @property
    def states(self) -> str:
        """The states of the earlier requests, as a list of counts."""
        counts = Counter(one.word for one in self.earlier)
        return ", ".join(f"{counts[word]} {word}" for word in _ORDER if counts[word])

    @property
    def _latest(self) -> Sequence[ChangeRequest]:
        if not (self.folds and self.requests):
            return self.requests
        newest = self.requests[-1].gate.pk
        return [one for one in self.requests if one.gate.pk == newest]

    def tells(self, gate_id: int) -> bool:
        """Whether the words of this decision are shown in full among the requests."""
        return any(one.gate.pk == gate_id for one in self._latest)


def _alike(requests: Sequence[ChangeRequest]) -> list[SameRequests]:
    """The requests grouped by person and state, if no place is named that belongs to one alone."""
    groups: dict[tuple[object, ...], list[ChangeRequest]] = {}
    for one in requests:
        own = one.number if one.where or one.planned else 0
        groups.setdefault((one.gate.decided_by_id, one.state, one.why, own), []).append(one)
    return [SameRequests(group) for group in groups.values()]
