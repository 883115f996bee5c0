"""What servers answer: tools that are left out with the reason, and all that a result says as text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.mcp_client.mcp_answers import Answers, text_of

EMPTY = {"type": "object"}


def raw(name: object, schema: object = EMPTY, **more: object) -> dict[str, object]:
    return {"name": name, "inputSchema": schema, **more}


def listed(*tools: object, server: str = "") -> tuple[list[str], list[str]]:
    """The names of the tools that are kept, and the problems with the others."""
    answers = Answers(server)
    kept = answers.rewritten({"tools": list(tools)})["tools"]
    return [tool["name"] for tool in kept], answers.problems


@pytest.mark.parametrize(
    ("tool", "problem"),
    [
        (raw("odd", {"type": "object", "anyOf": []}), "odd is left out: its schema has anyOf at the top"),
        (raw("odd", {"properties": {"$filter": {}}}), "odd is left out: the API refuses the name of its argument “$f"),
        (raw("odd", {"properties": {"a": {"type": "any"}}}), "odd is left out: its schema has a type that does not"),
        (raw("odd", None), "odd is left out: its arguments are no object"),
        (raw("odd", "text"), "odd is left out: its arguments are no object"),
        (raw("odd", {"properties": None}), "odd is left out: its schema is not valid JSON Schema"),
        (raw("odd", {"description": "x" * 20_000}), "odd is left out: its schema has more than 20,000 characters"),
        (raw("odd", {"title": "a\0"}), "odd is left out: its schema has NUL characters"),
        ({"name": "odd"}, "odd is left out: its arguments are no object"),
        (raw("files/read"), "“files/read” is left out: its name is not 1 to 60"),
        (raw("x" * 61), f"“{'x' * 60}” is left out: its name is not 1 to 60"),
        (raw(""), "“” is left out: its name is not 1 to 60"),
        (raw(7), "“7” is left out: its name is not 1 to 60"),
        ({}, "“” is left out: its name is not 1 to 60"),
        ("odd", "“” is left out: its name is not 1 to 60"),
        (None, "“” is left out: its name is not 1 to 60"),
    ],
)
def test_a_tool_that_cannot_be_offered_is_left_out_and_its_neighbours_stay(tool: object, problem: str) -> None:
    names, problems = listed(raw("a"), tool, raw("b"))
    assert names == ["a", "b"]
    assert [one[: len(problem)] for one in problems] == [problem]


def test_a_name_has_to_fit_with_that_of_its_server() -> None:
    server = "s" * 30
    names, problems = listed(raw("x" * 32), raw("y" * 33), server=server)
    assert names == ["x" * 32]
    more = "with the name of the server it has 65 characters, and the API takes 64. Give the server a shorter name"
    assert problems == [f"{'y' * 33} is left out: {more}"]


def test_of_a_tool_only_what_is_used_is_read() -> None:
    """Parts that break the rules of the protocol cost nothing, such as a schema of results that is no object."""
    odd = raw("a", {}, description="d" * 3_000, outputSchema={"type": "any"}, annotations=7, icons="none", title=[])
    other = raw("b", description=["no text"])
    assert Answers().rewritten({"tools": [odd, other], "nextCursor": "2"}) == {
        "tools": [
            {"name": "a", "description": "d" * 2_000, "inputSchema": EMPTY},
            {"name": "b", "description": "", "inputSchema": EMPTY},
        ],
        "nextCursor": "2",
    }


def test_so_many_tools_are_offered_and_no_more() -> None:
    names, problems = listed(*[raw(f"t{number}") for number in range(130)])
    assert len(names) == 100
    assert problems == ["30 tools beyond 100 are left out"]


def test_schemas_are_bounded_together() -> None:
    names, problems = listed(*[raw(f"t{number}", {"description": "x" * 15_000}) for number in range(50)])
    assert len(names) == 33
    assert len(problems) == 17
    assert problems[0] == (
        "t33 is left out: the schemas of this server's tools have more than 500,000 characters together"
    )


def test_a_new_listing_forgets_the_problems_of_the_one_before() -> None:
    answers = Answers()
    answers.rewritten({"tools": [raw("a b")]})
    answers.begin_listing()
    answers.rewritten({"tools": [raw("a")]})
    assert answers.problems == []


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([text("one"), text(""), text(" \n"), text("two")], "one\ntwo"),
        (
            [{"type": "resource", "resource": {"uri": "file:///a.md", "mimeType": "text/markdown", "text": "# A\nb"}}],
            "[resource, file:///a.md, text/markdown]\n# A\nb",
        ),
        (
            [{"type": "resource", "resource": {"uri": "file:///a.pdf", "blob": "A" * 4_000}}],
            "[resource, file:///a.pdf, about 3,000 bytes: left out, since it is no text]",
        ),
        (
            [
                text("Found:"),
                {
                    "type": "resource_link",
                    "name": "Lease",
                    "uri": "https://w.example/7",
                    "mimeType": "text/plain",
                    "size": 1_200,
                    "description": "Signed in 2021",
                },
            ],
            "Found:\n[link to Lease, https://w.example/7, text/plain, 1,200 bytes: its content is not included]\n"
            "Signed in 2021",
        ),
        (
            [{"type": "resource_link", "name": "a", "uri": "x:a"}],
            "[link to a, x:a: its content is not included]",
        ),
        (
            [{"type": "image", "data": "A" * 400, "mimeType": "image/png"}, text("a chart")],
            "[image, image/png, about 300 bytes: left out, since it is no text]\na chart",
        ),
        (
            [{"type": "audio", "data": "", "mimeType": "audio/wav"}],
            "[audio, audio/wav, about 0 bytes: left out, since it is no text]",
        ),
        ([{"type": "video"}, {"type": "new", "text": "words"}], "[video: left out, since it is no text]\nwords"),
        ([{}], "[something without a type: left out, since it is no text]"),
        ([None, 7, "bare"], "bare"),
        ("bare", "bare"),
        ([text("a\0b")], "a\N{REPLACEMENT CHARACTER}b"),
        ([{"type": "resource", "resource": None}], "[resource: left out, since it is no text]"),
        (None, ""),
        ([], ""),
    ],
)
def test_everything_that_is_text_is_said_and_all_else_is_named(content: object, said: str) -> None:
    assert text_of({"content": content}) == said


def test_words_about_a_resource_are_bounded() -> None:
    link = {"type": "resource_link", "name": "n" * 900, "uri": f"x:{'u' * 9_000}", "description": "d" * 9_000}
    assert len(text_of({"content": [link]})) < 200 + 2_000 + 2_000 + 100


ROWS = {"rows": [{"id": 7, "open": True}], "next": None}


@pytest.mark.parametrize(
    ("content", "structured"),
    [
        ([text(json.dumps(ROWS))], ROWS),
        ([text(json.dumps(ROWS, indent=2, sort_keys=True))], ROWS),
        ([text("broken since March")], {"result": "broken since March"}),
        ([text("7")], {"result": 7}),
        ([text("one"), text("two")], {"result": ["one", "two"]}),
        ([text('{"a": 1}'), text('{"a": 2}')], {"result": [{"a": 1}, {"a": 2}]}),
        ([text("[1,"), text("2]")], [1, 2]),
    ],
)
def test_structured_content_that_the_text_repeats_is_said_once(content: list[Any], structured: object) -> None:
    result = {"content": content, "structuredContent": structured}
    assert text_of(result) == "\n".join(block["text"] for block in content)


@pytest.mark.parametrize(
    ("content", "structured", "said"),
    [
        ([text("2 tickets")], ROWS, f"2 tickets\n{json.dumps(ROWS)}"),
        ([text("")], ROWS, json.dumps(ROWS)),
        ([], {"name": "Müller"}, '{"name": "Müller"}'),
        (None, [1, 2], "[1, 2]"),
        ([text("true")], {"result": 1}, 'true\n{"result": 1}'),
        ([text("0")], {"result": False}, '0\n{"result": false}'),
        ([text("{")], {}, "{\n{}"),
        ([{"type": "image", "data": "", "mimeType": "image/png"}], {"a": 1}, None),
    ],
)
def test_other_structured_content_is_said_as_well(content: object, structured: object, said: str | None) -> None:
    image = "[image, image/png, about 0 bytes: left out, since it is no text]"
    assert text_of({"content": content, "structuredContent": structured}) == (said or f'{image}\n{{"a": 1}}')


@pytest.mark.parametrize(
    ("result", "rewritten"),
    [
        (
            {"content": [text("a"), text("b")], "structuredContent": {"c": 1}, "isError": True},
            {"content": [text('a\nb\n{"c": 1}')], "isError": True},
        ),
        ({"structuredContent": {"c": 1}}, {"content": [text('{"c": 1}')]}),
        ({"isError": True}, {"content": [text("")], "isError": True}),
        ({"capabilities": {"tools": {}}}, {"capabilities": {"tools": {}}}),
    ],
)
def test_the_library_reads_one_text_and_what_it_is_not_concerned_with_stays(
    result: dict[str, Any], rewritten: dict[str, Any]
) -> None:
    assert Answers().rewritten(result) == rewritten
