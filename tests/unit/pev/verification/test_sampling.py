"""How much of “every file”, or “each” of anything else, there is evidence for."""

from dataclasses import replace

import pytest

from runs.contracts.ports import FileInfo, Shown
from runs.enums import About
from runs.evidence.results import CriterionResult, UntracedFigure, doubts_in, needs_person, shared_quotes
from runs.evidence.sources import GivenFiles, ToolText
from runs.pev.checks.quotes_occur import QuotesOccur
from runs.pev.contracts import Criterion
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.sampling import EvidenceCount, sample_of
from runs.pev.verifier import judge
from tests.unit.pev.scripted import Scripted
from tests.unit.pev.test_verifier import case, given_, verdict

FILES = {f"contracts/{name}.md": f"The contract of {name} ends in May.".encode() for name in ("ann", "bob", "cid")}
INFOS = {path: FileInfo(path[10] * 64, len(data)) for path, data in FILES.items()}
READ = "contracts/bob.md, lines 1-1 of 1\nThe contract of bob ends in May.\ncontracts/cid.md"
SHOWN = (Shown("contracts/bob.md", "b" * 64, 33, 65, 1, 1, 1), Shown("contracts/cid.md", "c" * 64, 66, 82))
TOOL = ToolText(READ, SHOWN)


def about(text: str) -> VerificationInput:
    criterion = Criterion(text=text, about=About.SOURCES)
    said = "The contract of ann ends in May. The contract of bob ends in May. contracts/cid.md is named."
    return case(criterion, files=FILES, inputs=GivenFiles(FILES, INFOS), tools=(TOOL,), meant=list(FILES), output=said)


def sample(text: str, *sources: tuple[str, str]) -> tuple[int, int, str]:
    quotes = [{"source": source, "quote": quote, "statement": quote} for source, quote in sources]
    answer = verdict(given_("C1", *quotes))
    result = judge(Scripted(answer, answer), about(text)).results[0]
    return result.looked_at, result.out_of, result.sample


ANN = ("contracts/ann.md", "The contract of ann ends")
BOB = ("@tool-1", "The contract of bob ends")


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("Every contract has its end", (2, 3, "2 of 3 files have evidence")),
        ("each of the files was read", (2, 3, "2 of 3 files have evidence")),
        ("Für alle drei Verträge ist das Ende genannt", (2, 3, "2 of 3 files have evidence")),
        ("jedes der Dokumente ist gelesen", (2, 3, "2 of 3 files have evidence")),
        ("All contracts, ann.md and cid.md, are right", (1, 2, "1 of 2 files have evidence")),
        ("The shortest contract is named", (2, 3, "2 of 3 files have evidence")),
        ("Das längste Dokument ist genannt", (2, 3, "2 of 3 files have evidence")),
        ("The longest term is named", (0, 0, "")),
        ("All terms of the contracts are right", (0, 0, "")),
        ("Every finding names its document", (0, 0, "")),
        ("The contract ends in May", (0, 0, "")),
    ],
)
def test_only_what_plainly_speaks_of_each_file_is_counted(text: str, counted: tuple[int, int, str]) -> None:
    assert sample(text, ANN, BOB) == counted


def test_a_name_in_a_list_is_not_a_look_into_the_file() -> None:
    assert sample("Every contract is right", ("@tool-1", "contracts/cid.md")) == (0, 3, "0 of 3 files have evidence")


def test_a_quote_that_stands_nowhere_is_no_look_either() -> None:
    assert sample("Every contract is right", ANN, ("contracts/cid.md", "The contract of cid ends in June"))[:2] == (
        1,
        3,
    )


@pytest.mark.parametrize(("output", "seen"), [("ann, bob and cid", 3), ("ann and bob alone", 2)])
def test_of_how_the_result_looks_code_counts_the_names(output: str, seen: int) -> None:
    criterion = Criterion(text="Every contract is listed", about=About.OUTPUT)
    listed = case(
        criterion, files=FILES, inputs=GivenFiles(FILES, INFOS), meant=list(FILES), output=output, shown=("ann.md",)
    )
    answer = verdict(given_("C1", {"source": "@output", "quote": output}))
    result = judge(Scripted(answer, answer), listed).results[0]
    assert (result.met, result.looked_at, result.out_of, bool(result.uncounted)) == (True, seen, 3, seen < 3)


FINDINGS = """The contracts end as follows.

- Ann: [“The contract of ann ends”](contracts/ann.md)
- Bob: it ends in May.
- Cid: it ends in May.
"""


