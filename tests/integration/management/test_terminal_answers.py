"""A gate in the terminal: which words decide, and what is asked about everything else."""

from collections.abc import Sequence

import pytest
from django.core.management.base import CommandError

from runs.enums import Verb
from runs.lifecycle.gates.gate_type import Decision
from runs.management import questions
from runs.models import Run
from runs.text.visible import visible_text
from tests import factories

pytestmark = pytest.mark.django_db

AGAIN = "[a]pprove, [r]eject with feedback, [s]top? "
OWN = "Your answer, or nothing to let the AI decide? "


class Keyboard:
    """Types these lines, one for each question, and keeps the questions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, lines: Sequence[str]) -> None:
        self.questions: list[str] = []
        self._lines = list(lines)
        monkeypatch.setattr("builtins.input", self._typed)

    def _typed(self, question: str) -> str:
        self.questions.append(question.strip())
        if not self._lines:
            raise EOFError
        return self._lines.pop(0)

    @property
    def is_done(self) -> bool:
        return not self._lines


def decided(monkeypatch: pytest.MonkeyPatch, run: Run, *lines: str) -> tuple[Decision, Keyboard]:
    gate = factories.open_gate(run)
    keyboard = Keyboard(monkeypatch, lines)
    decision = questions.decision_on(gate)
    assert keyboard.is_done
    assert (decision.digest, decision.how) == (gate.digest, "terminal")
    return decision, keyboard


@pytest.mark.parametrize(
    ("typed", "verb"),
    [
        ("a", Verb.APPROVE),
        (" A ", Verb.APPROVE),
        ("Approve", Verb.APPROVE),
        ("s", Verb.STOP),
        ("STOP\t", Verb.STOP),
    ],
)
def test_a_letter_or_its_word_decides(monkeypatch: pytest.MonkeyPatch, typed: str, verb: Verb) -> None:
    assert decided(monkeypatch, factories.awaiting_plan(), typed)[0].verb == verb


def test_feedback_is_asked_for_until_there_is_some(monkeypatch: pytest.MonkeyPatch) -> None:
    decision, _ = decided(monkeypatch, factories.awaiting_plan(), "Reject", " ", "r", "Shorter, please.")
    assert (decision.verb, decision.reason) == (Verb.REJECT, "Shorter, please.")


@pytest.mark.parametrize(
    "typed",
    [
        "abort this, do not run it",
        "add a step for the deposit first",
        "sure",
        "stop using AI for the letters",
        "approved?",
        "revise step 2",
        "yes",
        "ok",
        "а",  # Cyrillic
        "a.",
        "as",
        "[a]pprove",
    ],
)
def test_anything_else_decides_nothing_and_is_offered_as_feedback(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    refused, keyboard = decided(monkeypatch, factories.awaiting_plan(), typed, "n", "s")
    offered = f"This decides nothing. Reject with the feedback “{typed}”? [y]es, or [n]o to be asked again:"
    assert (refused.verb, keyboard.questions) == (Verb.STOP, [AGAIN.strip(), visible_text(offered), AGAIN.strip()])
    taken, _ = decided(monkeypatch, factories.awaiting_plan(), typed, "Yes")
    assert (taken.verb, taken.reason) == (Verb.REJECT, typed)


@pytest.mark.parametrize("answer", ["yeah", "a", "no thanks", "", "approve"])
def test_only_yes_confirms(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    decision, keyboard = decided(monkeypatch, factories.awaiting_plan(), "sure", answer, "no", "a")
    assert decision.verb == Verb.APPROVE
    assert len(keyboard.questions) == 4


@pytest.mark.parametrize(
    "ready",
    [factories.error_gate, factories.step_gate, factories.exhausted_gate, factories.start_gate, factories.budget_gate],
)
def test_other_gates_are_asked_in_the_same_way(monkeypatch: pytest.MonkeyPatch, ready) -> None:  # type: ignore[no-untyped-def]
    decision, keyboard = decided(monkeypatch, ready(), "absolutely not", "n", "", "r", "Another way.")
    assert (decision.verb, decision.reason) == (Verb.REJECT, "Another way.")
    assert len(keyboard.questions) == 5


def test_without_a_terminal_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="There is no terminal to ask in"):
        decided(monkeypatch, factories.awaiting_plan(), "abort this")


@pytest.mark.parametrize(
    ("choices", "lines", "verb", "words"),
    [
        (("3", "6"), ["2", "y"], Verb.ANSWER, "6"),
        (("3", "6"), ["2", "o"], Verb.ANSWER, "2"),
        (("3", "6"), ["2", "n", "6"], Verb.ANSWER, "6"),
        (("2", "1"), ["1"], Verb.ANSWER, "1"),
        (("German law", "French law"), [" 2) ", "yes"], Verb.ANSWER, "French law"),
        (("German law", "French law"), ["#1", "y"], Verb.ANSWER, "German law"),
        *(
            (("German law", "French law"), [typed, "y"], Verb.ANSWER, "French law")
            for typed in ("2nd", "the 2nd one", "option 2", "No. 2", "Choice 2.", "[2]", "2!", "２", "the 2nd choice")
        ),
        (("3 months", "6 months"), ["3 months"], Verb.ANSWER, "3 months"),
        (("2nd floor", "1st floor"), ["2nd floor"], Verb.ANSWER, "2nd floor"),
        (("German law", "French law"), ["1000", "n", "1000", "y"], Verb.ANSWER, "1000"),
        (("German law", "French law"), ["2 months"], Verb.ANSWER, "2 months"),
        (("German law", "French law"), ["-2"], Verb.ANSWER, "-2"),
        (("German law", "French law"), ["german LAW"], Verb.ANSWER, "German law"),
        (("German law", "French law"), ["7", "n", "7", "y"], Verb.ANSWER, "7"),
        (("German law", "French law"), ["0", "y"], Verb.ANSWER, "0"),
        (("German law", "French law"), [" Both. "], Verb.ANSWER, "Both."),
        (("German law", "French law"), ["2 of them"], Verb.ANSWER, "2 of them"),
        (("German law", "French law"), [""], Verb.DELEGATE, ""),
        ((), ["2"], Verb.ANSWER, "2"),
    ],
)
def test_a_number_is_a_choice_only_where_that_is_confirmed(
    monkeypatch: pytest.MonkeyPatch, choices: tuple[str, ...], lines: list[str], verb: Verb, words: str
) -> None:
    decision, _ = decided(monkeypatch, factories.question_gate(choices=choices), *lines)
    assert (decision.verb, decision.reason) == (verb, words)


def test_what_a_number_stands_for_is_said_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    _, keyboard = decided(monkeypatch, factories.question_gate(choices=("3", "6")), "2", "maybe", "y")
    assert keyboard.questions == [
        OWN.strip(),
        "2nd choice: “6”? [y]es, [o]wn answer: “2”, or [n]o to be asked again:",
        "“maybe” is no answer to this. Type y (yes) or o (own answer) or n (no):",
    ]
