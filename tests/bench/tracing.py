"""Measures how long it takes to trace the figures of a large result to the sources of a run."""

from __future__ import annotations

import random
import time

from runs.evidence.facts import FigurePlace, KnownFigures
from runs.evidence.tracing import trace
from tests.bench.figures import Figure

WORDS = ["the", "tenant", "pays", "a", "rent", "of", "until", "notice", "is", "given"]
FIGURES = 0.01
"""Of all words of the result; most of them occur in no source, which takes longest."""
MB = 1_000_000


def measure(*, short: bool) -> list[Figure]:
    size, count = (MB, 10_000) if short else (10 * MB, 100_000)
    tenth, whole = _seconds(size // 10, count // 10), _seconds(size, count)
    name = f"{size // MB} MB of text, {count:,} facts"
    return [
        Figure(f"{name}: time", whole, "s", max=None if short else 5),
        Figure("ten times the text and the facts: time", whole / tenth, "x", max=12, broken_over=25),
    ]


def _seconds(size: int, count: int) -> float:
    chance = random.Random(1)
    source = "\n".join(f"It costs {_amount(chance)} EUR." for _ in range(count))
    result, length = list[str](), 0
    while length < size:
        result.append(_amount(chance) if chance.random() < FIGURES else chance.choice(WORDS))
        length += len(result[-1]) + 1
    text = "\n".join(" ".join(result[at : at + 12]) for at in range(0, len(result), 12))
    began = time.perf_counter()
    trace(text, KnownFigures([(FigurePlace("prices.txt", 0), source)]))
    return time.perf_counter() - began


def _amount(chance: random.Random) -> str:
    return f"{chance.randint(1, 9_999_999):,}.{chance.randint(0, 99):02}"
