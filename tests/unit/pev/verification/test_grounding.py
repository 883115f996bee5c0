"""What a criterion about the sources rests on (T1a): whose words a quote is, and what it is said to support."""

from typing import Any

import pytest

from runs.contracts.ports import FileInfo, Shown
from runs.enums import About, Provenance
from runs.evidence.sources import GivenFiles, Sources, ToolText
from runs.pev.contracts import Criterion
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.grounding import NO_STATEMENT
from runs.pev.verifier import judge
from tests.unit.pev.scripted import Scripted
from tests.unit.pev.test_verifier import case, given_, verdict

LEASE = b"The rent is 4,000 dollars a month.\nThe term ends on 31 May 2031. Findings are due by then."
REPORT = b"# Findings\nAnna Berg pays a rent of 4,000 dollars.\nThe deposit is 9,000 dollars."
FACTS = Criterion(text="The rent is right.", about=About.SOURCES)
FORM = Criterion(text="The report has a title.", about=About.OUTPUT)
INFO = {"lease.md": FileInfo("a" * 64, len(LEASE))}
READ = "lease.md, lines 1-2 of 2\n" + LEASE.decode()
ALL_SHOWN = Shown("lease.md", "a" * 64, 25, len(READ), 1, 2, 2)


def leased(*criteria: Criterion, **changes: Any) -> VerificationInput:
    values: dict[str, Any] = {
        "files": {"lease.md": LEASE, "report.md": REPORT},
        "inputs": GivenFiles({"lease.md": LEASE}, INFO),
        "shown": ("report.md",),
        "given": ("lease.md",),
        "output": "The rent is 4,000 dollars.",
        "tools": (ToolText(READ, (ALL_SHOWN,), "read_file\nlease.md"),),
    }
    return case(*(criteria or (FACTS,)), **{**values, **changes})


def quote(source: str, words: str, statement: str | None = None) -> dict[str, Any]:
    return {"source": source, "quote": words, **({"statement": statement} if statement else {})}


def judged(*evidence: dict[str, Any], about: VerificationInput | None = None) -> Any:
    return judge(Scripted(verdict(given_("C1", *evidence))), about or leased()).results[0]


@pytest.mark.parametrize(
    ("source", "words", "provenance", "rests_on"),
    [
        ("lease.md", "The rent is 4,000 dollars", Provenance.GIVEN, "from your files"),
        ("@tool-1", "The rent is 4,000 dollars", Provenance.OBSERVED, "from a tool"),
        ("report.md", "a rent of 4,000 dollars", Provenance.MADE, "from the result itself"),
        ("@result/lease.md", "The rent is 4,000 dollars", Provenance.MADE, "from the result itself"),
        ("@output", "The rent is 4,000 dollars", Provenance.MADE, "from the result itself"),
    ],
)
def test_each_piece_of_evidence_says_whose_words_it_is(
    source: str, words: str, provenance: Provenance, rests_on: str
) -> None:
    result = judged(quote(source, words))
    (item,) = result.evidence
    assert (item.verified, item.provenance, item.rests_on) == (True, provenance, rests_on)
    assert result.met == (provenance is not Provenance.MADE)


def test_what_the_run_wrote_itself_proves_how_a_result_looks_and_nothing_about_the_sources() -> None:
    own = quote("report.md", "The deposit is 9,000 dollars")
    result = judged(own)
    assert (result.met, result.claimed, result.status) == (False, True, "unsupported")
    assert "every quote is from what this run wrote itself" in result.feedback
    assert judged(own, about=leased(FORM)).met is True


def test_the_verifier_is_asked_once_for_something_from_outside() -> None:
    model = Scripted(
        verdict(given_("C1", quote("@output", "The rent is 4,000 dollars"))),
        verdict(given_("C1", quote("lease.md", "The rent is 4,000 dollars"))),
    )
    assert judge(model, leased()).passed is True
    assert "every quote is from what this run wrote itself" in model.told


def test_a_path_is_the_file_as_it_was_given_whatever_the_run_has_made_of_it() -> None:
    files = {"lease.md": b"The rent is 5,000 dollars a month."}
    changed = leased(files=files, shown=("@result/lease.md",), tools=())
    assert judged(quote("lease.md", "The rent is 5,000 dollars"), about=changed).evidence[0].sentence == (
        "“The rent is 5,000 dollars” does not occur in lease.md; it does occur in @result/lease.md, line 1, "
        "but that is not the source named"
    )
    assert judged(quote("lease.md", "The rent is 4,000 dollars"), about=changed).met is True
    assert judged(quote("@result/lease.md", "The rent is 5,000 dollars"), about=changed).met is False


def test_a_tool_that_shows_a_file_which_the_run_has_changed_has_observed_nothing() -> None:
    changed = ToolText(READ, (ALL_SHOWN._replace(sha256="b" * 64),))
    result = judged(quote("@tool-1", "The rent is 4,000 dollars"), about=leased(tools=(changed,)))
    assert (result.met, result.evidence[0].provenance) == (False, Provenance.MADE)


