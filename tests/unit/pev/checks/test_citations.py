"""Citations of a result, held and not held, and what is said of each."""

from collections.abc import Mapping

import pytest

from runs.enums import Provenance
from runs.evidence.sources import GivenFiles, Sources, ToolText
from runs.pev.checks.citations import Citations
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import CheckInput

NDA = "The term is thirty (30)\ndays from notice.\nGoverned by the law of Ohio.\n"
ANNEX = "Payment within 14 days of receipt.\n"
GIVEN = {"contracts/nda.md": NDA.encode(), "contracts/annex.md": ANNEX.encode()}


def material(report: str, path: str = "report.md", given: Mapping[str, bytes] = GIVEN, notes: str = "") -> CheckInput:
    return CheckInput({**given, path: report.encode(), "notes.md": notes.encode()}, given, frozenset(given))


class TestCitations:
    CHECK = Citations(kind="citations", path="report.md", min=2)

    @pytest.mark.parametrize(
        ("report", "held", "sentence", "outside"),
        [
            (
                "[“thirty (30)”](contracts/nda.md#L1) and [“14 days”](contracts/annex.md#L1)",
                True,
                "report.md has 2 citations, wanted at least 2, all found",
                True,
            ),
            (
                "[“thirty (30)”](contracts/nda.md#L1)",
                False,
                "report.md has 1 citation, wanted at least 2, all found",
                True,
            ),
            (
                "[“thirty (30)”](contracts/nda.md#L1)\n\n[“15 days”](contracts/annex.md#L1)",
                False,
                "report.md has 2 citations, wanted at least 2; 1 broken. "
                "Line 3: “15 days” does not occur in contracts/annex.md.",
                False,
            ),
            (
                "[“of its own”](notes.md#L1) [“of its own”](notes.md#L1)",
                True,
                "report.md has 2 citations, wanted at least 2, all found",
                False,
            ),
        ],
        ids=["all hold", "too few", "one is broken", "of what the run wrote"],
    )
    def test_every_citation_has_to_hold(self, report: str, held: bool, sentence: str, outside: bool) -> None:
        evidence = run_check(self.CHECK, material(report, notes="Words of its own.\n"))
        assert (evidence.verified, evidence.sentence) == (held, sentence)
        assert (evidence.provenance is Provenance.GIVEN) == outside

    def test_pages_that_were_read_are_looked_up_as_well(self) -> None:
        address = "https://a.example/x"
        page = ToolText(f"{address}, found\nIt has 5,450 inhabitants.\n", sent=address, is_outside=True)
        files = {"report.md": f"[“It has 5,450”]({address}) [“5,450 inhabitants”]({address})".encode()}
        read = CheckInput(files, library=Sources(files, GivenFiles({}), tools=[page]))
        evidence = run_check(self.CHECK, read)
        assert (evidence.verified, evidence.provenance) == (True, Provenance.OBSERVED)
        assert evidence.rests_on == "checked against what tools showed"
        assert not run_check(self.CHECK, CheckInput(files)).verified

    def test_other_files_have_no_citations(self) -> None:
        problem = problem_with(Citations(kind="citations", path="data.csv"))
        assert problem == "“data.csv” is not a Markdown, Word or PDF file; only those have citations."
