"""The fake's prompt cache forgets and overlooks what the real one does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.anthropic_usage import LOOKBACK, PromptCache

MARK = {"type": "ephemeral", "ttl": "5m"}
LONG = "word " * 600


def text(words: str = "Hi", *, mark: bool = False) -> dict[str, Any]:
    return {"type": "text", "text": words, **({"cache_control": MARK} if mark else {})}


def body(*blocks: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"model": "claude-opus-5-5", "messages": [{"role": "user", "content": list(blocks)}], **changes}


@pytest.mark.parametrize(("added", "found"), [(LOOKBACK - 1, True), (LOOKBACK, False)])
def test_an_entry_out_of_reach_of_every_breakpoint_is_not_found(added: int, found: bool) -> None:
    cache = PromptCache()
    cache.bill(body(text(LONG, mark=True)))
    more = [text() for _ in range(added - 1)]
    assert (cache.bill(body(text(LONG), *more, text(mark=True))).read > 0) is found


def test_a_breakpoint_on_the_way_is_looked_back_from_as_well() -> None:
    cache = PromptCache()
    first = cache.bill(body(text(LONG, mark=True)))
    more = [text() for _ in range(LOOKBACK)]
    second = cache.bill(body(text(LONG, mark=True), *more, text(mark=True)))
    assert second.read == first.written_5m


@pytest.mark.parametrize(
    "change",
    [
        {"tool_choice": {"type": "none"}},
        {"thinking": {"type": "disabled"}},
        {"output_config": {"effort": "low"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_some_settings_spoil_the_messages_only(change: dict[str, Any]) -> None:
    cache = PromptCache()
    system = {"system": [text(LONG, mark=True)]}
    said = text(LONG, mark=True)
    first = cache.bill(body(said, **system))
    assert cache.bill(body(said, **system)).read == first.written_5m
    assert 0 < cache.bill(body(said, **system, **change)).read < first.written_5m
