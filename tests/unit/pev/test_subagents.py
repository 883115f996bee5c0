"""Conversations of subagents: what they are given, how their calls are numbered, and that they always end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.contracts.ports import Ask, ByService, Reply, ToolResult, ToolSpec, ToolUse, Usage
from runs.engine.perform import VERIFYING
from runs.enums import Effect
from runs.errors import AnswerAwaited, ContractBroken
from runs.pev import prompts
from runs.pev.agents import AgentDefinition, Subagent, needed_by, subagents_of
from runs.pev.conversation.turns import MAX_CALLS, MAX_DEMANDS
from runs.pev.executor import execute
from runs.pev.step_brief import StepBrief
from runs.pev.subagents import MAX_DELEGATIONS, MAX_QUESTIONS, with_subagents
from runs.store.journal import CHECKS
from tests.unit.pev.scripted import Scripted, Tools, gave, said, step, used
from tests.unit.pev.test_agents import POLICY
from tests.unit.pev.test_executor import DONE, REPORT, brief

DEFINITION = AgentDefinition(purpose="Reads.", instructions="Name the line.")


def handing(*tasks: str) -> Reply:
    blocks: list[dict[str, Any]] = [
        {"type": "tool_use", "id": f"hand_{task}", "name": "delegate", "input": {"agent": "reader", "task": task}}
        for task in tasks
    ]
    return Reply(tuple(blocks), "tool_use", "scripted")


def helped(of_subagent: int | None = None, **changes: Any) -> StepBrief:
    """With one subagent, and the window of its model."""
    definition = DEFINITION.model_copy(update=changes.pop("definition", {}))
    return brief(subagents={"reader": Subagent(definition, of_subagent)}, **changes)


def carried_out(tools: Tools, whole: StepBrief, *replies: Reply) -> Scripted:
    model = Scripted(*replies)
    assert execute(model, with_subagents(tools, model, whole), whole) == DONE
    return model


def told(ask: Ask) -> list[str]:
    """The results of the last turn."""
    content: Any = ask.messages[-1]["content"]
    return [part["content"] for part in content if part["type"] == "tool_result"]


def test_without_subagents_the_tools_stay_what_they_are() -> None:
    tools = Tools()
    assert with_subagents(tools, Scripted(gave(REPORT)), brief()) is tools


def test_every_call_has_the_number_that_the_journal_gives_it_in_both_conversations() -> None:
    tools = Tools()
    replies = [
        used("read_file"),
        handing("a", "b"),
        used("read_file", path="a.md"),
        said("A."),
        said("B."),
        gave(REPORT),
    ]
    model = carried_out(tools, helped(), *replies)
    of_a, last = model.asked[2], model.asked[-1]
    assert "@tool-2 read_file" in told(model.asked[3])[0]
    assert ["@tool-3 delegate" in told(last)[0], "@tool-4 delegate" in told(last)[1]] == [True, True]
    assert "Its call is @tool-2. Cite these, not its words." in told(last)[0]
    assert "It has made no calls: its words prove nothing." in told(last)[1]
    assert of_a.system == prompts.of_subagents()
    assert [(use.name, use.agent) for use in tools.used] == [("read_file", ""), ("read_file", "reader")]
    assert [use.id for use, _ in tools.noted] == ["hand_a", "hand_b"]


def test_a_conversation_that_begins_again_knows_what_its_subagents_have_called_and_written() -> None:
    long = Reply(handing("a").content, "tool_use", "scripted", Usage(input=8_000, output=10))
    replies = [long, used("write_file", path="b.md"), said("Written. " * 1_000), gave(REPORT)]
    model = carried_out(Tools(), helped(window=10_000, request="long " * 5_000), *replies)
    again: Any = model.asked[-1].messages[0]["content"]
    assert "What you wrote is kept: “b.md”." in again[-1]["text"]
    assert '@tool-1 “write_file” “{"path": "b.md"}”: “write_file done”\n@tool-2 “delegate”' in again[-1]["text"]


def test_near_the_end_of_its_window_it_begins_again_and_its_numbers_go_on() -> None:
    page = Reply(used("read_file", path="a.md").content, "tool_use", "scripted", Usage(input=8_000, output=10))
    replies = [handing("a"), page, used("read_file", path="b.md"), said("Read."), gave(REPORT)]
    tools = Tools(lambda use: ToolResult("x" * 30_000))
    model = carried_out(tools, helped(10_000), *replies)
    again: Any = model.asked[2].messages[0]["content"]
    assert "was near the limit of 10,000 tokens" in again[-1]["text"]
    assert '@tool-1 “read_file” “{"path": "a.md"}”' in again[-1]["text"]
    assert "Its calls are @tool-1 to @tool-2." in told(model.asked[-1])[0]


def test_its_rounds_are_those_of_the_policy_for_each_part() -> None:
    pages = [used("read_file", path=f"{number}.md") for number in range(2)]
    replies = [handing("a"), *pages, said("A."), handing("b"), *pages, said("B."), gave(REPORT)]
    model = carried_out(Tools(), helped(rounds=3), *replies)
    parts = [ask for ask in model.asked if ask.system == prompts.of_subagents()]
    assert [ask.last_round for ask in parts] == [False, False, True] * 2


class Served(Tools):
    """With a tool that the model's service runs itself."""

    def specs(self) -> Sequence[ToolSpec]:
        return [*super().specs(), ToolSpec("web_search", "Searches.", {}, Effect.READS_WEB, ByService(2, 8))]


