"""Measures how much of what models are sent is read from the prefix cache: six steps over a folder, two retries."""

from __future__ import annotations

import json
import os
from collections import Counter
from unittest.mock import patch

from runs.models import ModelCall, Run
from tests.bench.figures import Figure, ShapeBroken
from tests.bench.site import check_complete, finished, site, submitted
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, plan, report, step, step_of, told, verdict

STEPS = {
    "parties": ("supply.md", "lease.md", "services.md"),
    "terms": ("supply.md", "services.md"),
    "dates": ("lease.md", "licence.md"),
    "risks": ("supply.md", "lease.md", "data.md"),
    "compare": ("licence.md", "data.md"),
    "summary": (),
}
"""Each step after the one before, with the files that it reads; it writes one of its own."""
RETRIED = ("terms", "risks")
CLAUSE = (
    "{n}. The parties of the {name} agree that the amount named in schedule {n} falls due within thirty days of "
    "receipt of an invoice, and that either of them may give notice in writing not later than {n} months before.\n\n"
)


def documents() -> dict[str, bytes]:
    """Five agreements of some 5 to 9 KB."""
    names = ("data", "lease", "licence", "services", "supply")
    return {f"{name}.md": _agreement(name, 25 + 5 * n).encode() for n, name in enumerate(names)}


def _agreement(name: str, clauses: int) -> str:
    return f"# {name.title()}\n\n" + "".join(CLAUSE.format(n=n, name=name) for n in range(1, clauses + 1))


def measure(*, short: bool) -> list[Figure]:
    with FakeAnthropic() as api, patch.dict(os.environ, ANTHROPIC_BASE_URL=api.url, ANTHROPIC_API_KEY="no-key"), site():
        api.script(Team(plan=_plan(), executor=_reads_then_writes, verifier=_Strict()))
        run = finished(submitted(documents()))
        if api.violations:
            raise ShapeBroken(f"The API would have refused: {api.violations[:3]}")
        check_complete(run, steps=len(STEPS), attempts=len(STEPS) + len(RETRIED), calls=len(api.requests))
        return _shares(run)


def _shares(run: Run) -> list[Figure]:
    """Of everything that was sent after the first call."""
    read: Counter[str] = Counter()
    sent: Counter[str] = Counter()
    for call in ModelCall.objects.filter(run=run).order_by("pk")[1:]:
        written = call.cache_write_5m_tokens + call.cache_write_1h_tokens
        for whose in (call.role, "all"):
            read[whose] += call.cache_read_tokens
            sent[whose] += call.input_tokens + call.cache_read_tokens + written
    figures = [
        Figure(f"{role}: read from the cache, of {sent[role]:,} tokens", 100 * read[role] / sent[role], "%")
        for role in sorted(sent)
        if role != "all"
    ]
    share = 100 * read["all"] / sent["all"]
    return [*figures, Figure(f"read from the cache, of {sent['all']:,} tokens", share, "%", min=60)]


def _plan() -> dict[str, object]:
    keys = list(STEPS)
    return plan(*(step(key, *keys[max(n - 1, 0) : n]) for n, key in enumerate(keys)))


def _reads_then_writes(request: Request, right: Answer) -> Answer:
    """A file a round, then the result, then the report."""
    key = step_of(request)["step_id"]
    reads = STEPS[key]
    turn = sum(message["role"] == "assistant" for message in request.messages)
    if turn < len(reads):
        return UseTools(ToolUse("read_file", {"path": reads[turn]}), text=f"I read {reads[turn]}.")
    found = [f"- {key}: clause {n} says when the amount falls due and how notice is given." for n in range(1, 16)]
    if turn == len(reads):
        tries = sum(part.kind == "critique" for part in told(request))
        content = "\n".join([f"# {key}, try {tries + 1}", "", *found])
        return UseTools(ToolUse("write_file", {"path": f"{key}.md", "content": content}))
    return Say(json.dumps(report("\n".join(found))))


class _Strict:
    """A verifier that sends some steps back once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, request: Request, right: Answer) -> Answer:
        subject = next(part.text for part in told(request) if part.kind == "subject")
        if subject in self._seen or not any(f"Do {key}:" in subject for key in RETRIED):
            return right
        self._seen.add(subject)
        return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="retry")))
