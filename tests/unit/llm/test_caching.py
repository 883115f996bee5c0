"""Where a request has its breakpoints, never too many, and only who knows them is sent any."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.contracts.ports import Ask, ToolSpec
from runs.enums import Role
from tests.fakes.anthropic_rules import request_error
from tests.fakes.anthropic_usage import LOOKBACK, PromptCache
from tests.unit.llm.test_client_parameters import CLAUDE, LOCAL, parameters

TOOL = ToolSpec("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
LONG = "word " * 600
MARK = {"type": "ephemeral", "ttl": "5m"}


def text(words: str = "Hello") -> dict[str, Any]:
    return {"type": "text", "text": words}


def used(round_: int, calls: int) -> tuple[Any, Any]:
    """One round of a tool loop: the calls, and what they gave."""
    ids = [f"use_{round_}_{number}" for number in range(calls)]
    uses = [{"type": "tool_use", "id": id_, "name": "read_file", "input": {"path": id_}} for id_ in ids]
    results = [{"type": "tool_result", "tool_use_id": id_, "content": LONG} for id_ in ids]
    return {"role": "assistant", "content": uses}, {"role": "user", "content": results}


def ask(rounds: int = 0, calls: int = 1, **changes: Any) -> Ask:
    first: Any = {"role": "user", "content": [text("For all."), text("For one step."), text("Its critique.")]}
    said = [message for number in range(rounds) for message in used(number, calls)]
    values: dict[str, Any] = {
        "role": Role.EXECUTOR,
        "model": "claude-sonnet-5-5",
        "system": LONG,
        "messages": (first, *said),
        "tools": (TOOL,),
        "stable": (0, 1),
    }
    return Ask(**{**values, **changes})


def marked(asked: Ask) -> list[str]:
    """Where breakpoints are: `system`, or the numbers of a message and a block in it."""
    sent = parameters(asked)
    found = ["system" for block in sent["system"] if block.get("cache_control") == MARK]
    for number, message in enumerate(sent["messages"]):
        found += [f"{number}.{i}" for i, block in enumerate(message["content"]) if block.get("cache_control") == MARK]
    return found


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (0, ["system", "0.0", "0.2"]),
        (1, ["system", "0.0", "0.2", "2.0"]),
        (2, ["0.0", "0.2", "2.0", "4.0"]),
        (6, ["0.0", "0.2", "10.0", "12.0"]),
    ],
)
def test_a_tool_loop_is_cut_after_the_run_the_step_and_the_last_two_rounds(rounds: int, expected: list[str]) -> None:
    assert marked(ask(rounds)) == expected


def test_without_tools_only_what_others_begin_with_is_cut() -> None:
    assert marked(ask(tools=())) == ["system", "0.0"]
    assert marked(ask(tools=(), stable=())) == []


def test_a_last_round_writes_nothing_that_nobody_reads() -> None:
    assert marked(ask(3, last_round=True)) == ["system"]


@pytest.mark.parametrize("model", LOCAL)
def test_a_model_that_does_not_know_breakpoints_is_sent_none(model: str) -> None:
    assert "cache_control" not in json.dumps(parameters(ask(3, model=model)))


@given(
    st.integers(0, 5),
    st.integers(1, 3),
    st.lists(st.integers(0, 3), max_size=4),
    st.booleans(),
    st.sampled_from(CLAUDE),
)
def test_no_request_has_too_many_and_no_question_is_changed(
    rounds: int, calls: int, stable: list[int], last: bool, model: str
) -> None:
    asked = ask(rounds, calls, stable=tuple(stable), last_round=last, model=model)
    before = copy.deepcopy(asked)
    sent = parameters(asked)
    assert request_error({**sent, "stream": True}) is None
    assert asked == before


def test_each_round_reads_all_of_the_round_before_however_much_is_done_at_once() -> None:
    cache = PromptCache()
    sizes: list[int] = []
    for rounds in range(4):
        billed = cache.bill(parameters(ask(rounds, calls=LOOKBACK)))
        assert billed.read == sum(sizes)
        sizes.append(billed.written_5m)
        assert billed.uncached == 0


def test_a_retry_reads_all_that_the_attempt_before_was_told_at_first() -> None:
    cache = PromptCache()
    told = [text(LONG), text("Step."), text("Made.")]
    first = cache.bill(parameters(ask(messages=({"role": "user", "content": told},))))
    for more in (1, 2):
        critiques = [text(LONG)] * more
        again = cache.bill(parameters(ask(messages=({"role": "user", "content": [*told, *critiques]},))))
        assert again.read >= first.written_5m
        assert again.uncached == 0
