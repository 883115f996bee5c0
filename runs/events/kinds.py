"""One class for each kind of event in a run's history.

Writing is strict: a class takes exactly the fields of its kind. Reading is not: whatever an earlier version has stored,
or left out, can still be shown (`read`).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runs.contracts.base import JsonObject
from runs.enums import EventKind


class EventData(BaseModel):
    """What one kind of event says. Words of other enums are plain text: a renamed one stays readable in old rows.

    `step` is a step's key, `attempt` its attempt's number, `by` a person's name, `why` and `text` are sentences.
    """

    # Built when first used: a command that prints its help uses none of them.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    kind: EventKind

    def data(self) -> JsonObject:
        """What is stored beside the kind; `read` makes the same event of it again."""
        return self.model_dump(mode="json", by_alias=True, exclude={"kind"}, exclude_defaults=True)


class Submitted(EventData):
    """`not_read`: sentences about given files that cannot be read, were excluded, or have to be read with care; their
    number is bounded. The name is kept for stored events. `token`: the name of the access token with which a program
    submitted the task over MCP; empty if a person submitted it.
    """

    kind: Literal[EventKind.SUBMITTED] = EventKind.SUBMITTED
    by: str
    files: int
    bytes: int
    left_out: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()
    token: str = ""


class Reading(EventData):
    """`done` of so many `documents` are read; the first of these events begins the work."""

    kind: Literal[EventKind.READING] = EventKind.READING
    done: int
    documents: int


class DocumentsRead(EventData):
    """`not_read`: sentences about given files of which something cannot be read, a bounded number."""

    kind: Literal[EventKind.DOCUMENTS_READ] = EventKind.DOCUMENTS_READ
    not_read: tuple[str, ...] = ()


class Planning(EventData):
    kind: Literal[EventKind.PLANNING] = EventKind.PLANNING
    version: int


class PlanProposed(EventData):
    """`steps` and `relaxed` are counts, `kept` the keys of the steps whose results are kept. `by`: the person who
    edited the version before; nobody for a plan of the planner, or one that came with the task.
    """

    kind: Literal[EventKind.PLAN_PROPOSED] = EventKind.PLAN_PROPOSED
    version: int
    steps: int
    kept: tuple[str, ...]
    reason: str
    relaxed: int
    by: str = ""


class GateOpened(EventData):
    kind: Literal[EventKind.GATE_OPENED] = EventKind.GATE_OPENED
    gate: int
    gate_kind: str = Field(serialization_alias="kind")
    question: str
    step: str = ""


class GateDecided(EventData):
    """`decision` is the gate's new status; `how` is `person`, or what stood in for one. `no_sources`: with the answer
    to a plan the person has said that no sources are needed. `words` say what was decided, as the rest of a sentence
    that begins with who did; `{step}` in them is for the quoted name of the step. `revises`: at an error, another plan
    was asked for.
    """

    kind: Literal[EventKind.GATE_DECIDED] = EventKind.GATE_DECIDED
    gate: int
    gate_kind: str = Field(serialization_alias="kind")
    decision: str
    by: str
    how: str
    reason: str
    step: str = ""
    no_sources: bool = False
    revises: bool = False
    words: str = ""


class GateWithdrawn(EventData):
    kind: Literal[EventKind.GATE_WITHDRAWN] = EventKind.GATE_WITHDRAWN
    gate: int
    gate_kind: str = Field(serialization_alias="kind")


class PlanApproved(EventData):
    kind: Literal[EventKind.PLAN_APPROVED] = EventKind.PLAN_APPROVED
    version: int
    by: str
    how: str
    digest: str


class AttemptStarted(EventData):
    """`agent`: the one that its step names, left out without one: other versions may read it during an upgrade."""

    kind: Literal[EventKind.ATTEMPT_STARTED] = EventKind.ATTEMPT_STARTED
    step: str
    attempt: int
    agent: Annotated[str, Field(exclude_if=lambda name: not name)] = ""


class SessionResumed(EventData):
    """A session of the Agent SDK was begun again, that of a planner where there is no step, and got `replies` from the
    journal. `otherwise`: what it asked then was not what had been asked before, so that the rest of what was recorded
    counts no more.
    """

    kind: Literal[EventKind.SESSION_RESUMED] = EventKind.SESSION_RESUMED
    step: str = ""
    attempt: int = 0
    replies: int
    otherwise: bool = False


class AttemptReused(EventData):
    """`from_run` and `from_step` are ids, `from_attempt` is the number of that step's attempt."""

    kind: Literal[EventKind.ATTEMPT_REUSED] = EventKind.ATTEMPT_REUSED
    step: str
    from_run: int
    from_step: int
    from_attempt: int


