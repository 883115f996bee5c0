"""The policy of a run: what a person may set before submitting, with its bounds."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from runs.contracts.base import Contract
from runs.enums import (
    ApprovalPolicy,
    AtLimit,
    Complexity,
    Executor,
    Exhausted,
    GateKind,
    ModelReview,
    OriginalPages,
    Role,
    StepApproval,
    StepMoment,
)
from runs.errors import InvalidInput
from runs.pev.decision_limits import (
    APPROVERS,
    MAX_HOURS,
    MAX_NAME,
    OWNER,
    DecisionLimits,
    as_assignee,
    as_limits,
    of_kind,
    parse,
)
from runs.pev.policy_setting import Installed, Setting, SettingGroup
from runs.text.domains import sites
from runs.text.percent import percent
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
    """Names as someone wrote them, in the one way that they are kept."""
    return sorted({name for name in re.split(r"[\s,;+]+", value) if name}) if isinstance(value, str) else value


_Hours = Annotated[int, Field(ge=1, le=MAX_HOURS)]
_ServerName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,29}$")]
_AgentName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,59}$")]
_ServiceTool = Literal["code_execution", "web_fetch", "web_search"]
RULES = "offline-"
"""What the names of the offline rules begin with, which stand in for models."""


MIN_CAREFUL_CONFIDENCE = 0.7
"""Of executor and verifier, where the careful preset asks for more than the installation."""
_SHARE = "0 to 1; less does not pass"


def _at_least_careful(confidence: float) -> float:
    return max(confidence, MIN_CAREFUL_CONFIDENCE)


class RoleModel(Contract):
    """Which model plays a role, and how hard it thinks."""

    model: Annotated[str, Field(min_length=1, max_length=120)]
    effort: Literal["low", "medium", "high"] = "medium"


class Policy(Contract):
    """What a person sets before submitting. Bound into every approval (G1).

    Times in seconds. `budget`: USD for all model calls. `time_limit` counts while the run does not wait for a person.
    `attempt_seconds` is for the calls and tools of one attempt. `web`: as `runs.text.domains` reads it.
    `without_reuse`: steps that are always done again. Without `sources_needed` no criterion is about sources, and
    nothing has to rest on them.
    """

    models: dict[Role, RoleModel]
    # What people see of a setting is declared with it. They are in the order of the form.
    plan_approval: Annotated[
        ApprovalPolicy,
        Setting(
            "which plans wait for a person",
            "Plans that need your approval",
            SettingGroup.APPROVAL,
            choices={
                ApprovalPolicy.ALWAYS: "Every plan, revised ones too",
                ApprovalPolicy.FIRST: "The first plan only",
                ApprovalPolicy.NEVER: "No plan",
            },
            careful=ApprovalPolicy.ALWAYS,
            hands_off=ApprovalPolicy.NEVER,
        ),
    ] = ApprovalPolicy.ALWAYS
    step_approval: Annotated[
        StepApproval,
        Setting(
            "which steps wait for a person",
            "Steps that need your approval",
            SettingGroup.APPROVAL,
            choices={
                StepApproval.HIGH: "High-risk steps",
                StepApproval.MEDIUM_AND_HIGH: "Medium- and high-risk steps",
                StepApproval.ALL: "Every step",
                StepApproval.NONE: "No step",
            },
            careful=StepApproval.ALL,
            hands_off=StepApproval.NONE,
        ),
    ] = StepApproval.HIGH
    step_moment: Annotated[
        StepMoment,
        Setting(
            "when those steps wait, after verification or before execution",
            "When they need it",
            SettingGroup.APPROVAL,
            choices={StepMoment.AFTER: "After verification", StepMoment.BEFORE: "Before execution"},
            as_before=StepMoment.AFTER,
        ),
    ] = StepMoment.AFTER
    exhausted: Annotated[
        Exhausted,
        Setting(
            "when a step has used up its attempts and replans",
            "When a step is out of attempts",
            SettingGroup.APPROVAL,
            choices={
                Exhausted.ASK: "Ask for a decision",
                Exhausted.ACCEPT: "Go on with an open point; the result will be marked as incomplete",
                Exhausted.FAIL: "Fail the step",
            },
            careful=Exhausted.ASK,
            hands_off=Exhausted.ACCEPT,
        ),
    ] = Exhausted.ASK
    second_person: Annotated[
        bool,
        Setting(
            "a person has to approve who neither submitted the task nor edited its plan or gave files for it",
            "A second person has to approve: neither who submits nor who edits the plan",
            SettingGroup.APPROVAL,
            hands_off=False,  # nothing waits for one
        ),
    ] = False
    assigned_to: Annotated[
        str,
        Field(max_length=MAX_NAME + 10),
        AfterValidator(as_assignee),
        Setting(
            "whose turn a decision is: owner, approvers in turn, or the people of a group in turn, as group:NAME",
            "Decisions are assigned to",
            SettingGroup.DECISIONS,
            choices={OWNER: "Who submits the task", APPROVERS: "Those who may decide, in turn"},
            adds=Installed.GROUPS,
            as_before=OWNER,
        ),
    ] = OWNER
    remind_hours: Annotated[
        _Hours | None,
        Setting(
            "hours until the person is reminded of a decision, or none",
            "Hours until a reminder",
            SettingGroup.DECISIONS,
            "Empty for none",
            as_before=None,
        ),
    ] = None
    another_hours: Annotated[
        _Hours | None,
        Setting(
            "hours until a decision is assigned to another person who may decide, or none",
            "Until another person",
            SettingGroup.DECISIONS,
            "Empty for none",
            as_before=None,
        ),
    ] = None
    end_hours: Annotated[
        _Hours | None,
        Setting(
            "hours until the time limit of a decision ends, or none",
            "Until the end",
            SettingGroup.DECISIONS,
            "Empty for none",
            as_before=None,
        ),
    ] = None
    at_end: Annotated[
        AtLimit,
        Setting(
            "what follows if no one has decided by then; a limit never approves",
            "If no one has decided by the end",
            SettingGroup.DECISIONS,
            choices={
                AtLimit.WAIT: "It keeps waiting and is shown as overdue",
                AtLimit.REJECT: "It is rejected: a call is not carried out; anything else ends the run as it is",
                AtLimit.STOP: "The run is stopped",
            },
            as_before=AtLimit.WAIT,
        ),
    ] = AtLimit.WAIT
    decision_limits: Annotated[
        str,
        Field(max_length=1_000),
        AfterValidator(as_limits),
        Setting(
            "limits of single kinds of decisions, such as 'tool: remind 2, another 4, end 8, reject; plan: end 72'",
            "Other limits for single kinds",
            SettingGroup.DECISIONS,
            "Such as tool: remind 2, another 4, end 8, reject; plan: end 72. Empty for none",
            as_before="",
        ),
    ] = ""
    budget: Annotated[
        Annotated[Decimal, Field(gt=0, le=100_000, decimal_places=2)] | None,
        Setting(
            "USD that the run may spend, or none; at the limit it asks",
            "Budget in USD",
            SettingGroup.LIMITS,
            "Empty for none. You are asked before a call that could exceed it",
        ),
    ] = None
    time_limit: Annotated[
        Annotated[int, Field(ge=60, le=30 * 86_400)] | None,
        Setting(
            "seconds that the run may work, or none; at the limit it asks",
            "Time limit in minutes",
            SettingGroup.LIMITS,
            "Empty for none. Waiting for people does not count",
            minutes="limit_minutes",
        ),
    ] = None
    attempt_seconds: Annotated[
        int,
        Field(ge=1, le=86_400),
        Setting(
            "seconds that one attempt may take",
            "Minutes per attempt",
            SettingGroup.LIMITS,
            minutes="attempt_minutes",
            decides=True,
        ),
    ] = 1_800
    attempts: Annotated[
        int, Field(ge=1, le=10), Setting("attempts per step", "Attempts per step", SettingGroup.LIMITS)
    ] = 3
    rounds: Annotated[
        int,
        Field(ge=1, le=100),
        Setting(
            "steps the AI may take per attempt", "Steps the AI may take per attempt", SettingGroup.LIMITS, decides=True
        ),
    ] = 12
    replans: Annotated[
        int,
        Field(ge=0, le=5),
        Setting("new plans after steps that failed", "New plans after failed steps", SettingGroup.LIMITS),
    ] = 2
    revisions: Annotated[
        int, Field(ge=0, le=50), Setting("plan revisions that may be asked for", "Plan revisions", SettingGroup.LIMITS)
    ] = 10
    questions: Annotated[
        int,
        Field(ge=0, le=50),
        Setting(
            "questions that models may ask a person",
            "Questions to you",
            SettingGroup.LIMITS,
            "From the AI, in the whole run; 0 for none",
            hands_off=0,
            as_before=5,  # a question only asks
        ),
    ] = 5
    max_steps: Annotated[
        int, Field(ge=1, le=500), Setting("most steps of a plan", "Steps of a plan", SettingGroup.LIMITS)
    ] = 40
    parallel: Annotated[
        int, Field(ge=1, le=32), Setting("steps at the same time", "Steps in parallel", SettingGroup.LIMITS)
    ] = 3
    reuse: Annotated[
        bool,
        Setting(
            "take over results of earlier runs where nothing has changed",
            "Reuse results of earlier runs where nothing has changed",
            SettingGroup.LIMITS,
        ),
    ] = True
    commands: Annotated[
        bool,
        Setting(
            "steps and checks may run the commands of this installation",
            "Steps may run the commands of this installation",
            SettingGroup.BEYOND,
            installed=Installed.COMMANDS,
            as_before=True,
        ),
    ] = True
    web: Annotated[
        str,
        Field(max_length=5_000),
        AfterValidator(_as_sites),
        Setting(
            "sites that steps may read, such as 'example.org gov.uk -ads.example.org', or '*' for all; empty for none",
            "Sites of the web that the AI may read",
            SettingGroup.BEYOND,
            "Such as example.org gov.uk; * for all, -example.org for none of it. Empty for none",
            installed=Installed.WEB,
            as_before="",
        ),
    ] = ""
    web_pages: Annotated[
        int,
        Field(ge=1, le=1_000),
        Setting(
            "pages of the web that models may read",
            "Pages of the web",
            SettingGroup.BEYOND,
            "That the AI may read in the whole run",
            installed=Installed.WEB,
            as_before=30,
        ),
    ] = 30
    service_tools: Annotated[
        tuple[_ServiceTool, ...],
        BeforeValidator(_as_names),
        Setting(
            "tools that the model's own service runs, empty for none",
            "Tools of Claude’s own service",
            SettingGroup.BEYOND,
            choices={
                "web_search": "web_search: searches the sites above; each search costs extra",
                "web_fetch": "web_fetch: reads pages of the sites above",
                "code_execution": "code_execution: runs Python without your files",
            },
            installed=Installed.SERVICE_TOOLS,
            as_before=(),
        ),
    ] = ()
    service_uses: Annotated[
        int,
        Field(ge=1, le=100),
        Setting(
            "uses of each of them in one attempt",
            "Uses of each of them",
            SettingGroup.BEYOND,
            "In one attempt at a step",
            installed=Installed.SERVICE_TOOLS,
            as_before=8,
        ),
    ] = 8
    service_uses_in_run: Annotated[
        int,
        Field(ge=1, le=1_000),
        Setting(
            "uses of each of them in the whole run",
            "Uses in total",
            SettingGroup.BEYOND,
            "Of each of them, in the whole run",
            installed=Installed.SERVICE_TOOLS,
            as_before=40,
        ),
    ] = 40
    servers: Annotated[
        tuple[_ServerName, ...],
        Field(max_length=50),
        BeforeValidator(_as_names),
        Setting(
            "MCP servers whose tools steps may call, by name",
            "MCP servers whose tools steps may call",
            SettingGroup.BEYOND,
            installed=Installed.SERVERS,
            as_before=(),
        ),
    ] = ()
    acting_calls: Annotated[
        int,
        Field(ge=0, le=1_000),
        Setting(
            "calls that act outside which models may ask a person to approve",
            "Calls that act outside",
            SettingGroup.BEYOND,
            "In the whole run; you are asked about each",
            installed=Installed.SERVERS,
            as_before=20,
        ),
    ] = 20
    subagents: Annotated[
        tuple[_AgentName, ...],
        Field(max_length=20),
        BeforeValidator(_as_names),
        Setting(
            "agents to which steps may hand parts of their work, by name; empty for none",
            "Subagents",
            SettingGroup.SUBAGENTS,
            "Agents that steps may hand parts of their work to. Each adds to the cost. The plan says which steps may",
            installed=Installed.AGENTS,
            as_before=(),
        ),
    ] = ()
    model_review: Annotated[
        ModelReview,
        Setting(
            "which steps a model looks at even where checks decide all",
            "The AI reviews even where automatic checks decide",
            SettingGroup.REVIEW,
            choices={
                ModelReview.MEDIUM_AND_HIGH: "Medium- and high-risk steps",
                ModelReview.HIGH: "High-risk steps",
                ModelReview.ALL: "Every step",
                ModelReview.NONE: "No step",
            },
            careful=ModelReview.ALL,
            decides=True,
        ),
    ] = ModelReview.MEDIUM_AND_HIGH
    min_confidence: Annotated[
        float,
        Field(ge=0, le=1, allow_inf_nan=False),
        Setting(
            "minimum confidence of the executor, 0 to 1",
            "Minimum confidence of the executor",
            SettingGroup.REVIEW,
            _SHARE,
            step="0.05",
            careful=_at_least_careful,
            decides=True,
        ),
    ] = 0.5
    min_verifier_confidence: Annotated[
        float,
        Field(ge=0, le=1, allow_inf_nan=False),
        Setting(
            "minimum confidence of the verifier, 0 to 1",
            "Minimum confidence of the verifier",
            SettingGroup.REVIEW,
            _SHARE,
            step="0.05",
            careful=_at_least_careful,
            decides=True,
        ),
    ] = 0.0
    min_catch_rate: Annotated[
        Annotated[float, Field(ge=0.01, le=0.99, allow_inf_nan=False)] | None,
        Setting(
            "least share of planted faults that the verifier was measured to catch, 0.01 to 0.99, or none",
            "Minimum catch rate of the verifier",
            SettingGroup.REVIEW,
            "0.01 to 0.99, such as 0.9: its newest calibration has to prove that it refuses 90 % of the faults that "
            "are planted to test it. Otherwise the run is refused. Empty for none",
            step="0.01",
            as_before=None,
        ),
    ] = None
    canary_every: Annotated[
        Annotated[int, Field(ge=1, le=1_000)] | None,
        Setting(
            "one in so many steps is judged twice, the second time a discarded copy with a planted fault; or none",
            "Test the verifier at one step in",
            SettingGroup.REVIEW,
            "1 to 1000: 4 tests one step in four. A copy of the result with a planted fault is judged too and then "
            "discarded; each test costs another review. Empty for none",
            as_before=None,
        ),
    ] = None
    min_document_bytes: Annotated[
        int,
        Field(ge=0, le=1_000_000),
        Setting(
            "smallest Markdown file, unless the plan itself says how long it is to be; 0 for any",
            "Smallest document in bytes",
            SettingGroup.REVIEW,
            "Of a written Markdown file, unless the plan itself says how long it is to be",
            decides=True,
        ),
    ] = 100
    original_pages: Annotated[
        OriginalPages,
        Setting(
            "which pages models see as they look, where “layout” means mostly pictures or tables",
            "Show the AI original pages",
            SettingGroup.MODELS,
            "Of PDF files and pictures, beside their text, to models that take them",
            choices={
                OriginalPages.NEVER: "Never, text only",
                OriginalPages.LAYOUT: "Pages that are mostly pictures or tables",
                OriginalPages.ALWAYS: "All pages of PDFs and pictures",
            },
            decides=True,
            as_before=OriginalPages.NEVER,
        ),
    ] = OriginalPages.LAYOUT
    fallback_verifier: Annotated[
        str,
        Field(max_length=120),
        Setting(
            "the model that is asked where the review by the verifier fails for a technical reason; empty for none",
            "Second verifier",
            SettingGroup.MODELS,
            "The model that is asked where the review by the verifier fails for a technical reason. Empty for none",
            decides=True,
            as_before="",
        ),
    ] = ""
    executor: Annotated[
        Executor,
        Setting(
            "what plans and carries out attempts; agent-sdk only where it is installed",
            "What plans and carries out attempts",
            SettingGroup.MODELS,
            "The same tools, limits, evidence and decisions",
            choices={Executor.MESSAGES: "pevsite", Executor.AGENT_SDK: "The Claude Agent SDK"},
            installed=Installed.AGENT_SDK,
            decides=True,
            as_before=Executor.MESSAGES,
        ),
    ] = Executor.MESSAGES
    same_model_verifier: Annotated[
        bool,
        Setting(
            "a verifier may be the executor's model",
            "The verifier may be the executor’s model",
            SettingGroup.MODELS,
            "A judge shares the blind spots of its own model. Where it is allowed, the report says so.",
        ),
    ] = False
    sources_needed: Annotated[bool, Setting("what is said about the world has to rest on sources", decides=True)] = True
    without_reuse: Annotated[tuple[str, ...], Field(max_length=500)] = ()

    @model_validator(mode="after")
    def _every_role_is_played(self) -> "Policy":
        missing = [role for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER) if role not in self.models]
        if missing:
            raise ValueError(f"no model is named for: {', '.join(missing)}")
        return self

    @model_validator(mode="after")
    def _limits_follow_one_another(self) -> "Policy":
        for kind in GateKind:
            if problem := self.limits_for(kind).problem:
                named = f"Limits for “{kind}”: " if kind in parse(self.decision_limits) else ""
                raise ValueError(named + problem)
        return self

    def limits_for(self, kind: GateKind) -> DecisionLimits:
        """To whom a decision of this kind is assigned, and how long it may wait."""
        hours = (self.remind_hours, self.another_hours, self.end_hours)
        return of_kind(DecisionLimits(self.assigned_to, *hours, self.at_end), self.decision_limits, kind)

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
        """Whether people are asked about any step at all, so that someone is there to look."""
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
    def demand_on_verifier(self) -> str:
        """Which catch rate verifiers have to have been measured with, as a sentence; empty where none is asked for."""
        if self.min_catch_rate is None:
            return ""
        return (
            "The policy asks for verifiers whose newest calibrations prove that they catch at least "
            f"{percent(self.min_catch_rate)} of planted faults."
        )

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


SETTINGS: Mapping[str, Setting] = {
    name: item for name, field in Policy.model_fields.items() for item in field.metadata if isinstance(item, Setting)
}
"""What each field declares, by its name; `models` and `without_reuse` are set elsewhere."""


def deciding_values(policy: Policy) -> dict[str, Any]:
    """The values on which the result of an attempt may depend, but for its models. Those that mean what was done before
    the setting existed are left out, so that results from that time are found.
    """
    decided = {name: getattr(policy, name) for name, setting in SETTINGS.items() if setting.decides}
    return {name: value for name, value in decided.items() if value != SETTINGS[name].as_before}


MAX_WINDOW = 1_000_000_000
"""Tokens; a server that names more, or none at all, is not believed."""


class Capacity(Contract):
    """What the model of a role is shown: pages as they look, and so many tokens with its answer; None where no one
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
