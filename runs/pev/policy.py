"""The policy of a run: what a person may set before submitting, with its bounds."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from runs.enums import ApprovalPolicy, Complexity, Exhausted, Role, StepApproval
from runs.pev.contracts import Contract


class RoleModel(Contract):
    """Which model plays a role, and how hard it thinks."""

    model: Annotated[str, Field(min_length=1, max_length=120)]
    effort: Literal["low", "medium", "high"] = "medium"


class Policy(Contract):
    """Bound into every approval (G1). Times in seconds; `attempts` per step; `budget` in USD for all model calls.

    `time_limit` counts while the run does not wait for a person. `attempt_seconds` is for the calls and tools of one
    attempt. `revisions`: how many plans a person may reject. `without_reuse` names steps that are always done again.
    `same_model_verifier`: the verifier may be the executor's model. `second_person`: plans and results that wait are
    approved by somebody else than the one who submitted the task.
    """

    models: dict[Role, RoleModel]
    plan_approval: ApprovalPolicy = ApprovalPolicy.ALWAYS
    step_approval: StepApproval = StepApproval.HIGH
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    replans: Annotated[int, Field(ge=0, le=5)] = 2
    exhausted: Exhausted = Exhausted.ASK
    parallel: Annotated[int, Field(ge=1, le=32)] = 3
    rounds: Annotated[int, Field(ge=1, le=100)] = 12
    max_steps: Annotated[int, Field(ge=1, le=500)] = 40
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0
    budget: Annotated[Decimal, Field(gt=0, le=100_000, decimal_places=2)] | None = None
    time_limit: Annotated[int, Field(ge=60, le=30 * 86_400)] | None = None
    attempt_seconds: Annotated[int, Field(ge=1, le=86_400)] = 1_800
    revisions: Annotated[int, Field(ge=0, le=50)] = 10
    reuse: bool = True
    without_reuse: Annotated[tuple[str, ...], Field(max_length=500)] = ()
    same_model_verifier: bool = False
    second_person: bool = False

    @model_validator(mode="after")
    def _every_role_is_played(self) -> "Policy":
        missing = [role for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER) if role not in self.models]
        if missing:
            raise ValueError(f"no model is named for: {', '.join(missing)}")
        return self

    def changed(self, **values: object) -> "Policy":
        """The policy with other values. Raises pydantic.ValidationError for one that is out of its bounds."""
        return Policy.model_validate(self.model_dump() | values)

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

    @property
    def same_model(self) -> bool:
        """Whether the verifier judges the work of its own model: it shares the blind spots of what it judges."""
        return self.model_for(Role.VERIFIER).model == self.model_for(Role.EXECUTOR).model

    def plan_waits(self, *, agreed: bool, relaxes: bool) -> bool:
        """Whether a plan waits for a person. `agreed`: one was approved before; `relaxes`: this one asks for less."""
        match self.plan_approval:
            case ApprovalPolicy.ALWAYS:
                return True
            case ApprovalPolicy.FIRST:
                return relaxes or not agreed
            case ApprovalPolicy.NEVER:
                return False