class ModelCalled(EventData):
    """`ms`: milliseconds. `stop`: the model's reason to stop, or `error`. Without a step: a call for the whole run.
    `pages`: what it was shown as it looks, for the first time.
    """

    kind: Literal[EventKind.MODEL_CALLED] = EventKind.MODEL_CALLED
    role: str
    model: str
    ms: int
    stop: str
    step: str = ""
    attempt: int = 0
    pages: tuple[str, ...] = ()


class ToolCalled(EventData):
    """`about`: what a call without a path was about, such as what was searched for, on one line."""

    kind: Literal[EventKind.TOOL_CALLED] = EventKind.TOOL_CALLED
    tool: str
    error: bool
    path: str
    step: str = ""
    attempt: int = 0
    about: str = ""
    agent: str = ""


class Verifying(EventData):
    """The executor has reported. `confidence`: 0 to 1; None of offline rules."""

    kind: Literal[EventKind.VERIFYING] = EventKind.VERIFYING
    step: str
    attempt: int
    confidence: float | None


class VerdictGiven(EventData):
    kind: Literal[EventKind.VERDICT] = EventKind.VERDICT
    step: str
    attempt: int
    passed: bool
    action: str
    feedback: str


class StepPassed(EventData):
    """`tree`: the digest of the workspace from here on."""

    kind: Literal[EventKind.STEP_PASSED] = EventKind.STEP_PASSED
    step: str
    attempt: int
    tree: str


class StepAccepted(EventData):
    """`tree`: the digest of the workspace from here on."""

    kind: Literal[EventKind.STEP_ACCEPTED] = EventKind.STEP_ACCEPTED
    step: str
    attempt: int
    tree: str


class StepNotApplicable(EventData):
    """There was nothing for it to do. `tree`: the digest of the workspace, as it was."""

    kind: Literal[EventKind.STEP_NOT_APPLICABLE] = EventKind.STEP_NOT_APPLICABLE
    step: str
    attempt: int
    tree: str


class StepFailed(EventData):
    kind: Literal[EventKind.STEP_FAILED] = EventKind.STEP_FAILED
    step: str
    attempts: int


class StepRetried(EventData):
    kind: Literal[EventKind.STEP_RETRIED] = EventKind.STEP_RETRIED
    step: str
    why: str


class Replanning(EventData):
    """`step`: the one that could not be done, or nothing. `replan`: how many there have been with this one."""

    kind: Literal[EventKind.REPLANNING] = EventKind.REPLANNING
    step: str
    why: str
    replan: int


class NothingNew(EventData):
    """The planner brought what had failed again; `version` goes on. `why`: what it was told."""

    kind: Literal[EventKind.NOTHING_NEW] = EventKind.NOTHING_NEW
    version: int
    why: str


class WaitingForModel(EventData):
    """`until`: when it is asked again, in ISO format."""

    kind: Literal[EventKind.WAITING_FOR_MODEL] = EventKind.WAITING_FOR_MODEL
    why: str
    until: str


class Recovered(EventData):
    """`work`: the kind of the work item that another worker goes on with."""

    kind: Literal[EventKind.RECOVERED] = EventKind.RECOVERED
    work: str


class Paused(EventData):
    kind: Literal[EventKind.PAUSED] = EventKind.PAUSED
    by: str


