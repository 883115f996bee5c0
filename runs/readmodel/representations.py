"""A run and its decisions as programs get them: from the REST API, over MCP, and in the body of a webhook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.db.models import QuerySet
from django.urls import reverse
from pydantic import BaseModel, ConfigDict, Field

from runs.enums import GateStatus, TokenScope, Verb
from runs.lifecycle import overruling
from runs.lifecycle.gates.registry import type_of
from runs.models import Gate, Run, User
from runs.models.querysets import one_of
from runs.people.permissions import approvable_as_read, approvable_gates, can_see_as_read, find_visible_run
from runs.readmodel.gate_text import about
from runs.readmodel.result_points import points_in
from runs.readmodel.run_queries import RunCost, costs_of_runs, open_gates
from runs.readmodel.run_state import RunState
from runs.readmodel.run_view import reading_of
from runs.text.truncate import truncate


@dataclass(frozen=True)
class Reader:
    """The person for whom a program reads. `site`: the scheme and host with which addresses begin. `reads_decisions`:
    whether the program may also know what is asked.
    """

    person: User
    site: str
    reads_decisions: bool = True

    def address(self, name: str, *arguments: object) -> str:
        """Returns an absolute address, by the name of its route."""
        return self.site + reverse(name, args=arguments)

    def run(self, number: int, *related: str, only: Sequence[str] = ()) -> Run | None:
        """The run with this number, as from `find_visible_run`."""
        run = find_visible_run(self.person, number, *related, only=only)
        if run is not None and run.owner_id == self.person.pk:
            run.owner = self.person  # read already
        return run

    def gate(self, number: int) -> Gate | None:
        """The gate with this number, with the rows that its representation needs; None if there is none in a run that
        the person may see.
        """
        gate = one_of(Gate.objects.known().select_related("run__owner", "assigned_to").filter(pk=number))
        return gate if gate is not None and can_see_as_read(self.person, gate.run) else None

    def approvable_gates(self) -> QuerySet[Gate]:
        """The open gates that the person may approve, with what a line about each needs."""
        gates = approvable_gates(self.person).known().select_related("run", "assigned_to")
        return gates.only(*_LINE_FIELDS, "run__title", "assigned_to__username")


_LINE_FIELDS = (
    "kind",
    "status",
    "question",
    "why",
    "choices",
    "second_person",
    "high_risk",
    "digest",
    "opened_at",
    "due_at",
)


class OpenDecision(BaseModel):
    """A question to people, who can answer it on the page at `address`."""

    gate: Annotated[int, Field(description="Its number.")]
    kind: str
    question: str
    choices: list[str]
    since: datetime
    yours: Annotated[bool, Field(description="Whether this person may approve it; if not, another person has to.")]
    address: str


class Status(BaseModel):
    """`state`: planning, awaiting_approval, executing, finalising, waiting (for a person), paused, or the outcome:
    succeeded, partial, failed, cancelled.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: int
    title: str
    state: str
    sentence: str
    finished: bool
    steps_done: int
    steps: int
    cost_usd: float
    unpriced_calls: Annotated[int, Field(description="Calls whose price is not known, and not in cost_usd.")]
    budget_usd: float | None
    decisions: Annotated[
        list[OpenDecision] | None,
        Field(description=f"Null if the access token does not allow {TokenScope.GATES_READ}."),
    ]
    submitted_by: str
    submitted_at: datetime
    finished_at: datetime | None
    event: Annotated[int, Field(description="The number of the newest event.")]
    address: str


class GateLine(BaseModel):
    """A question to people. `fingerprint` is what an answer is bound to: send it back with the decision."""

    gate: int
    run: int
    title: Annotated[str, Field(description="The title of the run.")]
    kind: str
    status: GateStatus
    question: str
    why: Annotated[str, Field(description="Why a model asks this or makes this call, in its own words.")]
    choices: list[str]
    verbs: Annotated[list[Verb], Field(description="The answers that there are.")]
    fingerprint: str
    second_person: Annotated[bool, Field(description="A person who had no part in the plan has to approve it.")]
    yours: Annotated[bool, Field(description="Whether this person may approve it.")]
    assigned_to: str | None
    asked_at: datetime
    due_at: datetime | None
    address: Annotated[str, Field(description="The page where people decide it.")]


