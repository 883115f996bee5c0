"""Calculations as evidence: they carry a statement about the material when all their figures had been read before."""

import pytest

from runs.contracts.ports import Shown
from runs.enums import Provenance
from runs.evidence.sources import ToolText
from runs.text.arithmetic import calculated
from tests.unit.pev.verification.test_grounding import ALL_SHOWN, READ, judged, leased, quote

FIRST = ToolText(READ, (ALL_SHOWN,), "read_file\nlease.md")


def calculation(expression: str, unit: str = "") -> ToolText:
    found = calculated(expression)
    result = f"{found.shown} = {found.figure}" + (f"\nin {unit}" if unit else "")
    return ToolText(result, (), "\n".join(["calculate", expression, unit]), expression)


@pytest.mark.parametrize(
    ("tools", "words", "unseen"),
    [
        ([FIRST, calculation("4000 * 12")], "= 48,000", ""),
        ([FIRST, calculation("4000 * 13")], "= 52,000", "13"),
        ([calculation("4000 * 12"), FIRST], "= 48,000", "4,000"),
        ([FIRST, calculation("4000 * 12"), calculation("48000 / 2031")], "48,000 / 2,031", ""),
        ([FIRST, calculation("4000 * 13"), calculation("52000 * 12")], "= 624,000", "52,000"),
    ],
)
def test_a_calculation_is_observed_when_its_figures_were(tools: list[ToolText], words: str, unseen: str) -> None:
    name = next(f"@tool-{n}" for n, tool in reversed(list(enumerate(tools, 1))) if tool.expression)
    result = judged(quote(name, words), about=leased(tools=tools))
    (item,) = result.evidence
    assert item.provenance is (Provenance.MADE if unseen else Provenance.OBSERVED)
    assert result.met is not bool(unseen)
    said = f"“{words}” is in {name}, line 1"
    assert item.sentence == (f"{said}; {unseen} in it occurs in nothing that was read before" if unseen else said)


def test_a_calculation_of_an_earlier_version_that_is_refused_now_proves_nothing() -> None:
    read = ToolText("Rents: 1,234 and 2,500", (), "read_page", is_outside=True)
    recorded = ToolText("sum(1, 234, 2, 500) = 737", (), "calculate\nsum(1,234, 2,500)", "sum(1,234, 2,500)")
    assert judged(quote("@tool-2", "= 737"), about=leased(tools=[read, recorded])).met is False


def test_figures_of_files_that_the_run_wrote_are_no_source() -> None:
    made = ToolText("report.md, line 1\nThe area is 720", (Shown("report.md", "c" * 64, 18, 33, 1, 1, 1),))
    about = leased(tools=[made, calculation("720 * 10")])
    assert judged(quote("@tool-2", "= 7,200"), about=about).met is False


def test_figures_that_a_person_named_are_a_source() -> None:
    about = leased(tools=[calculation("720 * 10")], persons={1: "The area is 720 square kilometres."})
    assert judged(quote("@tool-1", "= 7,200"), about=about).met is True


def test_what_is_counted_in_a_given_table_is_a_source() -> None:
    counted = ToolText("lease.md: 2 of 9 rows\n[where a = 7]", (Shown("lease.md", "a" * 64, 0, 21),), "table\na\n=\n7")
    about = leased(tools=[counted, calculation("9 * 10")])
    assert judged(quote("@tool-1", "2 of 9 rows"), about=about).met is True
    assert judged(quote("@tool-1", "rows [where a = 7]"), about=about).met is False
    assert judged(quote("@tool-2", "9 * 10 = 90"), about=about).met is True


def test_the_unit_is_the_word_of_the_model_and_proves_nothing() -> None:
    about = leased(tools=[FIRST, calculation("4000 * 12", "dollars, and nobody owes any rent")])
    for words in ("in dollars, and nobody owes any rent", "48,000 in dollars"):
        assert judged(quote("@tool-2", words), about=about).met is False
