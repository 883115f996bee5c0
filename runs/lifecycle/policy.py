"""Owns the policy of a run: what a person may set before submitting, with its bounds."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from runs.enums import ApprovalPolicy, Complexity, Exhausted, Role, StepApproval
from runs.pev.contracts import Contract


class RoleModel(Contract):
    """Which model plays a role, and how hard it thinks."""

    model: Annotated[str, Field(min_length=1, max_length=120)]
    effort: Literal["low", "medium", "high"] = "medium"


class Policy(Contract):
    """Bound into every approval (G1). Times in seconds; `attempts` per step."""

    models: dict[Role, RoleModel]
    plan_approval: ApprovalPolicy = ApprovalPolicy.ALWAYS
    step_approval: StepApproval = StepApproval.HIGH
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    replans: Annotated[int, Field(ge=0, le=5)] = 2
    exhausted: Exhausted = Exhausted.ASK
    parallel: Annotated[int, Field(ge=1, le=32)] = 3
    rounds: Annotated[int, Field(ge=1, le=100)] = 12
    most_steps: Annotated[int, Field(ge=1, le=500)] = 40
    least_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0

    @model_validator(mode="after")
    def _every_role_is_played(self) -> "Policy":
        missing = [role for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER) if role not in self.models]
        if missing:
            raise ValueError(f"no model is named for: {', '.join(missing)}")
        return self

    def model_for(self, role: Role) -> RoleModel:
        """The synthesizer is played by the executor's model unless it has its own."""
        return self.models.get(role) or self.models[Role.EXECUTOR]

    def step_waits(self, complexity: Complexity) -> bool:
        """Whether a step of this complexity waits for a person once it has passed verification."""
        match self.step_approval:
            case StepApproval.NONE:
                return False
            case StepApproval.HIGH:
                return complexity is Complexity.HIGH
            case StepApproval.MEDIUM_AND_HIGH:
                return complexity is not Complexity.LOW
            case StepApproval.ALL:
                return True

    def plan_waits(self, version: int) -> bool:
        """Whether this version of the plan waits for a person."""
        match self.plan_approval:
            case ApprovalPolicy.ALWAYS:
                return True
            case ApprovalPolicy.FIRST:
                return version == 1
            case ApprovalPolicy.NEVER:
                return False
