"""The policy of a run: what a person may set before submitting, with its bounds."""

import re
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from runs.contracts.base import Contract
from runs.enums import (
    ApprovalPolicy,
    Complexity,
    Executor,
    Exhausted,
    ModelReview,
    OriginalPages,
    Role,
    StepApproval,
    StepMoment,
)
from runs.errors import InvalidInput
from runs.text.domains import sites
from runs.text.plural import pluralize

_COMPLEXITIES = {
    "none": frozenset[Complexity](),
    "high": frozenset({Complexity.HIGH}),
    "medium_and_high": frozenset({Complexity.MEDIUM, Complexity.HIGH}),
    "all": frozenset(Complexity),
}
"""What the choices of `step_approval` and `model_review` mean."""


def _as_sites(text: str) -> str:
    """A list of sites in the one way that it is written, so that the same list is the same policy."""
    try:
        return str(sites(text))
    except InvalidInput as error:
        raise ValueError(str(error)) from error


def _as_names(value: object) -> object:
    """Names as somebody wrote them, in the one way that they are kept."""
    return sorted({name for name in re.split(r"[\s,;+]+", value) if name}) if isinstance(value, str) else value


_ServerName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,29}$")]
_AgentName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,59}$")]
_ServiceTool = Literal["code_execution", "web_fetch", "web_search"]
RULES = "offline-"
"""What the names of the offline rules begin with, which stand in for models."""


class RoleModel(Contract):
    """Which model plays a role, and how hard it thinks."""

    model: Annotated[str, Field(min_length=1, max_length=120)]
    effort: Literal["low", "medium", "high"] = "medium"


