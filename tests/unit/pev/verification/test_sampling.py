"""How much of “every file” a verifier's evidence is from."""

import pytest

from runs.enums import About
from runs.pev.contracts import Criterion
from runs.pev.evidence.results import CriterionResult, doubts_in, needs_person, shared_quotes
from runs.pev.evidence.sources import Given, ToolText
from runs.pev.ports import FileInfo, Shown
from runs.pev.verification.case import Case
from runs.pev.verifier import judge
from tests.unit.pev.scripted import Scripted
from tests.unit.pev.test_verifier import case, given_, verdict

FILES = {f"contracts/{name}.md": f"The contract of {name} ends in May.".encode() for name in ("ann", "bob", "cid")}
INFOS = {path: FileInfo(path[10] * 64, len(data)) for path, data in FILES.items()}
READ = "contracts/bob.md, lines 1-1 of 1\nThe contract of bob ends in May.\ncontracts/cid.md"
SHOWN = (Shown("contracts/bob.md", "b" * 64, 33, 65, 1, 1, 1), Shown("contracts/cid.md", "c" * 64, 66, 82))
TOOL = ToolText(READ, SHOWN)


def about(text: str) -> Case:
    criterion = Criterion(text=text, about=About.SOURCES)
    return case(criterion, files=FILES, inputs=Given(FILES, INFOS), tools=(TOOL,), meant=list(FILES))


def sample(text: str, *sources: tuple[str, str]) -> tuple[int, int, str]:
    quotes = [{"source": source, "quote": quote} for source, quote in sources]
    result = judge(Scripted(verdict(given_("C1", *quotes))), about(text)).results[0]
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
        ("All contracts, ann.md and cid.md, are named", (1, 2, "1 of 2 files have evidence")),
        ("All terms of the contracts are right", (0, 0, "")),
        ("Every finding names its document", (0, 0, "")),
        ("The contract ends in May", (0, 0, "")),
    ],
)
def test_only_what_plainly_speaks_of_each_file_is_counted(text: str, counted: tuple[int, int, str]) -> None:
    assert sample(text, ANN, BOB) == counted


def test_a_name_in_a_list_is_not_a_look_into_the_file() -> None:
    assert sample("Every contract is named", ("@tool-1", "contracts/cid.md")) == (0, 3, "0 of 3 files have evidence")


def test_a_quote_that_stands_nowhere_is_no_look_either() -> None:
    assert sample("Every contract is named", ANN, ("contracts/cid.md", "The contract of cid ends in June"))[:2] == (
        1,
        3,
    )


def test_nothing_is_counted_where_only_the_look_of_the_result_is_judged() -> None:
    criterion = Criterion(text="Every contract is listed", about=About.OUTPUT)
    listed = case(criterion, files=FILES, inputs=Given(FILES, INFOS), meant=list(FILES), output="ann, bob and cid")
    answer = verdict(given_("C1", {"source": "@output", "quote": "ann, bob and cid"}))
    result = judge(Scripted(answer), listed).results[0]
    assert (result.met, result.sample) == (True, "")


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
    about_each = case(criterion, files=FILES, inputs=Given(FILES, INFOS), meant=list(FILES), output=output)
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


@pytest.mark.parametrize("text", ["The end of Bob is right", "It ends in May after all", "It is not at all late"])
def test_nothing_is_said_of_each(text: str) -> None:
    assert judged(text, [BOB_ENDS]).each is False


def test_a_quote_that_carries_several_criteria_is_named_with_them() -> None:
    result = judged("The end of Bob is right", [BOB_ENDS])
    other = result.model_copy(update={"label": "C2"})
    assert shared_quotes([result, other]) == [("The contract of bob ends in May.", [result, other])]
    assert shared_quotes([result]) == []
