"""A result is met only with support, and says in a word what it is; evidence says for people where it stands."""

from typing import Any

import pytest

from runs.evidence.results import CriterionResult, Evidence


def result(*, passed: bool, supported: bool, claimed: bool = True, decided_by: str = "model") -> CriterionResult:
    words = {"label": "C1", "text": "It holds.", "confidence": 0.9, "feedback": ""}
    judged = {"claimed": claimed, "supported": supported, "passed": passed, "decided_by": decided_by}
    return CriterionResult.model_validate(words | judged)


@pytest.mark.parametrize(
    ("judged", "met", "status"),
    [
        (result(passed=True, supported=True), True, "passed"),
        (result(passed=True, supported=False), False, "unsupported"),
        (result(passed=False, supported=False), False, "unsupported"),
        (result(passed=False, supported=False, claimed=False), False, "failed"),
        (result(passed=False, supported=True), False, "failed"),
        (result(passed=False, supported=False, decided_by="nobody"), False, "not judged"),
    ],
)
def test_what_a_result_is_called(judged: CriterionResult, met: bool, status: str) -> None:
    assert (judged.met, judged.status) == (met, status)


@pytest.mark.parametrize(
    ("source", "line", "where"),
    [
        ("a.md", 3, "a.md, line 3"),
        ("a.md", 0, "a.md"),
        ("@output", 1, "the result, line 1"),
        ("@tool-4", 2, "result of tool call 4, line 2"),
    ],
)
def test_where_evidence_stands(source: str, line: int, where: str) -> None:
    assert Evidence(kind="quote", source=source, verified=True, sentence="", line=line).where == where


@pytest.mark.parametrize(
    ("how", "of", "words"),
    [
        ("check", 0, "automatic check"),
        ("model", 0, "AI review, 95 % confident"),
        ("model", 23, "AI review, 12 of 23 files have evidence"),
        ("nobody", 0, "not judged"),
    ],
)
def test_a_verdict_on_a_sample_says_how_much_was_looked_at_and_not_how_sure_it_is(
    how: Any, of: int, words: str
) -> None:
    judged = CriterionResult(
        label="C1",
        text="Every file is listed",
        decided_by=how,
        claimed=True,
        supported=True,
        passed=True,
        confidence=0.95,
        unit="files",
        feedback="",
        looked_at=12 if of else 0,
        out_of=of,
    )
    assert judged.decided == words
