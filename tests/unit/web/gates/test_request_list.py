"""The lines for requests of people: their marks."""

from types import SimpleNamespace
from typing import Any

import pytest

from runs.web.gates.request_list import RequestGroup, SameRequests


def request(status: str, *, failing: bool, gate: int = 1) -> Any:
    return SimpleNamespace(status=status, failing=failing, gate=SimpleNamespace(pk=gate))


@pytest.mark.parametrize(
    ("status", "failing", "tone"),
    [("not_met", True, "bad"), ("open", True, "warn"), ("met", False, "good"), ("answered", False, "calm")],
)
def test_a_line_is_marked_by_what_became_of_the_request(status: str, failing: bool, tone: str) -> None:
    assert SameRequests([request(status, failing=failing)]).tone == tone


@pytest.mark.parametrize(
    ("earlier", "tone"),
    [
        ([("met", False), ("not_met", True)], "bad"),
        ([("met", False), ("open", True)], "warn"),
        ([("met", False), ("answered", False)], "calm"),
    ],
)
def test_the_line_for_earlier_requests_has_the_mark_of_the_worst(earlier: list[tuple[str, bool]], tone: str) -> None:
    requests = [request(status, failing=failing) for status, failing in earlier]
    latest = request("not_met", failing=True, gate=2)
    assert RequestGroup([*requests, latest], folds=True).earlier_tone == tone
