"""What a kind of gate declares: who answers it, what an approval is bound to, what follows, and its words.

The functions at the end open a gate, and hold work as long as one is open.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from math import ceil
from typing import Any

from django.utils import timezone

from runs.contracts.feedback import Comment
from runs.enums import REQUESTING_GATES, Complexity, GateKind, GateStatus, StepStatus, Verb, WorkStatus
from runs.events import kinds as events
from runs.lifecycle import assignments, limit_stages
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.state import RunState
from runs.lifecycle.transitions import change
from runs.models import Attempt, Gate, Run, Step, User, WorkItem
from runs.models.gates import BY_LIMIT
from runs.people import outbox, second_person
from runs.pev.checks.material import list_in_words
from runs.store.event_log import record


@dataclass(frozen=True)
class Decision:
    """A person's answer. `digest` is the one on the page that was answered; `how` says through what.

    `budget` (USD) and `time_limit` (seconds) are the new limits with which a budget gate is approved. With
    `no_sources` a plan is approved or rejected as one for creative work, which needs none. `comments` are on parts of a
    plan, without numbers and places in words yet; `reason` is on the whole of it. A rejection needs one or the other.
    `seconds_on_page`: how long the page was open, where that is known. `met`: the labels of criteria that the person
    judges as met, against the verdict, and `why_met` says why (T15).
    """

    verb: Verb
    digest: str
    reason: str = ""
    how: str = "person"
    budget: Decimal | None = None
    time_limit: int | None = None
    no_sources: bool = False
    comments: tuple[Comment, ...] = ()
    seconds_on_page: float | None = None
    met: frozenset[str] = frozenset()
    why_met: str = ""


class Subject(Enum):
    """What a gate asks about. Pages and the terminal show it with the question."""

    PLAN = auto()
    START = auto()
    """A step that has not started."""
    RESULT = auto()
    """An attempt that passed."""
    UNPASSED = auto()
    """A step whose attempts did not pass, and the last of them."""
    ERROR = auto()
    """Work that an error holds."""
    CALL = auto()
    """A call of a tool, with its arguments."""
    QUESTION = auto()
    """Only the question itself."""


@dataclass(frozen=True)
class Wording:
    """The words of one kind of gate. Without `reject` there is no such button; `reason` labels the text field, which
    has to be filled in to reject where that `needs_reason`. Where there is a `default`, approving is the plain way on.
    `yes` and `no` are what the two buttons do.
    """

    approve: str
    reject: str
    reason: str
    hint: str
    needs_reason: bool = True
    default: bool = True
    yes: Verb = Verb.APPROVE
    no: Verb = Verb.REJECT


@dataclass(frozen=True)
class Limit:
    """A limit that can be raised: the field's name and label, what holds now, and what is suggested.

    `button` is what the button says if this is the only limit; its braces stand for the amount. `why` says how the
    suggestion was worked out.
    """

    name: str
    label: str
    now: Decimal | int
    suggested: Decimal | int
    button: str
    why: str


@dataclass(frozen=True, kw_only=True)
class GateFigures:
    """What a page has read about the subject of a gate; its kind puts it into words.

    `steps` and `high_risk_steps` are counts of the plan, `cost` is an estimate in words. `attempt` is 0 for none;
    `allowed` is 0 where the number of the attempt is none of those that the policy allows. `done` of the `steps` are
    settled, and the rest costs `rest_low` to `rest_high` USD; None where that is not known. Until the gate opened the
    run had spent `spent` USD and worked for `worked_seconds`.
    """

    version: int = 0
    steps: int = 0
    high_risk_steps: int = 0
    cost: str = ""
    step_name: str = ""
    step_number: int = 0
    complexity: str = ""
    attempt: int = 0
    allowed: int = 0
    confidence: float | None = None
    done: int = 0
    rest_low: Decimal | None = None
    rest_high: Decimal | None = None
    spent: Decimal = Decimal(0)
    worked_seconds: float = 0

    @property
    def rest_minutes(self) -> int:
        """How long the steps that are not done take if each takes as long as those that are; 0 if none is done."""
        return ceil(self.worked_seconds / self.done * (self.steps - self.done) / 60) if self.done else 0


@dataclass(frozen=True)
class Answer:
    """A button of a gate: what it says, and what happens and what does not when it is pressed."""

    verb: Verb
    button: str
    does: str


STOP_BUTTON = "Stop the run"
STOP_DOES = (
    "Nothing more is carried out. Work in progress is discarded, and what has passed is kept. A stopped run cannot "
    "be started again."
)
VERDICTS = frozenset({Verb.APPROVE, Verb.REJECT, Verb.STOP})


class GateType(ABC):
    """One kind of gate. Everything outside this package asks it, through the registry, instead of naming kinds."""

    kind: GateKind
    subject: Subject
    template: str
    """What the page shows between the title and the buttons."""
    wording: Wording
    does: Mapping[Verb, str]
    """What each answer but a stop makes happen, and what does not happen, in sentences."""
    verbs: frozenset[Verb] = VERDICTS
    for_second_person = False
    """Whether the policy and the installation can require that a second person approves."""
    unattended = Verb.APPROVE
    """How `--approve-all` answers: what only a person can judge is declined."""
    revises_plan = False
    """Whether a rejection asks the planner for the next version, as often as the policy allows revisions."""
    shows_requests = False
    """Whether its page says what people asked for in this run, and what became of that."""
    needs_citations = False
    """Whether approving is not the plain way on while points of the result have no citation."""
    marks_open_points = False
    """Whether an approval accepts a step with open points, and is marked as that."""
    label: str
    """The kind of decision in a word, for lists."""
    together = ""
    """What approving several with equal consequences does to each, as a sentence; empty where each needs reading of its
    own.
    """
    takes_files = False
    """Whether a person can give files that are missing, which become input files of the run."""
    supplied = "the question is asked again"
    """What follows when files were given, as a clause; `{step}` stands for the quoted name of the step."""
    goes_on_at_limit = False
    """Whether the work goes on without what a time limit has rejected. Otherwise the run ends with what has passed: a
    rejection would only ask a model for another try, without saying what is wrong.
    """
    raises_limits = False
    """Whether an approval raises a limit, so that its page says what the rest of the work may need."""
    waiting = "waited for a decision"
    heading: str
    """What the head of the run says while it waits."""
    terminal_prompt = "[a]pprove, [r]equest changes, [s]top? "
    approved = "approved {about}"
    approved_in_history = ""
    """What the history says of an approval, where that differs."""
    rejected = "decided against {about}"

    @property
    def makes_requests(self) -> bool:
        """Whether a rejection asks for something, which gets a number and is followed up."""
        return self.kind in REQUESTING_GATES

    # ---- decisions ---------------------------------------------------------------------------------------------------

    def digest(self, gate: Gate) -> str:
        """What an approval would be bound to now (G1)."""
        return gate.digest

    def check_approval(self, gate: Gate) -> None:
        """Raises DecisionRefused where an approval could not be carried out; nothing hinders most kinds."""
        return

    def needs_reading(self, gate: Gate) -> str:
        """Why this gate cannot be approved together with others, as a sentence; empty if it can."""
        return "" if self.together else "A decision of this kind needs reading of its own."

    def consequences(self, gate: Gate) -> dict[str, str]:
        """What an approval lets happen, part by part as digests. Gates are approved together if all parts are equal."""
        return {}

    def complete(self, decision: Decision) -> Decision:
        """The decision with the words that this kind adds. Raises InvalidInput for one that lacks words."""
        return decision

    @abstractmethod
    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        """Apply what follows from the answer, in its transaction. A stop ends the run and does not come here."""

    def follow_supply(self, gate: Gate) -> None:
        """Apply what follows when files were given, in that transaction."""
        raise NotImplementedError

    # ---- words of a page ---------------------------------------------------------------------------------------------

    def wording_of(self, gate: Gate, figures: GateFigures | None = None) -> Wording:
        """The words of the buttons; `figures` are those of a page."""
        return self.wording

    def answers(self, wording: Wording) -> tuple[Answer, ...]:
        """The answers that have a button with this wording, with what each makes happen."""
        buttons = {wording.yes: wording.approve, wording.no: wording.reject}
        given = (Answer(verb, button, self.does[verb]) for verb, button in buttons.items() if button)
        return (*given, Answer(Verb.STOP, STOP_BUTTON, STOP_DOES))

    @abstractmethod
    def title(self, gate: Gate) -> str:
        """What is asked, in a few words."""

    def short_question(self, gate: Gate) -> str:
        """What is asked, in a list of runs."""
        return self.title(gate)

    def heading_of(self, gate: Gate) -> str:
        return self.heading

    def terminal_prompt_of(self, gate: Gate) -> str:
        return self.terminal_prompt

    def facts(self, figures: GateFigures) -> list[str]:
        """The facts below the title."""
        if figures.attempt:
            facts = ["high-risk step"] if figures.complexity == Complexity.HIGH else []
            facts += [f"attempt {figures.attempt}{f' of {figures.allowed}' if figures.allowed else ''}"]
            sure = figures.confidence
            return facts + ([] if sure is None else [f"the AI is {sure * 100:.0f} % confident in its own result"])
        return [f"step “{figures.step_name}”"] if figures.step_name else []

    def bound_to(self, gate: Gate, attempt: int) -> str:
        """What an approval is bound to, in words. `attempt`: the number of the one that the page shows, 0 for none."""
        return "this very question"

    def after_rejection(self, gate: Gate, attempt: int) -> str:
        """Where a rejection leads, where that may surprise; empty otherwise."""
        return ""

    def limits(self, gate: Gate, figures: GateFigures | None = None) -> tuple[Limit, ...]:
        """The limits that an approval can raise."""
        return ()

    # ---- words about a decision --------------------------------------------------------------------------------------

    @abstractmethod
    def about(self, gate: Gate, step: str) -> str:
        """What is asked about, as the object of a sentence. `step`: its quoted name, empty for none."""

    def about_in_history(self, gate: Gate, step: str) -> str:
        """The same for the history, which adds no words of models or versions."""
        return self.about(gate, step)

    def rejection(self, gate: Gate) -> str:
        return self.rejected

    def about_request(self, gate: Gate) -> str:
        """What a request was made about, for people."""
        return self.about(gate, quoted_step(gate))

    def about_request_for_planner(self, gate: Gate, version: str) -> str:
        """The same for the planner, by the key of the step. `version` names that of the plan."""
        return version

    def decided(self, gate: Gate) -> str:
        """What was decided, as the rest of a sentence that begins with who did."""
        step = quoted_step(gate)
        about = self.about(gate, step)
        if gate.status == GateStatus.SUPPLIED:
            return self._gave(gate, step)
        match GateStatus(gate.status):
            case GateStatus.APPROVED:
                words = self.approved
            case GateStatus.REJECTED:
                words = _rejection(self, gate)
            case GateStatus.STOPPED:
                words = "stopped the run when asked about {about}"
            case GateStatus.ANSWERED:
                words = "answered {about}"
            case _:
                words = "was asked about {about}"
        return words.format(about=about, step=step or "it")

    def decided_in_history(self, gate: Gate) -> str:
        """The same for the history. It keeps `{step}` where the reader has the name of the step."""
        step = "{step}" if gate.step else ""
        about = self.about_in_history(gate, step)
        if gate.status == GateStatus.SUPPLIED:
            return self._gave(gate, step)
        match GateStatus(gate.status):
            case GateStatus.APPROVED:
                words = self.approved_in_history or self.approved
            case GateStatus.REJECTED:
                words = _rejection(self, gate)
            case GateStatus.STOPPED:
                words = "stopped the run at the question of {about}"
            case status:
                words = f"{status} {{about}}"
        return words.format(about=about, step=step or "it")

    def _gave(self, gate: Gate, step: str) -> str:
        return f"gave {list_in_words(gate.supplied or [])}; {self.supplied.format(step=step)}"


def _rejection(gate_type: GateType, gate: Gate) -> str:
    """A limit asks for nothing."""
    return "rejected {about}" if gate.decided_how == BY_LIMIT else gate_type.rejection(gate)


def quoted_step(gate: Gate) -> str:
    """The name of the step that a gate is about; empty for none."""
    return f"“{gate.step.spec.name}”" if gate.step else ""


def step_consequences(gate: Gate) -> dict[str, str]:
    """The consequences of a gate that is about one step: its text, and what every step of the run is bound to."""
    assert gate.step is not None
    shared = fingerprint.shared_parts(gate.run, gate.step.plan)
    return {"step": fingerprint.digest_of(gate.step.spec)} | {
        part: digest for part, digest in shared.items() if part != "plan"
    }


def open_gate(
    run: Run, gate_type: GateType, question: str, digest: str, *, instead_of: Gate | None = None, **on: Any
) -> Gate:
    """Ask a person. An open gate holds no worker, thread, connection or lease (G6). `instead_of`: the gate whose
    question is asked again; it stays the turn of the same person.
    """
    gate = Gate(run=run, kind=gate_type.kind.value, question=question, digest=digest, **on)
    if gate_type.for_second_person:
        gate.second_person, gate.high_risk = run.policy.second_person, second_person.is_high_risk(gate)
    if gate_type.together and not gate_type.needs_reading(gate):
        gate.consequences = fingerprint.digest_of([gate.kind, gate_type.consequences(gate)])
    limits = limit_stages.limits_of(run, gate_type.kind)
    why = ""
    if instead_of and instead_of.assigned_to and assignments.may_approve(gate, instead_of.assigned_to):
        gate.assigned_to_id, gate.assigned_group_id = instead_of.assigned_to_id, instead_of.assigned_group_id
        gate.assigned_at = timezone.now()
    else:
        why = assignments.assign_new(gate, limits.assigned_to)
    limit_stages.begin(gate, limits, timezone.now())
    gate.save(force_insert=True)
    step = gate.step.key if gate.step else ""
    record(run.pk, events.GateOpened(gate=gate.pk, gate_kind=gate.kind, question=question, step=step))
    outbox.announce_gate(gate)
    if why:
        assignments.record_assignment(gate, why=why)
    return gate


def latest_attempt(state: RunState, key: str) -> Attempt:
    return Attempt.objects.select_related("step", "tree").filter(step=state.steps[key].id).latest("number")


def open_result_gate(state: RunState, key: str, gate_type: GateType, question: str, attempt: Attempt) -> None:
    """Ask about the latest result of a step. The answer is bound to exactly this result."""
    state.change(key, StepStatus.WAITING)
    open_gate(state.run, gate_type, question, fingerprint.attempt_digest(attempt), step=attempt.step, attempt=attempt)


def hold(work: WorkItem) -> None:
    """Suspend work until a person has answered. What it had reserved of the budget is released."""
    change(work, WorkStatus.SUSPENDED, lease_until=None, reserved_usd=0, reserved_uses={})


def step_of(work: WorkItem) -> Step | None:
    return work.attempt.step if work.attempt else None
