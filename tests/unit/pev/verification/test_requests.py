"""What people asked for at a rejected result: what proves it, what is only the request again, and what fails (T7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runs.contracts.base import DIFF, QuotedEvidence
from runs.enums import About, Action, Provenance
from runs.evidence.results import Evidence, RequestResult
from runs.pev.contracts import Criterion, CriterionAnswer
from runs.pev.verification.requests import PersonRequest, ResultChange, is_own_words, judged, settled
from runs.pev.verifier import judge
from tests.unit.pev.scripted import NeverAsked, Scripted
from tests.unit.pev.test_verifier import CHECK, OPEN, REAL, case, given_, shown, verdict
from tests.work import growth

WORDS = "Name the severity of each point"
OLD = "# Findings\nThe term is open.\nThe cap is missing.\n"
NAMED = "# Findings\nThe term is open. Severity: high.\nThe cap is missing. Severity: low.\n"


def change(
    new: str, old: str = OLD, words: str = WORDS, output: str = "Two points.", before: str = "Two points."
) -> ResultChange:
    request = PersonRequest(1, words, "attempt 1", ["findings.md"], {"findings.md": old.encode()}, before)
    return ResultChange(request, {"findings.md": new.encode(), "nda.md": b"The cap is missing."}, output)


def proved(change: ResultChange, source: str, quote: str) -> tuple[bool, str]:
    found = change.proof(QuotedEvidence(source=source, quote=quote))
    return found.verified, found.sentence


@pytest.mark.parametrize(
    ("source", "quote", "sentence"),
    [
        ("findings.md", "Severity: high.", "“Severity: high.” is in findings.md, line 2"),
        ("@result/findings.md", "Severity: low", "“Severity: low” is in @result/findings.md, line 3"),
        (DIFF, "The cap is missing. Severity: low.", "“The cap is missing. Severity: low.” is new since attempt 1"),
        (DIFF, "+The cap is missing. Severity: low.", "“The cap is missing. Severity: low.” is new since attempt 1"),
    ],
)
def test_words_that_are_new_prove_a_request(source: str, quote: str, sentence: str) -> None:
    assert proved(change(NAMED), source, quote) == (True, sentence)


@pytest.mark.parametrize(
    ("source", "quote", "sentence"),
    [
        ("findings.md", "The term is open.", "“The term is open.” stood in attempt 1 already, which was rejected"),
        ("@output", "Two points.", "@output is nothing that has changed since attempt 1"),
        ("nda.md", "The cap is missing.", "nda.md is nothing that has changed since attempt 1"),
        ("@person-1", WORDS, f"“{WORDS}” is what was asked for, not that it was done"),
        (DIFF, "# Findings", "“# Findings” is neither a line removed nor a line added in @diff"),
        (DIFF, "never there", "“never there” is neither a line removed nor a line added in @diff"),
    ],
)
def test_what_was_there_before_proves_nothing(source: str, quote: str, sentence: str) -> None:
    assert proved(change(NAMED), source, quote) == (False, sentence)


@pytest.mark.parametrize(
    "written",
    [
        f"{WORDS}",
        f"{WORDS}.",
        "As requested: name the severity of each point.",
        "The severity of each point is named.",
        "Severity of each point",
        f"The cap is missing. {WORDS}",
        f"the cap is missing {WORDS}",
    ],
)
def test_a_quote_of_the_request_itself_proves_nothing(written: str) -> None:
    new = f"{OLD}{written}\nAnd more was changed.\n"
    assert proved(change(new), "findings.md", written) == (
        False,
        f"“{written}” is the request itself; it is not met by being quoted",
    )


def test_a_line_that_was_removed_proves_a_removal() -> None:
    gone = change("# Findings\nThe term is open.\n", words="Remove the paragraph about the cap")
    wanted = (True, "“The cap is missing.” stood in attempt 1 and is gone")
    assert [proved(gone, DIFF, quote) for quote in ("The cap is missing.", "-The cap is missing.")] == [wanted] * 2


def test_a_removed_line_may_be_the_one_that_the_request_names() -> None:
    gone = change("# Findings\nThe term is open.\n", words="Remove “The cap is missing.”")
    assert proved(gone, DIFF, "The cap is missing.")[0] is True


def test_a_line_that_only_moved_is_not_gone() -> None:
    moved = change("# Findings\nThe cap is missing.\nThe term is open.\n", words="Remove what it says of the term")
    assert proved(moved, DIFF, "The term is open.")[0] is False


@pytest.mark.parametrize("respelled", ["The term is o\u00adpen.", "The term is\nopen.", "Ｔhe term is open."])
def test_a_line_that_is_only_spelled_in_another_way_is_not_gone(respelled: str) -> None:
    moved = change(f"# Findings\nThe cap is missing.\n{respelled}\n", words="Remove what it says of the term")
    assert proved(moved, DIFF, "The term is open.")[0] is False
    assert proved(moved, DIFF, respelled)[0] is False


@pytest.mark.parametrize(
    "new",
    [
        f"{OLD}{WORDS}\n",
        f"{OLD.rstrip()} {WORDS}.\n",
        f"# Findings\nThe term is open. {WORDS}\nThe cap is missing. {WORDS}\n",
        f"{OLD}As requested: Name the severity of each point. Done.\n",
    ],
)
def test_the_request_written_into_the_file_is_recognised(new: str) -> None:
    assert change(new, output="I did what was asked.").pasted is True


def test_several_requests_written_into_the_file_are_recognised() -> None:
    asked = [WORDS, "Translate it into German.", "On point 8 “F8, the cap”: delete the point."]
    new = f"{OLD}\n## Remarks of the reviewer\n\n" + "\n\n".join(f"> {words}" for words in asked)
    changes = [replace(change(new, words=words), asked="\n".join(asked)) for words in asked]
    assert [one.pasted for one in changes] == [True, True, True]
    honest = replace(change(f"{new}\n- The term is open: severity high", words=WORDS), asked="\n".join(asked))
    assert honest.pasted is False


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (NAMED, WORDS),
        (OLD, WORDS),
        (f"{NAMED}{WORDS}\n", WORDS),
        (OLD.replace("open", "closed"), "Replace “open” by “closed”"),
        (f"{OLD}The sky is blue.\n", "Add: The sky is blue."),
        (f"{OLD}", "???"),
    ],
)
def test_an_honest_change_is_not_taken_for_the_request(new: str, words: str) -> None:
    assert change(new, words=words).pasted is False


def test_findings_are_looked_at_where_no_file_has_changed() -> None:
    assert change(OLD, output=f"Two points. {WORDS}").pasted is True


@pytest.mark.parametrize(
    ("words", "text", "own"),
    [
        ("Nenne die Schwere jedes Punktes", "Die Schwere jedes Punktes ist genannt.", False),
        ("Nenne die Schwere jedes Punktes", "Die Schwere jedes Punkts", True),
        ("Give 12 months", "Give 13 months", False),
        ("列出每一点", "每一点列出", True),
    ],
)
def test_what_counts_as_the_requests_own_words(words: str, text: str, own: bool) -> None:
    assert is_own_words(text, words) is own


def answer(passed: bool = True, quote: str = "Severity: high.", source: str = "findings.md") -> CriterionAnswer:
    return CriterionAnswer(
        criterion="R1",
        passed=passed,
        evidence=[QuotedEvidence(source=source, quote=quote)] if passed else [],
        confidence=0.8,
        feedback="" if passed else "It names none.",
    )


@pytest.mark.parametrize(
    ("given", "least", "status", "feedback"),
    [
        (answer(), 0.0, "met", ""),
        (answer(passed=False), 0.0, "not_met", "It names none."),
        (
            answer(quote="The term is open."),
            0.0,
            "not_provable",
            "Not provable: no quote shows it in what has changed since.",
        ),
        (
            answer(quote="The term is open.").model_copy(update={"feedback": "Nobody can judge this."}),
            0.0,
            "not_provable",
            "Not provable: no quote shows it in what has changed since. The verifier said: Nobody can judge this.",
        ),
        (answer(), 0.9, "not_provable", "The verifier was only 80% sure; this run asks for 90%."),
    ],
)
def test_what_a_verifier_says_comes_to(given: CriterionAnswer, least: float, status: str, feedback: str) -> None:
    found = judged(change(NAMED), given, least)
    assert (found.number, found.text, found.status, found.feedback) == (1, WORDS, status, feedback)


def test_a_new_line_that_shares_no_word_with_the_request_is_marked() -> None:
    new = change(f"{NAMED}Thank you for reading.\n")
    related, other = (
        QuotedEvidence(source="findings.md", quote=q) for q in ("Severity: low", "Thank you for reading.")
    )
    alone = judged(new, answer(quote=other.quote), 0.0)
    beside = judged(new, answer().model_copy(update={"evidence": [other, related]}), 0.0)
    marks = [(one.status, one.weak, one.unproved) for one in (alone, beside)]
    assert marks == [("met", "it shares no word with what was asked for", True), ("met", "", False)]
    assert beside.proof is not None
    assert beside.proof.quote == "Severity: low"


def test_evidence_of_a_request_is_what_the_run_made() -> None:
    found = [change(NAMED).proof(QuotedEvidence(source=name, quote="Severity: low")) for name in ("findings.md", DIFF)]
    assert [(one.verified, one.provenance, one.rests_on) for one in found] == [
        (True, Provenance.MADE, "from the result itself")
    ] * 2


@pytest.mark.parametrize(
    ("first", "second", "kept"), [("weak", "good", "good"), ("weak", "weak", "weak"), ("good", "weak", "good")]
)
def test_asked_again_a_verifier_may_bring_better_proof(first: str, second: str, kept: str) -> None:
    proofs = {
        name: Evidence(kind="quote", source="a.md", verified=True, sentence=name, weak=weak)
        for name, weak in {"weak": "it shares nothing", "good": ""}.items()
    }
    given = [RequestResult(number=1, text="", status="met", evidence=[proofs[name]]) for name in (first, second)]
    assert settled(*given).evidence == [proofs[kept]]


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("not_met", "met", "not_met"),
        ("met", "not_met", "not_met"),
        ("met", "not_provable", "met"),
        ("not_provable", "met", "met"),
        ("not_provable", "not_met", "not_met"),
    ],
)
def test_asked_again_a_verifier_cannot_turn_a_failure_round(first: Any, second: Any, kept: str) -> None:
    assert settled(*(RequestResult(number=1, text="", status=status) for status in (first, second))).status == kept


def test_the_work_on_results_grows_with_their_length() -> None:
    def compared(size: int) -> str:
        lines = [f"{number * number % 197}" for number in range(size)]
        return change("\n".join(reversed(lines)), old="\n".join(lines)).diff

    assert growth(compared, 500) < 5


def test_of_large_results_so_much_is_compared() -> None:
    lines = [f"{number % 7} {'ab'[number % 2]}" for number in range(20_000)]
    large = change("\n".join(reversed(lines)), old="\n".join(lines))
    assert proved(large, DIFF, "nothing of it")[0] is False
    assert len(large.diff) < 41_000
    huge = change("a b " * 600_000, old="c d " * 10)
    assert proved(huge, "findings.md", "a b a b a b a b") == (False, "The results are too long to be compared")


# ---- beside the criteria ------------------------------------------------------------------------------------------

BEFORE = b"The term ends.\n"


def request(before: bytes = BEFORE, words: str = "Name the party") -> PersonRequest:
    return PersonRequest(2, words, "attempt 1", ["a.md"], {"a.md": before}, "One finding.")


NEW = {"source": "a.md", "quote": "The party is Kestrel."}


def test_a_request_is_judged_beside_the_criteria_and_counts_for_none() -> None:
    model = Scripted(verdict(given_("C1", REAL), given_("R2", NEW)))
    found = judge(model, case(requests=[request()], persons={2: "Name the party"}))
    assert (found.passed, found.needs_person(asks=False), [one.label for one in found.results]) == (True, False, ["C1"])
    assert [(one.label, one.status) for one in found.requests] == [("R2", "met")]
    criteria, person, diff = (
        next(p for p in shown(model) if p.kind == kind) for kind in ("criteria", "person", "diff")
    )
    assert criteria.text.splitlines()[1] == "R2: What @person-2 asks for has been done since."
    assert (person.name, person.text) == ("@person-2", "Name the party")
    assert (diff.name, diff.text.splitlines()[:2]) == ("@diff for R2", ["--- a.md, attempt 1", "+++ a.md, now"])


def test_a_model_is_asked_for_a_request_where_checks_decide_every_criterion() -> None:
    model = Scripted(verdict(given_("R2", NEW)))
    found = judge(model, case(CHECK, requests=[request()]))
    assert (found.stage, found.passed, [one.status for one in found.requests]) == ("model", True, ["met"])


def test_a_request_that_is_not_met_fails_the_attempt_with_its_words() -> None:
    model = Scripted(verdict(given_("C1", REAL), given_("R2", passed=False, feedback="No party is named.")))
    found = judge(model, case(requests=[request()]))
    assert (found.passed, found.action, found.needs_person(asks=False)) == (False, Action.RETRY, False)
    assert "- R2 (“Name the party”): No party is named." in found.feedback


def test_what_is_claimed_and_not_proved_is_asked_about_once_and_fails_nothing() -> None:
    model = Scripted(verdict(given_("C1", REAL), given_("R2", {"source": "@output", "quote": "One finding."})))
    found = judge(model, case(requests=[request()]))
    assert (found.passed, found.needs_person(asks=False), len(model.asked)) == (True, True, 2)
    assert [one.status for one in found.requests] == ["not_provable"]
    assert "@output is nothing that has changed since attempt 1." in model.told


def test_a_proof_that_has_nothing_to_do_with_the_request_is_asked_about_once_and_marked() -> None:
    """Of each sentence of a result that is new to a lazy verifier, any would do."""
    thanks = {"source": "a.md", "quote": "on 31 May"}
    model = Scripted(verdict(given_("C1", REAL), given_("R2", thanks)))
    found = judge(model, case(requests=[request(words="Name the party")]))
    assert (found.passed, found.needs_person(asks=False), len(model.asked)) == (True, True, 2)
    assert [(one.status, one.weak) for one in found.requests] == [("met", "it shares no word with what was asked for")]
    assert "line 1, but it shares no word with what was asked for." in model.told


def test_the_request_written_into_the_file_fails_without_a_model() -> None:
    pasted = request(before=b"The term ends on\n31 May. The party is", words="Kestrel.")
    found = judge(NeverAsked(), case(OPEN, requests=[pasted]))
    assert (found.passed, found.stage, found.action) == (False, "checks", Action.RETRY)
    assert found.feedback == (
        "- R2 (“Kestrel.”): All that was added is the request itself, “Kestrel.”. "
        "It is not met by being written down: do what it asks for."
    )


def test_when_a_check_fails_no_request_is_judged() -> None:
    found = judge(NeverAsked(), case(expected_outputs=("nowhere.md",), requests=[request()]))
    assert (found.passed, found.requests) == (False, [])


@pytest.mark.parametrize(("about", "passed"), [(About.SOURCES, True), (About.OUTPUT, False)])
def test_words_of_a_person_are_a_source_and_say_nothing_of_the_result(about: About, passed: bool) -> None:
    model = Scripted(*[verdict(given_("C1", {"source": "@person-3", "quote": "The rent is 4,000"}))] * 2)
    criteria = (Criterion(text="The rent is 4,000.", about=about),)
    assert judge(model, case(persons={3: "The rent is 4,000 a month."}, criteria=criteria)).passed is passed
