"""The shape of the report as JSON, from which its published schema is generated. A field is added with a new minor
version; one that is taken away or means something else makes a new major version.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, WithJsonSchema

from runs.contracts.base import Contract
from runs.enums import (
    About,
    Action,
    AttemptStatus,
    CitationStatus,
    Complexity,
    EventKind,
    Missing,
    Outcome,
    PlanStatus,
    Provenance,
    Role,
    RunStatus,
    Severity,
    StepStatus,
)
from runs.evidence.results import Evidence, RequestResult, UntracedFigure
from runs.pev.input_coverage import Extent
from runs.pev.plans.estimate import Estimate
from runs.pev.policy import Policy

VERSION: Literal["1.2"] = "1.2"
_SETTINGS = "The settings of the run. They are called like the options of `manage.py run`, and there may be more later."
_AnyPolicy = Annotated[Policy, WithJsonSchema({"type": "object", "description": _SETTINGS})]
"""A new setting is no new version, and a report with it is valid for programs that know the schema of today."""


class Unmet(Contract):
    text: str
    status: str
    found: str


class Review(Contract):
    attempt: int
    status: AttemptStatus
    said: str
    by: str
    repeats: bool


class OpenPoint(Contract):
    """One thing that keeps the result from being whole, with its cause. `accepted_by`: the people on whose word alone
    nothing is missing, or empty.
    """

    kind: Missing
    about: str
    sentence: str
    severity: Severity | None
    unmet: list[Unmet]
    attempts: list[Review]
    accepted_by: str


class Citation(Contract):
    """`line`, `start` and `end` are in the text that cites; `source_…` are characters and lines of the source. Of a
    document `anchor` and `place` name where the words stand (`p23`, "clause 4.2(b)"), and `cited_place` what the link
    says. `at`: where in a document that cites it stands, in words; empty in a text, where `line` says it.
    """

    start: int
    end: int
    line: int
    quote: str
    target: str
    status: CitationStatus
    sentence: str
    source: str
    provenance: Provenance | None
    sha256: str
    source_start: int
    source_end: int
    source_line: int
    cited_line: int
    anchor: str
    place: str
    cited_place: str
    statement: str
    statement_start: int
    statement_end: int
    weak: str
    at: str


class Uncited(Contract):
    first_line: int
    last_line: int
    text: str


class Document(Contract):
    """`path` is null for the answer."""

    path: str | None
    problem: str
    citations: list[Citation]
    uncited: list[Uncited]


class Citations(Contract):
    sentence: str
    found: int
    corrected: list[str]
    broken: list[str]
    weak: int
    documents: list[Document]


class Covered(Contract):
    """Which lines of a given file were shown: first and last ones of each range, of so many `lines`. `notes`: what of
    it could not be read.
    """

    path: str
    extent: Extent
    ranges: list[tuple[int, int]]
    lines: int
    problem: str
    notes: list[str]


class Overruled(Contract):
    """What a person judges otherwise than the verdict on a criterion, and why. The verdict stays as it is."""

    by: str
    met: bool
    reason: str
    at: str


class Result(Contract):
    """A criterion as it was judged. `decided` and `rests_on` are words for people. `overruled`: what a person judges
    otherwise, which is never verified; null if no one does.
    """

    label: str
    text: str
    decided_by: Literal["check", "model", "rules", "nobody"]
    claimed: bool
    supported: bool
    passed: bool
    confidence: float
    feedback: str
    evidence: list[Evidence]
    about: About | None
    each: bool
    looked_at: int
    out_of: int
    unit: str
    lacking: str
    decided: str
    rests_on: list[str]
    doubtful: bool
    overruled: Overruled | None


class Verdict(Contract):
    passed: bool
    action: Action
    severity: Severity
    stage: str
    notes: list[str]
    results: list[Result]
    requests: list[RequestResult]
    untraced: list[UntracedFigure]


class Request(Contract):
    """What a person asked for when they sent a plan or a result back, and what became of it."""

    number: int
    by: str
    at: str | None
    words: str
    about: str
    status: Literal["met", "not_met", "not_provable", "answered", "open"]
    doubtful: bool
    where: str
    planned: list[str]
    attempt: int | None
    result: RequestResult | None


class Reused(Contract):
    run: int
    step_id: str
    attempt: int


class Attempt(Contract):
    """`agent`: the digest of the one that its step names, as it was when the attempt began. `subagents`: likewise of
    those that it could hand parts to, by name. `by_people`: who judges it otherwise than its verdict, such as “accepted
    by alice”, or empty.
    """

    number: int
    status: AttemptStatus
    agent: str | None
    subagents: dict[str, str]
    confidence: float | None
    findings: str
    citations: list[Citation]
    files: list[str]
    deviations: list[str]
    reused_from: Reused | None
    feedback: str
    verdict: Verdict | None
    by_people: str


class Step(Contract):
    """`agent`: the name of the one that carries it out."""

    step_id: str
    name: str
    status: StepStatus
    complexity: Complexity
    agent: str | None
    kept: bool
    coverage: list[Covered] | None
    files_shown: int | None
    attempts: list[Attempt]


class TextChange(Contract):
    what: str
    before: str
    after: str


class CriterionChange(Contract):
    """`number`: its place from 1, where it was before if it is removed. `relaxed`: why less is asked for, or empty."""

    kind: Literal["removed", "changed", "added", "moved"]
    number: int
    text: str
    texts: list[TextChange]
    relaxed: str


class StepChange(Contract):
    """`number`: its place from 1; `was`: its place before, 0 for a new one. `requests`: those that led to it."""

    kind: Literal["removed", "changed", "added", "moved"]
    step_id: str
    name: str
    number: int
    was: int
    texts: list[TextChange]
    criteria: list[CriterionChange]
    relaxed: list[str]
    requests: list[int]


class PlanChanges(Contract):
    """What differs from version `since`. `whole`: other parts of the plan; `requests`: those about no step of these."""

    since: int
    summary: str
    steps: list[StepChange]
    success_criteria: list[CriterionChange]
    whole: list[TextChange]
    requests: list[int]


class Plan(Contract):
    """`author` is who wrote it by editing the version before; null for the planner's. `changes`: null for the first."""

    version: int
    status: PlanStatus
    fingerprint: str
    reason: str
    dropped_steps: list[str]
    relaxed: list[str]
    author: str | None
    changes: PlanChanges | None
    steps: list[Step]
    approved_by: str | None
    approved_how: str
    estimate: Estimate | None


