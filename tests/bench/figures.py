"""What a benchmark measured: a figure with its unit and goal, the table, the JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


class ShapeBroken(Exception):
    """What was measured is not what was to be measured: something failed, was lost, or was done twice."""


@dataclass(frozen=True)
class Figure:
    """One number. `max` and `min` are goals, for people to read; over `broken_over` the shape is broken.

    A slow machine misses goals and breaks no shape: `broken_over` is for what does not depend on its speed.
    """

    name: str
    value: float
    unit: str
    max: float | None = None
    min: float | None = None
    broken_over: float | None = None

    @property
    def goal(self) -> str:
        if self.max is not None:
            return f"at most {self.max:g}"
        return f"at least {self.min:g}" if self.min is not None else ""

    @property
    def verdict(self) -> str:
        """`met`, `missed`, or empty where there is no goal."""
        if not self.goal:
            return ""
        low, high = self.min or -math.inf, math.inf if self.max is None else self.max
        return "met" if low <= self.value <= high else "missed"


def check_shape(figures: Sequence[Figure]) -> None:
    """Raises ShapeBroken when there are no figures, or one that is no number or beyond its bound."""
    if not figures:
        raise ShapeBroken("Nothing was measured.")
    for figure in figures:
        bound = math.inf if figure.broken_over is None else figure.broken_over
        if not math.isfinite(figure.value) or figure.value > bound:
            raise ShapeBroken(
                f"“{figure.name}” is {figure.value:.3g} {figure.unit}; over {bound:g} something is wrong."
            )


def table(figures: Sequence[Figure]) -> str:
    width = max(len(figure.name) for figure in figures)
    return "\n".join(
        f"  {figure.name:<{width}} {figure.value:>9,.2f} {figure.unit:<8} {figure.goal:<12} {figure.verdict}".rstrip()
        for figure in figures
    )


def as_json(found: Mapping[str, Sequence[Figure]], *, short: bool) -> str:
    machine = {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }
    figures = {
        name: [{**asdict(figure), "verdict": figure.verdict} for figure in figures] for name, figures in found.items()
    }
    return json.dumps({"short": short, "machine": machine, "figures": figures}, indent=2) + "\n"


def write_json(path: Path, found: Mapping[str, Sequence[Figure]], *, short: bool) -> None:
    path.write_text(as_json(found, short=short), "utf-8")
