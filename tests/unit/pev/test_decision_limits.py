"""Limits of decisions: as they are typed, as they are kept, and what they mean for each kind."""

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from runs.enums import AtLimit, GateKind
from runs.pev.decision_limits import DecisionLimits, as_limits, in_words, parse_installation
from runs.pev.policy import Policy
from tests.factories.driving import MODELS


def test_without_anything_said_decisions_are_the_owners_and_wait() -> None:
    policy = Policy(models=MODELS)
    assert {kind: policy.limits_for(kind) for kind in GateKind} == dict.fromkeys(GateKind, DecisionLimits())
    assert DecisionLimits().stages == {}


def test_a_kind_differs_in_what_is_said_of_it_alone() -> None:
    policy = Policy(models=MODELS, remind_hours=2, end_hours=72, decision_limits="tool: reject, end 8, to approvers")
    assert policy.limits_for(GateKind.PLAN) == DecisionLimits("owner", 2, None, 72, AtLimit.WAIT)
    assert policy.limits_for(GateKind.TOOL) == DecisionLimits("approvers", 2, None, 8, AtLimit.REJECT)


def test_the_same_limits_are_the_same_policy() -> None:
    written = "plan: end 72, stop; tool: to group:Legal team, remind 2, another never, end 8, reject"
    typed = " tool:reject,end 8 , another never, to group: Legal team,remind 2;;plan: stop, end 72; "
    assert as_limits(typed) == written == as_limits(written)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("meal: end 3", "“meal” is no kind of decision; there are: plan, start, step"),
        ("plan end 3", "“plan end 3” is no kind of decision"),
        ("plan: end 0", "“end 0” cannot be read; hours go from 1 to 8,784."),
        ("plan: end 9999", "“end 9999” cannot be read"),
        ("plan: end ٣", "“end ٣” cannot be read"),
        ("plan: approve", "“approve” cannot be read"),
        ("plan: end 3, end 4", "“end 4” is the second of its kind."),
        ("plan: end 3; plan: end 4", "There are two limits for “plan”."),
        ("plan:", "“” cannot be read"),
        ("plan: to nobody", "Decisions cannot be assigned to “nobody”"),
        ("plan: to group:", "Decisions cannot be assigned to “group:”"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        as_limits(text)


@given(st.text(max_size=60))
def test_any_text_is_either_kept_in_one_way_or_refused_with_a_sentence(text: str) -> None:
    try:
        kept = as_limits(text)
    except ValueError:
        return
    assert as_limits(kept) == kept


@pytest.mark.parametrize(
    ("given_values", "said"),
    [
        ({"remind_hours": 5, "end_hours": 5}, "The reminder (5), another person (none) and the end (5) come one after"),
        ({"another_hours": 9, "end_hours": 5}, "each needs more hours than the one before"),
        ({"at_end": "reject"}, "To reject at the end of the time limit, say after how many hours it ends."),
        ({"end_hours": 5, "decision_limits": "plan: end never, stop"}, "To stop at the end of the time limit"),
        ({"remind_hours": 5, "decision_limits": "tool: end 4"}, "Limits for “tool”: The reminder (5)"),
        ({"assigned_to": "everyone"}, "Decisions cannot be assigned to “everyone”"),
        ({"at_end": "approve"}, "Input should be 'wait', 'reject' or 'stop'"),
    ],
)
def test_limits_that_contradict_one_another_are_no_policy(given_values: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Policy.model_validate({"models": MODELS, **given_values})
    assert said in str(caught.value)


WAIT, REJECT, STOP = AtLimit


@pytest.mark.parametrize(
    ("own", "bounds", "both"),
    [
        ((None, None, None, WAIT), (24, 48, 72, REJECT), (24, 48, 72, REJECT)),
        ((2, 4, 8, STOP), (24, 48, 72, REJECT), (2, 4, 8, STOP)),
        ((30, 60, 90, REJECT), (24, 48, 72, STOP), (24, 48, 72, STOP)),
        ((30, 60, 90, REJECT), (None, None, None, WAIT), (30, 60, 90, REJECT)),
        ((None, None, 72, STOP), (None, None, 72, REJECT), (None, None, 72, STOP)),
        ((None, None, 8, WAIT), (None, None, 72, REJECT), (None, None, 72, REJECT)),
        ((None, None, 90, STOP), (None, None, 72, WAIT), (None, None, 90, STOP)),
        ((None, None, 90, WAIT), (None, None, 72, WAIT), (None, None, 72, WAIT)),
        ((None, None, 8, REJECT), (24, 48, None, WAIT), (None, None, 8, REJECT)),
        ((10, None, None, WAIT), (None, 10, 20, STOP), (None, 10, 20, STOP)),
        ((10, 20, None, WAIT), (15, None, 18, STOP), (10, None, 18, STOP)),
    ],
)
def test_a_policy_shortens_the_limits_of_the_installation_alone(
    own: tuple[Any, ...], bounds: tuple[Any, ...], both: tuple[Any, ...]
) -> None:
    policy, installation = DecisionLimits("approvers", *own), DecisionLimits("owner", *bounds)
    assert policy.within(installation) == DecisionLimits("approvers", *both)


def test_limits_within_others_follow_one_another_and_end_no_later() -> None:
    hours = (None, 1, 2, 3)
    every = [DecisionLimits("owner", *values) for values in product(hours, hours, hours, AtLimit)]
    usable = [one for one in every if not one.problem]
    pairs = [(policy, bounds, policy.within(bounds)) for policy, bounds in product(usable, usable)]
    assert [both.problem for *_, both in pairs if both.problem] == []
    deciding = [(bounds, both) for _, bounds, both in pairs if bounds.then is not WAIT]
    assert deciding
    assert all(both.then is not WAIT and (both.end or 9) <= (bounds.end or 0) for bounds, both in deciding)


def test_an_installation_has_limits_for_every_kind_and_for_single_ones() -> None:
    limits = parse_installation("every: remind 2, end 72, reject; tool: end 8; question: remind never, end never, wait")
    assert limits[GateKind.PLAN] == DecisionLimits("owner", 2, None, 72, AtLimit.REJECT)
    assert limits[GateKind.TOOL] == DecisionLimits("owner", 2, None, 8, AtLimit.REJECT)
    words = "plan, start, step, exhausted, error, budget: remind 2, end 72, reject; tool: remind 2, end 8, reject"
    assert in_words(limits) == words
    assert in_words(parse_installation("every: end 8")) == "every: end 8"
    assert (in_words({}), in_words(parse_installation(" ; "))) == ("", "")


def test_a_limit_has_no_word_for_an_approval() -> None:
    assert [one.value for one in AtLimit] == ["wait", "reject", "stop"]
