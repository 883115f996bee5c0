"""What is kept of an overruled verdict proves as much as the case that it was about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from runs.contracts.base import TOOL
from runs.contracts.ports import ToolUse
from runs.enums import About
from runs.errors import InvalidInput
from runs.evidence.sources import GivenFiles, ToolText
from runs.pev.contracts import Criterion
from runs.pev.tools.registry import calculation_in, missing_in
from runs.pev.tools.tool import ToolLimits
from runs.pev.tools.toolbox import RunTools
from runs.pev.verification.case import VerificationInput
from runs.pev.verifier import judge
from runs.planted_faults.corrected_cases import CorrectedCase, content_of
from runs.planted_faults.stored_contracts import AS_USUAL, JudgedContent
from runs.planted_faults.trial import Memory
from tests.unit.pev.scripted import Scripted
from tests.unit.pev.test_verifier import case, given_, verdict

LEASE = "The rent is 4,125 dollars a month.\nThe deposit is 9,300 dollars.\n"
REPORT = (
    "The rent is 4,125 dollars. The year costs 49,500 dollars. No pets are mentioned. The deposit is 9,300 dollars."
)
RENT, YEAR, PETS = "The rent is 4,125 dollars", "The year costs 49,500 dollars", "No pets are mentioned"
READ = ("read_file", {"path": "lease.md"})
COUNTED = ("calculate", {"expression": "4125 * 12"})
SEARCHED = ("search_files", {"pattern": "rent is"})


def judged(*calls: tuple[str, Mapping[str, str]], about: About = About.SOURCES) -> VerificationInput:
    """The case of a step that made these calls, and wrote its report without citations."""
    given = Memory({"lease.md": LEASE})
    box, tools = RunTools(given, ToolLimits()), []
    for name, arguments in calls:
        result = box.run(ToolUse("1", name, dict(arguments)))
        assert not result.is_error, result.text
        tools.append(
            ToolText(
                result.text,
                result.shown,
                "\n".join([name, *arguments.values()]),
                calculation_in(name, {**arguments}),
                missing=missing_in(name, {**arguments}, result.text),
            )
        )
    return case(
        Criterion(text="It is right.", about=about),
        files={"lease.md": LEASE.encode(), "report.md": REPORT.encode()},
        inputs=GivenFiles(given.contents, given.files()),
        shown=("report.md",),
        given=("lease.md",),
        tools=tools,
    )


def quoting(source: str, quote: str, statement: str) -> Scripted:
    return Scripted(verdict(given_("C1", {"source": source, "quote": quote, "statement": statement})))


def kept(about: VerificationInput, verifier: Scripted) -> JudgedContent:
    (result,) = judge(verifier, about).results
    return content_of(about, result)


FOUND = "lease.md:1: The rent is 4,125 dollars a month."


@pytest.mark.parametrize(
    ("calls", "quote", "statement"),
    [
        ([SEARCHED], FOUND, RENT),
        ([READ, COUNTED], "4,125 * 12 = 49,500", YEAR),
        ([("search_files", {"pattern": "pets"})], "in the text files among these 1", PETS),
    ],
    ids=["found by a search", "calculated from what was read", "a search found nothing"],
)
def test_evidence_from_a_tool_counts_as_in_the_run(
    calls: list[tuple[str, dict[str, str]]], quote: str, statement: str
) -> None:
    case = judged(*calls)
    (result,) = judge(quoting(f"{TOOL}{len(calls)}", quote, statement), case).results
    assert result.met is True
    content = JudgedContent.model_validate_json(content_of(case, result).model_dump_json())
    again = CorrectedCase(0, False, content).ending(quoting("@tool-1", quote, statement), AS_USUAL, rules=True)
    assert [one.met for one in again.judged[0].results] == [True], again.judged[0].results[0].feedback


def test_what_a_tool_showed_of_files_of_the_run_proves_nothing_afterwards_either() -> None:
    case = judged(SEARCHED)
    (tool,) = case.tools
    made = ToolText(tool.result, [part._replace(sha256="b" * 64) for part in tool.shown], tool.sent)
    verifier = quoting("@tool-1", FOUND, RENT)
    content = kept(VerificationInput(**{**vars(case), "tools": [made]}), verifier)
    again = CorrectedCase(0, False, content).ending(verifier, AS_USUAL, rules=True)
    assert again.passed is False


def test_a_result_about_itself_keeps_the_tool_calls_that_its_verdict_quotes() -> None:
    case = judged(SEARCHED, READ, about=About.OUTPUT)
    content = kept(case, quoting("@tool-2", "The rent is 4,125 dollars a month.", RENT))
    assert [one.sent for one in content.calls] == ["read_file\nlease.md"]


def test_a_result_with_a_secret_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RENT_TOKEN", "rent is 4,125 dollars a month")
    with pytest.raises(InvalidInput, match="A tool showed a secret"):
        kept(judged(SEARCHED), quoting("@output", "One finding.", ""))


ASKED = ToolText(
    "alice has answered. Quote these words as @person-3.\n<person>It was agreed on the phone.</person>",
    sent="ask_person\nquestion\nWho agreed?",
)


@pytest.mark.parametrize(
    ("changes", "source", "words"),
    [
        ({"tools": [ASKED]}, "lease.md", RENT),
        ({"earlier": {"@step-ask/tool-1": ASKED}}, "@step-ask/tool-1", "It was agreed on the phone."),
        ({"persons": {3: "It was agreed on the phone."}}, "@person-3", "It was agreed on the phone."),
    ],
    ids=["a call that would be kept", "a call of an earlier step", "an answer"],
)
def test_what_people_answered_is_not_kept(changes: dict[str, Any], source: str, words: str) -> None:
    asked = VerificationInput(**{**vars(judged()), **changes})
    with pytest.raises(InvalidInput, match="rests on what people said"):
        kept(asked, quoting(source, words, RENT))


def test_answers_that_the_verdict_does_not_rest_on_are_left_out() -> None:
    asked = VerificationInput(**{**vars(judged(about=About.OUTPUT)), "tools": [ASKED]})
    content = kept(asked, quoting("report.md", RENT, ""))
    assert "phone" not in content.model_dump_json()


def test_a_call_is_cut_where_verifiers_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.planted_faults.corrected_cases.SHOWN_CHARS", 20)
    (call,) = kept(judged(SEARCHED), quoting("@tool-1", FOUND, RENT)).calls
    assert (call.result, call.observed) == (FOUND[:20], [(0, 20)])
