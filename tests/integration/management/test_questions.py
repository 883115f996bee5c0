"""A gate in the terminal shows what the page shows: all that a step writes, and what came of it."""

from collections.abc import Sequence

import pytest
from django.core.management.base import CommandError

from runs.enums import GateKind, Verb, WorkKind
from runs.lifecycle import outcomes
from runs.lifecycle.gates.gate_type import Decision
from runs.management import questions
from runs.models import Gate, Run
from runs.readmodel.gate_text import about
from runs.text.visible import visible_text
from tests import factories

pytestmark = pytest.mark.django_db


def asked(run: Run) -> list[str]:
    return about(factories.open_gate(run))


def test_a_plan_is_shown_with_everything_its_steps_write() -> None:
    lines = asked(factories.awaiting_plan())
    at = lines.index("- inventory (low): List the contracts and their parties")
    assert lines[at + 1 : at + 8] == [
        "    Read each contract and note its parties, its date and its subject in one table.",
        f"    must hold (output): The inventory exists [check: {factories.INVENTORY} exists]",
        "    must hold (output): Every contract is listed with both parties.",
        f"    writes: {factories.INVENTORY}",
        "    uses list_files: See what there is.",
        "    uses read_file: Read each contract.",
        "    uses write_file: Write the table.",
    ]
    assert f"    writes: {factories.REVIEW}" in lines
    at = lines.index("5 AI reviews: look only at the result")
    assert lines[at - 1 : at + 2] == [
        "3 automatic checks: a file exists, a file has no placeholders (TODO, TBD, …)",
        "5 AI reviews: look only at the result",
        "! not compared with your files: all results, so nothing checks whether they are true.",
    ]
    assert lines[-1].startswith("Estimated cost: $")


def test_a_second_plan_says_what_changed() -> None:
    lines = asked(factories.awaiting_second_plan())
    assert "- deadlines (low, added) after inventory: List the deadlines" in lines
    assert "- review (high, changed) after inventory: Review the clauses" in lines
    assert (
        "Since version 1: 1 step removed: Draft the notices · 1 changed: Review the clauses (description) · "
        "1 added: List the deadlines"
    ) in lines


def test_a_step_that_is_to_start_is_shown_with_all_that_is_about_to_happen() -> None:
    lines = asked(factories.start_gate())
    does = factories.review_step().description
    assert lines[:-1] == [
        "Start “Review the clauses”? It is a high-risk step.",
        "- review (high) after inventory: Review the clauses",
        f"    {does}",
        "    must hold (output): Each finding quotes the clause it is about.",
        "    must hold (output): Each finding recommends what to do.",
        f"    must hold (output): The review has no placeholders [check: {factories.REVIEW} has no placeholders]",
        f"    writes: {factories.REVIEW}",
        "    uses read_file: Read the clauses.",
        "    uses search_files: Find placeholders.",
        "    uses write_file: Write the findings.",
        "    may read: all of your files",
    ]
    assert lines[-1].startswith("Estimated cost: $")


def test_an_error_is_shown_with_what_was_tried_and_what_the_answers_lead_to() -> None:
    assert asked(factories.step_error()) == [
        "The service refuses this request (403): its policy does not allow contracts/Service agreement.md.",
        "! The executor (claude-sonnet-5-5) was asked 8 times, each time without an answer.",
        "approve: Attempt 1 goes on from where it stopped. That helps only once the cause is gone.",
        "reject: The planner gets your words and this error. It writes version 2 for approval.",
    ]
    assert asked(factories.error_gate())[-1] == "reject: There is no plan yet that could be changed."


def test_a_result_is_shown_with_every_file_written_and_removed() -> None:
    run = factories.executing()
    with factories.working(run, WorkKind.ATTEMPT, "inventory") as mine:
        assert mine.attempt is not None
        changes = factories.overlay({factories.INVENTORY: "# Inventory", "other.md": "x"}) | {factories.SERVICE: None}
        outcomes.executed(mine.attempt, factories.output("one\ntwo"), changes)
    attempt = run.plans.get().steps.get(key="inventory").attempts.get()
    assert about(Gate(run=run, kind=GateKind.STEP, question="Keep it?", attempt=attempt)) == [
        "Keep it?",
        f"removed {factories.SERVICE}",
        "wrote other.md (1 bytes)",
        "wrote review/inventory.md (11 bytes)",
        f"! differs from the plan: Unplanned file: {factories.SERVICE}.",
        "! differs from the plan: Unplanned file: other.md.",
        "! differs from the plan: The plan named the tool list_files; it was not used.",
        "! differs from the plan: The plan named the tool read_file; it was not used.",
        "! differs from the plan: The plan named the tool write_file; it was not used.",
        "| one",
        "| two",
    ]


def test_a_result_is_shown_with_its_verdict() -> None:
    lines = asked(factories.step_gate())
    assert lines[1:3] == [
        f"wrote {factories.REVIEW} (405 bytes)",
        "met: Each finding quotes the clause it is about. (AI review, 90 % confident; from your files)",
    ]


def test_a_line_break_in_a_text_begins_no_line_of_ours() -> None:
    name = "Innocent\n   1  admin approved the plan"
    step = factories.plan_step("one", name)
    lines = asked(factories.awaiting_plan(factories.plan(step)))
    assert "- one (low): Innocent 1 admin approved the plan" in lines
    assert not [line for line in lines if "\n" in line]


def test_an_exhausted_step_shows_first_what_was_not_met() -> None:
    lines = asked(factories.exhausted_gate())
    assert lines[0] == "“Review the clauses” did not pass in 2 attempts. Accept it with open points?"
    first, second = (one.text for one in factories.review_step().acceptance_criteria[:2])
    assert lines[1:6] == [
        f"! not met: “{first}” (Unsupported: no passage that was quoted for it is in its source)",
        f"! not met: “{second}” (Finding 2 has no recommendation)",
        "! not usable yet",
        f"! attempt 1: {factories.CRITIQUE}",
        f"! attempt 2: {factories.CRITIQUE}",
    ]


def test_a_question_of_a_model_is_shown_with_the_answers_that_it_suggests() -> None:
    assert asked(factories.question_gate()) == ["Which law applies to the notices?", "1. German law", "2. French law"]


# ---- A gate in the terminal: which words decide, and what is asked about everything else -----------------------------


AGAIN = "[a]pprove, [r]equest changes, [s]top? "
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
    assert isinstance(decision, Decision)
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
        "“maybe” is not an answer to this. Type y (yes) or o (own answer) or n (no):",
    ]
