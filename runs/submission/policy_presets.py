"""The policies that a new run may start from: the default of this installation, and presets that ask more or less."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from pydantic import ValidationError

from runs.enums import ApprovalPolicy, Exhausted, ModelReview, Preset, Role, StepApproval, StepMoment
from runs.errors import InvalidInput
from runs.llm.model_servers import Service, service
from runs.pev.policy import SETTINGS, Policy, RoleModel
from runs.pev.policy_setting import in_preset

_EFFORT: dict[Role, Literal["low", "medium", "high"]] = {
    Role.PLANNER: "high",
    Role.EXECUTOR: "medium",
    Role.VERIFIER: "low",
}
_OF_ROLES = {f"{role}_{part}": (role, part) for role in _EFFORT for part in RoleModel.model_fields}
SETTABLE = (*SETTINGS, *_OF_ROLES)
_MAY_BE_NONE = frozenset(name for name in SETTINGS if Policy.model_fields[name].default is None)


def current_service() -> Service:
    """Who answers new runs, by the environment of this process."""
    return service(os.environ)


def default_policy() -> Policy:
    """The policy that form, command line and templates start from. Raises InvalidInput for a wrong `PEV_POLICY`."""
    models = current_service().models
    policy = Policy(models={role: RoleModel(model=models[role], effort=_EFFORT[role]) for role in models})
    policy = policy.model_copy(update={"same_model_verifier": policy.same_model})
    return with_texts(policy, settings.POLICY, lambda name: f"“{name}” in PEV_POLICY")


def is_set_up() -> bool:
    """Whether this installation has a policy of its own."""
    return bool(settings.POLICY)


def with_texts(policy: Policy, texts: Mapping[str, str], called: Callable[[str], str]) -> Policy:
    """The policy with values as a person typed them, by field; for roles `planner_model`, `planner_effort` and so on.

    Raises InvalidInput for a value that cannot be used; `called` returns the name of a field for people.
    """
    unknown = next((name for name in texts if name not in SETTABLE), None)
    if unknown is not None:
        raise InvalidInput(f"{called(unknown[:40])} is no field of a policy. There are: {', '.join(SETTABLE)}.")
    models = {role: player.model_dump() for role, player in policy.models.items()}
    values: dict[str, object] = {}
    for name, text in texts.items():
        if name in _OF_ROLES:
            role, part = _OF_ROLES[name]
            models[role][part] = text.strip()
        else:
            values[name] = None if name in _MAY_BE_NONE and text.strip().lower() == "none" else text.strip()
    try:
        return policy.changed(models=models, **values)
    except ValidationError as error:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"]]
        name = "_".join(place[1:3]) if place[:1] == ["models"] else "".join(place[:1])
        message = f"{called(name)} cannot be used: {first['msg']}. Correct it, or leave it out."
        raise InvalidInput(message) from error


_PLANS = {
    ApprovalPolicy.ALWAYS: "You approve every plan",
    ApprovalPolicy.FIRST: "You approve the first plan",
    ApprovalPolicy.NEVER: "No plan waits for you",
}
_RESULTS = {
    StepApproval.ALL: "every result",
    StepApproval.MEDIUM_AND_HIGH: "the results of steps with medium or high risk",
    StepApproval.HIGH: "the results of high-risk steps",
    StepApproval.NONE: "no result",
}
_STARTS = {
    StepApproval.ALL: "the start of every step",
    StepApproval.MEDIUM_AND_HIGH: "the start of steps with medium or high risk",
    StepApproval.HIGH: "the start of high-risk steps",
    StepApproval.NONE: "no result",
}
_EXHAUSTED = {
    Exhausted.ASK: "You are asked when a step is out of attempts.",
    Exhausted.ACCEPT: "A step that is out of attempts becomes an open point.",
    Exhausted.FAIL: "A step that is out of attempts fails.",
}


@dataclass(frozen=True)
class Described:
    """A preset with the title by which people choose it, and what its policy means in a sentence or two."""

    title: str
    policy: Policy

    @property
    def sentence(self) -> str:
        """Derived from the policy, because an installation may change the default."""
        plans, results = self.policy.plan_approval, self.policy.step_approval
        if plans is ApprovalPolicy.NEVER and results is StepApproval.NONE:
            asked = "You are asked about no plan and no result."
        else:
            steps = _STARTS if self.policy.step_moment is StepMoment.BEFORE else _RESULTS
            asked = f"{_PLANS[plans]} and {steps[results]}."
        review = " The AI reviews every step." if self.policy.model_review is ModelReview.ALL else ""
        return f"{asked} {_EXHAUSTED[self.policy.exhausted]}{review}"


def presets() -> Mapping[Preset, Described]:
    """All presets. The balanced one is the default policy. Raises InvalidInput for a wrong `PEV_POLICY`."""
    base = default_policy()
    values = {name: getattr(base, name) for name in SETTINGS}
    careful = base.changed(**{name: in_preset(SETTINGS[name].careful, value) for name, value in values.items()})
    hands_off = base.changed(**{name: in_preset(SETTINGS[name].hands_off, value) for name, value in values.items()})
    return {
        Preset.CAREFUL: Described("Careful", careful),
        Preset.BALANCED: Described("Balanced", base),
        Preset.HANDS_OFF: Described("Hands-off", hands_off),
    }


def preset_policy(name: str) -> Policy:
    """The policy of a preset by its name, as on the command line. Raises InvalidInput for an unknown one."""
    found = {preset.value.replace("_", "-"): one.policy for preset, one in presets().items()}
    if name not in found:
        raise InvalidInput(f"There is no preset “{name[:40]}”; there are: {', '.join(found)}.")
    return found[name]