def test_of_a_result_only_the_part_that_shows_a_given_file_is_observed() -> None:
    text = "report.md:2: the rent is 4,000\nlease.md:1: The rent is 4,000"
    at = text.index("lease.md")
    hits = ToolText(
        text, (Shown("report.md", "c" * 64, 0, at - 1), Shown("lease.md", "a" * 64, at, len(text), 1, 1, 2))
    )
    both = leased(tools=(hits,))
    seen, made = (judged(quote("@tool-1", words), about=both) for words in ("The rent is 4,000", "the rent is 4,000"))
    assert (seen.met, seen.evidence[0].line, text[seen.evidence[0].start : seen.evidence[0].end]) == (
        True,
        2,
        "The rent is 4,000",
    )
    assert (made.met, made.evidence[0].provenance) == (False, Provenance.MADE)


def test_the_digest_of_a_given_file_is_that_of_its_own_bytes() -> None:
    assert judged(quote("lease.md", "The rent is 4,000 dollars")).evidence[0].sha256 == "a" * 64


@pytest.mark.parametrize(
    ("anchor", "rests_on", "met"),
    [
        ("[“The rent is 4,000 dollars”](lease.md#L1)", "from the result, which cites lease.md, line 1", True),
        (
            "[“The rent is 4,000 dollars”](lease.md#L2)",
            "from the result, which cites lease.md, line corrected from 2 to 1",
            True,
        ),
        ("[“The rent is 5,000 dollars”](lease.md#L1)", "from the result itself", False),
        ("[“The rent is 4,000 dollars”](other.md#L1)", "from the result itself", False),
        ("[“Anna Berg pays a rent”](report.md#L1)", "from the result itself", False),
    ],
)
def test_a_passage_of_the_result_counts_where_its_own_citation_leads_outside(
    anchor: str, rests_on: str, met: bool
) -> None:
    report = f"Anna Berg pays a rent.\n\nShe owes 4,000 dollars each month: {anchor}.\n"
    cited = leased(files={"lease.md": LEASE, "report.md": report.encode()}, whole=True)
    result = judged(quote("report.md", "She owes 4,000 dollars each month"), about=cited)
    assert (result.met, result.evidence[0].rests_on) == (met, rests_on)


# ---- statements ---------------------------------------------------------------------------------------------------


def test_a_statement_is_located_in_the_result() -> None:
    (item,) = judged(quote("lease.md", "The rent is 4,000 dollars", "a rent of 4,000 dollars")).evidence
    assert (item.statement_where, item.weak) == ("report.md, line 2", "")
    assert REPORT.decode()[item.statement_start : item.statement_end] == "a rent of 4,000 dollars"


def test_a_statement_that_nobody_made_makes_the_evidence_worthless() -> None:
    result = judged(quote("lease.md", "The rent is 4,000 dollars", "the rent is 5,000 dollars"))
    assert result.met is False
    said = "which it is said to support, is nowhere in the result"
    assert result.evidence[0].sentence == f"“the rent is 5,000 dollars”, {said}"


@pytest.mark.parametrize(
    ("statement", "words", "weak"),
    [
        ("a rent of 4,000 dollars", "The rent is 4,000 dollars", False),
        ("The deposit is 9,000 dollars", "The term ends on 31 May 2031", True),
        ("The deposit is 9,000 dollars", "The rent is 4,000 dollars", True),
        ("# Findings", "The term ends on 31 May 2031", True),
        ("# Findings", "Findings are due by then", False),
    ],
)
def test_evidence_that_shares_no_figure_and_no_name_is_marked_and_asked_about_once(
    statement: str, words: str, weak: bool
) -> None:
    model = Scripted(verdict(given_("C1", quote("lease.md", words, statement))))
    result = judge(model, leased()).results[0]
    assert (result.met, result.weak, len(model.asked)) == (True, weak, 2 if weak else 1)
    assert ("shares no" in result.evidence[0].weak) is weak


def test_better_evidence_takes_the_place_of_what_was_marked() -> None:
    model = Scripted(
        verdict(given_("C1", quote("lease.md", "The term ends on 31 May 2031", "a rent of 4,000 dollars"))),
        verdict(given_("C1", quote("lease.md", "The rent is 4,000 dollars", "a rent of 4,000 dollars"))),
    )
    result = judge(model, leased()).results[0]
    assert (result.met, result.weak) == (True, False)
    assert "shares no figure and no name" in model.told


RENT, TERM = "The rent is 4,000 dollars", "The term ends on 31 May 2031"
STATED = quote("lease.md", RENT, "a rent of 4,000 dollars")


