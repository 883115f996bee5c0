"""What a service says comes in without secrets, without NUL, and as long as it may be."""

from typing import Any

import pytest

from runs.llm import cleaning
from runs.redaction import REPLACEMENT
from tests.fakes.echoes import ECHOES, KEY, leaks


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.mark.parametrize("way", ECHOES)
def test_no_name_is_cut_before_the_key_is_taken_out(way: str) -> None:
    for room in (0, 61, 102):
        assert leaks(cleaning.name("x" * room + ECHOES[way](KEY))) == []


def test_a_name_fits_its_column_and_is_a_text() -> None:
    assert cleaning.name("m" * 500) == "m" * 120
    assert (cleaning.name(None), cleaning.name(["x"]), cleaning.name("a\0b\ud800")) == ("", "", "a�b?")


def test_every_text_of_a_reply_is_cleaned_whatever_holds_it() -> None:
    use: Any = {"type": "tool_use", "id": "t1", "name": "n", "input": {"a": [KEY, {KEY: f"x{KEY}"}], "n": 1, "t": True}}
    found = cleaning.blocks([use, {"type": "novelty", "deep": {"er": KEY}}, {"type": "text", "text": "a\0b"}])
    assert found == (
        {
            "type": "tool_use",
            "id": "t1",
            "name": "n",
            "input": {"a": [REPLACEMENT, {REPLACEMENT: f"x{REPLACEMENT}"}], "n": 1, "t": True},
        },
        {"type": "novelty", "deep": {"er": REPLACEMENT}},
        {"type": "text", "text": "a�b"},
    )


def test_a_key_in_pieces_over_several_blocks_is_found_where_they_come_together() -> None:
    pieces: list[Any] = [{"type": "text", "text": KEY[at : at + 8]} for at in range(0, len(KEY), 8)]
    use: Any = {"type": "tool_use", "id": "t1", "name": "n", "input": {}}
    assert cleaning.blocks([*pieces[:4], use, *pieces[4:]]) == ({"type": "text", "text": REPLACEMENT}, use)


def test_a_reply_without_secrets_stays_as_it_came() -> None:
    content: list[Any] = [
        {"type": "text", "text": "One."},
        {"type": "text", "text": "One."},
        {"type": "text", "text": ""},
    ]
    assert cleaning.blocks(content) == tuple(content)


@pytest.mark.parametrize(
    "call",
    [
        {"type": "tool_use", "id": "x", "name": "n" * 81},
        {"type": "server_tool_use", "id": "x", "name": "n" * 81},
        {"type": "server_tool_use", "id": "x" * 121, "name": "n"},
        {"type": "server_tool_use", "id": "", "name": "n"},
    ],
)
def test_a_call_that_fits_no_column_is_not_the_api(call: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="usual length"):
        cleaning.blocks([call | {"input": {}}])


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"id": "call_0"}, "call_0"),
        ({"id": "x" * 121}, "x" * 120),
        ({"id": ""}, ""),
        ({"id": None}, ""),
        ({"id": 7}, ""),
        ({"id": "a\0b"}, "a�b"),
        ({}, ""),
    ],
)
def test_an_id_of_a_call_is_stored_as_far_as_it_can_be(given: dict[str, Any], stored: str) -> None:
    """It is replaced when the call is sent again."""
    (block,) = cleaning.blocks([{"type": "tool_use", **given, "name": "n", "input": {}}])
    assert block == {"type": "tool_use", "id": stored, "name": "n", "input": {}}


def test_a_reply_that_is_longer_than_any_is_not_the_api() -> None:
    pages: list[Any] = [{"type": "web_fetch_tool_result", "tool_use_id": "t", "content": "x" * cleaning.MAX_BYTES}]
    with pytest.raises(ValueError, match="no answer is as long as this"):
        cleaning.blocks(pages)
