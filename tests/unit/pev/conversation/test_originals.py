"""Which original pages a conversation is shown: each once, and not too many."""

from dataclasses import replace
from typing import Any

from runs.contracts.base import JsonObject
from runs.contracts.ports import Original
from runs.pev.conversation.asking import assistant
from runs.pev.conversation.originals import (
    MAX_OF_BLOCK,
    MAX_OF_TURN,
    PAGE_TOKENS,
    Originals,
    title_of,
    tokens_in,
    weight,
)
from runs.pev.conversation.window import BYTES_PER_TOKEN, Room
from runs.pev.executor import execute
from tests.unit.pev.scripted import Scripted, Tools, ask, gave, said, used
from tests.unit.pev.test_executor import REPORT, brief


def pages(first: int, last: int, path: str = "a.pdf", size: int | None = 0) -> list[Original]:
    return [Original(path, path[0] * 64, "pdf", page, size) for page in range(first, last + 1)]


def spans(blocks: Any) -> list[tuple[str, int, int]]:
    return [(block["sha256"][0], block["first"], block["last"]) for block in blocks if block["type"] == "pages"]


def notes(blocks: Any) -> list[str]:
    return [block["text"] for block in blocks if block["type"] == "pages_note"]


def test_pages_that_follow_each_other_are_one_block_a_few_at_a_time() -> None:
    originals = Originals(None)
    blocks = originals.blocks([*pages(1, 2), *pages(4, 4), *pages(5, 6, "b.pdf"), *pages(11, 11 + MAX_OF_BLOCK)])
    assert spans(blocks) == [("a", 1, 2), ("a", 4, 4), ("b", 5, 6), ("a", 11, 15), ("a", 16, 16)]
    assert blocks[0] == {
        "type": "pages",
        "sha256": "a" * 64,
        "kind": "pdf",
        "path": "a.pdf",
        "first": 1,
        "last": 2,
        "weight": 2,
    }
    assert [title_of(block) for block in blocks[:2]] == ["“a.pdf”, pages 1-2", "“a.pdf”, page 4"]
    assert notes(blocks) == []


def test_a_page_is_shown_once_until_the_conversation_begins_again() -> None:
    originals = Originals(None)
    assert spans(originals.blocks([*pages(1, 2), *pages(2, 3)])) == [("a", 1, 3)]
    assert originals.blocks(pages(2, 3)) == []
    originals.forget()
    assert spans(originals.blocks(pages(2, 3))) == [("a", 2, 3)]


def test_what_is_too_much_for_a_turn_is_named_and_comes_when_it_is_read_again() -> None:
    originals = Originals(None)
    first = originals.blocks(pages(1, MAX_OF_TURN + 2))
    assert spans(first)[-1] == ("a", 16, MAX_OF_TURN)
    assert notes(first) == [
        "Only their text is here of “a.pdf”, pages 21-22: at most 20 pages in one turn, and 60 in a conversation are "
        "shown as they look. Read them again in another turn to see them."
    ]
    assert spans(originals.blocks(pages(1, MAX_OF_TURN + 2))) == [("a", 21, 22)]


def test_a_conversation_has_no_more_than_it_may_and_a_small_window_fewer() -> None:
    originals = Originals(12 * PAGE_TOKENS)
    assert spans(originals.blocks(pages(1, 2))) == [("a", 1, 2)]
    assert spans(originals.blocks(pages(3, 5))) == [("a", 3, 3)]
    last = originals.blocks(pages(4, 5))
    assert (spans(last), [text.endswith("shown as they look.") for text in notes(last)]) == ([], [True])
    assert spans(Originals(3 * PAGE_TOKENS).blocks(pages(1, 1))) == []


def test_pages_with_much_text_count_as_more() -> None:
    originals = Originals(None)
    heavy = pages(1, 6, size=23_000)
    assert (weight(6_000), weight(6_001), weight(23_000), weight(None)) == (1, 2, 4, 4)
    blocks = originals.blocks(heavy)
    assert (spans(blocks), tokens_in([{"role": "user", "content": list(blocks)}])) == ([("a", 1, 5)], 20 * PAGE_TOKENS)
    assert notes(blocks)[0].endswith("Read them again in another turn to see them.")
    again = [spans(originals.blocks(heavy)), spans(originals.blocks(pages(11, 20, size=23_000)))]
    assert again == [[("a", 6, 6)], [("a", 11, 15)]]


def test_a_page_with_more_text_than_a_picture_can_show_stays_text() -> None:
    blocks = Originals(None).blocks([*pages(1, 1), *pages(2, 3, size=24_001), *pages(4, 4)])
    assert spans(blocks) == [("a", 1, 1), ("a", 4, 4)]
    assert notes(blocks) == [
        "Only their text is here of “a.pdf”, pages 2-3: there is too much of it for a picture of a page."
    ]


def test_the_executor_shows_them_behind_the_results_of_the_turn_that_read_them() -> None:
    tools = Tools(originals=lambda use: pages(7, 9) if use.name == "read_file" else ())
    model = Scripted(used("write_file"), used("read_file"), used("read_file"), gave(REPORT))
    execute(model, tools, brief(rounds=9))
    turns: Any = [ask.messages[-1]["content"] for ask in model.asked]
    assert [[block["type"] for block in content] for content in turns[1:]] == [
        ["tool_result"],
        ["tool_result", "pages"],
        ["tool_result"],
    ]
    assert spans(turns[2]) == [("a", 7, 9)]


def test_pages_take_room_of_the_window() -> None:
    window = 100_000
    question = ask()
    room = Room(window)
    room.heard(question, said("Yes."))
    block = Originals(None).blocks(pages(1, 15))
    said_and_shown: tuple[JsonObject, ...] = (assistant(said("Yes.")), {"role": "user", "content": list(block)})
    shown = replace(question, messages=(*question.messages, *said_and_shown), max_tokens=20_000)
    assert tokens_in(shown.messages) == 15 * PAGE_TOKENS
    assert not room.is_full(shown)
    tight = Room(15 * PAGE_TOKENS + 20_000)
    tight.heard(question, said("Yes."))
    assert tight.is_full(shown)
    assert PAGE_TOKENS * BYTES_PER_TOKEN == 15_000
