"""One class for each kind of event in a run's history, with the sentence and the tone for people.

Writing is strict: a class takes exactly the fields of its kind. Reading is not: whatever an earlier version has stored,
or left out, can still be shown (`read`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runs.contracts.base import JsonObject
from runs.enums import Action, CaseOutcome, EventKind, GateStatus, Outcome, ShareLevel
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted

type Tone = Literal["good", "bad", "warn", "active", "calm"]
type Group = Literal["decision", "result", "problem"]
"""The groups by which a history can be filtered."""


class EventData(BaseModel, ABC):
    """The data of one kind of event. Words of other enums are stored as plain text, so that old rows stay readable
    after a rename.

    `step` is the key of a step, `attempt` the number of its attempt, `by` a person's name; `why` and `text` are
    sentences.
    """

    # Built on first use: most commands use none of them.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    groups: ClassVar[frozenset[Group]] = frozenset()
    """The groups that every event of the kind belongs to."""
    kind: EventKind

    @property
    def tone(self) -> Tone:
        """Whether it is good or bad news. Most events are neutral."""
        return "calm"

    def sentence(self, names: Mapping[str, str]) -> str:
        """Returns the event in plain words. `names` maps keys of steps to their names; a step without a name is called
        by its key.
        """
        return self._sentence(self._step(names))

    def short_sentence(self, names: Mapping[str, str]) -> str:
        """Like `sentence`, for places that already show the step, the attempt and the duration."""
        return self._short_sentence(self._step(names))

    def _step(self, names: Mapping[str, str]) -> str:
        key = getattr(self, "step", "")
        return f"“{names.get(key, key)}”"

    @abstractmethod
    def _sentence(self, step: str) -> str:
        """The sentence, with the quoted name of the step that it is about."""

    def _short_sentence(self, step: str) -> str:
        return self._sentence(step)

    def data(self) -> JsonObject:
        """Returns what is stored in addition to the kind. `read` makes the same event from it."""
        return self.model_dump(mode="json", by_alias=True, exclude={"kind"}, exclude_defaults=True)


class Submitted(EventData):
    """`not_read`: a limited number of sentences on given files that cannot be read, were excluded, or need care. The
    field's name is kept for stored events.

    `token`: the name of the access token with which a program submitted the task, or empty.
    """

    groups = frozenset({"decision"})
    kind: Literal[EventKind.SUBMITTED] = EventKind.SUBMITTED
    by: str
    files: int
    bytes: int
    left_out: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()
    token: str = ""

    def _sentence(self, step: str) -> str:
        left = f" Left out, because they may contain secrets: {', '.join(self.left_out)}." if self.left_out else ""
        through = f" through a program (token “{self.token}”)" if self.token else ""
        first = f"{self.by} submitted the task{through} with {pluralize(self.files, 'file')}.{left}"
        return " ".join([first, *self.not_read])


class Reading(EventData):
    """`done` of `documents` documents have been read. The first of these events begins the work."""

    kind: Literal[EventKind.READING] = EventKind.READING
    done: int
    documents: int

    @property
    def tone(self) -> Tone:
        return "active"

    def _sentence(self, step: str) -> str:
        if not self.done:
            return f"{pluralize(self.documents, 'document')} {word_for(self.documents, 'is', 'are')} being read."
        return f"{self.done:,} of {pluralize(self.documents, 'document')} are read."


class DocumentsRead(EventData):
    """`not_read`: a limited number of sentences on given files that cannot be read completely."""

    kind: Literal[EventKind.DOCUMENTS_READ] = EventKind.DOCUMENTS_READ
    not_read: tuple[str, ...] = ()

    @property
    def tone(self) -> Tone:
        return "warn" if self.not_read else "calm"

    def _sentence(self, step: str) -> str:
        return " ".join(["The documents are read.", *self.not_read])


class Planning(EventData):
    kind: Literal[EventKind.PLANNING] = EventKind.PLANNING
    version: int

    @property
    def tone(self) -> Tone:
        return "active"

    def _sentence(self, step: str) -> str:
        return f"The planner writes version {self.version} of the plan."


class PlanProposed(EventData):
    """`steps` and `relaxed` are counts, and `kept` has the keys of the steps whose results are kept.

    `by`: the person who edited the previous version, or empty for a planner's plan and one that came with the task.
    """

    groups = frozenset({"result"})
    kind: Literal[EventKind.PLAN_PROPOSED] = EventKind.PLAN_PROPOSED
    version: int
    steps: int
    kept: tuple[str, ...]
    reason: str
    relaxed: int
    by: str = ""

    def _sentence(self, step: str) -> str:
        more = f"; {pluralize(len(self.kept), 'result')} kept from before" if self.kept else ""
        fewer = pluralize(self.relaxed, "place")
        less = f" It differs from what was agreed, in {fewer}." if self.relaxed else ""
        how = f"is {self.by}’s edit" if self.by else "is ready"
        return f"Version {self.version} of the plan {how}: {pluralize(self.steps, 'step')}{more}.{less}"


class GateOpened(EventData):
    groups = frozenset({"decision"})
    kind: Literal[EventKind.GATE_OPENED] = EventKind.GATE_OPENED
    gate: int
    gate_kind: str = Field(serialization_alias="kind")
    question: str
    step: str = ""

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        return f"Needs a decision: {self.question}"


class GateDecided(EventData):
    """`decision` is the gate's new status; `how` is `person`, or what decided instead.

    `no_sources`: when answering a plan, the person said that no sources are needed. `words` say what was decided, as
    the rest of a sentence that begins with the person's name; `{step}` in them stands for the quoted name of the step.
    `revises`: at an error gate, another plan was requested. `tree`: the workspace with the files that were given.
    """

    groups = frozenset({"decision"})
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
    tree: str = ""

    @property
    def tone(self) -> Tone:
        return "good" if self.decision in {GateStatus.APPROVED, GateStatus.ANSWERED, GateStatus.SUPPLIED} else "warn"

    def _sentence(self, step: str) -> str:
        how = "" if self.how == "person" else f" ({self.how})"
        waived = " and said that no sources are needed" if self.no_sources else ""
        reason = f": {self.reason}" if self.reason else "."
        words = self.words.replace("{step}", step) or f"{self.decision} it"
        return f"{self.by} {words}{how}{waived}{reason}"


class GateWithdrawn(EventData):
    groups = frozenset({"decision"})
    kind: Literal[EventKind.GATE_WITHDRAWN] = EventKind.GATE_WITHDRAWN
    gate: int
    gate_kind: str = Field(serialization_alias="kind")

    def _sentence(self, step: str) -> str:
        return "A question was withdrawn and no longer needs an answer."


class GateAssigned(EventData):
    """`to`: whose turn it is now, empty for no one; `by`: who has handed it on, empty for the policy. `why`: a clause
    on why the policy has.
    """

    groups = frozenset({"decision"})
    kind: Literal[EventKind.GATE_ASSIGNED] = EventKind.GATE_ASSIGNED
    gate: int
    gate_kind: str = Field(serialization_alias="kind")
    to: str
    by: str = ""
    why: str = ""

    def _sentence(self, step: str) -> str:
        if self.by:
            return f"{self.by} took the decision on." if self.by == self.to else f"{self.by} handed it on to {self.to}."
        why = f": {self.why}" if self.why else ""
        return f"The decision is assigned to {self.to or 'no one'}{why}."


class GateReminded(EventData):
    """`to`: who was reminded of the decision, empty for everyone who may decide."""

    groups = frozenset({"decision"})
    kind: Literal[EventKind.GATE_REMINDED] = EventKind.GATE_REMINDED
    gate: int
    gate_kind: str = Field(serialization_alias="kind")
    to: str

    def _sentence(self, step: str) -> str:
        return f"{self.to or 'Everyone who may decide'} was reminded of the decision."


class GateOverdue(EventData):
    """The time limit has ended after so many hours, and the decision keeps waiting."""

    groups = frozenset({"problem"})
    kind: Literal[EventKind.GATE_OVERDUE] = EventKind.GATE_OVERDUE
    gate: int
    gate_kind: str = Field(serialization_alias="kind")
    hours: int

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        return f"No one has decided within {pluralize(self.hours, 'hour')}. The decision is overdue, and keeps waiting."


class PlanApproved(EventData):
    groups = frozenset({"decision"})
    kind: Literal[EventKind.PLAN_APPROVED] = EventKind.PLAN_APPROVED
    version: int
    by: str
    how: str
    digest: str

    @property
    def tone(self) -> Tone:
        return "good"

    def _sentence(self, step: str) -> str:
        how = " by policy" if self.how == "policy" else ""
        return f"Version {self.version} of the plan is approved{how}, fingerprint {self.digest[:12]}."


class AttemptStarted(EventData):
    """`agent`: the agent that its step names. It is omitted if empty, because other versions may read the event during
    an upgrade.
    """

    kind: Literal[EventKind.ATTEMPT_STARTED] = EventKind.ATTEMPT_STARTED
    step: str
    attempt: int
    agent: Annotated[str, Field(exclude_if=lambda name: not name)] = ""

    @property
    def tone(self) -> Tone:
        return "active"

    def _sentence(self, step: str) -> str:
        return f"Attempt {self.attempt} at {step} began{f', with the agent {self.agent}' if self.agent else ''}."


class SessionResumed(EventData):
    """A session of the Agent SDK (that of a planner if there is no step) was restarted, and got `replies` from the
    journal.

    `otherwise`: it then asked a different question than before, so the rest of the journal does not count any more.
    """

    kind: Literal[EventKind.SESSION_RESUMED] = EventKind.SESSION_RESUMED
    step: str = ""
    attempt: int = 0
    replies: int
    otherwise: bool = False

    def _sentence(self, step: str) -> str:
        return self._of(f"agent's session for {step}" if self.step else "planner's session")

    def _short_sentence(self, step: str) -> str:
        return self._of("agent's session" if self.step else "planner's session")

    def _of(self, session: str) -> str:
        replies = pluralize(self.replies, "reply", "replies")
        then = "then took another turn and began again" if self.otherwise else "continued where it was"
        return f"The {session} was given {replies} from the journal, and {then}."


class AttemptReused(EventData):
    """`from_run` and `from_step` are ids, and `from_attempt` is the number of that step's attempt."""

    groups = frozenset({"result"})
    kind: Literal[EventKind.ATTEMPT_REUSED] = EventKind.ATTEMPT_REUSED
    step: str
    from_run: int
    from_step: int
    from_attempt: int

    @property
    def tone(self) -> Tone:
        return "good"

    def _sentence(self, step: str) -> str:
        source = f"attempt {self.from_attempt} of run {self.from_run}"
        return f"{step} reused the result of {source}: nothing that it depends on has changed. It costs nothing."


