"""What people said at gates, and what became of each request with which they rejected a plan or a result (T7)."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from runs.contracts.feedback import Comment
from runs.enums import TERMINAL_STEPS, GateStatus, StepStatus
from runs.errors import InvalidInput
from runs.evidence.results import CriterionResult, RequestResult
from runs.models import Attempt, Gate, Plan, Run, Step
from runs.pev.contracts import PlanContract, PlanHeader, RequestAnswer
from runs.text.plain_markdown import plain
from runs.text.truncate import quoted

_MAX_PLACE = 4_000
_BEGINNING = 60
"""Characters that are quoted of a point without a name."""
_QUOTES = re.compile(r"On (point \d{1,6}|row \d{1,6} of [^“‘]{1,1000}) (?:“(.*?)”?|‘(.*?)’?)", re.DOTALL)
_NAME = re.compile(r"[A-Z]{1,4}-?\d{1,4}\b")


def on_what(comment: Comment) -> str:
    """`on F3`, `on point 3, “…”`, `on row 2 of t.csv` or `on step 2 “Name”`, without markup; empty for the whole.

    A stored place may have been cut within a link.
    """
    place = comment.place[:_MAX_PLACE]
    found = _QUOTES.fullmatch(place)
    if not found:
        return f"o{plain(place)[1:]}" if place else ""
    text = plain(found[2] or found[3] or "")
    if name := _NAME.match(text):
        return f"on {name[0]}"
    return f"on {found[1]}" if found[1].startswith("row") else f"on {found[1]}, {quoted(text, _BEGINNING)}"


def said_at(gate: Gate) -> str:
    """Everything that was said with a decision, in words for people. `gate.reason` has the words for models."""
    said = (f"{one.text} ({subject})" if (subject := on_what(one)) else one.text for one in gate.comments)
    return " · ".join(said) or gate.reason


READ = frozenset({"person", "terminal"})
"""The ways in which people decide who have read the question. A policy and `--approve-all` have not."""
_ENDS = {status: status is StepStatus.PASSED for status in TERMINAL_STEPS}
"""Of a step: whether all of its criteria are met. Of one that is accepted with issues it is not known of each."""


_STATUS_REPEATED = re.compile(r"\ANot provable: no quote shows it in what has changed since\.(?: The verifier said: )?")
"""The beginning of a feedback that repeats the status."""


type Status = Literal["met", "not_met", "not_provable", "answered", "open"]
"""`answered`: the plan names a step that meets it, but nothing was judged. `open`: nothing is known yet."""

type Word = Literal["met", "not met", "not done", "not provable", "answered by the plan", "not judged"]
"""The status for people. `not done`: the plan says that it does nothing about the request."""
_WORDS: Mapping[Status, Word] = {
    "met": "met",
    "not_met": "not met",
    "not_provable": "not provable",
    "answered": "answered by the plan",
    "open": "not judged",
}


@dataclass(frozen=True)
class ChangeRequest:
    """One request and its answer.

    * `asked` is what was said; one rejection may contain several requests.
    * `answers` say where the newest plan meets it; `steps` are the names of the steps of that plan by key.
    * `step`, `attempt` and `result`: where it was judged last, and the judgement.
    * `edited` is the newest plan, if a person edited it after the request.
    """

    gate: Gate
    asked: Comment
    status: Status
    answers: Sequence[RequestAnswer] = ()
    step: Step | None = None
    attempt: Attempt | None = None
    result: RequestResult | None = None
    steps: Mapping[str, str] = field(default_factory=dict)
    edited: Plan | None = None

    @property
    def number(self) -> int:
        return self.asked.request

    @property
    def words(self) -> str:
        """The words for models, which begin with what they are about."""
        return self.asked.words

    @property
    def said(self) -> str:
        """The person's own words, without what they are about."""
        return self.asked.text

    @property
    def on(self) -> str:
        """What the words are about, in short; empty for the whole."""
        return on_what(self.asked)

    @property
    def sentence(self) -> str:
        return f"“{self.said}” ({self.on})" if self.on else f"“{self.said}”"

    @property
    def why(self) -> str:
        """The feedback on its status, without words that repeat the status."""
        feedback = self.result.feedback if self.result else ""
        plain = _STATUS_REPEATED.sub("", feedback, count=1)
        return f"{plain[:1].upper()}{plain[1:]}"

    @property
    def where(self) -> str:
        """The place that shows that it is met; empty for none."""
        proof = self.result.proof if self.result else None
        return "" if proof is None else proof.sentence if proof.source.startswith("@diff") else proof.where

    @property
    def planned(self) -> list[str]:
        """Where and how the newest plan meets it."""
        return [f"{place_of(one, self.steps)}: {one.how}" for one in self.answers if one.done]

    @property
    def mark(self) -> str:
        """Its status as the status of a criterion, which pages mark."""
        known = {"met": "passed", "not_met": "failed", "not_provable": "unsupported"}
        return known.get(self.status, "not judged")

    @property
    def word(self) -> Word:
        """Its status in words, the same on every surface."""
        return "not done" if self._not_done else _WORDS[self.status]

    @property
    def state(self) -> str:
        """Its status in words, with the place that shows it or the reason."""
        if self.status != "met":
            unproved = self.result.evidence if self.result and self.status == "not_provable" else None
            nothing_shows = unproved is not None and not any(one.verified for one in unproved)
            why = self._why_not or ("nothing that changed shows it" if nothing_shows else "")
            return self._by_hand or ": ".join(filter(None, (self.word, why)))
        weak = self.result.weak if self.result else ""
        met = f"met, but look at it yourself: {weak}" if weak else "met"
        return f"{met} ({self.where})" if self.where else met

    @property
    def unjudged(self) -> bool:
        """Whether neither plan nor person has said anything about it."""
        return self.status == "open" and self.state == "not judged"

    @property
    def _by_hand(self) -> str:
        if self.status != "open" or not self.edited:
            return ""
        return f"{self.edited.author} edited the plan since (version {self.edited.version})"

    @property
    def _not_done(self) -> bool:
        """Whether the plan does nothing about it, and nothing was judged."""
        undone = bool(self.answers) and not any(one.done for one in self.answers)
        return undone and self.result is None and not self._by_hand

    @property
    def _why_not(self) -> str:
        return self.answers[0].why_not if self._not_done else ""

    @property
    def reason(self) -> str:
        """Why nothing was done or judged, as a sentence; empty where no one knows."""
        if self.result is not None or self.status == "met":
            return ""
        why = self._by_hand or self._why_not
        return f"{why[:1].upper()}{why[1:].rstrip('.')}." if why else ""

    @property
    def failing(self) -> bool:
        """Whether it comes first among the lines that people read; not what a person has seen to by hand."""
        return self.status not in {"met", "answered"} and not (self.status == "open" and self.edited)


