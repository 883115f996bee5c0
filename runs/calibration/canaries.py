"""Canaries of runs: at which steps there is one, what came of it, and how many each verifier has caught."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.crypto import salted_hmac

from runs.accounting.intervals import Share, wilson
from runs.enums import CaseOutcome, FaultKind
from runs.events.kinds import CanaryJudged
from runs.models import Attempt, Canary, Run
from runs.pev.policy import RULES, Policy
from runs.planted_faults.canaries import PlantedResult
from runs.store.event_log import record
from runs.text.truncate import truncate

_MAX_WHY = 500


@dataclass(frozen=True)
class CanaryTrial:
    """What came of a canary. `planted` is None if nothing could be planted, `outcome` if it was not judged; then `why`
    says why not. Of a marked one `why` names the marks.
    """

    planted: PlantedResult | None
    outcome: CaseOutcome | None
    why: str = ""


def is_due(run: Run, step_key: str) -> bool:
    """Whether this step is one of those at which the policy wants the verifier to be tested, and was not tested yet.

    Depends only on the run, the step and the secret of the installation: workers that go on after a crash decide the
    same, and no model and no author of a plan can know it.
    """
    policy = run.policy
    if policy.canary_every is None or _verifier(policy).startswith(RULES):
        return False
    chosen = _number(run, step_key) % policy.canary_every == 0
    return chosen and not Canary.objects.filter(run=run, step_key=step_key).exists()


def random_for(run: Run, step_key: str) -> Random:
    """What decides which fault is planted: the same for every worker."""
    return Random(_number(run, f"{step_key}/fault"))  # noqa: S311 nothing secret depends on it


def _number(run: Run, name: str) -> int:
    return int(salted_hmac("pevsite.canary", f"{run.pk}/{name}", algorithm="sha256").hexdigest(), 16)


def _verifier(policy: Policy) -> str:
    return policy.verifiers[0]


def store(attempt: Attempt, trial: CanaryTrial) -> Canary:
    """Store what came of a canary, in the transaction of the verdict on the real result."""
    run, key = attempt.step.plan.run, attempt.step.key
    planted = trial.planted
    return Canary.objects.create(
        run=run,
        step_key=key,
        attempt=attempt,
        model=_verifier(run.policy),
        fault=planted.kind if planted else "",
        place=planted.place if planted else "",
        was=planted.was if planted else "",
        planted=planted.planted if planted else "",
        outcome=trial.outcome or "",
        why=truncate(trial.why, _MAX_WHY),
    )


def note(canary: Canary, attempt: Attempt) -> None:
    """Write the line of the history, after that of the verdict."""
    event = CanaryJudged(
        step=canary.step_key,
        attempt=attempt.number,
        fault=FaultKind(canary.fault).words if canary.fault else "",
        outcome=canary.outcome,
        why=canary.why,
    )
    record(canary.run_id, event)


@dataclass(frozen=True)
class CanaryRate:
    """How many canaries of some runs a verifier has caught (refused), let through without a mark, passed with one, and
    judged without a usable verdict. `skipped`: those that were not judged.
    """

    model: str
    caught: Share
    missed: Share
    marked: int
    no_verdict: int
    skipped: int


def canary_rates(runs: QuerySet[Run]) -> list[CanaryRate]:
    """Of each verifier in these runs, in one query. Canaries that were not judged count in no share."""
    counts = {outcome.value: Count("pk", filter=Q(outcome=outcome)) for outcome in CaseOutcome}
    skipped = Count("pk", filter=Q(outcome=""))
    mine = Canary.objects.filter(run__in=runs.order_by().values("pk")).order_by("model")
    rows: Iterable[Any] = mine.values("model").annotate(skipped=skipped, **counts)
    return [_rate(row) for row in rows]


def _rate(row: Mapping[str, Any]) -> CanaryRate:
    judged = sum(row[outcome.value] for outcome in CaseOutcome)
    return CanaryRate(
        model=row["model"],
        caught=wilson(row[CaseOutcome.REFUSED], judged),
        missed=wilson(row[CaseOutcome.PASSED], judged),
        marked=row[CaseOutcome.MARKED],
        no_verdict=row[CaseOutcome.NO_VERDICT],
        skipped=row["skipped"],
    )


def passed_in(run: Run) -> list[Canary]:
    """The canaries of a run that its verifier let through."""
    return [canary for canary in Canary.objects.filter(run=run) if canary.was_passed]