class ModelCalled(EventData):
    """`ms`: milliseconds. `stop`: the model's stop reason, or `error`. Without a step, the call was for the whole run.

    `pages`: the pages that it was shown as pictures for the first time. `canary`: it was asked about a copy of a result
    with a planted fault.
    """

    kind: Literal[EventKind.MODEL_CALLED] = EventKind.MODEL_CALLED
    role: str
    model: str
    ms: int
    stop: str
    step: str = ""
    attempt: int = 0
    pages: tuple[str, ...] = ()
    canary: bool = False

    def _sentence(self, step: str) -> str:
        about = f" for {step}, attempt {self.attempt}" if self.attempt else ""
        about = f" about a copy with a planted fault{about}" if self.canary else about
        what = f"gave no answer{about} after" if self.stop == "error" else f"answered{about} in"
        return f"The {self.role} ({self.model}) {what} {self.ms / 1_000:.1f} s.{self._shown}"

    def _short_sentence(self, step: str) -> str:
        answered = "gave no answer" if self.stop == "error" else "answered"
        about = " about a copy with a planted fault" if self.canary else ""
        return f"The {self.role} ({self.model}) {answered}{about}.{self._shown}"

    @property
    def _shown(self) -> str:
        return f" It was shown as they look: {'; '.join(self.pages)}." if self.pages else ""


