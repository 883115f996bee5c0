"""Decisions: the open questions of runs, and the answers of people that their programs bring."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from django.http import Http404, HttpRequest
from ninja import File, Form, Router
from ninja.files import UploadedFile
from pydantic import BaseModel, ConfigDict, Field

from runs.contracts.base import StepId
from runs.contracts.feedback import Comment
from runs.enums import Verb
from runs.errors import DecisionRefused, InvalidInput
from runs.lifecycle import assignments, gate_decisions, overruling
from runs.lifecycle.gate_decisions import MAX_AT_ONCE
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Gate, User
from runs.people import accounts
from runs.people.permissions import needing_second_factor
from runs.readmodel.representations import GateDetails, GateLine, gate_details, gate_line
from runs.readmodel.result_points import MAX_POINTS
from runs.submission import supplied_uploads
from runs.text.truncate import quoted
from runs.web.api.requests import Paths, Typed, as_known, caller_of, check_names, token_of, uploads_of
from runs.web.api.tokens import DECIDES, READS_GATES
from runs.web.gates.decision_form import MAX_CRITERIA, MAX_NOTE, MAX_REASON, with_points
from runs.web.mcp.tool_arguments import Caller, Dollars, Minutes
from runs.web.site.problems import Refused

router = Router(tags=["decisions"])
MAX_GATES = 200


class GateList(BaseModel):
    gates: list[GateLine]


class SentBack(BaseModel):
    """A point of the result that has to change, and what about it."""

    model_config = ConfigDict(extra="forbid")

    point: Annotated[int, Field(ge=1, le=MAX_POINTS)]
    note: Annotated[Typed, Field(max_length=MAX_NOTE)] = ""


class PlanComment(BaseModel):
    """What should be different in a part of a plan: in a step, in one of its criteria, or in a success criterion."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[Typed, Field(min_length=1, max_length=MAX_REASON)]
    step: Annotated[StepId | None, Field(description="Its id; null for a success criterion.")] = None
    criterion: Annotated[int | None, Field(ge=1, le=40, description="Its number, counted from 1.")] = None


class Answer(BaseModel):
    """The answer of a person. `fingerprint` is that of the gate as it was read; otherwise nothing is decided."""

    model_config = ConfigDict(extra="forbid")

    verb: Verb
    fingerprint: Annotated[str, Field(min_length=1, max_length=64)]
    reason: Annotated[Typed, Field(max_length=MAX_REASON)] = ""
    met: Annotated[
        list[Annotated[str, Field(max_length=8)]],
        Field(max_length=MAX_CRITERIA, description="With an approval: the labels of criteria that are judged as met."),
    ] = []
    why_met: Annotated[Typed, Field(max_length=overruling.MAX_REASON, description="Why; needed with `met`.")] = ""
    send_back: Annotated[
        list[SentBack], Field(max_length=MAX_AT_ONCE, description="With a rejection: points of the result.")
    ] = []
    comments: Annotated[
        list[PlanComment], Field(max_length=MAX_AT_ONCE, description="With a rejection: comments on parts of the plan.")
    ] = []
    no_sources: Annotated[
        bool, Field(description="With the answer to a plan: this is creative work, which needs no sources.")
    ] = False
    budget_usd: Dollars | None = None
    time_limit_minutes: Minutes | None = None


class NewAssignee(BaseModel):
    """Whose turn the decision becomes. `seen` is `assigned_to` of the decision as it was read."""

    model_config = ConfigDict(extra="forbid")

    to: Annotated[str, Field(min_length=1, max_length=150, description="The name of a person who may decide.")]
    seen: Annotated[str | None, Field(max_length=150)]


class GivenFields(BaseModel):
    """The fields of missing files, besides the files. `fingerprint` is that of the gate as it was read."""

    model_config = ConfigDict(extra="forbid")

    fingerprint: Annotated[str, Field(min_length=1, max_length=64)]
    paths: Paths = []
    name_as: Annotated[
        str, Field(max_length=1_000, description="The missing path that the only file takes, whatever its own name is.")
    ] = ""


class GivenAnswer(BaseModel):
    """What became of given files: those that are new, those that the run had already, and what was not taken."""

    added: list[str]
    known: list[str]
    remarks: list[str]
    decision: GateDetails


@router.get("/gates", auth=READS_GATES, response=GateList, summary="List open decisions")
def list_gates(request: HttpRequest) -> GateList:
    """The oldest open questions that this person may answer."""
    caller = caller_of(request)
    reader = caller.reader
    found = reader.approvable_gates().order_by("opened_at", "pk")
    return GateList(gates=[gate_line(reader, gate, yours=True) for gate in found[:MAX_GATES]])


