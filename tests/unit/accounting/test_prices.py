"""The prices: exact, by date, by length of the prompt, and never free for want of knowledge (T5)."""

import json
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.accounting.prices import RESULT_TOKENS, bound_of, cost_of, price_of
from runs.contracts.base import JsonObject, schema_for
from runs.contracts.ports import Ask, ByService, Original, ToolSpec, Usage
from runs.enums import Effect, Role
from runs.llm.capabilities import Capability
from runs.llm.request import parameters
from runs.pev.contracts import VerifierAnswer
from runs.pev.conversation.asking import user
from runs.pev.conversation.originals import PAGE_TOKENS, Originals

TODAY = date(2026, 11, 21)
ONE_OF_EACH = Usage(
    input=1_000_000, output=1_000_000, cache_read=1_000_000, cache_write_5m=1_000_000, cache_write_1h=1_000_000
)


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        ("claude-opus-5-5", ("4", "20", "0.20", "5", "8")),
        ("claude-sonnet-5-5", ("2", "10", "0.10", "2.50", "4")),
        ("claude-haiku-5-5", ("0.50", "2.50", "0.05", "0.625", "1.00")),
        ("claude-opus-4-6", ("5", "25", "0.50", "6.25", "10")),
        ("claude-sonnet-4-5-20250929", ("3", "15", "0.30", "3.75", "6")),
        ("claude-haiku-4-5", ("1", "5", "0.10", "1.25", "2")),
    ],
)
def test_a_million_tokens_of_each_kind_cost_the_list_price(model: str, usd: tuple[str, ...]) -> None:
    assert cost_of(model, ONE_OF_EACH, TODAY) == sum(map(Decimal, usd))
    price = price_of(model, 5_000_000, TODAY)
    assert price is not None
    kinds = (price.input, price.output, price.cache_read, price.cache_write_5m, price.cache_write_1h)
    assert kinds == tuple(map(Decimal, usd))


def test_kinds_of_tokens_are_priced_apart() -> None:
    assert cost_of("claude-opus-5-5", Usage(input=1_000), TODAY) == Decimal("0.004")
    assert cost_of("claude-opus-5-5", Usage(output=1_000), TODAY) == Decimal("0.02")
    assert cost_of("claude-opus-5-5", Usage(cache_read=1_000), TODAY) == Decimal("0.0002")
    assert cost_of("claude-opus-5-5", Usage(cache_write_5m=1_000), TODAY) == Decimal("0.005")
    assert cost_of("claude-opus-5-5", Usage(cache_write_1h=1_000), TODAY) == Decimal("0.008")


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input=100_000),
        Usage(input=1, cache_read=99_999),
        Usage(input=1, cache_write_5m=50_000, cache_write_1h=49_999),
    ],
)
def test_haiku_is_cheap_up_to_a_prompt_of_exactly_100k_tokens_however_they_are_billed(usage: Usage) -> None:
    prompt = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h
    price = price_of("claude-haiku-5-5", prompt, TODAY)
    assert price is not None
    assert price.input == Decimal("0.10")
    expected = usage.input * Decimal("0.10") + usage.cache_read * Decimal("0.01")
    expected += usage.cache_write_5m * Decimal("0.125") + usage.cache_write_1h * Decimal("0.20")
    assert cost_of("claude-haiku-5-5", usage, TODAY) == expected / 1_000_000


def test_one_token_more_and_the_whole_request_costs_the_long_price() -> None:
    assert cost_of("claude-haiku-5-5", Usage(input=100_000), TODAY) == Decimal("0.01")
    assert cost_of("claude-haiku-5-5", Usage(input=100_001), TODAY) == Decimal("0.0500005")
    assert cost_of("claude-haiku-5-5", Usage(input=1, cache_read=100_000), TODAY) == Decimal("0.0050005")


def test_the_answer_does_not_count_as_prompt() -> None:
    assert cost_of("claude-haiku-5-5", Usage(input=100_000, output=1_000_000), TODAY) == Decimal("0.51")


@pytest.mark.parametrize(
    "model", ["qwen3-4b", "", "claude-sonnet-4", "claude-opus", "claude-opus-5-50", "x-claude-opus-5-5"]
)
def test_an_unknown_model_is_unpriced_and_never_free(model: str) -> None:
    assert cost_of(model, Usage(input=1), TODAY) is None


def test_a_dated_id_costs_what_its_family_costs() -> None:
    assert cost_of("claude-opus-5-5-20261001", Usage(input=1_000_000), TODAY) == Decimal(4)


def test_an_alias_is_priced_as_the_model_that_was_asked_for() -> None:
    assert cost_of("the-alias", Usage(input=1_000_000), TODAY, priced_as="claude-opus-5-5") == Decimal(4)
    assert cost_of("the-alias", Usage(input=1_000_000), TODAY, priced_as="another-alias") is None


