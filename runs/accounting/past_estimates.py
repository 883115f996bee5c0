"""The estimate that is stored with a plan, and what earlier runs have used, on which it rests.

All finished runs of the installation count, no matter who may see them: only ranges over several runs are given out.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum, TextField
from django.db.models.functions import Cast, Coalesce

from runs.accounting.estimates import History, Measured, Searches, estimate
from runs.enums import Complexity, OriginalPages, Role, RunStatus, WorkKind, WorkStatus
from runs.llm.capabilities import pages_for
from runs.models import Agent, Attempt, Plan, Run, Step, WorkItem
from runs.pev.agents import named_in, policy_for_agent
from runs.pev.contracts import PlanContract
from runs.pev.conversation.originals import MAX_OF_CONVERSATION, PAGE_TOKENS, weight
from runs.pev.plans.estimate import Estimate
from runs.pev.policy import Policy
from runs.pev.read_set import meant_by
from runs.store import trees
from runs.store.journal import CANARIES

MIN_RUNS = 3
"""The least number of finished runs from which figures count as measured."""
LATEST = 200
"""The number of latest passed attempts, or final answers, that are measured."""
CHARACTERS_IN_A_TOKEN = 4
"""Roughly, in European languages. Bytes are counted as characters."""
_TAIL = 10
"""Percent that are cut off at each end, if there are at least that many samples."""

type _Sample = tuple[int, Decimal | None, int]
"""Run, USD (None when a call was unpriced), tokens of all kinds."""


def estimate_for(run: Run, plan: PlanContract) -> Estimate:
    """What this plan may cost under the run's policy, with the texts of the given files and the models of agents."""
    players = _policies_by_step(plan, run.policy)
    return _estimate(plan, run.policy, players, _tokens(run, plan, players))


def estimate_without_files(plan: PlanContract, policy: Policy) -> Estimate:
    """What a plan may cost under a policy if the files are not known yet: from costs of earlier runs."""
    return _estimate(plan, policy, _policies_by_step(plan, policy), {})


def _policies_by_step(plan: PlanContract, policy: Policy) -> Mapping[str, Policy]:
    """By key of the step, the policy with the model of its agent, if it has one."""
    there = Agent.objects.definitions(named_in(plan.steps))
    return {step.step_id: policy_for_agent(policy, there.get(step.agent)) for step in plan.steps}


def _estimate(plan: PlanContract, policy: Policy, players: Mapping[str, Policy], read: Mapping[str, int]) -> Estimate:
    models = {role: policy.model_for(role).model for role in Role}
    own = {key: player.model_for(Role.EXECUTOR).model for key, player in players.items()}
    searches = Searches(policy.service_uses, policy.service_uses_in_run)
    known, attempts = history(models), policy.attempts
    return estimate(plan, models, attempts=attempts, history=known, read=read, executors=own, searches=searches)


def _tokens(run: Run, plan: PlanContract, players: Mapping[str, Policy]) -> dict[str, int]:
    """How many tokens each step must read: those of texts, and of pages that the executor is shown as images."""
    known = trees.readings_of(run.inputs)
    files, pages = dict[str, int](), dict[str, dict[OriginalPages, int]]()
    for path, info in trees.files_of(run.inputs).items():
        files[path] = known.sizes.get(info.sha256, 0 if info.sha256 in known.problems else info.size)
        every, pictorial = known.pages.get(info.sha256, (0, 0))
        dense = every and max(every, weight(files[path]))
        pages[path] = {OriginalPages.NEVER: 0, OriginalPages.LAYOUT: pictorial, OriginalPages.ALWAYS: dense}
    found: dict[str, int] = {}
    for step in plan.steps:
        meant, which = meant_by([step], files), pages_for(players[step.step_id], Role.EXECUTOR)
        shown = min(sum(pages[path][which] for path in meant), MAX_OF_CONVERSATION)
        found[step.step_id] = sum(files[path] for path in meant) // CHARACTERS_IN_A_TOKEN + shown * PAGE_TOKENS
    return found


