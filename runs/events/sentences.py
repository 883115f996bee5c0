"""The sentences and tones of events: what pages and terminal tell people about them."""

from collections.abc import Iterator, Mapping
from typing import Literal, assert_never

from runs.enums import Action, GateStatus, Outcome
from runs.events.kinds import (
    Answered,
    AnyEvent,
    ApproverAdded,
    ApproverRemoved,
    Archived,
    AttemptEvent,
    AttemptReused,
    AttemptStarted,
    DocumentsRead,
    Finalising,
    Finished,
    GateDecided,
    GateEvent,
    GateOpened,
    GateWithdrawn,
    LimitsRaised,
    ModelCalled,
    Note,
    NothingNew,
    Paused,
    PeopleEvent,
    PlanApproved,
    PlanEvent,
    Planning,
    PlanProposed,
    Reading,
    Recovered,
    Renamed,
    Replanning,
    Restored,
    Resumed,
    RunEvent,
    SessionResumed,
    ShelfEvent,
    StepAccepted,
    StepEvent,
    StepFailed,
    StepNotApplicable,
    StepPassed,
    StepRetried,
    Submitted,
    ToolCalled,
    VerdictGiven,
    Verifying,
    WaitingForModel,
    WorkEvent,
)
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted

type Tone = Literal["good", "bad", "warn", "active", "calm"]
_Telling = (
    ShelfEvent
    | PeopleEvent
    | Submitted
    | PlanProposed
    | GateWithdrawn
    | ModelCalled
    | SessionResumed
    | StepNotApplicable
    | Resumed
    | LimitsRaised
    | Answered
    | Note
)
"""Kinds that tell what happened, and neither good news nor bad whatever is in them."""


def tone(event: AnyEvent) -> Tone:
    if isinstance(event, _Telling):
        return "calm"
    match event:
        case Finished(outcome=Outcome.PARTIAL):
            return "warn"
        case Finished():
            return "good" if event.outcome == Outcome.SUCCEEDED else "bad"
        case GateDecided():
            return "good" if event.decision in {GateStatus.APPROVED, GateStatus.ANSWERED} else "warn"
        case VerdictGiven():
            return "good" if event.passed else "bad"
        case ToolCalled():
            return "bad" if event.error else "calm"
        case PlanApproved() | StepPassed() | AttemptReused():
            return "good"
        case StepFailed():
            return "bad"
        case GateOpened() | StepAccepted() | StepRetried() | Replanning() | NothingNew() | WaitingForModel():
            return "warn"
        case Recovered() | Paused():
            return "warn"
        case AttemptStarted() | Planning() | Reading() | Finalising() | Verifying():
            return "active"
        case DocumentsRead():
            return "warn" if event.not_read else "calm"
        case _:
            assert_never(event)


def sentence(event: AnyEvent, names: Mapping[str, str]) -> str:
    """One event in plain words. `names` maps the keys of steps to their names; a step without one goes by its key."""
    key = getattr(event, "step", "")
    step = f"“{names.get(key, key)}”"
    if isinstance(event, RunEvent):
        return _of_run(event)
    if isinstance(event, PlanEvent):
        return _of_plan(event)
    if isinstance(event, GateEvent):
        return _of_gate(event, step)
    if isinstance(event, AttemptEvent):
        return _of_attempt(event, step)
    if isinstance(event, StepEvent):
        return _of_step(event, step)
    return f"{event.text} {event.reason}".strip()


def short_sentence(event: AnyEvent, names: Mapping[str, str]) -> str:
    """The same where step and attempt, and how long it took, already stand beside it."""
    match event:
        case ModelCalled():
            answered = "gave no answer" if event.stop == "error" else "answered"
            return f"The {event.role} ({event.model}) {answered}.{_pages(event)}"
        case ToolCalled():
            return f"{' '.join(_call(event))}."
        case Verifying():
            return f"Reported{_sure(event)}; it is being verified."
        case SessionResumed():
            return _of_session(event, "agent's session" if event.step else "planner's session")
        case VerdictGiven():
            asks = " A new plan is asked for." if event.action == Action.REPLAN else ""
            return "Passed verification." if event.passed else f"Did not pass: {event.feedback}{asks}"
        case _:
            return sentence(event, names)


def _of_session(event: SessionResumed, whose: str) -> str:
    replies = pluralize(event.replies, "reply", "replies")
    then = "then took another turn and began again" if event.otherwise else "went on where it was"
    return f"The {whose} was given {replies} from the journal, and {then}."


def _of_run(event: RunEvent) -> str:
    if isinstance(event, ShelfEvent):
        return _of_shelf(event)
    if isinstance(event, WorkEvent):
        return _of_work(event)
    match event:
        case Submitted():
            left = f" Left out, since they may hold secrets: {', '.join(event.left_out)}." if event.left_out else ""
            over = f" over MCP (token “{event.token}”)" if event.token else ""
            first = f"{event.by} submitted the task{over} with {pluralize(event.files, 'file')}.{left}"
            return " ".join([first, *event.not_read])
        case Paused():
            return f"{event.by} paused the run. What is under way is finished; nothing new starts."
        case Resumed():
            return f"{event.by} resumed the run."
        case LimitsRaised():
            budget = f"${event.budget}" if event.budget else ""
            minutes = f"{event.time_limit / 60:g} minutes" if event.time_limit else ""
            return f"{event.by} raised the limit: {' and '.join(filter(None, [budget, minutes]))}."
        case ApproverAdded():
            return f"{event.by} let {event.person} see this run and decide in it."
        case ApproverRemoved():
            return f"{event.by} took {event.person} off those who may see this run and decide in it."
        case Finished():
            more = f" with {pluralize(len(event.gaps), 'open point')}" if event.gaps else ""
            return f"Finished: {event.outcome}{more}."
        case _:
            assert_never(event)


