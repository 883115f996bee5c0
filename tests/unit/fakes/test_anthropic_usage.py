"""The fake Messages API counts tokens, read and written in the cache, as the real one does."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import Anthropic

from tests.fakes.anthropic_answers import Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_usage import UsageTotals
from tests.unit.fakes.talking import (
    HAIKU,
    LONG,
    MARK,
    OPUS,
    TOOL,
    assistant,
    body,
    closed,
    output,
    text,
    user,
)

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def usage(client: Anthropic, **changes: Any) -> tuple[int, int, int, int]:
    """Uncached, read, written for 5 minutes, written for 1 hour."""
    told = client.messages.create(**body(**changes)).usage
    assert told.cache_creation
    assert told.cache_read_input_tokens is not None
    written = told.cache_creation.ephemeral_5m_input_tokens, told.cache_creation.ephemeral_1h_input_tokens
    assert told.cache_creation_input_tokens == sum(written)
    return told.input_tokens, told.cache_read_input_tokens, *written


def test_cache_grows_with_the_conversation(api: FakeAnthropic, client: Anthropic) -> None:
    api.script(lambda request: Say("Fine."))
    first = [user(text(LONG))]
    longer = [*first, assistant(text("Fine.")), user(text("More."))]
    uncached, read, size, _ = usage(client, messages=first, cache_control=MARK)
    assert (uncached, read) == (0, 0)
    assert size > 512
    assert usage(client, messages=first, cache_control=MARK) == (0, size, 0, 0)
    uncached, read, added, _ = usage(client, messages=longer, cache_control=MARK)
    assert (uncached, read) == (0, size)
    assert 0 < added < 50
    assert usage(client, messages=longer) == (size + added, 0, 0, 0)
    totals = api.usage_totals()
    assert (totals.responses, totals.cache_read_input_tokens) == (4, 2 * size)
    assert totals.cache_creation_input_tokens == totals.ephemeral_5m_input_tokens == size + added
    assert api.usage_totals(OPUS) == totals
    assert api.usage_totals(HAIKU) == UsageTotals()


def test_cache_is_invalidated_by_whatever_stands_before(api: FakeAnthropic, client: Anthropic) -> None:
    api.script(lambda request: Say("Fine."))
    system = [text(LONG, cache_control=MARK)]
    plain = {"system": system, "tools": [TOOL]}
    first, again = usage(client, **plain), usage(client, **plain)
    assert (first[0], first[2]) == (again[0], again[1])
    reordered = [dict(reversed(TOOL.items()))]
    for change in ({"model": HAIKU}, {"tools": [TOOL] * 2}, {"tools": reordered}, output(closed({}))):
        assert usage(client, **plain | change)[1] == 0
    assert usage(client, **plain, messages=[user(text("Else"))])[1] == again[1]


def test_cache_keeps_ttls_apart_and_ignores_short_prefixes(api: FakeAnthropic, client: Anthropic) -> None:
    api.script(lambda request: Say("Fine."))
    hour = MARK | {"ttl": "1h"}
    uncached, _, short, long = usage(
        client, system=[text(LONG, cache_control=hour)], messages=[user(text(LONG, cache_control=MARK))]
    )
    assert (uncached, short > 600, long > 600) == (0, True, True)
    assert usage(client, messages=[user(text("Hi", cache_control=MARK))])[1:] == (0, 0, 0)


def test_automatic_breakpoint_skips_blocks_that_cannot_carry_one(api: FakeAnthropic, client: Anthropic) -> None:
    api.script(lambda request: Say("Fine."))
    foreign = {"type": "thinking", "thinking": "", "signature": "elsewhere"}
    uncached, _, written, _ = usage(client, messages=[user(text(LONG)), assistant(foreign)], cache_control=MARK)
    assert 0 < uncached < 50 < written