def test_it_has_the_tools_of_step_and_agent_without_those_of_a_service_and_without_handing_on() -> None:
    for own, may in (((), ["read_file", "write_file"]), (("read_file", "delegate", "web_search"), ["read_file"])):
        model = carried_out(Served(), helped(definition={"tools": own}), handing("a"), said("A."), gave(REPORT))
        assert [spec.name for spec in model.asked[1].tools] == may
        assert [spec.name for spec in model.asked[0].tools] == ["delegate", "read_file", "web_search", "write_file"]


def test_its_model_and_effort_are_its_own_or_those_of_the_executor() -> None:
    for own, asked in (({}, ("scripted", "medium")), ({"model": "other", "effort": "high"}, ("other", "high"))):
        model = carried_out(Tools(), helped(definition=own), handing("a"), said("A."), gave(REPORT))
        assert (model.asked[1].model, model.asked[1].effort) == asked


def test_all_of_them_together_ask_so_much_and_no_more() -> None:
    """Else their numbers would be those of verification, and their calls those of checks."""
    pages = [used("read_file", path=f"{number}.md") for number in range(99)]
    replies = [reply for part in "abcd" for reply in (handing(part), *pages, said("Read."))]
    model = carried_out(Tools(), helped(rounds=100), *replies, handing("e"), gave(REPORT))
    parts = [ask for ask in model.asked if ask.system == prompts.of_subagents()]
    assert len(parts) == MAX_QUESTIONS
    assert "subagents of an attempt may take 400 turns, and have." in told(model.asked[-1])[0]
    of_executors = 100 + MAX_DEMANDS
    assert of_executors + MAX_QUESTIONS < VERIFYING
    assert (of_executors + MAX_QUESTIONS) * MAX_CALLS < CHECKS


def test_nothing_more_is_asked_or_done_once_a_call_within_waits_for_a_person() -> None:
    """The Agent SDK's program is told that the attempt has ended, and may go on before it is stopped."""

    def answer(use: ToolUse) -> ToolResult:
        raise AnswerAwaited("Which law applies?", ())

    tools, whole, model = Tools(answer), helped(), Scripted(used("read_file"))
    box = with_subagents(tools, model, whole)
    for use in (handing("a").tool_uses[0], handing("a").tool_uses[0], used("write_file").tool_uses[0]):
        with pytest.raises(AnswerAwaited):
            box.run(use)
    assert (len(model.asked), len(tools.used), tools.noted) == (1, 1, [])


@given(
    st.lists(
        st.sampled_from(
            [
                *(handing("a"), handing("a", "b"), used("read_file"), used("delegate"), gave(REPORT)),
                *(said("A."), said(""), said("", "refusal"), said("cut", "max_tokens")),
            ]
        ),
        min_size=1,
        max_size=30,
    )
)
def test_it_always_ends(replies: list[Reply]) -> None:
    tools, whole = Tools(), helped(rounds=3)
    model = Scripted(*replies)
    with suppress(ContractBroken):
        execute(model, with_subagents(tools, model, whole), whole)
    delegations = sum(ask.system == prompts.of_subagents() and len(ask.messages) == 1 for ask in model.asked)
    assert delegations <= MAX_DELEGATIONS


def test_subagents_are_needed_where_a_step_may_hand_on() -> None:
    policy = POLICY.changed(subagents=["b", "a"])
    hands_on = step("one", tools=["delegate", "write_file"], agent="c")
    assert subagents_of(hands_on, policy) == ("a", "b")
    assert needed_by([hands_on, step("two")], policy) == ["a", "b", "c"]
    assert needed_by([step("two", agent="c")], policy) == ["c"]
    assert needed_by([hands_on], POLICY) == ["c"]


def test_prompts_of_roles_are_bound_as_before_there_were_subagents() -> None:
    assert prompts.of_subagents().startswith("# Your role: subagent\n")
    assert prompts.version_for_subagents() != prompts.version()


def test_a_refused_call_of_one_is_in_the_journal_under_its_name() -> None:
    tools = Tools()
    carried_out(tools, helped(), handing("a"), used("fetch_page"), said("A."), gave(REPORT))
    (use, refused), (handed, _) = tools.noted
    assert (use.name, use.agent, handed.name, handed.agent) == ("fetch_page", "reader", "delegate", "")
    assert refused.text == "You have no tool “fetch_page”; there are read_file, write_file."
