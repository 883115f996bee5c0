"""Runs of steps one after the other, and what they cost beside their models.

The whole time of a run, from its submission to the commit that ends it, less what the script itself computed, is
divided by the number of its steps.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.db import connection

from runs.engine.claim import due
from runs.engine.perform import perform
from runs.enums import WorkKind
from runs.models import Run, WorkItem
from tests.bench.scripted import answering
from tests.bench.site import (
    check_complete,
    database_bytes,
    finished,
    fresh_database,
    seconds_of,
    site,
    submitted,
)
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.team import Team, plan, report, step, step_of


@dataclass(frozen=True)
class Cost:
    """Of one step: milliseconds, and 1,000 bytes of the database. `script` is already left out of `time`."""

    time: float
    processor: float
    script: float
    database: float


def team_of(steps: int, *, writes: bool = True, chars: int = 0) -> Team:
    """A team for so many steps, each after the one before. With `chars`, each writes and reports so much text."""
    keys = [f"s{number:03}" for number in range(steps)]
    outputs = None if writes else ()
    contract = plan(*(step(key, *keys[max(n - 1, 0) : n], outputs=outputs) for n, key in enumerate(keys)))
    return Team(plan=contract, executor=_Verbose(chars) if chars else None)


class _Verbose:
    """An executor that writes and reports as much as a model does."""

    def __init__(self, chars: int) -> None:
        self._text = ("Clause 4.2 has vague payment terms.\n" * chars)[:chars]

    def __call__(self, request: Request, right: Answer) -> Answer:
        key = step_of(request)["step_id"]
        text = f"Found by {key}.\n{self._text}"
        if isinstance(right, UseTools):
            return UseTools(*(ToolUse(use.name, {**use.input, "content": text}) for use in right.tools))
        return Say(json.dumps(report(text)))


def cost_of(team: Team) -> Cost:
    """What a step costs with the engine as it works inside `serve`."""
    steps = len(team.plan["steps"])
    with site(), answering(team) as script:
        before, began = database_bytes(), time.process_time()
        run = finished(submitted(max_steps=steps))
        used = time.process_time() - began
        check_complete(run, steps=steps, calls=script.asked.total())
        grown = database_bytes() - before
    parts = (seconds_of(run) - script.thinking, used, script.thinking, grown / 1_000_000)
    return Cost(*(1_000 * part / steps for part in parts))


def statements_of(team: Team) -> float:
    """How many statements a step sends to the database, without the begin and end of transactions: the median."""
    steps = len(team.plan["steps"])
    fresh_database()
    with answering(team) as script:
        run = submitted(max_steps=steps)
        counts: list[int] = []
        while work := WorkItem.objects.filter(due(), run=run).order_by("due_at", "pk").first():
            sent = _sent_by(work)
            if work.kind == WorkKind.ATTEMPT:
                counts.append(sent)
        check_complete(finished(Run.objects.get(pk=run.pk)), steps=steps, calls=script.asked.total())
    return median(counts)


def _sent_by(work: WorkItem) -> int:
    count = 0

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal count
        count += not sql.startswith(("BEGIN", "SAVEPOINT", "RELEASE", "PRAGMA"))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        perform(work.pk)
    return count
