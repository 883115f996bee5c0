"""Most of what a run sends is read from the service's prompt cache, and nobody else is sent marks."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.utils import timezone

from runs.accounting.prices import cost_of
from runs.contracts.ports import Usage
from runs.enums import AttemptStatus, Outcome, Role
from runs.models import Attempt, ModelCall, User
from runs.pev.policy import RoleModel
from tests.factories import Submit, finish
from tests.fakes.anthropic_answers import Answer, Request, Say, Think, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, plan, report, step, step_of, told, verdict

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

CLAUSE = (
    "{n}. In case {n} the {party} gives notice in writing within {n} working days, states the reason, and bears "
    "the cost of the remedy, up to the amount of {n},500 euros for each calendar year of the term.\n"
)
PARTIES = ("landlord", "supplier", "processor", "carrier", "licensor", "agent")
FILES = {
    f"contracts/{party}.md": (
        f"# Agreement with the {party}\n\n" + "".join(CLAUSE.format(n=n, party=party) for n in range(1, 22))
    ).encode()
    for party in PARTIES
}
"""Six documents of four kilobytes each."""
READS = {
    "inventory": tuple(FILES),
    "notices": tuple(FILES),
    "costs": tuple(FILES)[:3],
    "terms": tuple(FILES)[2:],
    "compare": ("costs.md", "terms.md", *tuple(FILES)[:2]),
    "summary": ("inventory.md", "notices.md", "compare.md"),
}
"""What the executor of each step reads, half of it in its first round."""
PLAN = plan(
    step("inventory"),
    step("notices", "inventory"),
    step("costs", "inventory"),
    step("terms", "inventory"),
    step("compare", "costs", "terms"),
    step("summary", "notices", "compare"),
)
REQUEST = "Review these contracts: who gives notice when, what does each of them cost us, and what should we change?"


def work(request: Request, right: Answer) -> Answer:
    """Reads in two rounds, writes two kilobytes, reports: four calls an attempt."""
    wanted, rounds = step_of(request), sum(message["role"] == "assistant" for message in request.messages)
    paths = READS[wanted["step_id"]]
    half = (len(paths) + 1) // 2
    if rounds < 2:
        reads = paths[:half] if rounds == 0 else paths[half:]
        return Think(UseTools(*(ToolUse("read_file", {"path": path}) for path in reads)))
    number = 1 + sum(part.kind == "critique" for part in told(request))
    if rounds == 2:
        text = f"Found by {wanted['step_id']} in try {number}.\n" + CLAUSE.format(n=number, party="client") * 10
        return Think(UseTools(ToolUse("write_file", {"path": f"{wanted['step_id']}.md", "content": text})))
    return Say(json.dumps(report(f"Found by {wanted['step_id']} in try {number}. " + "A sentence of findings. " * 20)))


class Strict:
    """A verifier that sends the first attempt at two of the steps back."""

    def __init__(self) -> None:
        self.left = {"Do notices", "Do compare"}

    def __call__(self, request: Request, right: Answer) -> Answer:
        subject = next(part.text for part in told(request) if part.kind == "subject")
        name = subject.split(":")[0]
        if name in self.left:
            self.left.remove(name)
            return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="retry")))
        return right


def prompt(call: ModelCall) -> int:
    return call.input_tokens + call.cache_read_tokens + call.cache_write_5m_tokens + call.cache_write_1h_tokens


def share(calls: list[ModelCall]) -> float:
    """The part of all input tokens that was read from the cache."""
    return sum(call.cache_read_tokens for call in calls) / sum(map(prompt, calls))


def dollars(calls: list[ModelCall], *, cached: bool) -> Decimal:
    """What the calls cost, or would have cost without a cache."""
    if cached:
        return sum((call.cost_usd or Decimal(0) for call in calls), Decimal(0))
    today = timezone.now().date()
    plain = (cost_of(c.model, Usage(input=prompt(c), output=c.output_tokens), today) for c in calls)
    return sum((cost or Decimal(0) for cost in plain), Decimal(0))


def test_most_input_tokens_of_a_run_are_read_from_the_cache(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    """Six steps, two of them tried twice, 24 kilobytes of documents."""
    api.script(Team(plan=PLAN, executor=work, verifier=Strict()))
    run = finish(submitted(REQUEST, FILES), alice)
    assert run.outcome == Outcome.SUCCEEDED
    assert Attempt.objects.filter(status=AttemptStatus.FAILED).count() == 2
    calls = list(ModelCall.objects.filter(run=run).order_by("id"))[1:]
    for role in (Role.EXECUTOR, Role.VERIFIER):
        mine = [call for call in calls if call.role == role]
        paid, plain = (dollars(mine, cached=cached) for cached in (True, False))
        print(
            f"{role}: {len(mine)} calls, {share(mine):.1%} read from the cache, USD {paid:.4f} instead of {plain:.4f}"
        )
        assert paid < plain
    print(f"all after the first: {sum(map(prompt, calls))} input tokens, {share(calls):.1%} read from the cache")
    assert share(calls) >= 0.60


def test_another_server_is_sent_no_marks(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team())
    local = {role: RoleModel(model=f"qwen3-{role}") for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)}
    assert finish(submitted(models=local), alice).outcome == Outcome.SUCCEEDED
    assert {request.model for request in api.requests} == {"qwen3-planner", "qwen3-executor", "qwen3-verifier"}
    assert "cache_control" not in json.dumps([request.body for request in api.requests])