class File(Contract):
    path: str
    sha256: str
    size: int


class Refused(Contract):
    """A tool call that the tool answered with an error. `agent`: the subagent that made it."""

    step_id: str | None
    attempt: int | None
    tool: str
    agent: str | None
    problem: str


class Event(Contract):
    """A line of the history; `data` depends on its kind."""

    seq: int
    kind: EventKind
    at: str
    data: dict[str, JsonValue]


class Tokens(Contract):
    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    all: int


class Totals(Contract):
    """`cost_usd` is a decimal as text. It leaves out the `unpriced` calls; with `lower_bounds` it is a least amount."""

    calls: int
    failed: int
    tokens: Tokens
    cost_usd: str
    unpriced: int
    lower_bounds: int
    duration_ms: int


class _RoleModel(Contract):
    role: Role
    model: str


class RoleTotals(Totals, _RoleModel):
    """Role and model come first, then the totals."""


class Guess(Contract):
    low_usd: str | None
    high_usd: str | None
    partly_unpriced: bool
    tokens: tuple[int, int] | None


class CostLine(Contract):
    key: str
    name: str
    estimate: Guess | None
    actual: Totals
    over: bool
    standing: Literal["", "below", "within", "above"]
    note: str


class Costs(Contract):
    version: int
    rests_on: str
    steps: list[CostLine]
    roles: list[CostLine]
    planned: CostLine
    planning: CostLine
    earlier: CostLine | None
    total: Totals


class StepFigures(Contract):
    attempted: int
    ended: int
    passed: int
    accepted: int
    not_applicable: int
    failed: int
    dropped: int
    first_pass: int = Field(title="Passed at once")
    retried: int
    recovered: int
    reused: int
    first_pass_yield: float | None = Field(title="Share that passed at once")
    pass_rate: float | None


class AttemptFigures(Contract):
    judged: int
    passed: int
    sent_back: int
    conflicts: int
    retries: int
    unsupported: int


class Phase(Contract):
    name: str
    calls: int
    model_ms: int
    tool_ms: int


class Waiting(Contract):
    kind: str
    open: int
    count: int
    total_ms: int
    mean_ms: int
    max_ms: int


class Bucket(Contract):
    low: float
    high: float
    count: int
    held: int
    claimed: float
    share: float


class Metrics(Contract):
    doubt: str
    replans: int
    plans_rejected: int
    wall_ms: int | None
    steps: StepFigures
    attempts: AttemptFigures
    phases: list[Phase]
    waiting: list[Waiting]
    executor_confidence: list[Bucket]
    verifier_confidence: list[Bucket]


class Report(Contract):
    """Everything that happened in a run. `judged_by_people`: sentences on what people accepted or rejected against the
    verdicts of steps.
    """

    schema_version: Literal["1.2"] = VERSION
    run: int
    title: str
    request: str
    status: RunStatus
    outcome: Outcome | None
    failure: str
    ended: str
    policy: _AnyPolicy
    judged_its_own_work: str
    no_sources: str
    gaps: list[str]
    open_points: list[OpenPoint]
    judged_by_people: list[str]
    does_not_apply: list[str]
    rollback_strategy: str
    citations: Citations
    answer: str
    judged_answer: str
    excluded: list[str]
    coverage: list[Covered] | None
    success_criteria: list[Result]
    untraced: list[UntracedFigure]
    requests: list[Request]
    plans: list[Plan]
    steps: list[Step]
    files: list[File]
    refused_tool_calls: list[Refused]
    model_calls: int
    unpriced_calls: int
    cost_usd: str
    totals: Totals
    totals_by_role: list[RoleTotals]
    costs: Costs | None
    metrics: Metrics
    events: list[Event]


def schema() -> dict[str, Any]:
    """The JSON Schema of a report, as it is published in `docs/report.schema.json`."""
    made = Report.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:pevsite:report:{VERSION}", **made}