@router.get("/gates/{int:gate_id}", auth=READS_GATES, response=GateDetails, summary="Read a decision")
def read_gate(request: HttpRequest, gate_id: int) -> GateDetails:
    """A question as people see it. Read it before you decide: its `fingerprint` belongs to the answer."""
    caller = caller_of(request)
    return gate_details(caller.reader, _gate(caller, gate_id))


@router.post("/gates/{int:gate_id}/decision", auth=DECIDES, response=GateDetails, summary="Decide")
def decide(request: HttpRequest, gate_id: int, given: Answer) -> GateDetails:
    """Answers an open question in the name of this person; it is recorded that a program did.

    Answered with 409 if the question was answered or has changed since it was read. What needs a second person, and
    what people confirm with a second factor, is decided on the page.
    """
    caller = caller_of(request)
    gate = _gate(caller, gate_id)
    _check_may_decide(gate, caller.person)
    seconds = None if given.time_limit_minutes is None else given.time_limit_minutes * 60
    decision = Decision(
        given.verb,
        given.fingerprint,
        given.reason,
        how=_how(request),
        budget=given.budget_usd,
        time_limit=seconds,
        no_sources=given.no_sources,
        comments=tuple(Comment(text=one.text, step_id=one.step, criterion=one.criterion) for one in given.comments),
        met=frozenset(given.met),
        why_met=given.why_met,
    )
    notes = {one.point: one.note for one in given.send_back}
    with as_known(request, gate.run):
        gate_decisions.decide(gate.pk, caller.person, with_points(gate, decision, notes))
    return gate_details(caller.reader, _gate(caller, gate_id))


@router.post("/gates/{int:gate_id}/assignee", auth=DECIDES, response=GateDetails, summary="Hand on a decision")
def hand_on_gate(request: HttpRequest, gate_id: int, given: NewAssignee) -> GateDetails:
    """Makes a decision the turn of another person, or of this one. It gives no rights, and takes none away.

    Answered with 409 if the decision is made, or was handed on since it was read.
    """
    caller = caller_of(request)
    gate = _gate(caller, gate_id)
    to = accounts.find_person(given.to)
    if to is None:
        raise InvalidInput(f"There is no user {quoted(given.to, 100)}.")
    seen = accounts.find_person(given.seen) if given.seen else None
    with as_known(request, gate.run):
        assignments.hand_on(gate.pk, caller.person, to, seen.pk if seen else None)
    return gate_details(caller.reader, _gate(caller, gate_id))


@router.post(
    "/gates/{int:gate_id}/files",
    auth=DECIDES,
    url_name="gate_files",
    response=GivenAnswer,
    summary="Give missing files",
)
def give_files(
    request: HttpRequest, gate_id: int, given: Form[GivenFields], files: File[list[UploadedFile]]
) -> GivenAnswer:
    """Gives files that are missing where a step did not pass or a plan names them, as a form of type
    multipart/form-data. This answers the question.
    """
    check_names(request.POST, GivenFields)
    caller = caller_of(request)
    gate = _gate(caller, gate_id)
    _check_may_decide(gate, caller.person)
    if given.fingerprint != gate.digest:
        raise DecisionRefused(gate_decisions.CHANGED)
    uploads = uploads_of(given.paths, files)
    with as_known(request, gate.run):
        found = supplied_uploads.give_files(gate, caller.person, uploads, name_as=given.name_as, how=_how(request))
    return GivenAnswer(
        added=list(found.added),
        known=list(found.known),
        remarks=list(found.remarks),
        decision=gate_details(caller.reader, _gate(caller, gate_id)),
    )


def _how(request: HttpRequest) -> str:
    return f"through the API by token “{token_of(request).name}”"


def _check_may_decide(gate: Gate, person: User) -> None:
    """Raises Refused for what only people decide, on the page."""
    if gate.needs_second_person:
        raise Refused(HTTPStatus.FORBIDDEN, "A second person has to decide this, on its page.")
    if needing_second_factor([person]):
        sentence = "This installation demands a second factor of you: decide this on its page."
        raise Refused(HTTPStatus.FORBIDDEN, sentence)


def _gate(caller: Caller, gate_id: int) -> Gate:
    gate = caller.reader.gate(gate_id)
    if gate is None:
        raise Http404
    return gate
