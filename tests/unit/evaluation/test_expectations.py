"""Properties of a run: each kind held and not held, with what was found."""

from __future__ import annotations

from typing import Any

import pytest

from runs.enums import Outcome, StepStatus
from runs.evaluation import expectations
from runs.evaluation.expectations import Delivered, Expected
from runs.reports.contract import Citations, File, Report

ANSWER = "In 2024 there were 7,567 people per km².\n\nThe largest file is a/two.txt, with −3.5 % of growth."
NOTES = "Population: 5 450 000\nThe rent is due\nmonthly."


def delivered(**changes: Any) -> Delivered:
    """A run that has done everything, as its report says it. The report has only the fields that are judged."""
    fields: dict[str, Any] = {
        "outcome": Outcome.SUCCEEDED,
        "failure": "",
        "gaps": [],
        "open_points": [],
        "judged_answer": ANSWER,
        "success_criteria": [criterion("It names the density"), criterion("It cites both")],
        "citations": Citations(sentence="", found=3, corrected=[], broken=[], weak=1, documents=[]),
        "files": [File(path="review/notes.md", sha256="0" * 64, size=3), File(path="a.csv", sha256="1" * 64, size=3)],
        "steps": [step("scan", StepStatus.PASSED), step("workflows", StepStatus.NOT_APPLICABLE)],
        "totals": _Part(calls=12, cost_usd="0.250000", unpriced=0),
    }
    return Delivered(Report.model_construct(**(fields | changes)), {"review/notes.md": NOTES})


