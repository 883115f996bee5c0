"""Reuse of passed attempts: the key that says that nothing would come out otherwise, and where one is found."""

from runs.enums import SETTLED_STEPS, Role, StepStatus
from runs.lifecycle.fingerprint import digest_of
from runs.lifecycle.state import State
from runs.models import Attempt, Gate
from runs.pev import prompts
from runs.pev.policy import Policy
from runs.reading.requests import judged_at, requests_of

_DECIDES = (
    "rounds",
    "attempt_seconds",
    "min_confidence",
    "min_verifier_confidence",
    "min_document_bytes",
    "model_review",
    "sources_needed",
)
"""The fields of a policy under which the same attempt could come out otherwise."""


def key_of(state: State, key: str) -> str:
    """The digest of all that an attempt at this step depends on: definition, visible files, results it rests on,
    the parts of the policy that matter, models and instructions. The names of the other steps are for orientation
    only: with them in it, a step that is added to a plan would have all others paid for again.
    """
    run, plan = state.run, state.plan
    assert plan is not None
    policy, step = run.policy, state.steps[key]
    before = [state.steps[name] for name in sorted(step.depends_on)]
    return digest_of(
        {
            "request": run.request,
            "goal": plan.header.goal,
            "context": plan.header.context,
            "step": state.specs[key],
            "tree": run.head.digest,
            "requests": [
                (gate.request, gate.reason, gate.attempt.fingerprint) for gate in _requests(state, key) if gate.attempt
            ],
            "excluded": run.excluded or (),
            "results": [one.fingerprint for one in before if one.status in SETTLED_STEPS],
            "models": [policy.model_for(role) for role in (Role.EXECUTOR, Role.VERIFIER)],
            "policy": {name: getattr(policy, name) for name in _DECIDES},
            "instructions": prompts.version(),
        }
    )


def differing(one: Policy, other: Policy) -> list[str]:
    """What of two policies differs that an attempt's result may depend on: fields, and `models`."""
    models = [[policy.model_for(role) for role in (Role.EXECUTOR, Role.VERIFIER)] for policy in (one, other)]
    fields = [name for name in _DECIDES if getattr(one, name) != getattr(other, name)]
    return [*fields, *(["models"] if models[0] != models[1] else [])]


def _requests(state: State, key: str) -> list[Gate]:
    """What people asked for that this step's result is judged by. There is none before anything was tried."""
    plan = state.plan
    assert plan is not None
    if plan.version == 1 and state.steps[key].tries <= 1:
        return []
    return [gate for gate in requests_of(state.run) if judged_at(gate, plan.header, state.steps) == key]


def find(state: State, key: str, reuse_key: str) -> Attempt | None:
    """The newest passed attempt with this key, of the owner's own runs (S4), whose result was kept.

    None when reuse is off for the run or the step, or when it wrote files that only its own plan declared.
    """
    run = state.run
    if not run.policy.reuse or key in run.policy.without_reuse:
        return None
    same = Attempt.objects.filter(reuse_key=reuse_key)
    if not same.exists():  # nearly always, and a third of the cost of the whole question
        return None
    passed = same.passed().filter(
        reused_from=None,
        step__status=StepStatus.PASSED,
        step__plan__run__owner=run.owner_id,
    )
    newest = passed.order_by("-pk").values_list("pk", flat=True).first()
    if newest is None:
        return None
    found = Attempt.objects.select_related("step__plan", "verdict").get(pk=newest)
    return found if set(found.overlay) <= set(state.specs[key].outputs) else None
