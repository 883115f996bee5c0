"""What may be submitted while no model is connected: the job that the rehearsal knows, and nothing else."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from runs.documents.examining import is_legible
from runs.enums import Effect, Provider, Role
from runs.errors import InvalidInput
from runs.lifecycle import templates
from runs.lifecycle.defaults import current_service
from runs.llm.provider import HOW_TO_CONNECT
from runs.models import User
from runs.pev.contracts import PlanContract, PlanStep
from runs.pev.plans.problem import Problem
from runs.pev.policy import Policy
from runs.pev.tools.toolbox import effect_of
from runs.rehearsal.job import SAMPLE, SAMPLE_REQUEST, can_carry_out, is_known, is_known_of_the_run
from runs.rehearsal.model import MODELS

type Contents = Mapping[str, Callable[[], Iterable[bytes]]]
"""Path to a function that reads the file, in chunks."""
_KNOWN = "only the sample contracts and the template “Document review” on texts and documents"
_WEB = " that looks things up on the web, with fetch_page or web_search"
_STEP_CHANGED = (
    "The offline rules cannot carry this step out: its description, its outputs and its criteria for an AI review have "
    "to stay as the planner wrote them; its name, inputs and automatic checks may change."
)
_CRITERION_CHANGED = (
    "The offline rules cannot judge this: a success criterion for an AI review has to stay as the planner wrote it."
)


def is_connected() -> bool:
    """Whether new runs are answered by a model."""
    return current_service().provider is not Provider.OFFLINE


def check_can_be_answered(policy: Policy, request: str, plan: PlanContract | None, contents: Contents) -> None:
    """Raises InvalidInput for what would be submitted to no one, or to the rehearsal although it is another job.

    What is asked for decides, not where it comes from: the sample is its request with its files, the template any
    plan whose every step is one of its steps.
    """
    models = {policy.model_for(role).model for role in Role}
    if is_connected():
        rehearsed = ", ".join(sorted(models & MODELS))
        if rehearsed and (problem := _problem(request, plan, contents)):
            raise InvalidInput(f"{problem}; {rehearsed} can do {_KNOWN}, so name other models in the policy.")
        return
    strange = ", ".join(sorted(models - MODELS))
    problem = f"No model is connected, so there is no {strange}" if strange else _problem(request, plan, contents)
    if problem:
        raise InvalidInput(f"{problem}; without a model {_KNOWN} can be run, so connect one: {HOW_TO_CONNECT}.")


def templates_that_need_a_model(user: User) -> frozenset[str]:
    """The keys of those that cannot be chosen now; none while a model is connected."""
    if is_connected():
        return frozenset()
    keys = [*templates.SHIPPED, *(str(template.pk) for template in templates.own_templates(user))]
    return frozenset(key for key in keys if not can_carry_out(templates.chosen(user, key).plan))


def beyond_the_rehearsal(policy: Policy, plan: PlanContract, done: Collection[PlanStep]) -> Iterator[Problem]:
    """What keeps this plan from being carried out where the rehearsal is the executor: all that it would refuse later,
    without the steps that are done.
    """
    if policy.model_for(Role.EXECUTOR).model not in MODELS:
        return
    for step in plan.steps:
        if step not in done and not is_known(step):
            yield Problem(_STEP_CHANGED, step_id=step.step_id, where=f"Step “{step.name}”")
    for number, criterion in enumerate(plan.success_criteria, 1):
        if not is_known_of_the_run(criterion):
            yield Problem(_CRITERION_CHANGED, criterion=number, field="text", where=f"Success criterion {number}")


def _problem(request: str, plan: PlanContract | None, contents: Contents) -> str:
    """Why the rehearsal cannot do this, or nothing."""
    if plan is not None and not can_carry_out(plan):
        web = any(effect_of(name) is Effect.READS_WEB for step in plan.steps for name in step.tools)
        return f"This plan needs a model{_WEB if web else ''}"
    if plan is None and not (request == SAMPLE_REQUEST and _is_the_sample(contents)):
        return "This task needs a model"
    if not contents:
        return "There are no files to review"
    strange = next((path for path, read in contents.items() if not is_legible(read)), None)
    return f"“{strange}” is neither a text nor a document" if strange else ""


def _is_the_sample(contents: Contents) -> bool:
    return contents.keys() == _sample().keys() and all(
        _digest(read()) == _sample()[path] for path, read in contents.items()
    )


@cache
def _sample() -> dict[str, str]:
    folder = files("runs").joinpath("samples", SAMPLE)
    return {f"{SAMPLE}/{item.name}": _digest([item.read_bytes()]) for item in folder.iterdir() if item.is_file()}


def _digest(chunks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()
