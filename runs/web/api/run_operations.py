"""Runs: listed, submitted, read, stopped, paused, run again and deleted."""

from __future__ import annotations

import hashlib
import uuid
from http import HTTPStatus
from typing import Annotated, Literal

from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from ninja import File, Form, Query, Router, Status
from ninja.files import UploadedFile
from pydantic import BaseModel, ConfigDict, Field

from runs.enums import Outcome, RunStatus, Show, TokenScope
from runs.errors import DecisionRefused, InvalidInput
from runs.lifecycle import deletion, gate_decisions, owner_actions
from runs.models import Run
from runs.people import accounts
from runs.people.permissions import shows_before
from runs.readmodel import representations, run_queries
from runs.readmodel.run_queries import Filters
from runs.readmodel.run_view import reading_of
from runs.reports import contract
from runs.reports.json_report import report_of
from runs.submission import submit
from runs.text.truncate import quoted
from runs.web.api.idempotency import id_of_made
from runs.web.api.requests import (
    Moment,
    Paths,
    Typed,
    as_known,
    caller_of,
    check_names,
    cursor_to,
    link_to_next,
    row_of,
    unless_known,
    upload_of,
    uploads_of,
    version_of,
)
from runs.web.api.tokens import CHANGES_RUNS, READS_RUNS
from runs.web.mcp import looking, submitting, tool_answers
from runs.web.mcp.tool_arguments import SubmittedTask
from runs.web.site.unchanged import usernames_in

router = Router(tags=["runs"])
MAX_PAGE = 100
"""Runs in one page of a list."""
MAX_WORDS = 8
MAX_KEPT = 500_000
"""Characters of a report that is kept."""


class RunPage(BaseModel):
    """One page of a list of runs, the newest first."""

    runs: list[tool_answers.RunLine]
    next: Annotated[
        str | None, Field(description="`cursor` of the next page; null on the last one.", examples=["YmVmb3JlIDQx"])
    ]


class RunFilters(BaseModel):
    """Which runs of a list are wanted."""

    model_config = ConfigDict(extra="forbid")

    show: Annotated[
        Show,
        Field(description=f"mine: those that wait for a decision of this person; needs {TokenScope.GATES_READ} too."),
    ] = Show.ALL
    q: Annotated[Typed, Field(max_length=200, description="Words that occur in the title or the request.")] = ""
    state: Annotated[
        RunStatus | Outcome | Literal["", "paused"],
        Field(description="A status or an outcome."),
    ] = ""
    person: Annotated[str, Field(max_length=150, description="The name of the person who submitted it.")] = ""
    template: Annotated[Typed, Field(max_length=120)] = ""
    since: Annotated[Moment | None, Field(description="Submitted then or later.")] = None
    until: Annotated[Moment | None, Field(description="Submitted before.")] = None
    archived: bool = False
    cursor: Annotated[str, Field(max_length=100, description="`next` of the page before.")] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 40


class NewRun(SubmittedTask):
    """The fields of a submission, beside its files."""

    paths: Paths = []
    upload: Annotated[
        uuid.UUID | None, Field(description="Files that were uploaded before, besides those that are sent here.")
    ] = None


class TaskToCheck(SubmittedTask):
    """A task whose files are sent later, if it has any."""

    has_files: Annotated[bool, Field(description="Files will come with it.")] = False


class CheckedTask(BaseModel):
    """Nothing is wrong with the task, as far as this can be said without its files."""

    approval: Annotated[str, Field(description="Which decisions would wait for a person.")]


class StopReason(BaseModel):
    """Why a run is stopped. No model reads it."""

    model_config = ConfigDict(extra="forbid")

    reason: Annotated[Typed, Field(max_length=2_000)] = ""


class Again(BaseModel):
    """What is done again: with `reuse`, only what has changed and the steps in `redo`."""

    model_config = ConfigDict(extra="forbid")

    reuse: bool = True
    redo: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=500)] = []


class Deleted(BaseModel):
    """What stays of a deleted run: its line in the audit trail."""

    number: int
    title: str


@router.get("/runs", auth=READS_RUNS, url_name="runs", response=RunPage, summary="List runs")
def list_runs(request: HttpRequest, response: HttpResponse, filters: Query[RunFilters]) -> RunPage:
    """The runs that this person may see, the newest first. `Link` has the address of the next page."""
    check_names(request.GET, RunFilters)
    caller = caller_of(request)
    found = looking.runs_of_list(caller, filters.show, _filters(filters))
    if before := row_of(filters.cursor):
        found = found.filter(pk__lt=before)
    rows = run_queries.readable_rows(found[: filters.limit + 1])
    shown = rows[: filters.limit]
    following = cursor_to(shown[-1].pk) if len(rows) > filters.limit else None
    link_to_next(request, response, following)
    return RunPage(runs=looking.lines_of(caller, shown), next=following)


def _filters(asked: RunFilters) -> Filters:
    owner = accounts.find_person(asked.person) if asked.person else None
    if asked.person and owner is None:
        raise InvalidInput(f"There is no user {quoted(asked.person, 100)}.")
    return Filters(
        words=tuple(asked.q.split()[:MAX_WORDS]),
        state=asked.state,
        person=owner.pk if owner else None,
        template=asked.template,
        since=asked.since,
        until=asked.until,
        archived=asked.archived,
    )


