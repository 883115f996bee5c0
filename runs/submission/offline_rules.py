"""What may be submitted while no model is connected: the job that the rehearsal knows, and nothing else."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files

from runs.enums import Effect, Provider, Role
from runs.errors import InvalidInput
from runs.llm.provider import HOW_TO_CONNECT
from runs.models import User
from runs.pev.contracts import PlanContract
from runs.pev.policy import Policy
from runs.pev.tools.registry import effect_of
from runs.rehearsal.job import SAMPLE, SAMPLE_REQUEST, can_carry_out
from runs.rehearsal.model import MODELS
from runs.store.input_examination import is_legible
from runs.submission import run_templates
from runs.submission.policy_defaults import current_service

type Contents = Mapping[str, Callable[[], Iterable[bytes]]]
"""Path to a function that reads the file, in chunks."""
_KNOWN = "only the sample contracts and the template “Document review” on texts and documents"
_WEB = " that looks things up on the web, with fetch_page or web_search"


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
    keys = [*run_templates.SHIPPED, *(str(template.pk) for template in run_templates.own_templates(user))]
    return frozenset(key for key in keys if not can_carry_out(run_templates.chosen(user, key).plan))


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