class ToolCalled(EventData):
    """`about`: the subject of a call without a path, such as a search text, on one line."""

    kind: Literal[EventKind.TOOL_CALLED] = EventKind.TOOL_CALLED
    tool: str
    error: bool
    path: str
    step: str = ""
    attempt: int = 0
    about: str = ""
    agent: str = ""

    @property
    def tone(self) -> Tone:
        return "bad" if self.error else "calm"

    def _sentence(self, step: str) -> str:
        return f"{' '.join([*self._call(), *([f'for {step}'] if self.attempt else [])])}."

    def _short_sentence(self, step: str) -> str:
        return f"{' '.join(self._call())}."

    def _call(self) -> Iterator[str]:
        yield self.tool
        if subject := self.path or (self.about and quoted(self.about, 200)):
            yield subject
        if self.agent:
            yield f"by {self.agent}"
        if self.error:
            yield "failed"


class Verifying(EventData):
    """The executor has reported. `confidence`: 0 to 1, or None for offline rules."""

    kind: Literal[EventKind.VERIFYING] = EventKind.VERIFYING
    step: str
    attempt: int
    confidence: float | None

    @property
    def tone(self) -> Tone:
        return "active"

    def _sentence(self, step: str) -> str:
        return f"Attempt {self.attempt} at {step} reported{self._sure}; it is being verified."

    def _short_sentence(self, step: str) -> str:
        return f"Reported{self._sure}; it is being verified."

    @property
    def _sure(self) -> str:
        return "" if self.confidence is None else f", {self.confidence * 100:.0f} % confident"