def _of_work(event: WorkEvent) -> str:
    match event:
        case Recovered():
            return "A worker was lost; another one goes on where it stopped."
        case WaitingForModel():
            return f"The model's service is not available; it is asked again later. {event.why}"
        case Reading(done=0):
            return f"{pluralize(event.documents, 'document')} {word_for(event.documents, 'is', 'are')} being read."
        case Reading():
            return f"{event.done:,} of {pluralize(event.documents, 'document')} are read."
        case DocumentsRead():
            return " ".join(["The documents are read.", *event.not_read])
        case Finalising():
            return "Every step is settled. The final answer is being written."
        case Answered():
            return f"The answer is written; {event.met} of {event.criteria} success criteria are met."
        case _:
            assert_never(event)


def _of_shelf(event: ShelfEvent) -> str:
    match event:
        case Renamed():
            return f"{event.by} renamed the run from “{event.before}” to “{event.after}”."
        case Archived():
            return f"{event.by} archived the run: lists show it only where the archive is asked for."
        case Restored():
            return f"{event.by} brought the run back from the archive."
        case _:
            assert_never(event)


def _of_plan(event: PlanEvent) -> str:
    match event:
        case Planning():
            return f"The planner writes version {event.version} of the plan."
        case PlanProposed():
            more = f"; {pluralize(len(event.kept), 'result')} kept from before" if event.kept else ""
            fewer = pluralize(event.relaxed, "place")
            less = f" It departs from what was agreed, in {fewer}." if event.relaxed else ""
            how = f"is {event.by}’s edit" if event.by else "is ready"
            return f"Version {event.version} of the plan {how}: {pluralize(event.steps, 'step')}{more}.{less}"
        case PlanApproved():
            how = " by policy" if event.how == "policy" else ""
            return f"Version {event.version} of the plan is approved{how}, fingerprint {event.digest[:12]}."
        case Replanning():
            return f"Back to the planner. {event.why}"
        case NothingNew():
            return f"The planner brought nothing new; version {event.version} goes on without a replan. {event.why}"
        case _:
            assert_never(event)


def _of_gate(event: GateEvent, step: str) -> str:
    match event:
        case GateOpened():
            return f"Needs a decision: {event.question}"
        case GateDecided():
            how = "" if event.how == "person" else f" ({event.how})"
            waived = " and said that no sources are needed" if event.no_sources else ""
            reason = f": {event.reason}" if event.reason else "."
            words = event.words.replace("{step}", step) or f"{event.decision} it"
            return f"{event.by} {words}{how}{waived}{reason}"
        case GateWithdrawn():
            return "A question was withdrawn; it needs no answer any more."
        case _:
            assert_never(event)


def _of_attempt(event: AttemptEvent, step: str) -> str:
    match event:
        case AttemptStarted():
            return f"Attempt {event.attempt} at {step} began{f', with the agent {event.agent}' if event.agent else ''}."
        case AttemptReused():
            source = f"attempt {event.from_attempt} of run {event.from_run}"
            return f"{step} reused the result of {source}: nothing that it depends on has changed. It costs nothing."
        case SessionResumed():
            return _of_session(event, f"agent's session for {step}" if event.step else "planner's session")
        case ModelCalled():
            about = f" for {step}, attempt {event.attempt}" if event.attempt else ""
            what = f"gave no answer{about} after" if event.stop == "error" else f"answered{about} in"
            return f"The {event.role} ({event.model}) {what} {event.ms / 1_000:.1f} s.{_pages(event)}"
        case ToolCalled():
            return f"{' '.join([*_call(event), *([f'for {step}'] if event.attempt else [])])}."
        case Verifying():
            return f"Attempt {event.attempt} at {step} reported{_sure(event)}; it is being verified."
        case VerdictGiven():
            if event.passed:
                return f"Attempt {event.attempt} at {step} passed verification."
            asks = " A new plan is asked for." if event.action == Action.REPLAN else ""
            return f"Attempt {event.attempt} at {step} did not pass: {event.feedback}{asks}"
        case _:
            assert_never(event)


def _call(event: ToolCalled) -> Iterator[str]:
    yield event.tool
    if subject := event.path or (event.about and quoted(event.about, 200)):
        yield subject
    if event.agent:
        yield f"by {event.agent}"
    if event.error:
        yield "failed"


def _pages(event: ModelCalled) -> str:
    """What the model was shown beside texts."""
    return f" It was shown as they look: {'; '.join(event.pages)}." if event.pages else ""


def _sure(event: Verifying) -> str:
    return "" if event.confidence is None else f", {event.confidence * 100:.0f} % confident"


def _of_step(event: StepEvent, step: str) -> str:
    match event:
        case StepPassed():
            return f"{step} passed; its files are in the workspace."
        case StepAccepted():
            return f"{step} was accepted with open points."
        case StepNotApplicable():
            return f"{step} does not apply: there is nothing for it to do."
        case StepFailed():
            return f"{step} failed after {pluralize(event.attempts, 'attempt')}."
        case StepRetried():
            return f"{step} is tried again. {event.why}"
        case _:
            assert_never(event)
