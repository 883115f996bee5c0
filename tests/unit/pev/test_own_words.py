"""The executor cannot have its own words come out of a tool as evidence."""

import pytest

from runs.evidence.sources import ToolText
from runs.pev.verifier import judge
from tests.unit.pev.scripted import Scripted
from tests.unit.pev.test_verifier import case, given_, verdict

ASKED = "search_files\npattern\nall  is well"


@pytest.mark.parametrize("quote", ["all is well", "is well", "all is we\u00adll", "ａll is well"])
def test_what_a_tool_only_repeats_is_no_evidence(quote: str) -> None:
    answer = verdict(given_("C1", {"source": "@tool-1", "quote": quote}))
    found = judge(Scripted(answer), case(tools=(ToolText("No line matches “all is well”.", sent=ASKED),)))
    assert (found.passed, found.results[0].evidence[0].sentence) == (
        False,
        f"“{quote}” is what the executor itself put into @tool-1; quote a file instead",
    )


def test_what_a_tool_found_is_evidence() -> None:
    answer = verdict(given_("C1", {"source": "@tool-2", "quote": "a.md:3: all is well"}))
    results = ("No line matches “all is well”.", "a.md:3: all is well")
    tools = [ToolText(result, sent=ASKED) for result in results]
    assert judge(Scripted(answer), case(tools=tools)).passed is True