def estimate_of(plan: Plan, steps: Iterable[Step]) -> Estimate | None:
    """The stored estimate of a plan, without steps that keep a result; None if there is none."""
    if plan.estimate is None:
        return None
    return plan.estimate.without([step.key for step in steps if step.reused_from_id])


def history(models: Mapping[Role, str]) -> History:
    """What runs with the same models have used: executor and verifier by complexity, and final answers."""
    if Run.objects.filter(status=RunStatus.FINISHED)[:MIN_RUNS].count() < MIN_RUNS:
        return {}
    found: dict[tuple[Role, Complexity | None], list[_Sample]] = defaultdict(list)
    passed = Attempt.objects.filter(verdict__passed=True, reused_from=None, agent__isnull=True)
    # PostgreSQL cannot compare values of type json, so the column is compared as text.
    passed = passed.annotate(delegated=Cast("subagents", TextField())).filter(delegated="{}")
    answers = WorkItem.objects.filter(kind=WorkKind.FINALISE, status=WorkStatus.DONE)
    for role in (Role.EXECUTOR, Role.VERIFIER):
        for complexity, *sample in _samples(passed, "step__plan__run", role, models[role], "step__complexity"):
            found[role, Complexity(complexity)].append((sample[0], sample[1], sample[2]))
    for role in (Role.SYNTHESIZER, Role.VERIFIER):
        for run, cost, tokens in _samples(answers, "run", role, models[role]):
            found[role, None].append((run, cost, tokens))
    return {key: one for key, samples in found.items() if (one := _usage_in(samples))}


def _samples(rows: QuerySet[Any], run: str, role: Role, model: str, *also: str) -> list[tuple[Any, ...]]:
    """What the latest of these rows used in a role, in finished runs with this model; zero if no model was asked."""
    latest = rows.filter(_uses_model(run, role, model), **{f"{run}__status": RunStatus.FINISHED}).order_by("-pk")
    mine = Q(model_calls__role=role, model_calls__ordinal__lt=CANARIES)  # other runs may have no canaries
    kinds = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
    used = rows.model.objects.filter(pk__in=latest.values("pk")[:LATEST]).annotate(
        spent=Coalesce(Sum("model_calls__cost_usd", filter=mine), Decimal(0)),
        unpriced=Count("model_calls", filter=mine & Q(model_calls__cost_usd__isnull=True)),
        **{f"sum_{kind}": Coalesce(Sum(f"model_calls__{kind}_tokens", filter=mine), 0) for kind in kinds},
    )
    tokens = sum((F(f"sum_{kind}") for kind in kinds[1:]), F(f"sum_{kinds[0]}"))
    listed = used.annotate(tokens=tokens).order_by().values_list(*also, f"{run}_id", "spent", "unpriced", "tokens")
    return [(*row[:-3], None if row[-2] else row[-3], row[-1]) for row in listed]


def _uses_model(run: str, role: Role, model: str) -> Q:
    """Runs whose policy names this model for the role. A synthesizer without a model has that of the executor."""
    path = f"{run}__policy__models"
    named = Q(**{f"{path}__{role}__model": model})
    if role is not Role.SYNTHESIZER:
        return named
    return named | Q(**{f"{path}__{role}__isnull": True, f"{path}__{Role.EXECUTOR}__model": model})


def _usage_in(samples: list[_Sample]) -> Measured | None:
    """The range of usage; None if there are too few runs, and without USD if too few of them had prices."""
    runs = len({run for run, _, _ in samples})
    if runs < MIN_RUNS:
        return None
    priced = [(run, cost) for run, cost, _ in samples if cost is not None]
    known = len({run for run, _ in priced}) >= MIN_RUNS
    low, high = spread([cost for _, cost in priced]) if known else (None, None)
    tokens_low, tokens_high = spread([tokens for _, _, tokens in samples])
    return Measured(runs=runs, low=low, high=high, tokens_low=tokens_low, tokens_high=tokens_high)


def spread[Amount: (int, Decimal)](amounts: list[Amount]) -> tuple[Amount, Amount]:
    """The range from the 10th to the 90th percentile (nearest rank); of fewer than ten samples, the whole range."""
    ordered = sorted(amounts)
    cut = len(ordered) * _TAIL // 100
    return ordered[cut], ordered[-1 - cut]
