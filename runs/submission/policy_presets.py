"""Presets: three whole policies that a new run may start from, by how closely people want to be asked."""

from collections.abc import Mapping
from dataclasses import dataclass

from runs.enums import ApprovalPolicy, Exhausted, ModelReview, Preset, StepApproval, StepMoment
from runs.errors import InvalidInput
from runs.pev.policy import SETTINGS, Policy
from runs.pev.policy_setting import in_preset
from runs.submission.policy_defaults import default_policy

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
    """A preset as people choose it: its title, its policy, and what that means in a sentence or two."""

    title: str
    policy: Policy

    @property
    def sentence(self) -> str:
        """Made of the policy, so that it is true whatever this installation sets."""
        plans, results = self.policy.plan_approval, self.policy.step_approval
        if plans is ApprovalPolicy.NEVER and results is StepApproval.NONE:
            asked = "You are asked about no plan and no result."
        else:
            steps = _STARTS if self.policy.step_moment is StepMoment.BEFORE else _RESULTS
            asked = f"{_PLANS[plans]} and {steps[results]}."
        review = " The AI reviews every step." if self.policy.model_review is ModelReview.ALL else ""
        return f"{asked} {_EXHAUSTED[self.policy.exhausted]}{review}"


def presets() -> Mapping[Preset, Described]:
    """All of them; the balanced one is as this installation sets it. Raises InvalidInput for a wrong `PEV_POLICY`."""
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