@pytest.mark.parametrize(
    ("answers", "asked", "left"),
    [
        ([[STATED]], 1, 0),
        ([[STATED, quote("lease.md", TERM)], [STATED]], 2, 0),
        ([[STATED, quote("lease.md", TERM)], [STATED, quote("lease.md", TERM)]], 2, 1),
        ([[quote("lease.md", RENT)], [STATED]], 2, 0),
        ([[quote("lease.md", RENT)], [quote("lease.md", RENT)]], 2, 1),
    ],
)
def test_an_answer_goes_back_once_while_a_piece_of_evidence_names_no_statement(
    answers: list[list[dict[str, Any]]], asked: int, left: int
) -> None:
    model = Scripted(*(verdict(given_("C1", *evidence)) for evidence in answers))
    result = judge(model, leased()).results[0]
    unstated = [item for item in result.evidence if item.weak == NO_STATEMENT]
    assert (len(model.asked), len(unstated), result.met) == (asked, left, True)
    assert result.weak is (left == len(result.evidence))
    assert asked == 1 or NO_STATEMENT in model.told


def test_persons_are_sources_and_their_words_are_from_a_person() -> None:
    sources = Sources({}, GivenFiles(), persons={2: "The rent was raised to 4,500 in June."})
    assert (list(sources), sources.provenance("@person-2")) == (["@output", "@person-2"], Provenance.PERSON)


# ---- the look of a model ------------------------------------------------------------------------------------------


def test_a_model_looks_at_a_step_whose_criteria_are_all_decided_by_checks() -> None:
    checked = Criterion.model_validate(
        {"text": "It is there.", "about": "output", "check": {"kind": "file_exists", "path": "report.md"}}
    )
    model = Scripted(verdict(given_("M1", quote("report.md", "Anna Berg pays a rent of 4,000 dollars"))))
    found = judge(model, leased(checked, review=True))
    assert [(result.label, result.met) for result in found.results] == [("C1", True), ("M1", True)]
    assert len(model.asked) == 1
    assert judge(Scripted(), leased(checked)).passed is True


@pytest.mark.parametrize(
    "words", ["The rent is 4,000", "[p3] 4.2(b) The rent is 4,000", "4.2(b) The rent is 4,000", "[p3] 4.2(b) The rent"]
)
def test_the_name_and_number_of_a_paragraph_that_a_tool_shows_are_no_words_of_the_run(words: str) -> None:
    head = "lease.docx, lines 3-3 of 9\n[p3] 4.2(b) "
    text = f"{head}The rent is 4,000 dollars a month."
    shown = Shown("lease.md", "a" * 64, len(head), len(text), 3, 3, 9)
    (item,) = judged(quote("@tool-1", words), about=leased(tools=(ToolText(text, (shown,), "read_file"),))).evidence
    assert (item.verified, item.provenance) == (True, Provenance.OBSERVED)
    assert item.quote == words.removeprefix("[p3] ").removeprefix("4.2(b) ")
    assert text[item.start : item.end] == item.quote


@pytest.mark.parametrize("words", ["[p3] 4.2(b)", "lines 3-3 of 9", "[p3] 4.2(b) a"])
def test_what_stands_before_the_words_alone_is_nothing_that_a_tool_has_seen(words: str) -> None:
    head = "lease.docx, lines 3-3 of 9\n[p3] 4.2(b) "
    text = f"{head}a month"
    shown = Shown("lease.md", "a" * 64, len(head), len(text), 3, 3, 9)
    (item,) = judged(quote("@tool-1", words), about=leased(tools=(ToolText(text, (shown,), "read_file"),))).evidence
    assert item.provenance is Provenance.MADE


CHANGES = "# Lease\nWe don't agree to a rent of 5 dollars. Interest is –5 percent a year."
SHOWN = Shown("lease.md", "a" * 64, 25, 25 + len(CHANGES), 1, 2, 2)


def changing() -> VerificationInput:
    tools = (ToolText(f"lease.md, lines 1-2 of 2\n{CHANGES}", (SHOWN,), "read_file\nlease.md"),)
    files = {"lease.md": CHANGES.encode(), "report.md": b"Interest is 5 percent a year."}
    return leased(files=files, inputs=GivenFiles({"lease.md": CHANGES.encode()}, INFO), tools=tools)


@pytest.mark.parametrize("source", ["lease.md", "@tool-1"])
def test_a_quote_that_cuts_a_sign_proves_nothing(source: str) -> None:
    result = judged(quote(source, "5 percent a year", "5 percent a year"), about=changing())
    assert (result.met, result.evidence[0].verified) == (False, False)


@pytest.mark.parametrize("source", ["lease.md", "@tool-1"])
def test_evidence_behind_a_negation_is_kept_with_it(source: str) -> None:
    (item,) = judged(quote(source, "agree to a rent of 5 dollars"), about=changing()).evidence
    assert (item.verified, item.quote) == (True, "We don't agree to a rent of 5 dollars.")
    assert item.outside
