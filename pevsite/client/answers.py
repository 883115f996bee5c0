"""What the API answers, as far as people are shown it. A newer server may say more."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ValidationError

from pevsite.client.failure import Failed


class SubmittedRun(BaseModel):
    run: int
    title: str
    address: str
    left_out: list[str]
    remarks: list[str]
    approval: str


class OpenDecision(BaseModel):
    """A decision that a run waits for."""

    gate: int
    question: str
    yours: bool
    address: str


class Status(BaseModel):
    run: int
    title: str
    state: str
    sentence: str
    steps_done: int
    steps: int
    cost_usd: float
    decisions: list[OpenDecision] | None
    address: str


class Gate(BaseModel):
    gate: int
    run: int
    title: str
    kind: str
    status: str
    question: str
    verbs: list[str]
    fingerprint: str
    due_at: datetime | None
    address: str
    about: list[str] = []


class Gates(BaseModel):
    gates: list[Gate]


class Event(BaseModel):
    seq: int
    sentence: str


class Events(BaseModel):
    """`next`: the number of the last event so far. `finished`: no event follows these."""

    events: list[Event]
    next: int
    finished: bool


class FileLine(BaseModel):
    path: str
    change: str
    bytes: int
    sha256: str


class Files(BaseModel):
    files: list[FileLine]
    next_offset: int | None


def read[Answer: BaseModel](kind: type[Answer], value: object) -> Answer:
    """The answer of a server. Raises Failed for one that this version does not understand."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise Failed("The server is of another version, whose answer this command does not understand.") from error