class UnmetCriterion(BaseModel):
    """A criterion that a person can judge as met while they accept the result."""

    label: Annotated[str, Field(examples=["C2"])]
    text: str
    finding: Annotated[str, Field(description="What the verdict says about it.")]


class ResultPoint(BaseModel):
    """A point of a result that can be sent back by itself."""

    number: int
    text: Annotated[str, Field(description="As Markdown, cut after 300 characters.")]
    place: Annotated[str, Field(examples=["row 2 of ledger.csv"])]


class GateDetails(GateLine):
    """A question with what it is about, line by line, as the terminal shows it to people."""

    about: list[str]
    criteria: Annotated[list[UnmetCriterion], Field(description="Those that an approval can name in `met`.")]
    points: Annotated[list[ResultPoint], Field(description="Those that a rejection can name in `send_back`.")]


def status_of(reader: Reader, run: Run) -> Status:
    """How a run is doing, with the decisions that it waits for."""
    state, spent = RunState(run), costs_of_runs([run.pk]).get(run.pk, RunCost())
    return Status(
        run=run.pk,
        title=run.title,
        state=state.badge,
        sentence=state.sentence,
        finished=state.finished,
        steps_done=state.progress.done,
        steps=state.progress.total,
        cost_usd=float(spent.cost),
        unpriced_calls=spent.unpriced,
        budget_usd=None if run.policy.budget is None else float(run.policy.budget),
        decisions=_open_decisions(reader, state) if reader.reads_decisions else None,
        submitted_by=run.owner.get_username(),
        submitted_at=run.created_at,
        finished_at=run.finished_at,
        event=run.event_count,
        address=reader.address("run", run.pk),
    )


def _open_decisions(reader: Reader, state: RunState) -> list[OpenDecision]:
    # Whose answer a gate waits for is the longest query of all: most runs need none.
    if state.finished or not state.asked:
        return []
    return [
        OpenDecision(
            gate=gate.pk,
            kind=gate.kind,
            question=gate.question,
            choices=gate.choices,
            since=gate.opened_at,
            yours=gate.mine,  # type: ignore[attr-defined]  # from `open_gates`
            address=f"{reader.address('run', state.run.pk)}#run-gates",
        )
        for gate in open_gates(reader.person, [state.run.pk])
    ]


def gate_line(reader: Reader, gate: Gate, *, yours: bool) -> GateLine:
    """`yours`: whether the person may approve it."""
    return GateLine(
        gate=gate.pk,
        run=gate.run_id,
        title=gate.run.title,
        kind=gate.kind,
        status=GateStatus(gate.status),
        question=gate.question,
        why=gate.why,
        choices=gate.choices,
        verbs=sorted(type_of(gate).verbs),
        fingerprint=gate.digest,
        second_person=gate.needs_second_person,
        yours=yours,
        assigned_to=gate.assigned_to.get_username() if gate.assigned_to else None,
        asked_at=gate.opened_at,
        due_at=gate.due_at,
        address=f"{reader.address('run', gate.run_id)}#gate-{gate.pk}",
    )


def gate_details(reader: Reader, gate: Gate) -> GateDetails:
    mine = approvable_as_read(reader.person, [gate], {gate.run_id: gate.run.owner_id})
    line = gate_line(reader, gate, yours=gate.pk in mine)
    is_open, gate_type = gate.status == GateStatus.OPEN, type_of(gate)
    run = reading_of(gate.run)
    gate = run.row_of(gate)
    unmet = overruling.unmet_criteria(gate.attempt) if is_open and gate.attempt and gate_type.marks_open_points else []
    points = points_in(gate.attempt).all if is_open and gate.attempt and gate_type.makes_requests else ()
    return GateDetails(
        **line.model_dump(),
        about=about(gate, run),
        criteria=[UnmetCriterion(label=one.label, text=one.text, finding=one.feedback) for one in unmet],
        points=[ResultPoint(number=one.number, text=truncate(one.text, 300), place=one.place) for one in points],
    )
