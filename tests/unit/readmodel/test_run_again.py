"""The summary of what is reused has few words: steps by their first reason, and the first reasons."""

from __future__ import annotations

from runs.lifecycle.approval.reuse import StepPreview
from runs.models import Attempt
from runs.readmodel.run_again import Again, Reuse


def again(*whys: str) -> Again:
    steps = [StepPreview(str(at), f"Step {at}", None if why else Attempt(), why) for at, why in enumerate(whys, 1)]
    return Again(1, (), Reuse(steps))


def test_what_all_steps_have_in_common_is_said_once() -> None:
    found = again("the request changed; a.md changed", "the request changed", "the request changed; b.md is new")
    assert (found.reasons, found.more) == ([("all", "the request changed")], 0)


def test_the_first_reasons_are_named_with_their_first_steps_and_the_rest_is_counted() -> None:
    found = again("", *["a.md changed"] * 5, "b.md is new", "you asked for it", "“Step 1” runs again before it")
    assert found.reasons == [("Step 2, Step 3, Step 4 and 2 more", "a.md changed"), ("Step 7", "b.md is new")]
    assert found.more == 2