class VerdictGiven(EventData):
    groups = frozenset({"result"})
    kind: Literal[EventKind.VERDICT] = EventKind.VERDICT
    step: str
    attempt: int
    passed: bool
    action: str
    feedback: str

    @property
    def tone(self) -> Tone:
        return "good" if self.passed else "bad"

    def _sentence(self, step: str) -> str:
        if self.passed:
            return f"Attempt {self.attempt} at {step} passed verification."
        return f"Attempt {self.attempt} at {step} did not pass: {self.feedback}{self._asks}"

    def _short_sentence(self, step: str) -> str:
        return "Passed verification." if self.passed else f"Did not pass: {self.feedback}{self._asks}"

    @property
    def _asks(self) -> str:
        return " A new plan is asked for." if self.action == Action.REPLAN else ""


class CanaryJudged(EventData):
    """A copy of a result with a planted fault was judged and discarded. `fault`: what was planted; empty if nothing
    was. `outcome`: of `CaseOutcome`; empty if the copy was not judged, and then `why` says why not.
    """

    groups = frozenset({"result"})
    kind: Literal[EventKind.CANARY] = EventKind.CANARY
    step: str
    attempt: int
    fault: str = ""
    outcome: str = ""
    why: str = ""

    @property
    def tone(self) -> Tone:
        return "warn" if self.outcome in {CaseOutcome.PASSED, CaseOutcome.MARKED} else "calm"

    def _sentence(self, step: str) -> str:
        return f"{self._said}, as a test of the verifier at {step}, attempt {self.attempt}.{self._why}"

    def _short_sentence(self, step: str) -> str:
        return f"{self._said}, as a test of the verifier.{self._why}"

    @property
    def _why(self) -> str:
        return f" {self.why}" if self.why else ""

    @property
    def _said(self) -> str:
        what = "A copy of the result with " + (f"a planted fault ({self.fault})" if self.fault else "a planted fault")
        match self.outcome:
            case CaseOutcome.REFUSED:
                return f"{what} was refused"
            case CaseOutcome.MARKED:
                return f"{what} was passed with a mark"
            case CaseOutcome.PASSED:
                return f"{what} was passed"
            case CaseOutcome.NO_VERDICT:
                return f"{what} got no usable verdict"
            case _:
                return f"{what} was not judged"


class StepPassed(EventData):
    """`tree`: the digest of the workspace from now on."""

    groups = frozenset({"result"})
    kind: Literal[EventKind.STEP_PASSED] = EventKind.STEP_PASSED
    step: str
    attempt: int
    tree: str

    @property
    def tone(self) -> Tone:
        return "good"

    def _sentence(self, step: str) -> str:
        return f"{step} passed; its files are now among the results."


class StepAccepted(EventData):
    """`tree`: the digest of the workspace from now on."""

    groups = frozenset({"result"})
    kind: Literal[EventKind.STEP_ACCEPTED] = EventKind.STEP_ACCEPTED
    step: str
    attempt: int
    tree: str

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        return f"{step} was accepted with open points."


class StepNotApplicable(EventData):
    """The step had nothing to do. `tree`: the digest of the unchanged workspace."""

    groups = frozenset({"result"})
    kind: Literal[EventKind.STEP_NOT_APPLICABLE] = EventKind.STEP_NOT_APPLICABLE
    step: str
    attempt: int
    tree: str

    def _sentence(self, step: str) -> str:
        return f"{step} does not apply: there is nothing for it to do."


class StepFailed(EventData):
    groups = frozenset({"result", "problem"})
    kind: Literal[EventKind.STEP_FAILED] = EventKind.STEP_FAILED
    step: str
    attempts: int

    @property
    def tone(self) -> Tone:
        return "bad"

    def _sentence(self, step: str) -> str:
        return f"{step} failed after {pluralize(self.attempts, 'attempt')}."


