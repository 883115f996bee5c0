"""The gate of a question that a model asks: a person answers, or leaves it to the model."""

from collections.abc import Sequence
from dataclasses import replace

from runs.enums import GateKind, GateStatus, Verb
from runs.errors import InvalidInput
from runs.lifecycle import effects
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import Decision, GateFigures, GateType, Subject, Wording, hold, open_gate, step_of
from runs.models import Gate, Run, User, WorkItem
from runs.models.querysets import GateQuerySet
from runs.store.trees import files_of
from runs.text.truncate import quoted, truncate

MAX_TITLE = 240
"""Characters of a question that its title shows. A longer one follows in full."""
DELEGATED = "Decide for yourself."
"""The beginning of an answer that leaves the decision to the model."""


NONE_FITS = "None of these answers fits."
DIFFERS_BY_FILE = "It differs from file to file."
DEPENDS = "It depends on the case."


class QuestionGate(GateType):
    kind = GateKind.QUESTION
    label = "Question"
    subject = Subject.QUESTION
    template = "gates/gate_question.html"
    wording = Wording(
        "Answer",
        "Let the AI decide",
        "Your own words, instead of a choice or to add to it (the AI sees them)",
        "The work goes on with these words as a source. Nothing is approved by them.",
        needs_reason=False,
        yes=Verb.ANSWER,
        no=Verb.DELEGATE,
    )
    does = {
        Verb.ANSWER: "The AI goes on with your answer, which it may quote as a source. Nothing is approved by it.",
        Verb.DELEGATE: "It decides for itself, and says in its result what it decided. It sees your words, if you "
        "write any. Nothing is approved by it.",
    }
    verbs = frozenset({Verb.ANSWER, Verb.DELEGATE, Verb.STOP})
    unattended = Verb.DELEGATE
    heading = "The AI has a question."
    terminal_prompt = "Your answer, or nothing to let the AI decide? "

    def complete(self, decision: Decision) -> Decision:
        """The words of an answer are never empty."""
        words = decision.reason.strip()
        match decision.verb:
            case Verb.DELEGATE:
                return replace(decision, reason=f"{DELEGATED} {words}".strip())
            case Verb.ANSWER if not words:
                raise InvalidInput("Write an answer or choose one, or let the AI decide.")
            case Verb.ANSWER:
                return replace(decision, reason=words)
            case _:
                return decision

    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        effects.resume_suspended(gate.run)

    def title(self, gate: Gate) -> str:
        return truncate(gate.question, MAX_TITLE)

    def after_rejection(self, gate: Gate, attempt: int) -> str:
        return f"{self.wording.reject}: {self.does[Verb.DELEGATE]}"

    def short_question(self, gate: Gate) -> str:
        return gate.question

    def facts(self, figures: GateFigures) -> list[str]:
        return super().facts(figures) or ["before it plans"]

    def about(self, gate: Gate, step: str) -> str:
        return f"the question {quoted(gate.question, 200)}"

    def about_in_history(self, gate: Gate, step: str) -> str:
        return f"the question of {step or 'the planner'}"


GATE = QuestionGate()


def ask(work: WorkItem, question: str, choices: Sequence[str], why: str = "") -> None:
    """Hold the work until a person has answered. One gate serves all work that asks the same question.

    `why`: the reason that the model gives.
    """
    hold(work)
    digest = question_digest(question)
    if not work.run.gates.open().filter(kind=GATE.kind, digest=digest).exists():
        open_gate(work.run, GATE, question, digest, work=work, step=step_of(work), choices=list(choices), why=why)


def choices_beyond(gate: Gate) -> tuple[str, ...]:
    """The answers for a person whom no choice of the model fits; none if the model offers no choices."""
    if not gate.choices:
        return ()
    several = len(files_of(gate.run.inputs)) > 1
    return (NONE_FITS, DIFFERS_BY_FILE if several else DEPENDS)


def asked_in(run: Run) -> GateQuerySet:
    """The questions that people were asked, without withdrawn ones."""
    return run.gates.filter(kind=GATE.kind).exclude(status=GateStatus.WITHDRAWN)


def question_digest(question: str) -> str:
    """Identifies a question within its run, so that it is not asked twice."""
    return fingerprint.digest_of(["question", " ".join(question.split())])
