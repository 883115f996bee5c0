"""The installation: its templates and agents, figures over runs, the audit trail, and whether it can work."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from runs.accounting.intervals import Share
from runs.enums import AuditKind, Role, TokenScope
from runs.errors import NotVisible
from runs.lifecycle import available_agents
from runs.people.permissions import visible_runs
from runs.pev.agents import AgentDefinition
from runs.pev.contracts import PlanContract
from runs.readmodel.audit_lines import AuditFilter, facts
from runs.reports import contract
from runs.reports.json_report import metrics_of, totals_of
from runs.store import audit_trail
from runs.submission import run_templates
from runs.web.api.requests import AnyPlan, Day, Typed, caller_of, check_names, cursor_to, link_to_next, row_of, token_of
from runs.web.api.tokens import ADMINISTERS, READS_RUNS
from runs.web.mcp import submitting, tool_answers
from runs.web.mcp.tool_arguments import ListTemplates
from runs.web.operations.health import health
from runs.web.operations.metrics_page import DEFAULT, read_metrics

router = Router(tags=["installation"])
MAX_LINES = 1_000
"""Lines of the audit trail in one answer."""


class AgentLine(BaseModel):
    """An agent that steps of plans may name."""

    name: str
    definition: AgentDefinition
    changed_by: str
    changed_at: datetime


class AgentList(BaseModel):
    agents: list[AgentLine]


class MetricsAsked(BaseModel):
    """Over which runs figures are wanted."""

    model_config = ConfigDict(extra="forbid")

    days: Annotated[
        Literal["7", "30", "90", "all"], Field(description="Over the runs that were submitted in so many days.")
    ] = DEFAULT  # type: ignore[assignment]  # one of them
    person: Annotated[str, Field(max_length=150, description="Only over the runs of this person.")] = ""


class RunCounts(BaseModel):
    """Runs by outcome; `open` ones are not finished."""

    total: int
    succeeded: int
    partial: int
    failed: int
    cancelled: int
    open: int


class MeasuredShare(BaseModel):
    """`count` of so many, as a share from 0 to 1 with its 95 % interval. Without any case, `share` is null."""

    count: int
    of: int
    share: float | None
    low: float
    high: float


class CalibratedVerifier(BaseModel):
    """What the newest finished calibration of a verifier with planted faults of all kinds says of it."""

    verifier: str
    server: Annotated[str, Field(description="Empty, unless the model was measured at several servers.")]
    measured_at: datetime
    is_old: Annotated[bool, Field(description="The prompt of verifiers or the rules have changed since.")]
    cases: int
    caught: MeasuredShare
    wrong_figures_caught: MeasuredShare
    sound_refused: MeasuredShare


class CanaryFigures(BaseModel):
    """What a verifier made of faults that were planted in copies of results of these runs. Those in `not_judged` are in
    no share.
    """

    verifier: str
    caught: MeasuredShare
    let_through: MeasuredShare
    marked: int
    no_verdict: int
    not_judged: int


class InstallationMetrics(BaseModel):
    """Figures over all runs that the person of the token may see, in the shapes of the report of one run.

    What calibrations say of verifiers is about the installation, whatever the runs.
    """

    days: str
    person: Annotated[str, Field(description="Empty for the runs of everyone.")]
    runs: RunCounts
    metrics: contract.Metrics
    totals: contract.Totals
    totals_by_role: list[contract.RoleTotals]
    overruled: Annotated[int, Field(description="Criteria of these runs that people judge otherwise than a verdict.")]
    verifiers: list[CalibratedVerifier]
    canaries: list[CanaryFigures]
    canary_totals: Annotated[
        contract.Totals, Field(description="What verifiers used to judge them. `totals` include it.")
    ]


class AuditAsked(BaseModel):
    """Which part of a list of lines is wanted."""

    model_config = ConfigDict(extra="forbid")

    cursor: Annotated[str, Field(max_length=100, description="`next` of the page before.")] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LINES)] = 100


class AuditFilterAsked(AuditAsked):
    """Which lines of the audit trail are wanted."""

    kind: AuditKind | Literal[""] = ""
    by: Annotated[Typed, Field(max_length=150, description="The name of the person who acted.")] = ""
    run: Annotated[int | None, Field(ge=1, lt=2**63)] = None
    since: Annotated[Day | None, Field(description="On this day or later.")] = None
    until: Annotated[Day | None, Field(description="On this day or before.")] = None


class AuditFacts(BaseModel):
    """A line of the audit trail. Only administrators see from where someone acted."""

    number: int
    at: Annotated[str, Field(json_schema_extra={"format": "date-time"})]  # to the microsecond, as it was hashed
    kind: str
    by_id: int | None
    by: str
    run_number: int | None
    subject: str
    digest: str
    details: dict[str, JsonValue]
    address: str | None = None
    channel: str | None = None
    through: str | None = None
    previous: str
    hash: str


class AuditPage(BaseModel):
    """Lines of the audit trail, the newest first."""

    lines: list[AuditFacts]
    next: Annotated[str | None, Field(description="`cursor` of the next page; null on the last one.")]


class Health(BaseModel):
    """The parts that the site needs, each with its problem, or with an empty text if it works."""

    ready: bool
    parts: dict[str, str]


@router.get("/templates", auth=READS_RUNS, response=tool_answers.Templates, summary="List templates")
def list_templates(request: HttpRequest) -> tool_answers.Templates:
    """The templates that a submission may name: those that ship, and those of the person."""
    return submitting.list_templates(caller_of(request), ListTemplates())


@router.get("/templates/{key}", auth=READS_RUNS, response=AnyPlan, summary="Read a template")
def read_template(request: HttpRequest, key: str) -> PlanContract:
    """The plan of a template."""
    try:
        return run_templates.chosen(caller_of(request).person, key).plan
    except run_templates.UnknownTemplate as error:
        raise NotVisible(str(error)) from error


@router.get("/agents", auth=ADMINISTERS, response=AgentList, summary="List agents")
def list_agents(request: HttpRequest) -> AgentList:
    """The agents that steps of plans may name."""
    return AgentList(
        agents=[
            AgentLine(
                name=agent.name,
                definition=agent.definition,
                changed_by=agent.changed_by.get_username(),
                changed_at=agent.changed_at,
            )
            for agent in available_agents.all_agents()
        ]
    )


@router.get("/metrics", auth=READS_RUNS, response=InstallationMetrics, summary="Read figures over runs")
def read_figures(request: HttpRequest, asked: Query[MetricsAsked]) -> InstallationMetrics:
    """The figures of the page “Metrics” over the runs that this person may see."""
    check_names(request.GET, MetricsAsked)
    page = read_metrics(visible_runs(caller_of(request).person), asked.model_dump())
    figures = page.figures
    return InstallationMetrics(
        days=page.chosen,
        person=page.person,
        runs=RunCounts.model_validate(figures.runs, from_attributes=True),
        metrics=metrics_of(figures),
        totals=totals_of(figures.totals),
        totals_by_role=[
            contract.RoleTotals(role=Role(one.role), model=one.model, **dict(totals_of(one.totals)))
            for one in figures.roles
        ],
        overruled=page.overruled,
        verifiers=[
            CalibratedVerifier(
                verifier=one.calibration.model,
                server=one.server,
                measured_at=one.measured_at,
                is_old=one.is_old,
                cases=one.cases,
                caught=_measured(one.caught),
                wrong_figures_caught=_measured(one.figures),
                sound_refused=_measured(one.refused),
            )
            for one in page.verifiers
        ],
        canaries=[
            CanaryFigures(
                verifier=one.model,
                caught=_measured(one.caught),
                let_through=_measured(one.missed),
                marked=one.marked,
                no_verdict=one.no_verdict,
                not_judged=one.skipped,
            )
            for one in page.canaries
        ],
        canary_totals=totals_of(page.canary_totals),
    )


def _measured(share: Share) -> MeasuredShare:
    return MeasuredShare(count=share.count, of=share.total, share=share.value, low=share.low, high=share.high)


@router.get("/audit", auth=ADMINISTERS, response=AuditPage, summary="Read the audit trail")
def read_audit_trail(request: HttpRequest, response: HttpResponse, asked: Query[AuditFilterAsked]) -> AuditPage:
    """All lines of the audit trail that a filter finds. Reading is a line itself, after those that are answered."""
    check_names(request.GET, AuditFilterAsked)
    chosen = AuditFilter(asked.kind, asked.by, asked.run, asked.since, asked.until)
    return _lines(request, response, chosen, asked, with_origin=True)


@router.get("/runs/{int:run_id}/audit", auth=READS_RUNS, response=AuditPage, summary="Read the audit trail of a run")
def read_audit_trail_of_run(
    request: HttpRequest, response: HttpResponse, run_id: int, asked: Query[AuditAsked]
) -> AuditPage:
    """All lines of the audit trail about a run. Reading is a line itself, after those that are answered."""
    check_names(request.GET, AuditAsked)
    run = caller_of(request).run(run_id)
    with_origin = token_of(request).allows(TokenScope.ADMIN)
    return _lines(request, response, AuditFilter(run=run.pk), asked, with_origin=with_origin)


def _lines(
    request: HttpRequest, response: HttpResponse, chosen: AuditFilter, asked: AuditAsked, *, with_origin: bool
) -> AuditPage:
    lines = chosen.lines()
    if before := row_of(asked.cursor):
        lines = lines.filter(number__lt=before)
    rows = facts(lines, asked.limit + 1, with_origin=with_origin)
    shown = rows[: asked.limit]
    following = cursor_to(shown[-1]["number"]) if len(rows) > asked.limit else None
    link_to_next(request, response, following)
    if request.method == "GET":
        audit_trail.record(AuditKind.AUDIT_EXPORTED, run_id=chosen.run, name="json")
    return AuditPage(lines=[AuditFacts(**one) for one in shown], next=following)


@router.get("/health", auth=READS_RUNS, response={200: Health, 503: Health}, summary="Whether the site can work")
def read_health(request: HttpRequest) -> Status[Health]:
    """Whether all parts work that the site needs. `/healthz` and `/readyz` answer probes without a token."""
    parts = health.problems()
    ready = not any(parts.values())
    return Status(HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE, Health(ready=ready, parts=parts))