class StepRetried(EventData):
    groups = frozenset({"problem"})
    kind: Literal[EventKind.STEP_RETRIED] = EventKind.STEP_RETRIED
    step: str
    why: str

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        return f"{step} is tried again. {self.why}"


class Replanning(EventData):
    """`step`: the step that could not be done, or empty. `replan`: the number of replans including this one."""

    groups = frozenset({"problem"})
    kind: Literal[EventKind.REPLANNING] = EventKind.REPLANNING
    step: str
    why: str
    replan: int

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        return f"A new plan is needed. {self.why}"


class NothingNew(EventData):
    """The planner repeated a plan that had failed, so `version` continues. `why`: the reason that the planner was
    given.
    """

    groups = frozenset({"problem"})
    kind: Literal[EventKind.NOTHING_NEW] = EventKind.NOTHING_NEW
    version: int
    why: str

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        return f"The planner proposed nothing new; version {self.version} continues. {self.why}"


class WaitingForModel(EventData):
    """`until`: the time of the next try, in ISO 8601."""

    groups = frozenset({"problem"})
    kind: Literal[EventKind.WAITING_FOR_MODEL] = EventKind.WAITING_FOR_MODEL
    why: str
    until: str

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        return f"The model's service is not available; it is asked again later. {self.why}"


class Recovered(EventData):
    """`work`: the kind of the work item that another worker continues."""

    groups = frozenset({"problem"})
    kind: Literal[EventKind.RECOVERED] = EventKind.RECOVERED
    work: str

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        return "A worker was lost; another one continues where it stopped."


class Paused(EventData):
    groups = frozenset({"decision"})
    kind: Literal[EventKind.PAUSED] = EventKind.PAUSED
    by: str

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        return f"{self.by} paused the run. Work in progress is finished; nothing new starts."


class Resumed(EventData):
    groups = frozenset({"decision"})
    kind: Literal[EventKind.RESUMED] = EventKind.RESUMED
    by: str

    def _sentence(self, step: str) -> str:
        return f"{self.by} resumed the run."


class LimitsRaised(EventData):
    """`budget`: USD in digits, or nothing. `time_limit`: seconds."""

    groups = frozenset({"decision"})
    kind: Literal[EventKind.LIMITS_RAISED] = EventKind.LIMITS_RAISED
    by: str
    budget: str
    time_limit: int | None

    def _sentence(self, step: str) -> str:
        budget = f"${self.budget}" if self.budget else ""
        minutes = f"{self.time_limit / 60:g} minutes" if self.time_limit else ""
        return f"{self.by} raised the limit: {' and '.join(filter(None, [budget, minutes]))}."


class ApproverAdded(EventData):
    """Earlier versions wrote it where this one writes `Shared`, as they did with `ApproverRemoved`."""

    groups = frozenset({"decision"})
    kind: Literal[EventKind.APPROVER_ADDED] = EventKind.APPROVER_ADDED
    by: str
    person: str

    def _sentence(self, step: str) -> str:
        return f"{self.by} let {self.person} see this run and decide in it."


class ApproverRemoved(EventData):
    groups = frozenset({"decision"})
    kind: Literal[EventKind.APPROVER_REMOVED] = EventKind.APPROVER_REMOVED
    by: str
    person: str

    def _sentence(self, step: str) -> str:
        return f"{self.by} took {self.person} off the list of those who may see this run and decide in it."


class Shared(EventData):
    """`who`: the name of a person or a group, or empty for everyone here. Without a `level` they see it no longer."""

    groups = frozenset({"decision"})
    kind: Literal[EventKind.SHARED] = EventKind.SHARED
    by: str
    who: str = ""
    is_group: bool = False
    level: ShareLevel | None = None

    def _sentence(self, step: str) -> str:
        them = f"the group {self.who}" if self.is_group else self.who or "everyone here"
        match self.level:
            case ShareLevel.DECIDE:
                return f"{self.by} let {them} see this run and decide in it."
            case ShareLevel.LOOK:
                return f"{self.by} let {them} look at this run."
            case None:
                return f"{self.by} stopped sharing this run with {them}."