def test_the_model_that_answered_is_priced_before_the_one_asked_for() -> None:
    cost = cost_of("claude-haiku-4-5", Usage(input=1_000_000), TODAY, priced_as="claude-opus-5-5")
    assert cost == Decimal(1)


def test_no_price_holds_before_its_date() -> None:
    assert cost_of("claude-opus-5-5", Usage(input=1), date(2025, 12, 31)) is None


@pytest.mark.parametrize("role", ["planner", "executor", "verifier"])
def test_offline_rules_cost_nothing_and_that_is_a_known_price(role: str) -> None:
    assert cost_of(f"offline-{role}", ONE_OF_EACH, TODAY) == Decimal(0)


@pytest.mark.parametrize("capabilities", [Capability(format=True), Capability(forced_tool=True), Capability()])
def test_the_bound_of_a_question_has_the_schema_however_the_answer_is_asked_for(capabilities: Capability) -> None:
    ask = Ask(
        role=Role.VERIFIER,
        model="claude-haiku-4-5",
        effort="low",
        system="Judge.",
        messages=(user("All of it."),),
        schema_name="verdict",
        schema=schema_for(VerifierAnswer),
        max_tokens=1_000,
    )
    sent = parameters(ask, capabilities)
    content = json.dumps([sent["system"], sent["messages"], sent.get("tools"), sent.get("output_config")])
    bound = bound_of(ask, TODAY)
    assert bound is not None
    assert bound.question >= Decimal("1.25") * (len(content) // 3) / 1_000_000
    assert bound.of(1_000) == bound.question + Decimal("0.005")


def test_pages_that_are_shown_count_for_more_than_their_names() -> None:
    pages = Originals(None).blocks([Original("a.pdf", "0" * 64, "pdf", page) for page in range(1, 4)])
    messages: tuple[JsonObject, ...] = ({"role": "user", "content": list(pages)},)
    bounds = [
        bound_of(Ask(role=Role.EXECUTOR, model="claude-opus-5-5", system="", messages=some), TODAY)
        for some in ((), messages)
    ]
    assert bounds[0]
    assert bounds[1]
    more = bounds[1].question - bounds[0].question
    assert 3 * PAGE_TOKENS * Decimal(5) / 1_000_000 < more < 3 * (PAGE_TOKENS + 200) * Decimal(5) / 1_000_000


TOKENS = st.integers(0, 3_000_000)


@given(
    st.builds(Usage, TOKENS, TOKENS, TOKENS, TOKENS, TOKENS), st.sampled_from(["claude-opus-5-5", "claude-haiku-5-5"])
)
def test_costs_are_exact_to_the_millionth_of_a_token(usage: Usage, model: str) -> None:
    cost = cost_of(model, usage, TODAY)
    assert cost is not None
    assert cost == cost.quantize(Decimal("0.000000001"))


def offering(*names: str, last: bool = False) -> Ask:
    tools = tuple(ToolSpec(name, "", {}, Effect.READS_WEB, ByService(2, 8)) for name in names)
    return Ask(Role.EXECUTOR, "claude-sonnet-5-5", "s" * 2_000, (user("u" * 2_000),), tools=tools, last_round=last)


def bound(*names: str, last: bool = False) -> Decimal:
    found = bound_of(offering(*names, last=last), TODAY)
    assert found is not None
    assert found.token == Decimal(10) / 1_000_000
    return found.question


def test_a_search_costs_a_cent_beside_its_tokens_and_a_page_nothing() -> None:
    more = cost_of("claude-sonnet-5-5", Usage(input=1_000, searches=3, fetches=9), TODAY)
    assert more == Decimal("0.002") + Decimal("0.03")
    assert cost_of("unheard-of", Usage(searches=3), TODAY) is None


def test_what_a_service_may_search_and_read_is_in_the_bound() -> None:
    """Of two searches: their price, and what was read before them read three times, with their results as they come."""
    result = RESULT_TOKENS * Decimal("2.50") / 1_000_000
    least = 3 * bound() + (1 + 2) * result + 2 * Decimal("0.01")
    assert least < bound("web_search") < least + Decimal("0.002"), "the tool itself is read too"
    assert bound("web_search", "web_fetch") > bound("web_search") + (3 + 4) * result
    assert bound("code_execution") > bound() + Decimal("0.05"), "the time of its container"
    free = bound("web_search", "code_execution") - bound("web_search", "web_fetch")
    assert abs(free) < Decimal("0.001"), "beside tools for the web its time costs nothing"
    assert bound("web_search", last=True) < bound() + Decimal("0.001"), "nothing can be searched in it"
