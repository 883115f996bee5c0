"""What a criterion about the output says of each row, item, heading or file is counted by code."""

import re
from collections.abc import Mapping

import pytest

from runs.contracts.ports import FileInfo
from runs.enums import About
from runs.evidence.results import CriterionResult, doubts_in, needs_person
from runs.evidence.sources import GivenFiles
from runs.pev.contracts import Criterion
from runs.pev.verification.output_units import Output, count_units
from runs.pev.verification.sampling import EvidenceCount, sample_of
from runs.pev.verifier import judge
from tests.unit.pev.scripted import Scripted
from tests.unit.pev.test_verifier import case, given_, verdict

RENTS = "tenant,rent,since\nann,2400,2 May 2026\nbob,,3 May 2026\ncid,1 900.50,\n"
TABLE = "# Rents\n\n| tenant | rent |\n|---|---|\n| ann | CHF 2,400 |\n| bob | - |\n"
LIST = """# Points

- The rent is due: [lease](https://lease.example/)
- It ends in May (see contracts/ann.md)
- Bob is a person.
"""
REPORT = "# Report\n\n## Rent\n\nIt is due in May.\n\n## Term\n\n## Parties\n\n- Ann\n"
FINDINGS = "# Findings\n\n## ann.md\n\nFine.\n\n## Bob\n\nIt ends. Contract cid is like it.\n"
FORMS = "# Forms\n\n### F1\n\n- Recommendation: agree\n- **Date:** 2026-05-01\n\n### F2\n\n- Recommendation: TBD\n"
UNDERLINED = "Report\n======\n\nRent\n----\n\nIt is due.\n\nTerm\n----\n"
FENCED = "## Code\n\n```\n# no heading\n```\n\nWords.\n"
_PHRASE = re.compile(r"(?<!\w)[A-Za-z]\w+[ ,:]{1,2}[\w ,]{5,40}(?!\w)")
GIVEN = {f"contracts/{name}.md": b"It ends." for name in ("ann", "bob", "cid")}


def counted_in(criterion: str, files: Mapping[str, str], quotes: list[dict[str, str]] | None = None) -> CriterionResult:
    """The result of a verifier that is asked up to twice, and passes the criterion with these quotes each time."""
    written = {name: text.encode() for name, text in files.items()}
    judged = case(
        Criterion(text=criterion, about=About.OUTPUT),
        files={**GIVEN, **written},
        shown=tuple(written),
        inputs=GivenFiles(GIVEN, {path: FileInfo("0" * 64, len(data)) for path, data in GIVEN.items()}),
        meant=tuple(GIVEN),
    )
    name, text = next(iter(files.items()))
    phrase = _PHRASE.search(text)
    assert phrase
    answer = verdict(given_("C1", *(quotes or [{"source": name, "quote": phrase[0]}])))
    return judge(Scripted(answer, answer), judged).results[0]


@pytest.mark.parametrize(
    ("criterion", "name", "text", "sample"),
    [
        ("Each row of rents.csv has an amount", "rents.csv", RENTS, "2 of 3 rows (missing in rents.csv, line 3)"),
        ("every row has a tenant and a rent", "rents.csv", RENTS, "2 of 3 rows (missing in rents.csv, line 3)"),
        ("All rows of rents.csv contain a since", "rents.csv", RENTS, "2 of 3 rows (missing in rents.csv, line 4)"),
        (
            "Jede Zeile in rents.csv enthält einen Betrag",
            "rents.csv",
            RENTS,
            "2 of 3 rows (missing in rents.csv, line 3)",
        ),
        ("Each row of the table has a rent", "r.md", TABLE, "1 of 2 rows (missing in r.md, line 6)"),
        ("Every table row in r.md names its tenant", "r.md", TABLE, "2 of 2 rows"),
        ("All items of the list name a source", "r.md", LIST, "2 of 3 items (missing in r.md, line 5)"),
        ("every list item has a link", "r.md", LIST, "2 of 3 items (missing in r.md, line 5)"),
        (
            "every heading of report.md has a paragraph",
            "report.md",
            REPORT,
            "3 of 4 headings (missing in report.md, line 7)",
        ),
        ("Each section is followed by a text", "report.md", REPORT, "2 of 3 sections (missing in report.md, line 7)"),
        ("Each section has a paragraph", "r.md", UNDERLINED, "1 of 2 sections (missing in r.md, line 9)"),
        ("Each heading has a paragraph", "r.md", FENCED, "1 of 1 headings"),
        ("Every section has a recommendation", "r.md", FORMS, "1 of 2 sections (missing in r.md, line 8)"),
        (
            "each contract has a section in findings.md",
            "findings.md",
            FINDINGS,
            "2 of 3 files (missing in contracts/cid.md)",
        ),
        ("All contracts are mentioned in findings.md", "findings.md", FINDINGS, "3 of 3 files"),
        ("Every file has a row in rents.csv", "rents.csv", RENTS, "3 of 3 files"),
    ],
)
def test_code_decides_what_it_can_see(criterion: str, name: str, text: str, sample: str) -> None:
    result = counted_in(criterion, {name: text})
    seen, _, lacking = sample.partition(" (")
    assert result.sample == f"{seen} have evidence" + (f" ({lacking}" if lacking else "")
    assert needs_person([result], [], asks=True) == bool(lacking)
    assert bool(doubts_in([result], "step “Write”")) == bool(lacking)