@router.post(
    "/runs", auth=CHANGES_RUNS, url_name="runs", response={201: tool_answers.SubmittedRun}, summary="Submit a run"
)
def submit_run(
    request: HttpRequest,
    response: HttpResponse,
    given: Form[NewRun],
    files: File[list[UploadedFile]] = (),  # type: ignore[assignment]
) -> Status[tool_answers.SubmittedRun]:
    """Submits a task with its files, as a form of type multipart/form-data. At least the first plan waits for a person.

    With the same `upload` it is submitted once, however often it is sent, as with the same `Idempotency-Key`.
    """
    check_names(request.POST, NewRun)
    caller = caller_of(request)
    uploads = uploads_of(given.paths, files)
    token = given.upload or id_of_made(request)
    if given.upload and not submit.submitted(caller.person, given.upload):
        upload_of(caller.person, given.upload)
    answer = submitting.submit_task(caller, given, uploads, token, from_draft=given.upload is not None)
    response.headers["Location"] = reverse("api:run", args=[answer.run])
    return Status(HTTPStatus.CREATED, answer)


@router.post("/runs/check", auth=CHANGES_RUNS, response=CheckedTask, summary="Check a task before its files are sent")
def check_task(request: HttpRequest, given: TaskToCheck) -> CheckedTask:
    """Refuses what `POST /runs` would refuse whatever is in the files, such as a template or preset that does not
    exist, a budget that is too high, or a quota that is used up. Changes nothing.
    """
    return CheckedTask(approval=submitting.check_task(caller_of(request), given, has_files=given.has_files))


@router.get("/runs/{int:run_id}", auth=READS_RUNS, url_name="run", response=contract.Report, summary="Read a run")
def read_run(request: HttpRequest, run_id: int) -> HttpResponseBase | contract.Report:
    """Everything that happened in a run, as in its report (docs/report.schema.json). Answered with an ETag."""
    run = caller_of(request).run(run_id)
    return unless_known(request, version_of(run), lambda: HttpResponse(_report(run), content_type="application/json"))


def _report(run: Run) -> str:
    """The report of a run as JSON. That of a finished run is kept for a while, because programs ask for it again."""
    if run.status != RunStatus.FINISHED:
        return report_of(reading_of(run)).model_dump_json()
    facts = (version_of(run), usernames_in(run), shows_before(run))
    kept, key = caches["reports"], hashlib.sha256(repr(facts).encode()).hexdigest()
    text: str | None = kept.get(key)
    if text is None:
        text = report_of(reading_of(run)).model_dump_json()
        if len(text) <= MAX_KEPT:
            kept.set(key, text)
    return text


@router.get("/runs/{int:run_id}/status", auth=READS_RUNS, response=representations.Status, summary="How a run is doing")
def read_status(request: HttpRequest, run_id: int) -> representations.Status:
    """Its state, progress, cost and open decisions: little enough to be asked for often."""
    return representations.status_of(caller_of(request).reader, caller_of(request).run(run_id))


@router.post("/runs/{int:run_id}/stop", auth=CHANGES_RUNS, response=representations.Status, summary="Stop a run")
def stop_run(request: HttpRequest, run_id: int, given: StopReason) -> representations.Status:
    """Stops a run now. What has passed is kept."""
    run = caller_of(request).run(run_id)
    with as_known(request, run):
        gate_decisions.cancel(run.pk, caller_of(request).person, given.reason)
    return read_status(request, run_id)


@router.post("/runs/{int:run_id}/pause", auth=CHANGES_RUNS, response=representations.Status, summary="Pause a run")
def pause_run(request: HttpRequest, run_id: int) -> representations.Status:
    """Starts no new attempt until the run is resumed; those under way finish."""
    return _pause(request, run_id, paused=True)


@router.post("/runs/{int:run_id}/resume", auth=CHANGES_RUNS, response=representations.Status, summary="Resume a run")
def resume_run(request: HttpRequest, run_id: int) -> representations.Status:
    """Lets a paused run go on."""
    return _pause(request, run_id, paused=False)


def _pause(request: HttpRequest, run_id: int, *, paused: bool) -> representations.Status:
    caller = caller_of(request)
    run = caller.run(run_id)
    with as_known(request, run):
        gate_decisions.pause(run.pk, caller.person, paused=paused)
    return read_status(request, run_id)


@router.post(
    "/runs/{int:run_id}/again", auth=CHANGES_RUNS, response={201: tool_answers.SubmittedRun}, summary="Run again"
)
def run_again(
    request: HttpRequest, response: HttpResponse, run_id: int, given: Again
) -> Status[tool_answers.SubmittedRun]:
    """Starts a finished run once more, with the same request, files, policy and plan."""
    caller = caller_of(request)
    run = caller.run(run_id)
    if run.status != RunStatus.FINISHED:
        raise DecisionRefused("This run is not finished yet; it can be run again when it is.")
    with as_known(request, run):
        made = submit.again(run, caller.person, id_of_made(request), reuse=given.reuse, redo=given.redo)
    response.headers["Location"] = reverse("api:run", args=[made.pk])
    return Status(HTTPStatus.CREATED, submitting.answer_for(caller, made))


@router.post("/runs/{int:run_id}/archive", auth=CHANGES_RUNS, response=representations.Status, summary="Archive a run")
def archive_run(request: HttpRequest, run_id: int) -> representations.Status:
    """Takes a run out of the lists."""
    run = caller_of(request).run(run_id)
    with as_known(request, run):
        owner_actions.archive(run.pk, caller_of(request).person)
    return read_status(request, run_id)


@router.delete("/runs/{int:run_id}", auth=CHANGES_RUNS, url_name="run", response=Deleted, summary="Delete a run")
def delete_run(request: HttpRequest, run_id: int) -> Deleted:
    """Deletes a finished run with its files, results and history. The audit trail keeps its line."""
    run = caller_of(request).run(run_id)
    with as_known(request, run):
        line = deletion.delete(run.pk, caller_of(request).person)
    return Deleted(number=line.number, title=line.title)