def place_of(answer: RequestAnswer, names: Mapping[str, str]) -> str:
    """What an answer names: a step, a criterion of one, or a success criterion. `names`: those of steps by key."""
    if answer.step_id is None:
        return f"success criterion {answer.criterion}"
    criterion = f", criterion {answer.criterion}" if answer.criterion else ""
    return f"step “{names.get(answer.step_id, answer.step_id)}”{criterion}"


def place_in(plan: PlanContract, comment: Comment) -> str:
    """What a comment is about, as it begins a sentence. Raises InvalidInput for what the plan does not have."""
    number = comment.criterion or 0
    if comment.step_id is None:
        if number > len(plan.success_criteria):
            raise InvalidInput(f"This plan has no success criterion {number}. Reload the page.")
        return f"On success criterion {number}" if number else ""
    places = {step.step_id: place for place, step in enumerate(plan.steps, 1)}
    place = places.get(comment.step_id, 0)
    if not place or number > len(plan.steps[place - 1].acceptance_criteria):
        raise InvalidInput("This plan has no such step or criterion. Reload the page.")
    step = f"On step {place} “{plan.steps[place - 1].name}”"
    return f"{step}, criterion {number}" if number else step


def requests_of(run: Run) -> list[Gate]:
    """The rejections that ask for something, by number. No query if nothing was rejected in the run."""
    if not run.requests:
        return []
    return list(run.gates.requests().select_related("decided_by", "plan", "step", "attempt"))


def judged_at(gate: Gate, header: PlanHeader, keys: Container[str]) -> str | None:
    """The step of a plan at which a request about a result is judged.

    It is the step that the request is about or, if the plan does not have it, the first step that the plan names for
    the request. None for requests about a plan or a start, which the plan answers, and if no step is named.
    """
    if gate.step is None or gate.attempt_id is None:
        return None
    own = gate.step.key
    numbers = {asked.request for asked in gate.asked}
    named = (answer.step_id for answer in header.answers if answer.request in numbers)
    return own if own in keys else next((key for key in named if key in keys), None)