BOB, CID = {"source": "rents.csv", "quote": "bob,,3 May"}, {"source": "rents.csv", "quote": "cid,1 900.50"}
ANN = {"source": "rents.csv", "quote": "ann,2400,2 May 2026\nbob,,3 May 2026\ncid,1 900.50"}


@pytest.mark.parametrize(
    ("criterion", "quotes", "sample"),
    [
        ("Each row of rents.csv is written plainly", [ANN], "1 of 3 rows"),
        ("Each row of rents.csv is written plainly", [ANN, BOB, CID], "3 of 3 rows"),
        ("Each row of rents.csv has an amount in CHF", [BOB], "1 of 3 rows"),
        ("Each row of rents.csv has a plausible amount", [BOB, CID], "2 of 3 rows"),
        ("The file is sorted, and each row has an amount", [BOB], "1 of 3 rows"),
        ("In rents.csv, all data rows have a date", [BOB], "2 of 3 rows"),
        ("Each row has an amount or a reason", [BOB], "1 of 3 rows"),
        ("Each of the contracts is summarised in plain words", [BOB], "1 of 3 files"),
        ("Every file that was written is in English", [BOB], "1 of 1 files"),
    ],
)
def test_what_code_cannot_see_is_counted_by_quotes(criterion: str, quotes: list[dict[str, str]], sample: str) -> None:
    """A quote of several rows is evidence for the one in which it begins."""
    assert counted_in(criterion, {"rents.csv": RENTS}, quotes).sample == f"{sample} have evidence"


@pytest.mark.parametrize(
    ("criterion", "text", "has_evidence"),
    [
        ("Each row has a rent", "| Name | Rent |\n|---|---|\n| Anna Weber | 500 EUR |\n", 1),
        ("Each row has a rent", "| Name | Deposit |\n|---|---|\n| Anna Weber | 500 EUR |\n", 0),
        ("Each item has a date", "- Anna Weber, signed 2024-01-02\n", 1),
        ("Each item has a date", "- Anna Weber, signed 2024-01-02\n  Date: tbd\n", 0),
        ("Each row has a source", "| Name | Source |\n|---|---|\n| Anna Weber | not stated |\n", 0),
        ("Each contract is listed in the output", "Of Ann and Bob\n", 2),
        ("Each contract is listed in the written report", "Of Ann and Bob\n", 0),
        ("Each document created before 2020 is listed", "Of Ann and Bob\n", 0),
        ("Each document that was written is right", "Of Ann and Bob\n", 0),
    ],
)
def test_what_only_looks_alike_does_not_count(criterion: str, text: str, has_evidence: int) -> None:
    found = count_units(criterion, [], Output({"r.md": text}, ("r.md",), tuple(GIVEN)))
    assert found
    assert found.of - len(found.lacking) == has_evidence


def test_an_everyday_word_is_no_name_of_a_file() -> None:
    output = Output({}, (), ("files/rent.pdf", "files/weber.pdf"))
    assert output.named_in("The rent of Weber was paid.") == {"files/weber.pdf"}


@pytest.mark.parametrize("criterion", ["Each row has an amount", "Every list item has a source"])
@pytest.mark.parametrize(
    "text",
    [
        "No rows, no items.\n",
        "Words of no use.\n\n" + "- one\n" * 2_001 + "\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 2_001,
    ],
)
def test_units_that_are_not_found_or_too_many_wait_for_a_person(criterion: str, text: str) -> None:
    result = counted_in(criterion, {"r.md": text})
    assert (result.sample, result.uncounted) == ("", "which code cannot count, and a verifier looks at a sample")


@pytest.mark.parametrize(
    "criterion",
    [
        "Every variant says for whom it is",
        "The list of items is complete",
        "Not every row has an amount",
        "Every entry point of the program is described",
    ],
)
def test_nothing_else_is_counted(criterion: str) -> None:
    result = counted_in(criterion, {"r.md": LIST})
    assert (result.each, result.uncounted) == (False, "")


def test_a_text_that_a_verifier_was_not_shown_whole_is_a_sample() -> None:
    result = counted_in("Every variant says for whom it is", {"r.md": LIST + "word " * 12_000})
    assert result.uncounted == "which code cannot count, and a verifier looks at a sample"


def test_a_verifier_that_is_told_what_lacks_may_fail_it() -> None:
    judged = case(
        Criterion(text="Each row of rents.csv has a rent", about=About.OUTPUT),
        files={"rents.csv": RENTS.encode()},
        shown=("rents.csv",),
    )
    failing = verdict(given_("C1", passed=False, feedback="Bob has no rent."))
    model = Scripted(verdict(given_("C1", BOB)), failing)
    judgement = judge(model, judged)
    assert (judgement.passed, judgement.results[0].feedback) == (False, "Bob has no rent.")
    assert "C1: 2 of 3 rows have evidence (missing in rents.csv, line 3); look at these" in str(model.asked[1].messages)


def test_offline_rules_and_steps_that_do_not_apply_are_not_counted() -> None:
    criterion = Criterion(text="Each row of rents.csv has a rent", about=About.OUTPUT)
    of_rules = case(criterion, files={"rents.csv": RENTS.encode()}, shown=("rents.csv",), model="offline-rules")
    assert sample_of(criterion, (), of_rules) is None
    assert sample_of(
        criterion, (), case(criterion, files={"rents.csv": RENTS.encode()}, shown=("rents.csv",))
    ) == EvidenceCount(2, 3, "rows", "missing in rents.csv, line 3")
