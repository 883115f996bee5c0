"""What is expected of the next run, from the report of one that was right."""

from __future__ import annotations

from typing import Any

from runs.enums import Outcome
from runs.evaluation.expectations import MAX_ITEMS, Expected
from runs.evaluation.task_of_run import expected_of
from runs.reports.contract import Citations, File, Report


def files_expected(*paths: str) -> list[str]:
    """The files that a task expects of a run that has made these. The task can be used."""
    fields: dict[str, Any] = {
        "outcome": Outcome.SUCCEEDED,
        "success_criteria": [],
        "files": [File(path=path, sha256="0" * 64, size=3) for path in paths],
        "citations": Citations(sentence="", found=0, corrected=[], broken=[], weak=0, documents=[]),
    }
    expected = expected_of(Report.model_construct(**fields))
    Expected.model_validate(expected)
    return list(expected.get("files", {}).get("made", []))


def test_no_more_files_are_listed_than_a_task_may_have() -> None:
    paths = [f"{number}.md" for number in range(MAX_ITEMS + 1)]
    assert files_expected(*paths) == paths[:MAX_ITEMS]


def test_a_path_with_more_brackets_than_a_pattern_may_have_is_left_out() -> None:
    assert files_expected("report[1].md", "[" * 9) == ["report[1].md"]
    assert files_expected("[" * 9) == []
