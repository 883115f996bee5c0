"""Tool calls that small models write as their text are carried out, or the model is told how tools are called."""

import json
from typing import Any

import pytest

from runs.contracts.ports import ToolSpec
from runs.errors import ContractBroken
from runs.pev.executor import execute
from tests.unit.pev.scripted import Scripted, Tools, gave, said
from tests.unit.pev.test_executor import brief

READ: dict[str, Any] = {"name": "read_file", "arguments": {"path": "a.md"}}
WRITE = {"name": "write_file", "arguments": {"path": "o.md", "content": "It says </tool_call\\>, “x”.\n"}}
DONE = gave({"done": True, "result": "Done.", "missing": ""})


class Typed(Tools):
    """Tools whose input has a schema."""

    def specs(self) -> list[ToolSpec]:
        path: dict[str, Any] = {"path": {"type": "string"}}
        writing: dict[str, Any] = {**path, "content": {"type": "string"}}
        return [
            ToolSpec(
                name,
                "Does it.",
                {"type": "object", "properties": has, "required": [*has], "additionalProperties": False},
            )
            for name, has in (("read_file", path), ("write_file", writing))
        ]


def written(*calls: Any) -> str:
    return "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)


def fenced(value: Any, word: str = "json") -> str:
    return f"```{word}\n{json.dumps(value)}\n```"


def outcome(text: str, *, simple: bool = True) -> tuple[list[tuple[str, Any]], str]:
    """What was called after a reply with this text, and what the model was told behind it."""
    model, tools = Scripted(said(text), DONE), Typed()
    try:
        execute(model, tools, brief(simple=simple))
    except ContractBroken:
        assert not simple
    return [(use.name, use.input) for use in tools.used], model.told


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (written(READ), [READ]),
        (written(READ, WRITE), [READ, WRITE]),
        (f"\n<tool_call>{json.dumps(READ)}", [READ]),
        (f"[TOOL_CALLS] {json.dumps([READ, WRITE])}", [READ, WRITE]),
        (f"[TOOL_CALLS]{json.dumps([{**READ, 'id': 'a1B2c3D4e'}])}", [READ]),
        (fenced(READ), [READ]),
        (fenced([READ], "tool_code"), [READ]),
        (json.dumps(READ), [READ]),
        (json.dumps({"name": "read_file", "parameters": {"path": "a.md"}}), [READ]),
        (json.dumps({"type": "function", **READ}), [READ]),
    ],
)
def test_a_text_that_is_nothing_but_calls_is_carried_out(text: str, calls: list[dict[str, Any]]) -> None:
    assert outcome(text)[0] == [(call["name"], call["arguments"]) for call in calls]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            written({**READ, "name": "delete_file"}),
            "There is no tool `delete_file`; there are `read_file`, `write_file`.",
        ),
        (written({"name": "read_file", "arguments": {"file": "a.md"}}), "The input of `read_file` is not valid: "),
        (
            written({"name": "read_file", "arguments": {"path": "a.md", "line": 2}}),
            "The input of `read_file` is not valid",
        ),
        (written({"name": "write_file", "arguments": {"path": "o.md"}}), "The input of `write_file` is not valid: "),
        (written({"name": "read_file", "arguments": '{"path": "a.md"}'}), "A call is one JSON object with"),
        (written({**READ, "parameters": {"path": "b.md"}}), "A call is one JSON object with"),
        (written({**READ, "then": "delete it"}), "A call is one JSON object with"),
        (written(READ, {"name": "nothing", "arguments": {}}), "There is no tool `nothing`"),
        ('<tool_call>{"name": "read_file", "arguments": {"path": "a.md"', "A call is one JSON object with"),
        (
            '<tool_call>{"name": "read_file", "name": "write_file", "arguments": {}}</tool_call>',
            "A call is one JSON object",
        ),
        ("[TOOL_CALLS] []", "A call is one JSON object with"),
        ("[TOOL_CALLS] read_file", "A call is one JSON object with"),
    ],
)
def test_what_is_not_plainly_a_sound_call_is_answered_with_how_to_call(text: str, said: str) -> None:
    calls, told = outcome(text)
    assert (calls, said in told) == ([], True)
    assert "Call the tool itself" in told


@pytest.mark.parametrize(
    "text",
    [
        f"I will read it. {written(READ)}",
        f"{written(READ)} Then I write.",
        f"The document says: {fenced(READ)}",
        '{"name": "Anna Weber", "rent": 2400}',
        "[]",
        "Read a.md.",
    ],
)
def test_a_text_with_something_else_is_no_call(text: str) -> None:
    calls, told = outcome(text)
    assert (calls, "Call the tool itself" in told) == ([], False)


def test_the_whole_form_takes_no_text_for_a_call() -> None:
    assert outcome(written(READ), simple=False)[0] == []


def test_each_call_is_answered_by_its_id() -> None:
    model = Scripted(said(written(READ, READ)), said(written(READ)), DONE)
    execute(model, Typed(), brief(simple=True))
    ids = [block["tool_use_id"] for ask in model.asked[2:] for message in ask.messages for block in blocks_of(message)]
    assert ids == ["written-1-1", "written-1-2", "written-3-1"]


def blocks_of(message: Any) -> list[dict[str, Any]]:
    return [block for block in message["content"] if block["type"] == "tool_result"]


def test_a_model_that_never_learns_it_ends_the_attempt() -> None:
    model = Scripted(said(written({**READ, "name": "open"})))
    with pytest.raises(ContractBroken):
        execute(model, Typed(), brief(simple=True))
    assert len(model.asked) == 3