def quote_of(name: str, statement: str) -> dict[str, str]:
    quote = f"The contract of {name} ends in May."
    return {"source": f"contracts/{name}.md", "quote": quote, "statement": statement}


def judged(text: str, *answers: list[tuple[str, str]], output: str = FINDINGS) -> CriterionResult:
    """The result of a verifier that quotes the contract of ann for the first words, then of further statements."""
    criterion = Criterion(text=text, about=About.SOURCES)
    about_each = case(criterion, files=FILES, inputs=GivenFiles(FILES, INFOS), meant=list(FILES), output=output)
    said = [verdict(given_("C1", *(quote_of(name, statement) for name, statement in quotes))) for quotes in answers]
    return judge(Scripted(*said), about_each).results[0]


BOB_ENDS, CID_ENDS = ("bob", "Bob: it ends in May"), ("cid", "Cid: it ends in May")


def test_points_of_the_result_are_counted_by_quotes_and_by_citations_that_hold() -> None:
    result = judged("Every end is right", [BOB_ENDS], [BOB_ENDS])
    assert (result.sample, result.met, result.uncounted) == (
        "2 of 3 points have evidence",
        True,
        "of which 2 of 3 points have evidence",
    )
    assert needs_person([result], [], asks=True)
    assert doubts_in([result], "step “Read”") == [
        "“Every end is right” (step “Read”) speaks of each of several things, of which 2 of 3 points have evidence."
    ]


def test_the_verifier_is_asked_once_for_the_rest() -> None:
    result = judged("Every end is right", [BOB_ENDS], [BOB_ENDS, CID_ENDS])
    assert (result.sample, result.uncounted, needs_person([result], [], asks=True)) == (
        "3 of 3 points have evidence",
        "",
        False,
    )


def test_what_code_cannot_count_waits_as_well() -> None:
    result = judged("All ends are right", [BOB_ENDS], output="Bob: it ends in May.")
    assert (result.each, result.sample) == (True, "")
    assert result.uncounted == "which code cannot count, and a verifier looks at a sample"


@pytest.mark.parametrize(
    ("output", "sample"),
    [
        ("- contracts/ann.md:1: The contract of ann\n- contracts/bob.md:1: ends in May", "2 of 2"),
        ("contracts/ann.md:1: The contract of bob\n`contracts/bob.md:1: ends in May`", "1 of 2"),
        ("- contracts/ann.md:7: The contract of ann\n- contracts/nobody.md:1: ends", "0 of 2"),
    ],
)
def test_references_are_looked_up_as_they_are_written(output: str, sample: str) -> None:
    found = judged("Every reference occurs in its file", [BOB_ENDS], output=f"{output}\n\n{BOB_ENDS[1]}")
    assert found.sample == f"{sample} references have evidence"


def test_figures_are_counted_by_what_is_traced() -> None:
    criterion = Criterion(text="Every figure stands in a contract", about=About.SOURCES)
    untraced = UntracedFigure(source="@output", kind="number", text="9,000", line=1, start=8, end=13)
    output = "It costs 9,000 from 7 May on. The contract of ann ends in May."
    of_all = case(criterion, files=FILES, inputs=GivenFiles(FILES, INFOS), meant=list(FILES), output=output)
    for missing, sample in (((), "2 of 2 figures have evidence"), ((untraced,), "1 of 2 figures have evidence")):
        answer = verdict(given_("C1", quote_of("ann", "The contract of ann ends in May.")))
        found = judge(Scripted(answer, answer), replace(of_all, untraced=missing)).results[0]
        assert found.sample == sample


def test_names_of_files_are_counted_where_only_names_are_asked_for() -> None:
    output = "contracts/ann.md and contracts/bob.md. Bob: it ends in May."
    listed = judged("Every contract is listed", [BOB_ENDS], [BOB_ENDS], output=output)
    proved = judged("Every contract is right", [BOB_ENDS], [BOB_ENDS], output=output)
    assert (listed.sample, proved.sample) == ("2 of 3 files have evidence", "1 of 3 files have evidence")