def answered(
    gates: Iterable[Gate],
    plan: Plan | None,
    steps: Mapping[str, Step],
    tried: Callable[[Step], Sequence[Attempt]],
    final: Sequence[CriterionResult] = (),
) -> list[ChangeRequest]:
    """What became of each request.

    `plan` is the newest, with its `steps` by key. `tried` returns the attempts at a step in order, with verdicts.
    `final` are the judged success criteria.
    """
    names = {key: step.spec.name for key, step in steps.items()}
    found = (_outcome_of(gate, asked, plan, steps, tried, final) for gate in gates for asked in gate.asked)
    return [replace(one, steps=names) for one in found]


def _outcome_of(
    gate: Gate,
    asked: Comment,
    plan: Plan | None,
    steps: Mapping[str, Step],
    tried: Callable[[Step], Sequence[Attempt]],
    final: Sequence[CriterionResult],
) -> ChangeRequest:
    answers = [answer for answer in plan.header.answers if answer.request == asked.request] if plan else []
    edited = plan if plan and plan.author_id and gate.decided_at and plan.created_at > gate.decided_at else None
    key = judged_at(gate, plan.header, steps) if plan else None
    if key is None:
        by_hand = edited and not any(answer.done for answer in answers)
        return ChangeRequest(
            gate, asked, "open" if by_hand else _status_by_plan(answers, steps, final), answers, edited=edited
        )
    attempt = next((one for one in reversed(tried(steps[key])) if hasattr(one, "verdict")), None)
    results = attempt.verdict.requests if attempt else []
    result = next((one for one in results if one.number == asked.request), None)
    return ChangeRequest(
        gate, asked, result.status if result else "open", answers, steps[key], attempt, result, edited=edited
    )


def _status_by_plan(
    answers: Sequence[RequestAnswer], steps: Mapping[str, Step], final: Sequence[CriterionResult]
) -> Status:
    """The status by the criteria that the plan names for a request. A named step alone says nothing about it."""
    if not answers:
        return "open"
    answers = [answer for answer in answers if answer.done]
    if not answers:
        return "not_met"
    results = [_criterion_met(answer, steps, final) for answer in answers if answer.criterion]
    if False in results:
        return "not_met"
    return "met" if len(results) == len(answers) and all(results) else "answered"


def _criterion_met(answer: RequestAnswer, steps: Mapping[str, Step], final: Sequence[CriterionResult]) -> bool | None:
    """Whether the criterion that an answer names is met; None if that is not known."""
    if answer.step_id is None:
        return next((one.met for one in final if one.label == f"C{answer.criterion}"), None)
    step = steps.get(answer.step_id)
    return _ENDS.get(StepStatus(step.status)) if step else None


def unmet(requests: Iterable[ChangeRequest]) -> list[str]:
    """A sentence for each request about a result that is not known to be met by the final result."""
    return [sentence for request in requests if (sentence := gap_of(request))]


def gap_of(request: ChangeRequest) -> str:
    """The open point that a request about a result leaves; empty if it leaves none. Requests about plans leave none."""
    if not request.gate.attempt_id or _is_settled(request):
        return ""
    if request.status == "met":
        return f"No one checked whether {_name(request)} is met; its proof is doubtful: {_words(request)}"
    if request.status == "not_provable":
        return f"No one checked whether {_name(request)} is met, which is not provable: {_words(request)}"
    return unmet_sentence(request)


def unmet_sentence(request: ChangeRequest) -> str:
    """A sentence with its status, its words and the reason."""
    name, why = _name(request), request.why or request.reason
    return " ".join(filter(None, (f"{name[:1].upper()}{name[1:]} is {request.word}: {_words(request)}", why)))


def _is_settled(request: ChangeRequest) -> bool:
    """Whether it is met, or a person accepted the result knowing that nothing clearly proves it."""
    weak = request.result is not None and request.result.weak
    if request.status == "met" and not weak:
        return True
    if request.status not in {"met", "not_provable"} or request.attempt is None:
        return False
    return request.attempt.gates.filter(status=GateStatus.APPROVED, decided_how__in=READ).exists()


def _name(request: ChangeRequest) -> str:
    return f"request {request.number} of {request.gate.decider}"


def _words(request: ChangeRequest) -> str:
    """The quoted request, ending like a sentence."""
    said = quoted(request.said)
    if request.on:
        return f"{said} ({request.on})."
    return said if said.endswith((".”", "!”", "?”")) else f"{said}."