class Resumed(EventData):
    kind: Literal[EventKind.RESUMED] = EventKind.RESUMED
    by: str


class LimitsRaised(EventData):
    """`budget`: USD in digits, or nothing. `time_limit`: seconds."""

    kind: Literal[EventKind.LIMITS_RAISED] = EventKind.LIMITS_RAISED
    by: str
    budget: str
    time_limit: int | None


class ApproverAdded(EventData):
    """`person`: the name of who may see the run and decide in it from now on."""

    kind: Literal[EventKind.APPROVER_ADDED] = EventKind.APPROVER_ADDED
    by: str
    person: str


class ApproverRemoved(EventData):
    kind: Literal[EventKind.APPROVER_REMOVED] = EventKind.APPROVER_REMOVED
    by: str
    person: str


class Finalising(EventData):
    kind: Literal[EventKind.FINALISING] = EventKind.FINALISING


class Answered(EventData):
    kind: Literal[EventKind.ANSWERED] = EventKind.ANSWERED
    met: int
    criteria: int


class Finished(EventData):
    """`gaps`: at most 20 sentences."""

    kind: Literal[EventKind.FINISHED] = EventKind.FINISHED
    outcome: str
    gaps: tuple[str, ...]


class Renamed(EventData):
    """`before` and `after` are titles."""

    kind: Literal[EventKind.RENAMED] = EventKind.RENAMED
    by: str
    before: str
    after: str


class Archived(EventData):
    kind: Literal[EventKind.ARCHIVED] = EventKind.ARCHIVED
    by: str


class Restored(EventData):
    """Taken back from the archive."""

    kind: Literal[EventKind.RESTORED] = EventKind.RESTORED
    by: str


class Note(EventData):
    kind: Literal[EventKind.NOTE] = EventKind.NOTE
    text: str
    reason: str = ""


WorkEvent = Recovered | WaitingForModel | Reading | DocumentsRead | Finalising | Answered
PeopleEvent = ApproverAdded | ApproverRemoved
ShelfEvent = Renamed | Archived | Restored
RunEvent = Submitted | Paused | Resumed | LimitsRaised | PeopleEvent | WorkEvent | Finished | ShelfEvent
PlanEvent = Planning | PlanProposed | PlanApproved | Replanning | NothingNew
GateEvent = GateOpened | GateDecided | GateWithdrawn
AttemptEvent = AttemptStarted | AttemptReused | SessionResumed | ModelCalled | ToolCalled | Verifying | VerdictGiven
StepEvent = StepPassed | StepAccepted | StepNotApplicable | StepFailed | StepRetried

type AnyEvent = Annotated[
    RunEvent | PlanEvent | GateEvent | AttemptEvent | StepEvent | Note, Field(discriminator="kind")
]

CLASSES: Mapping[str, type[AnyEvent]] = {
    cls.model_fields["kind"].default.value: cls
    for group in (RunEvent, PlanEvent, GateEvent, AttemptEvent, StepEvent)
    for cls in get_args(group)
} | {EventKind.NOTE.value: Note}

_EMPTY: Mapping[object, object] = {str: "", int: 0, float: 0.0, bool: False, tuple[str, ...]: ()}
"""What stands for a value that an old row lacks, by the field's type."""


def read(kind: str, data: Mapping[str, Any]) -> AnyEvent:
    """The event that a row stores. Never raises: unknown keys are left out, missing and odd values read as empty."""
    cls = CLASSES.get(kind)
    if cls is None:
        return Note(text=f"{kind}.")
    fields = {name: field for name, field in cls.model_fields.items() if name != "kind"}
    stored = {name: field.serialization_alias or name for name, field in fields.items()}
    values = {name: data[key] for name, key in stored.items() if key in data}
    try:
        return cls.model_validate(values, strict=False)
    except ValidationError as error:
        odd = {str(each["loc"][0]) for each in error.errors()}
        return cls.model_validate(values | {name: _EMPTY.get(fields[name].annotation) for name in odd}, strict=False)