class _Part:
    """A part of a report with the attributes that a property looks at."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def criterion(text: str, *, passed: bool = True) -> Any:
    return _Part(text=text, passed=passed)


def step(step_id: str, status: StepStatus) -> Any:
    return _Part(step_id=step_id, status=status)


def judged(expected: dict[str, Any], **changes: Any) -> list[tuple[str, bool, str]]:
    judged = Expected.model_validate(expected).judge(delivered(**changes))
    return [(one.name, one.held, one.found) for one in judged]


def test_every_kind_of_property_has_a_judge_and_no_other() -> None:
    assert list(expectations._JUDGES) == list(Expected.model_fields)


def test_the_outcome_is_one_of_those_that_are_right() -> None:
    wanted = {"outcome": ["succeeded", "partial"]}
    name = "outcome: succeeded or partial"
    assert judged(wanted) == [(name, True, "succeeded")]
    failed = judged(wanted, outcome=Outcome.FAILED, failure="A step failed.")
    assert failed == [(name, False, "failed: A step failed.")]
    partial = judged({"outcome": "succeeded"}, outcome=Outcome.PARTIAL, gaps=["8,437 is not traced"])
    assert partial == [("outcome: succeeded", False, "partial: 8,437 is not traced")]


def test_criteria_are_all_met_or_so_many() -> None:
    criteria = [criterion("It names the density"), criterion("It cites both", passed=False)]
    found = "1 of 2 met; not met: “It cites both”"
    assert judged({"criteria_met": "all"}) == [("criteria met: all", True, "2 of 2 met")]
    assert judged({"criteria_met": "all"}, success_criteria=criteria) == [("criteria met: all", False, found)]
    assert judged({"criteria_met": 1}, success_criteria=criteria) == [("criteria met: 1", True, found)]
    assert judged({"criteria_met": "all"}, success_criteria=[]) == [("criteria met: all", False, "0 of 0 met")]


def test_open_points_are_counted() -> None:
    points = [_Part(sentence="A file was not read.")]
    name = "open points: at most 0"
    assert judged({"open_points_at_most": 0}) == [(name, True, "no open point")]
    assert judged({"open_points_at_most": 0}, open_points=points) == [(name, False, "A file was not read.")]


@pytest.mark.parametrize(
    ("figure", "place"),
    [
        ("7567", "“7,567” in the answer, line 1"),
        ("7 567", "“7,567” in the answer, line 1"),
        ("-3.5 %", "“−3.5 %” in the answer, line 3"),
        ("5,450,000", "“5 450 000” in review/notes.md, line 1"),
    ],
)
def test_a_figure_occurs_however_it_is_written(figure: str, place: str) -> None:
    found = judged({"figures": {"anywhere": [figure], "nowhere": [figure]}})
    assert found == [(f"figure somewhere: {figure}", True, place), (f"figure nowhere: {figure}", False, place)]


@pytest.mark.parametrize("figure", ["8437", "567", "75,67", "3.5 %", "7567 EUR"])
def test_another_figure_does_not_occur(figure: str) -> None:
    found = judged({"figures": {"anywhere": [figure], "nowhere": [figure]}})
    assert [held for _, held, _ in found] == [False, True]


def test_a_figure_of_a_file_is_not_in_the_answer() -> None:
    found = judged({"figures": {"in_answer": ["5450000"]}})
    assert found == [("figure in the answer: 5450000", False, "not in the answer")]


def test_words_occur_with_other_capitals_and_white_space() -> None:
    place = "“The rent is due\nmonthly” in review/notes.md, line 2"
    assert judged({"words": {"anywhere": ["the rent is due monthly"]}}) == [
        ("words somewhere: the rent is due monthly", True, place)
    ]
    assert judged({"words": {"in_answer": ["largest file is a/two.txt"]}})[0][1] is True
    assert judged({"words": {"in_answer": ["largest file is three.txt"]}})[0][1] is False


def test_words_that_could_be_there_are_not_absent_and_not_present() -> None:
    """A letter that only looks the same is no proof, neither of the words nor of their absence."""
    lookalike = "The largest file is a/two.tхt."  # the х is Cyrillic
    wanted = {"words": {"in_answer": ["a/two.txt"], "nowhere": ["a/two.txt"]}}
    assert [held for _, held, _ in judged(wanted, judged_answer=lookalike)] == [False, False]


def test_citations_are_counted() -> None:
    wanted = {"citations": {"at_least": 3, "broken_at_most": 0, "weak_at_most": 0}}
    broken = Citations(sentence="", found=2, corrected=[], broken=["“x” is not there"], weak=0, documents=[])
    assert [held for _, held, _ in judged(wanted)] == [True, True, False]
    assert judged(wanted, citations=broken) == [
        ("citations: at least 3", False, "2 found in their sources"),
        ("broken citations: at most 0", False, "“x” is not there"),
        ("weak citations: at most 0", True, "0 weak"),
    ]


def test_files_are_made_or_not_made() -> None:
    wanted = {"files": {"made": ["review/*.md", "summary.md"], "not_made": ["*.csv", "*.exe"]}}
    assert judged(wanted) == [
        ("file made: review/*.md", True, "review/notes.md"),
        ("file made: summary.md", False, "the run made review/notes.md, a.csv"),
        ("file not made: *.csv", False, "a.csv"),
        ("file not made: *.exe", True, "not made"),
    ]


def test_a_path_with_brackets_means_itself() -> None:
    files = [File(path="report[1].md", sha256="0" * 64, size=3)]
    wanted = {"files": {"made": ["report[1].md"], "not_made": ["report[1].md"]}}
    assert judged(wanted, files=files) == [
        ("file made: report[1].md", True, "report[1].md"),
        ("file not made: report[1].md", False, "report[1].md"),
    ]


def test_steps_end_as_they_should() -> None:
    wanted = {"steps": {"workflows": ["passed", "accepted"], "scan": "passed", "other": "passed"}}
    assert judged(wanted) == [
        ("step workflows: passed or accepted", False, "not_applicable"),
        ("step scan: passed", True, "passed"),
        ("step other: passed", False, "there is no such step; there are: scan, workflows"),
    ]


def test_cost_and_calls_stay_below_their_bounds() -> None:
    wanted = {"cost_usd_at_most": 0.25, "calls_at_most": 11}
    assert judged(wanted) == [
        ("cost: at most $0.25", True, "$0.250000"),
        ("calls: at most 11", False, "12"),
    ]
    unpriced = _Part(calls=3, cost_usd="0.000000", unpriced=2)
    found = "$0.000000, and 2 calls without a known price"
    assert judged({"cost_usd_at_most": 1}, totals=unpriced) == [("cost: at most $1", False, found)]