class Policy(Contract):
    """Bound into every approval (G1). Times in seconds; `attempts` per step; `budget` in USD for all model calls.

    `time_limit` counts while the run does not wait for a person. `attempt_seconds` is for the calls and tools of one
    attempt. `revisions`: how often a person may send a plan back, or ask for another at an error. `questions`: how
    often models may ask a person. `commands`: whether steps and checks may run those of the installation. `web`: the
    sites that steps may read, as `texts.domains` reads them, none if empty, and `web_pages` how many pages of them in
    all. `service_tools`: those of the tools that the model's service runs itself which steps may use, at most
    `service_uses` times each in one attempt and `service_uses_in_run` in all. `servers`: MCP servers whose tools steps
    may call, and `acting_calls` how often people may be asked to let one of these act outside. `executor`: what runs
    the loops of planner and executor. `subagents`: the agents of the installation to which steps may hand parts of
    their work.
    `without_reuse` names steps that are always done again.
    `fallback_verifier`: the model that judges where the verifier gives no usable verdict, none if empty.
    `same_model_verifier`: a verifier may be the executor's model. `second_person`: plans and results that wait are
    approved by somebody else than the one who submitted the task. `step_moment`: whether the steps of `step_approval`
    wait once they have passed verification, or before they start.

    `min_confidence` is asked of the executor, `min_verifier_confidence` of the verifier. A written Markdown file has at
    least `min_document_bytes`, unless the plan itself says how long it is to be. `model_review`: which steps a model
    looks at even where checks decide every criterion. Without `sources_needed` no criterion is about sources, and
    nothing has to rest on them. `original_pages`: which pages models see as they look, where they take them.
    """

    models: dict[Role, RoleModel]
    plan_approval: ApprovalPolicy = ApprovalPolicy.ALWAYS
    step_approval: StepApproval = StepApproval.HIGH
    step_moment: StepMoment = StepMoment.AFTER
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    replans: Annotated[int, Field(ge=0, le=5)] = 2
    exhausted: Exhausted = Exhausted.ASK
    parallel: Annotated[int, Field(ge=1, le=32)] = 3
    executor: Executor = Executor.MESSAGES
    rounds: Annotated[int, Field(ge=1, le=100)] = 12
    max_steps: Annotated[int, Field(ge=1, le=500)] = 40
    min_confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.5
    min_verifier_confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.0
    min_document_bytes: Annotated[int, Field(ge=0, le=1_000_000)] = 100
    model_review: ModelReview = ModelReview.MEDIUM_AND_HIGH
    sources_needed: bool = True
    original_pages: OriginalPages = OriginalPages.LAYOUT
    budget: Annotated[Decimal, Field(gt=0, le=100_000, decimal_places=2)] | None = None
    time_limit: Annotated[int, Field(ge=60, le=30 * 86_400)] | None = None
    attempt_seconds: Annotated[int, Field(ge=1, le=86_400)] = 1_800
    revisions: Annotated[int, Field(ge=0, le=50)] = 10
    questions: Annotated[int, Field(ge=0, le=50)] = 5
    commands: bool = True
    web: Annotated[str, Field(max_length=5_000), AfterValidator(_as_sites)] = ""
    web_pages: Annotated[int, Field(ge=1, le=1_000)] = 30
    service_tools: Annotated[tuple[_ServiceTool, ...], BeforeValidator(_as_names)] = ()
    service_uses: Annotated[int, Field(ge=1, le=100)] = 8
    service_uses_in_run: Annotated[int, Field(ge=1, le=1_000)] = 40
    servers: Annotated[tuple[_ServerName, ...], Field(max_length=50), BeforeValidator(_as_names)] = ()
    acting_calls: Annotated[int, Field(ge=0, le=1_000)] = 20
    subagents: Annotated[tuple[_AgentName, ...], Field(max_length=20), BeforeValidator(_as_names)] = ()
    reuse: bool = True
    without_reuse: Annotated[tuple[str, ...], Field(max_length=500)] = ()
    fallback_verifier: Annotated[str, Field(max_length=120)] = ""
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

    def step_waits(self, complexity: Complexity, moment: StepMoment = StepMoment.AFTER) -> bool:
        """Whether a step of this complexity waits for a person at this moment, by default after verification."""
        return moment is self.step_moment and complexity in _COMPLEXITIES[self.step_approval]

    @property
    def asks_about_steps(self) -> bool:
        """Whether people are asked about any step at all, so that somebody is there to look."""
        return self.step_approval is not StepApproval.NONE

    def model_reviews(self, complexity: Complexity) -> bool:
        """Whether a model looks at a step of this complexity although checks decide all of its criteria."""
        return complexity in _COMPLEXITIES[self.model_review]

    @property
    def verifiers(self) -> tuple[str, ...]:
        """The models that judge, in the order in which they are asked."""
        verifier = self.model_for(Role.VERIFIER).model
        return (verifier, self.fallback_verifier) if self.fallback_verifier else (verifier,)

    @property
    def same_model(self) -> bool:
        """Whether a verifier judges the work of its own model: it shares the blind spots of what it judges."""
        return self.model_for(Role.EXECUTOR).model in self.verifiers

    @property
    def by_rules(self) -> bool:
        """Whether offline rules play every role: no AI is involved, and how sure they say they are means nothing."""
        return all(self.model_for(role).model.startswith(RULES) for role in Role)

    @property
    def review(self) -> str:
        """Who judges what no automatic check decides, for people."""
        return "offline rules" if self.by_rules else "AI review"

    def reviews(self, count: int) -> str:
        """So many criteria that no automatic check decides, and who judges them."""
        if self.by_rules:
            return f"{count} by offline rules"
        return pluralize(count, "AI review")

    def plan_waits(self, *, agreed: bool, relaxes: bool) -> bool:
        """Whether a plan waits for a person. `agreed`: one was approved before; `relaxes`: this one asks for less."""
        match self.plan_approval:
            case ApprovalPolicy.ALWAYS:
                return True
            case ApprovalPolicy.FIRST:
                return relaxes or not agreed
            case ApprovalPolicy.NEVER:
                return False


MAX_WINDOW = 1_000_000_000
"""Tokens; a server that names more, or none at all, is not believed."""


class Capacity(Contract):
    """What the model of a role is shown: pages as they look, and so many tokens with its answer; None where nobody
    knows how many.
    """

    pages: OriginalPages = OriginalPages.NEVER
    window: Annotated[int, Field(ge=1, le=MAX_WINDOW)] | None = None


class Capacities(Contract):
    """What decides, beside the policy, how much a piece of work shows the models that it asks. `planner_tools`: whether
    the planner is offered tools, too. One whose answer comes as the input of a tool can call no other. `service_tools`:
    whether the executor's service runs tools itself. `subagents`: of each, by name. `simple`: the roles whose models
    are asked in the simple form. The last two are left out where they are empty, as by earlier versions.
    """

    executor: Capacity = Capacity()
    verifier: Capacity = Capacity()
    planner_tools: bool = False
    service_tools: bool = False
    subagents: Annotated[dict[str, Capacity], Field(exclude_if=lambda known: not known)] = {}
    simple: Annotated[list[Role], Field(exclude_if=lambda roles: not roles)] = []