class Finalising(EventData):
    kind: Literal[EventKind.FINALISING] = EventKind.FINALISING

    @property
    def tone(self) -> Tone:
        return "active"

    def _sentence(self, step: str) -> str:
        return "Every step is done. The final answer is being written."


class Answered(EventData):
    groups = frozenset({"result"})
    kind: Literal[EventKind.ANSWERED] = EventKind.ANSWERED
    met: int
    criteria: int

    def _sentence(self, step: str) -> str:
        return f"The answer is written; {self.met} of {self.criteria} success criteria are met."


class Finished(EventData):
    """`gaps`: at most 20 sentences."""

    groups = frozenset({"result"})
    kind: Literal[EventKind.FINISHED] = EventKind.FINISHED
    outcome: str
    gaps: tuple[str, ...]

    @property
    def tone(self) -> Tone:
        if self.outcome == Outcome.PARTIAL:
            return "warn"
        return "good" if self.outcome == Outcome.SUCCEEDED else "bad"

    def _sentence(self, step: str) -> str:
        more = f" with {pluralize(len(self.gaps), 'open point')}" if self.gaps else ""
        return f"Finished: {self.outcome}{more}."


class Renamed(EventData):
    """`before` and `after` are titles."""

    kind: Literal[EventKind.RENAMED] = EventKind.RENAMED
    by: str
    before: str
    after: str

    def _sentence(self, step: str) -> str:
        return f"{self.by} renamed the run from “{self.before}” to “{self.after}”."


class ReportNamed(EventData):
    """The client, the matter and the author that the report names from now on; empty for none."""

    kind: Literal[EventKind.REPORT_NAMED] = EventKind.REPORT_NAMED
    by: str
    client: str = ""
    matter: str = ""
    author: str = ""

    def _sentence(self, step: str) -> str:
        names = {"client": self.client, "matter": self.matter, "author": self.author}
        told = ", ".join(f"{name} “{text}”" for name, text in names.items() if text)
        return f"{self.by} changed what the report names: {told or 'no client, matter or author'}."


class Archived(EventData):
    kind: Literal[EventKind.ARCHIVED] = EventKind.ARCHIVED
    by: str

    def _sentence(self, step: str) -> str:
        return f"{self.by} archived the run. Lists show it only with the filter “Archived runs”."


class Restored(EventData):
    """Taken back from the archive."""

    kind: Literal[EventKind.RESTORED] = EventKind.RESTORED
    by: str

    def _sentence(self, step: str) -> str:
        return f"{self.by} brought the run back from the archive."


class VerdictOverruled(EventData):
    """A person judges a criterion of a result otherwise than its verdict. `was`: whether the verdict says it is met."""

    groups = frozenset({"decision"})
    kind: Literal[EventKind.VERDICT_OVERRULED] = EventKind.VERDICT_OVERRULED
    by: str
    step: str
    attempt: int
    criterion: str
    was: bool
    met: bool
    decided_by: str
    reason: str

    @property
    def tone(self) -> Tone:
        return "warn"

    def _sentence(self, step: str) -> str:
        about = f"{self.criterion} of {step}, attempt {self.attempt}"
        if self.was == self.met:
            return f"{self.by} no longer overrules the verdict on {about}: {self.reason}"
        verb, said = ("accepted", "not met") if self.met else ("rejected", "met")
        judge = "an automatic check" if self.decided_by == "check" else "the review"
        found = "no one judged it" if self.decided_by == "nobody" else f"{judge} found it {said}"
        return f"{self.by} {verb} {about}, although {found}: {self.reason}"


class Note(EventData):
    kind: Literal[EventKind.NOTE] = EventKind.NOTE
    text: str
    reason: str = ""

    def _sentence(self, step: str) -> str:
        return f"{self.text} {self.reason}".strip()


CLASSES: Mapping[str, type[EventData]] = {
    cls.model_fields["kind"].default.value: cls for cls in EventData.__subclasses__()
}


def kinds_in(group: Group) -> frozenset[str]:
    """Returns the kinds of events that belong to a group."""
    return frozenset(kind for kind, cls in CLASSES.items() if group in cls.groups)


_EMPTY: Mapping[object, object] = {str: "", int: 0, float: 0.0, bool: False, tuple[str, ...]: ()}
"""The value for a field that an old row lacks, by type."""


def read(kind: str, data: Mapping[str, Any]) -> EventData:
    """Returns the event in a row. Never raises: unknown keys are ignored, and missing or invalid
    values become empty.
    """
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
