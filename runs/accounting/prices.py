"""Prices: USD per million tokens, with the date from which they hold. An unknown model is unpriced, never free.

Source: the vendor's list prices as read on 2026-11-21.
"""

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from runs.pev.conversation.originals import tokens_in
from runs.pev.ports import Ask, Usage

_MILLION = Decimal(1_000_000)


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
    _price("claude-haiku-4-5", "1", "5", "1.25", "2", "0.10"),
    _price("offline-planner", "0", "0", "0", "0", "0"),
    _price("offline-executor", "0", "0", "0", "0", "0"),
    _price("offline-verifier", "0", "0", "0", "0", "0"),
)


def price_of(model: str, prompt_tokens: int, on: date) -> Price | None:
    """The newest price that holds on a day for a prompt of this length, or None: unpriced."""
    fitting = [
        price
        for price in _PRICES
        if (model == price.model or model.startswith(f"{price.model}-"))
        and price.since <= on
        and (price.up_to is None or prompt_tokens <= price.up_to)
    ]
    return max(fitting, key=lambda price: (price.since, price.up_to is not None), default=None)


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
    ) / _MILLION


@dataclass(frozen=True)
class Bound:
    """What a call can cost at most, in USD: its question, and each token of its answer."""

    question: Decimal
    token: Decimal

    def of(self, tokens: int) -> Decimal:
        return self.question + tokens * self.token

    def tokens_for(self, usd: Decimal, wanted: int) -> int:
        """How many tokens of an answer so much pays for, `wanted` at most."""
        if usd < self.of(0):
            return 0
        return min(wanted, int((usd - self.question) / self.token)) if self.token else wanted


def bound_of(ask: Ask, on: date) -> Bound | None:
    """The most that one question can cost: every second byte of it a token that is written to the cache, and what
    `tokens_in` says of pages that are shown as they look.

    None when its model has no known price.
    """
    sent = [ask.system, ask.messages, [vars(tool) for tool in ask.tools], ask.schema]
    tokens = len(json.dumps(sent, ensure_ascii=False).encode()) // 2 + tokens_in(ask.messages)
    price = price_of(ask.model, tokens, on)
    if price is None:
        return None
    return Bound(question=tokens * price.cache_write_5m / _MILLION, token=price.output / _MILLION)
