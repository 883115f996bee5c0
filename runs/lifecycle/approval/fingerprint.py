"""What an approval is bound to (G1): the digests, and the difference when they no longer hold."""

import hashlib
import json
from functools import lru_cache
from typing import Any

from django.conf import settings
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from runs.lifecycle import available_agents, toolset
from runs.models import Attempt, Plan, Run
from runs.pev import prompts
from runs.pev.contracts import PlanContract
from runs.pev.policy import SETTINGS, Policy
from runs.pev.policy_setting import UNSET

_AS_BEFORE = {
    name: to_jsonable_python(setting.as_before) for name, setting in SETTINGS.items() if setting.as_before is not UNSET
}
"""Settings of a policy that are younger than approvals, with the value that changes nothing that someone approved."""


INPUT_FILES = "input files"
"""The part that changes when a person gives a file."""


def digest_of(value: object) -> str:
    """SHA-256 over canonical JSON: sorted keys, no spaces, UTF-8; contracts as they are stored."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_as_json)
    return hashlib.sha256(text.encode()).hexdigest()


def _as_json(contract: object) -> object:
    if isinstance(contract, BaseModel):
        return contract.model_dump(mode="json")
    raise TypeError(f"{type(contract).__name__} has no canonical form")


def plan_digest(plan: PlanContract) -> str:
    return digest_of(plan)


def contract_of(plan: Plan) -> PlanContract:
    """The plan as it was proposed, put together from its rows."""
    steps = [step.spec for step in plan.steps.order_by("position")]
    return PlanContract(**dict(plan.header), steps=steps)


def fingerprint_of(run: Run, plan: Plan) -> dict[str, str]:
    """What would run, part by part. An approval holds while all parts stay equal."""
    policy, models = _digests_of(run.policy.model_dump_json())
    return {
        "plan": plan.digest,
        INPUT_FILES: run.inputs.digest,
        "policy": policy,
        "models": models,
        "instructions": prompts.version(),
        **({"commands": digest_of(settings.COMMANDS)} if settings.COMMANDS else {}),
        **({"MCP servers": digest_of(toolset.server_tools_bound(run.policy))} if run.policy.servers else {}),
        **({"instructions of subagents": prompts.version_for_subagents()} if run.policy.subagents else {}),
        **available_agents.bound(plan.agents),
    }


def shared_parts(run: Run, plan: Plan) -> dict[str, str]:
    """The parts that can be equal in different runs: all but the input files."""
    return {part: digest for part, digest in fingerprint_of(run, plan).items() if part != INPUT_FILES}


@lru_cache(maxsize=256)
def _digests_of(policy: str) -> tuple[str, str]:
    """Of a policy without its models, and of the models. Asked for after every fact of a run, and hardly ever new."""
    parts = _as_counted(json.loads(policy))
    models = parts.pop("models")
    return digest_of(parts), digest_of(models)


def policy_digest(policy: Policy) -> str:
    """Of the whole policy, models included."""
    return digest_of(_as_counted(policy.model_dump(mode="json")))


def _as_counted(parts: dict[str, Any]) -> dict[str, Any]:
    """A field that came later counts only where it says something else than what was always done: what was approved
    before there was such a field is still what would run.
    """
    return {name: value for name, value in parts.items() if (name, value) not in _AS_BEFORE.items()}


def differences(plan: Plan, run: Run) -> list[str]:
    """The parts that differ from what was approved, in words; empty when the approval holds. What is not there any more
    differs always: no one can have approved it.
    """
    approved, now = plan.approval_fingerprint or {}, fingerprint_of(run, plan)
    parts = [part for part in {**now, **approved} if approved.get(part) != now.get(part) or now.get(part) == ""]
    return [available_agents.change_of(part, now.get(part, "")) or part for part in parts]


def attempt_digest(attempt: Attempt) -> str:
    """What a step approval is bound to: the step's definition and exactly these results."""
    tree = attempt.tree.digest if attempt.tree else ""
    return digest_of([attempt.step.spec, attempt.number, tree, attempt.overlay, attempt.output])
