"""Suites as tasks of Inspect, in processes of their own: `uv sync --group inspect`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.installation import ROOT

pytestmark = [pytest.mark.needs("Inspect"), pytest.mark.slow]


def python(*arguments: str, **variables: str) -> str:
    """What a module prints."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "PEV_"))}
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=known | {"DJANGO_SETTINGS_MODULE": "pevsite.settings", "PEV_REHEARSAL_DELAY": "0"} | variables,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_suite_that_ships_is_a_task_of_inspect(tmp_path: Path) -> None:
    options = ["--model", "none", "--sample-id", "density,document-review", "--display", "none"]
    python(
        "inspect_ai", "eval", "runs/evaluation/inspect_task.py", *options, "--log-format", "json",
        "--log-dir", str(tmp_path),
    )  # fmt: skip
    (file,) = tmp_path.glob("*.json")
    log: Any = json.loads(file.read_text("utf-8"))
    assert log["status"] == "success"
    scores = {sample["id"]: sample["scores"] for sample in log["samples"]}
    whole = scores["document-review"]
    assert (whole["all_properties"]["value"], whole["share_of_properties"]["value"]) == ("C", 1.0)
    assert "✓ file made: review/findings.md: review/findings.md" in whole["all_properties"]["explanation"]
    left_out = scores["density"]["all_properties"]
    assert left_out["value"] != "C"
    assert "Left out: the task needs a model, and offline rules answer here." in json.dumps(left_out)
    metrics = {one["name"]: one["metrics"] for one in log["results"]["scores"]}
    assert metrics["all_properties"]["accuracy"]["value"] == 1.0
    assert metrics["share_of_properties"]["mean"]["value"] == 1.0


def test_models_of_inspect_answer_the_questions_of_pevsite() -> None:
    """Each role by its own model if there is one; as text and as a call of a tool."""
    called, said, judged = json.loads(
        python("tests.integration.evaluation.asking", ANTHROPIC_API_KEY="test-key-of-nobody")
    )
    uses = [(block["name"], block["input"]) for block in called["content"] if block["type"] == "tool_use"]
    assert uses == [("read_file", {"path": "notes.md"})]
    assert (called["stop_reason"], said["stop_reason"]) == ("tool_use", "end_turn")
    assert [block["text"] for block in said["content"]] == ["It is done."]
    assert [block["text"] for block in judged["content"]] == ["Not yet."]
    assert [(one["usage"]["input"], one["usage"]["output"]) for one in (called, said, judged)] == [(12, 5)] * 3


def test_models_of_inspect_carry_out_a_whole_run(tmp_path: Path) -> None:
    """Planned, executed with tool calls, verified and answered, each role by its own model."""
    task = tmp_path / "suite" / "rent"
    (task / "files").mkdir(parents=True)
    (task / "files" / "notes.md").write_text("Rent.\nRent.\nRent.\n")
    (task / "task.yaml").write_text(
        "request: How many of the notes are about rent? Write one.md, and give the number.\n"
        "policy: {plan_approval: never, step_approval: none, sources_needed: off, min_document_bytes: 0}\n"
        "expect: {outcome: succeeded, words: {in_answer: [three notes, four notes]}, files: {made: [one.md]}}\n"
    )
    printed = python("tests.integration.evaluation.solving", str(task.parent), str(tmp_path / "logs"))
    found = json.loads(printed)
    assert found["played"] == {
        "planner": ["planner"],
        "executor": ["executor", "synthesizer"],
        "verifier": ["verifier"],
    }
    (value, explanation), (share, _) = found["scores"]["all_properties"], found["scores"]["share_of_properties"]
    assert (value, share) == ("I", 0.75)
    assert explanation.splitlines() == [
        "✓ outcome: succeeded: succeeded",
        "✓ words in the answer: three notes: “three notes” in the answer, line 1",
        "✗ words in the answer: four notes: not in the answer",
        "✓ file made: one.md: one.md",
    ]


def test_a_model_of_inspect_may_think_long_and_may_fail() -> None:
    """The stream is kept alive meanwhile, and says why there is no answer."""
    from runs.evaluation.inspect_task import answer_to  # the other tests do without Inspect

    async def fail() -> Any:
        await asyncio.sleep(0.2)
        raise ValueError("no such model")

    async def events() -> list[str]:
        return [event.decode() async for event in answer_to(fail(), "inspect-planner", 0.05)]

    *pings, last = asyncio.run(events())
    assert {event.splitlines()[0] for event in pings} == {"event: ping"}
    assert last.startswith("event: error\n")
    assert "ValueError: no such model" in last


def test_a_task_that_cannot_be_shown_has_the_name_of_its_folder(tmp_path: Path) -> None:
    """`evaluate` says what is wrong with it. Nothing is expanded, and nothing outside the suite is read."""
    from runs.evaluation.inspect_task import pevsite_suite  # the other tests do without Inspect

    (tmp_path / "secret.yaml").write_text("request: secret")
    texts = {
        "aliases": "a: &a [x, x]\nrequest: [*a, *a]",
        "broken": "request: [",
        "deep": "[" * 50_000,
        "large": f"request: {'x' * 200_000}",
        "list": "- request",
        "right": "request: Count them",
        "sample": "sample: letter",
    }
    for name, text in texts.items():
        (tmp_path / "suite" / name).mkdir(parents=True)
        (tmp_path / "suite" / name / "task.yaml").write_text(text)
    (tmp_path / "suite" / "link").mkdir()
    (tmp_path / "suite" / "link" / "task.yaml").symlink_to(tmp_path / "secret.yaml")
    shown = {sample.id: sample.input for sample in pevsite_suite(str(tmp_path / "suite")).dataset}
    own = {"right": "Count them", "sample": "The sample “letter”"}
    assert shown == {name: own.get(name, name) for name in [*texts, "link"]}
