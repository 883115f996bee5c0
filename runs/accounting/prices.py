"""Prices: USD per million tokens, with the date from which they hold. An unknown model is unpriced, never free.

Source: the vendor's list prices, read on 2026-11-21, and those of its service tools, read on 2026-11-25. A web search
has a price of its own; a page costs only its tokens. Code is charged by the time of its container, at least five
minutes. Some hours a month are free, and so is code next to web tools. A reply says nothing of this time, so that its
cost is a lower bound.
"""

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from runs.contracts.ports import Ask, Usage
from runs.pev.conversation.originals import tokens_in
from runs.pev.conversation.served import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH

_MILLION = Decimal(1_000_000)
_SEARCH = ((date(2026, 1, 1), Decimal("0.01")),)
"""USD for one web search, by the day from which the price holds: 10 for a thousand searches."""
_CONTAINER = Decimal("0.05")
"""USD for an hour of the container in which code runs. One reply takes less than an hour."""
RESULT_TOKENS = 12_000
"""Tokens that one search or one page may add to a prompt. Pages are cut earlier (`runs.llm.request`). For searches no
limit is documented; they were shorter in practice.
"""


@dataclass(frozen=True)
class Price:
    """USD per million tokens of each kind, from `since` on. `up_to`: the longest prompt in tokens it holds for."""

    model: str
    since: date
    input: Decimal
    output: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal
    cache_read: Decimal
    up_to: int | None = None


def _price(model: str, *usd: str, up_to: int | None = None) -> Price:
    given, written, write_5m, write_1h, read = (Decimal(amount) for amount in usd)
    return Price(model, date(2026, 1, 1), given, written, write_5m, write_1h, read, up_to)


_PRICES = (
    _price("claude-opus-5-5", "4", "20", "5", "8", "0.20"),
    _price("claude-sonnet-5-5", "2", "10", "2.50", "4", "0.10"),
    _price("claude-haiku-5-5", "0.10", "0.50", "0.125", "0.20", "0.01", up_to=100_000),
    _price("claude-haiku-5-5", "0.50", "2.50", "0.625", "1.00", "0.05"),
    _price("claude-opus-4-6", "5", "25", "6.25", "10", "0.50"),
    _price("claude-sonnet-4-5", "3", "15", "3.75", "6", "0.30"),
    _price("claude-haiku-4-5", "1", "5", "1.25", "2", "0.10"),
    _price("offline-planner", "0", "0", "0", "0", "0"),
    _price("offline-executor", "0", "0", "0", "0", "0"),
    _price("offline-verifier", "0", "0", "0", "0", "0"),
)


def price_of(model: str, prompt_tokens: int, on: date) -> Price | None:
    """The price on a day for a prompt of this length; None means unpriced."""
    fitting = [
        price
        for price in _PRICES
        if (model == price.model or model.startswith(f"{price.model}-"))
        and price.since <= on
        and (price.up_to is None or prompt_tokens <= price.up_to)
    ]
    return max(fitting, key=lambda price: (price.since, price.up_to is not None), default=None)


def price_of_search(on: date) -> Decimal:
    """USD for one web search by the model's service. Before the first known price, that price."""
    return max((one for one in _SEARCH if one[0] <= on), default=_SEARCH[0])[1]


def cost_of(model: str, usage: Usage, on: date, *, priced_as: str = "") -> Decimal | None:
    """USD for one reply, or None when neither the answering model nor `priced_as`, the one asked for, has a price."""
    prompt = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h
    price = price_of(model, prompt, on) or price_of(priced_as, prompt, on)
    if price is None:
        return None
    return (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write_5m * price.cache_write_5m
        + usage.cache_write_1h * price.cache_write_1h
    ) / _MILLION + usage.searches * price_of_search(on)


@dataclass(frozen=True)
class Bound:
    """The most that a call can cost in USD: for its question, and for each token of its answer."""

    question: Decimal
    token: Decimal

    def of(self, tokens: int) -> Decimal:
        return self.question + tokens * self.token

    def tokens_for(self, usd: Decimal, wanted: int) -> int:
        """How many tokens of an answer an amount pays for, at most `wanted`."""
        if usd < self.of(0):
            return 0
        return min(wanted, int((usd - self.question) / self.token)) if self.token else wanted


def bound_of(ask: Ask, on: date) -> Bound | None:
    """The most that one question can cost, or None if its model has no known price.

    Every second byte counts as a token that is written to the cache, and pages that are shown as images as `tokens_in`
    says. For tools of the service, as many uses count as one reply may have: their price, and everything that was read
    before is read again after each use.
    """
    sent = [ask.instructions, ask.messages, [tool.parts for tool in ask.tools]]  # the schema is sent once
    tokens = len(json.dumps(sent, ensure_ascii=False).encode()) // 2 + tokens_in(ask.messages)
    uses = ask.uses
    rounds = sum(uses.values())
    found = RESULT_TOKENS * rounds
    price = price_of(ask.model, tokens + found, on)
    if price is None:
        return None
    read = (rounds + 1) * tokens + found * (rounds + 1) // 2
    extra = uses.get(WEB_SEARCH, 0) * price_of_search(on)
    if CODE_EXECUTION in uses and WEB_SEARCH not in uses and WEB_FETCH not in uses:
        extra += _CONTAINER
    return Bound(question=read * price.cache_write_5m / _MILLION + extra, token=price.output / _MILLION)
