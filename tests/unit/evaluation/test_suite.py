"""Suites on disk: what a task may say, and that nothing in a suite leads out of its folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from runs.enums import Outcome, StepStatus
from runs.errors import InvalidInput
from runs.evaluation.suite import MAX_TASK_BYTES, load_suite, read_task, schema

SCHEMA = Path("docs/evaluation-task.schema.json")
TASK = """\
request: How many people live on a square kilometre?
policy: {sources_needed: off, budget: 2.50}
expect:
  outcome: succeeded
  criteria_met: all
  figures:
    in_answer: ["7,567"]
    nowhere:
    - 8,437
  steps: {workflows: [passed, accepted]}
"""


def suite(folder: Path, text: str = TASK, name: str = "density") -> Path:
    task = folder / "suite" / name
    task.mkdir(parents=True)
    (task / "task.yaml").write_text(text, encoding="utf-8")
    return folder / "suite"


def test_a_task_says_what_is_asked_and_what_is_expected() -> None:
    task = read_task(TASK.encode())
    assert task.policy == {"sources_needed": "off", "budget": "2.50"}
    assert task.expect.outcome == (Outcome.SUCCEEDED,)
    assert task.expect.figures is not None
    assert task.expect.figures.in_answer == ("7,567",)
    assert task.expect.figures.nowhere == ("8,437",)
    assert task.expect.steps == {"workflows": (StepStatus.PASSED, StepStatus.ACCEPTED)}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("request: &a x\nexpect: *a", "in line 2: aliases (*name) are not allowed"),
        ("request: x\nrequest: y", "in line 2: “request” occurs twice"),
        ("? [request]\n: x", "in line 1: a key has to be a word"),
        ("[" * 50_000, "nested too deeply"),
        ("request: [", "in line 1"),
        ("request: \x07", "characters that YAML does not allow"),
        ("- request", "has to have the fields request and expect"),
        ("!!python/object/apply:os.system [exit]", "has to have the fields request and expect"),
        ("request: x\nexpect: {}", "nothing is expected of the run"),
        ("expect: {outcome: failed}", "write a request, or name a sample"),
        ("sample: nothing\nexpect: {outcome: failed}", "there is no sample “nothing”"),
        ("request: x\nexpect: {outcome: fine}", "expect.outcome.0"),
        ("request: x\nexpect: {figures: {nowhere: [some words]}}", "“some words” is not one figure"),
        ("request: x\nexpect: {words: {}}", "name at least one of in_answer, anywhere, nowhere"),
        ("request: x\nexpect: {files: {made: []}}", "name at least one of made, not_made"),
        ("request: x\nexpect: {files: {made: ['*?*?*?*?*?']}}", "“*?*?*?*?*?” cannot be used: There may be 50"),
        ("request: x\nexpect: {files: {not_made: ['*?*?*?*?*?']}}", "cannot be used: There may be 50 patterns"),
        ("request: x\nexpect: {citations: {}}", "name at least one of at_least, broken_at_most, weak_at_most"),
        ("request: x\nreqest: y\nexpect: {outcome: failed}", "reqest: Extra inputs are not permitted"),
        ("request: x\nplan: p.json\ntemplate: t\nexpect: {outcome: failed}", "a plan or a template, not both"),
    ],
)
def test_a_task_that_cannot_be_used_says_why(text: str, why: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read_task(text.encode())
    assert why in str(error.value)


def test_files_lie_next_to_the_task_or_where_it_says(tmp_path: Path) -> None:
    root = suite(tmp_path)
    (root / "density" / "files" / "deep").mkdir(parents=True)
    (root / "density" / "files" / "deep" / "notes.md").write_text("Notes.")
    suite(tmp_path, f"files: shared\n{TASK}", "second")
    (root / "shared").mkdir()
    (root / "shared" / "all.csv").write_text("a,b")
    tasks = {task.name: list(task.files) for task in load_suite(root).tasks}
    assert tasks == {"density": ["deep/notes.md"], "second": ["all.csv"]}


def test_the_digest_changes_with_files_and_expectations_but_not_with_the_description(tmp_path: Path) -> None:
    root = suite(tmp_path)
    (root / "density" / "files").mkdir()
    notes = root / "density" / "files" / "notes.md"

    def digest(text: str, content: str) -> str:
        (root / "density" / "task.yaml").write_text(text)
        notes.write_text(content)
        return load_suite(root).tasks[0].digest

    first = digest(TASK, "one")
    assert digest(f"description: What it is for\n{TASK}", "one") == first
    assert digest(TASK, "two") != first
    assert digest(TASK.replace("8,437", "8,438"), "one") != first


@pytest.mark.parametrize("path", ["../outside", "/etc", "density/../../outside"])
def test_files_outside_the_suite_are_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    root = suite(tmp_path, f"files: {path}\n{TASK}")
    with pytest.raises(InvalidInput, match=r"Task “density”: .* Paths of a suite stay inside its folder\."):
        load_suite(root)


def test_a_plan_outside_the_suite_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(InvalidInput, match=r"Paths of a suite stay inside its folder\."):
        load_suite(suite(tmp_path, f"plan: ../../plan.json\n{TASK}"))


@pytest.mark.parametrize("place", ["density", "density/task.yaml", "density/files", "density/files/notes.md"])
def test_links_are_refused(tmp_path: Path, place: str) -> None:
    root = suite(tmp_path)
    (root / "density" / "files").mkdir()
    (root / "density" / "files" / "notes.md").write_text("Notes.")
    (root / place).rename(tmp_path / "elsewhere")
    (root / place).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="is a link"):
        load_suite(root)


def test_what_is_no_ordinary_file_is_refused(tmp_path: Path) -> None:
    root = suite(tmp_path)
    (root / "density" / "files").mkdir()
    os.mkfifo(root / "density" / "files" / "pipe")
    with pytest.raises(InvalidInput, match="no ordinary file"):
        load_suite(root)


def test_a_huge_task_file_is_refused_without_being_read_as_yaml(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"“density/task\.yaml” is too large: it may have 200,000 bytes"):
        load_suite(suite(tmp_path, f"description: {'x' * MAX_TASK_BYTES}\n{TASK}"))


def test_a_folder_without_tasks_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"has no tasks: no folder in it has a task\.yaml"):
        load_suite(tmp_path)
    with pytest.raises(InvalidInput, match="is not a folder"):
        load_suite(tmp_path / "nowhere")


def test_the_published_schema_is_that_of_the_contract() -> None:
    assert json.loads(SCHEMA.read_text("utf-8")) == schema()


def test_an_editor_accepts_with_the_schema_what_is_accepted() -> None:
    """Editors read YAML with types: a figure without quotation marks is a number there, and `off` a boolean."""
    value: Any = yaml.safe_load(TASK.replace("- 8,437", "- 8437"))
    jsonschema.Draft202012Validator(schema()).validate(value)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(value | {"reqest": "x"})
