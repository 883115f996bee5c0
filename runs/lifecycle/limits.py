"""The limits of a run in money and time: when the next call is too much, and how a person raises them."""

from datetime import datetime
from decimal import Decimal
from typing import TypedDict

from django.utils import timezone
from pydantic import ValidationError

from runs import history
from runs.accounting.budgets import reserved_usd, spent_usd, worked_seconds
from runs.enums import GateStatus, PlanStatus, WorkStatus
from runs.errors import InvalidInput
from runs.events import kinds as events
from runs.lifecycle import fingerprint
from runs.lifecycle.notify import notify
from runs.lifecycle.transitions import change
from runs.models import Plan, Run, User, WorkItem
from runs.pev.numbers import amount
from runs.pev.policy import Policy


def reached(work: WorkItem, could_cost: Decimal | None, now: datetime) -> str:
    """The sentence that says which limit the next call of this work would break; empty when it may be made.

    What other calls in flight may cost at most counts as spent. When the call may be made, its own `could_cost` is
    reserved in the row. Called under the lock of the run.
    """
    run = work.run
    policy = run.policy
    if policy.time_limit is not None and (worked := worked_seconds(run, now)) >= policy.time_limit:
        return f"The run has worked for {_minutes(worked)}; its limit is {_minutes(policy.time_limit)}."
    if policy.budget is None:
        return ""
    if could_cost is None:
        return "The next model has no known price, so the budget cannot be kept."
    held, spent = reserved_usd(run, besides=work), spent_usd(run)
    if spent + held + could_cost > policy.budget:
        flight = f", and calls in flight up to ${held:.4f}" if held else ""
        return (
            f"${spent:.4f} of the budget of ${policy.budget:.2f} are spent{flight}; "
            f"the next call could cost up to ${could_cost:.4f}."
        )
    work.reserved_usd = could_cost
    work.save(update_fields=["reserved_usd"])
    return ""


class Raised(TypedDict):
    """The new limits of a decision: USD and seconds, None where nothing was said."""

    budget: Decimal | None
    time_limit: int | None


def given(budget: str, minutes: str) -> Raised:
    """What a person wrote as new limits. Raises InvalidInput for what is no amount."""
    try:
        usd, time = (amount(text) if text.strip() else None for text in (budget, minutes))
        return {"budget": usd, "time_limit": int(60 * time) if time is not None else None}
    except ValueError as error:
        raise InvalidInput("Write the new limit as a number, such as 5 or 2.50.") from error


def raise_to(run: Run, user: User, *, budget: Decimal | None, time_limit: int | None) -> None:
    """Set higher limits; an approval that held goes on to hold, and whatever waited for the limits goes on.

    Raises InvalidInput when none is higher, or one is lower, than before.
    """
    after = _raised(run.policy, {"budget": budget, "time_limit": time_limit})
    bound = [plan for plan in run.plans.filter(status=PlanStatus.APPROVED) if not fingerprint.differences(plan, run)]
    history.keep(run, policy=after)
    for plan in bound:
        Plan.objects.filter(pk=plan.pk).update(approval_fingerprint=fingerprint.fingerprint_of(run, plan))
    event = events.LimitsRaised(by=user.get_username(), budget=str(after.budget or ""), time_limit=after.time_limit)
    history.record(run.pk, event)
    for work in run.work.filter(status=WorkStatus.SUSPENDED).exclude(gates__status=GateStatus.OPEN):
        change(work, WorkStatus.READY, due_at=timezone.now())
        notify(work.pk)


def _raised(policy: Policy, wanted: dict[str, Decimal | int | None]) -> Policy:
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
