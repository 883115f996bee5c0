"""The limits of a run in money, time and uses of tools: whether the next call exceeds one, and raising them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import ROUND_UP, Decimal
from typing import NamedTuple, TypedDict

from django.utils import timezone
from pydantic import ValidationError

from runs.accounting.prices import Bound, bound_of
from runs.accounting.usage import reserved_usd, reserved_uses, served_uses, spent_usd, worked_seconds
from runs.contracts.ports import FileInfo
from runs.enums import AuditKind, PlanStatus, Role, WorkStatus
from runs.errors import InvalidInput
from runs.events import kinds as events
from runs.lifecycle import quotas
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.effects import resume_suspended
from runs.lifecycle.toolset import tool_names
from runs.llm.capabilities import capacities
from runs.models import Plan, Run, User, WorkItem
from runs.pev.planner import PlanBrief, question, simple_question
from runs.pev.policy import Policy
from runs.pev.tools.registry import specs
from runs.store import audit_trail, event_log
from runs.text.numbers import amount

MIN_PLAN = 1_500  # tokens that the answer of a planner needs
MIN_ANSWER = 800
"""Tokens of a plan with a few steps, and of a report, a verdict or a short answer. With less, answers are often cut
off, and paid for in vain.
"""

CANARY_SECONDS = 120
"""The most time for judging a canary. Then it counts as not judged."""
_CANARY_SHARE = 10


class Allowance(NamedTuple):
    """How many tokens the next answer may have; 0 and a `sentence` if a limit is reached.

    `used_up` are the offered tools that the run may not use again. If there are any, nothing is asked.
    """

    tokens: int
    sentence: str = ""
    used_up: frozenset[str] = frozenset()


def min_answer(role: Role) -> int:
    return MIN_PLAN if role is Role.PLANNER else MIN_ANSWER


def least_budget(policy: Policy, request: str, files: Iterable[str]) -> Decimal | None:
    """The most that the first question to the planner may cost in USD, without file contents; None without a price."""
    player, no_info = policy.model_for(Role.PLANNER), FileInfo("0" * 64, 0)
    brief = PlanBrief(
        request=request,
        files=dict.fromkeys(files, no_info),
        previews={},
        tools=tuple(specs(tool_names(policy))),
        model=player.model,
        effort=player.effort,
        max_steps=policy.max_steps,
    )
    simple = Role.PLANNER in capacities(policy).simple
    bound = bound_of(simple_question(brief) if simple else question(brief), timezone.now().date())
    return bound.of(MIN_PLAN) if bound else None


def allowance(
    work: WorkItem, bound: Bound | None, wanted: int, now: datetime, *, least: int = MIN_ANSWER, whole: bool = False
) -> Allowance:
    """What the limits of the run leave for the next call of this work. `wanted` is the number of tokens of its answer.

    The most that other calls in flight may cost counts as spent, and the rest is shared with other work that is about
    to ask. Less than `least` tokens count as none, and with `whole` less than `wanted`. The most that the call may cost
    is reserved in the row.
    """
    # Called while the row of the run is locked. Otherwise two steps could both spend the same rest of the budget.
    run = work.run
    policy = run.policy
    if policy.time_limit is not None and (worked := worked_seconds(run, now)) >= policy.time_limit:
        return Allowance(0, f"The run has worked for {_minutes(worked)}; its limit is {_minutes(policy.time_limit)}.")
    if policy.budget is None:
        return Allowance(wanted)
    if bound is None:
        return Allowance(0, "The next model has no known price, so the budget cannot be kept.")
    held, spent = reserved_usd(run, besides=work), spent_usd(run)
    left = policy.budget - spent - held
    least = wanted if whole else min(wanted, least)
    # Other work of this run that has reserved nothing yet will want a share of the rest.
    others = run.work.filter(status__in=[WorkStatus.READY, WorkStatus.LEASED], reserved_usd=0).exclude(pk=work.pk)
    tokens = max(bound.tokens_for(left / (1 + others.count()), wanted), bound.tokens_for(left, least))
    if tokens < least:
        flight = f", and calls in progress may cost up to {_up_to_a_cent(held)}" if held else ""
        cut = "The last two answers were cut off because there was not enough room. " if whole else ""
        sentence = (
            f"{cut}${spent:,.2f} of the budget of ${policy.budget:,.2f} is spent{flight}; "
            f"the next call may cost up to {_up_to_a_cent(bound.of(least))}."
        )
        return Allowance(0, sentence)
    work.reserved_usd = bound.of(tokens)
    work.save(update_fields=["reserved_usd"])
    return Allowance(tokens)


def reserve_for_canary(work: WorkItem, bound: Bound | None, tokens: int, asked: Decimal, now: datetime) -> str:
    """Reserve the most that a question about a canary may cost. Returns why it must not be asked; empty if it may.

    A canary must not bring the run to a limit: with the questions before it, which have `asked` for so much, it may
    cost a tenth of what is left of the budget, and last for a tenth of the time that is left.
    """
    # Called while the row of the run is locked, like `allowance`.
    run = work.run
    policy = run.policy
    if policy.time_limit is not None:
        left = policy.time_limit - worked_seconds(run, now)
        if left < CANARY_SECONDS * _CANARY_SHARE:
            return "It could have taken more than a tenth of the time that the run has left."
    if policy.budget is None:
        return ""
    if bound is None:
        return "The model has no known price, so the budget could not have been kept."
    most = bound.of(tokens)
    left_usd = policy.budget - spent_usd(run) - reserved_usd(run, besides=work)
    if (asked + most) * _CANARY_SHARE > left_usd:
        return "It could have cost more than a tenth of what is left of the budget."
    work.reserved_usd = most
    work.save(update_fields=["reserved_usd"])
    return ""


def used_up(work: WorkItem, wanted: Mapping[str, int], ordinal: int) -> frozenset[str]:
    """The service tools that the run might use too often if the question at this place offered them.

    If there are none, the `wanted` uses of each are reserved in the row.
    """
    # Called while the row of the run is locked, so that parallel steps cannot both use the same rest. The place is
    # stored in the row because resumed work has to ask the same questions again (D3).
    counted = served_uses(work.run) + reserved_uses(work.run, besides=work)
    most = work.run.policy.service_uses_in_run
    gone = frozenset(name for name, uses in wanted.items() if counted[name] + uses > most)
    work.reserved_uses = {} if gone else dict(wanted)
    work.withheld = {**work.withheld, **dict.fromkeys(sorted(gone), ordinal)}
    work.save(update_fields=["reserved_uses", "withheld"])
    return gone


class NewLimits(TypedDict):
    """The new limits of a decision, in USD and seconds; None if not given."""

    budget: Decimal | None
    time_limit: int | None


def parse_limits(budget: str, minutes: str) -> NewLimits:
    """The limits that a person has typed. Raises InvalidInput for text that is not a number."""
    try:
        usd, time = (amount(text) if text.strip() else None for text in (budget, minutes))
        return {"budget": usd, "time_limit": int(60 * time) if time is not None else None}
    except ValueError as error:
        raise InvalidInput("Write the new limit as a number, such as 5 or 2.50.") from error


def raise_to(run: Run, user: User, *, budget: Decimal | None, time_limit: int | None) -> None:
    """Set higher limits. Approvals that held still hold, and suspended work goes on.

    Raises InvalidInput if no limit is higher than before, or one is lower.
    """
    before = run.policy
    after = _raise_limits(before, {"budget": budget, "time_limit": time_limit})
    if after.budget is not None:
        quotas.check_higher_budget(run, after.budget)
    bound = [plan for plan in run.plans.filter(status=PlanStatus.APPROVED) if not fingerprint.differences(plan, run)]
    event_log.keep(run, policy=after)
    for plan in bound:
        Plan.objects.filter(pk=plan.pk).update(approval_fingerprint=fingerprint.fingerprint_of(run, plan))
    event = events.LimitsRaised(by=user.get_username(), budget=str(after.budget or ""), time_limit=after.time_limit)
    event_log.record(run.pk, event)
    for name, unit in (("budget", "USD"), ("time_limit", "seconds")):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            amounts = {"before": f"{old:,} {unit}", "after": f"{new:,} {unit}"}
            audit_trail.record(
                AuditKind.LIMIT_RAISED, by=user, run_id=run.pk, subject=name.replace("_", " "), **amounts
            )
    resume_suspended(run)


def _raise_limits(policy: Policy, wanted: dict[str, Decimal | int | None]) -> Policy:
    changed = {name: value for name, value in wanted.items() if value is not None and getattr(policy, name) is not None}
    if any(value < getattr(policy, name) for name, value in changed.items()):
        raise InvalidInput("A limit can only be raised here, not lowered.")
    if not any(value > getattr(policy, name) for name, value in changed.items()):
        raise InvalidInput("Say what the new limit is: it has to be higher than the old one.")
    try:
        return policy.changed(**changed)
    except ValidationError as error:
        raise InvalidInput(f"That limit cannot be set: {error.errors()[0]['msg']}.") from error


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def _up_to_a_cent(amount: Decimal) -> str:
    return f"${amount.quantize(Decimal('0.01'), ROUND_UP):,.2f}"