def test_a_quote_check_looks_at_every_row() -> None:
    rows = "contract,quote\nann,The contract of ann ends in May.\nbob,The contract of bob ends in May.\n"
    files = {**FILES, "ends.csv": rows.encode()}
    check = QuotesOccur(kind="quotes_occur", path="ends.csv", column="quote")
    criteria = (Criterion(text="Every end is right", about=About.SOURCES), Criterion(text="Quotes", check=check))
    of_rows = case(*criteria[:1], files=files, inputs=GivenFiles(FILES, INFOS), meant=list(FILES), shown=("ends.csv",))
    answer = verdict(given_("C1", quote_of("ann", "The contract of ann ends in May.")))
    sampled = judge(Scripted(answer, answer), of_rows).results[0]
    compared = sample_of(criteria[0], sampled.evidence, replace(of_rows, criteria=criteria))
    assert (sampled.sample, compared) == ("1 of 2 points have evidence", EvidenceCount(2, 2, "points"))


@pytest.mark.parametrize("text", ["The end of Bob is right", "It ends in May after all", "It is not at all late"])
def test_nothing_is_said_of_each(text: str) -> None:
    assert judged(text, [BOB_ENDS]).each is False


def test_a_quote_that_carries_several_criteria_is_named_with_them() -> None:
    result = judged("The end of Bob is right", [BOB_ENDS])
    other = result.model_copy(update={"label": "C2"})
    assert shared_quotes([result, other]) == [("The contract of bob ends in May.", [result, other])]
    assert shared_quotes([result]) == []


OWN = """- Ann: The contract of ann ends in May.
- Bob: ends in June, after two years
- Cid: ends in 2099
"""


def test_words_of_the_run_itself_are_no_evidence_for_a_point() -> None:
    """A verifier that quotes the items for themselves, and an executor that cites its own notes."""
    own = [{"source": "@output", "quote": text, "statement": text} for text in ("ends in June, after", "ends in 2099")]
    criterion = Criterion(text="Every end is right", about=About.SOURCES)
    answer = verdict(given_("C1", quote_of("ann", "The contract of ann ends in May."), *own))
    of_own = case(criterion, files=FILES, inputs=GivenFiles(FILES, INFOS), meant=list(FILES), output=OWN)
    assert judge(Scripted(answer, answer), of_own).results[0].sample == "1 of 3 points have evidence"
    notes = {
        **FILES,
        "notes.md": b"It ends in June.\n",
        "r.md": b"- Ann: [\xe2\x80\x9cIt ends in June\xe2\x80\x9d](notes.md)\n- Bob\n",
    }
    cited = case(criterion, files=notes, inputs=GivenFiles(FILES, INFOS), meant=list(FILES), shown=("notes.md", "r.md"))
    assert sample_of(criterion, (), cited) == EvidenceCount(0, 2, "points")


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (
            "Every contract is named, and its end is quoted right",
            "contracts/ann.md, contracts/bob.md, contracts/cid.md",
        ),
        ("All amounts of the contracts are listed in the report", "It costs 7 and 9."),
        ("Every reference to an annex in the contracts is explained", "contracts/ann.md:1: The contract of ann"),
        ("Every reference occurs in its file", "contracts/ann.md:1: e"),
    ],
)
def test_a_loose_word_counts_nothing_else(text: str, output: str) -> None:
    criterion = Criterion(text=text, about=About.SOURCES)
    found = sample_of(
        criterion, (), case(criterion, files=FILES, inputs=GivenFiles(FILES, INFOS), meant=list(FILES), output=output)
    )
    assert found is not None
    assert found.seen == 0


def test_a_check_of_quotes_says_nothing_of_points_without_one() -> None:
    text = "- “The contract of ann ends in May.” (contracts/ann.md)\n- Bob: it ends in June 2031.\n- Cid: never.\n"
    files = {**FILES, "r.md": text.encode()}
    criterion = Criterion(text="Every end is right", about=About.SOURCES)
    check = Criterion(text="Quotes", check=QuotesOccur(kind="quotes_occur", path="r.md"))
    quoted = case(criterion, check, files=files, inputs=GivenFiles(FILES, INFOS), meant=list(FILES), shown=("r.md",))
    assert sample_of(criterion, (), quoted) == EvidenceCount(1, 3, "points")


def test_findings_below_headings_are_points_where_quotes_are_checked() -> None:
    text = "# Review\n\n### F1\n\n> The contract of ann ends in May.\n\n- Line: 1\n\n### F2\n\nNothing quoted.\n"
    files = {**FILES, "r.md": text.encode()}
    criterion = Criterion(text="Each finding is right", about=About.SOURCES)
    check = Criterion(text="Quotes", check=QuotesOccur(kind="quotes_occur", path="r.md"))
    quoted = case(criterion, check, files=files, inputs=GivenFiles(FILES, INFOS), meant=list(FILES), shown=("r.md",))
    assert sample_of(criterion, (), quoted) == EvidenceCount(1, 2, "points")
