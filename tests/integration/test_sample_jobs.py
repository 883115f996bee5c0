"""The samples that ship, carried out by honest models: each ends succeeded, and says what it rests on."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from runs.enums import Provenance, StepStatus
from runs.evaluation.running import delivered_by
from runs.evaluation.suite import load_suite
from runs.models import Run, Step, User
from runs.submission.samples import named, uploads_of
from tests.fakes.anthropic_answers import ToolUse
from tests.fakes.anthropic_api import FakeAnthropic
from tests.integration.test_example_jobs import ARCHITECTURE, BYTES, LIST, idea_work, job
from tests.integration.test_honest_runs import Proof, Proofs, Work, must_succeed, rests_on

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]


def files_of(name: str) -> dict[str, bytes]:
    return {upload.path: upload.content.read() for upload in uploads_of(named(name))}


def must_have_properties(run: Run, name: str) -> None:
    """What the suite that ships expects of this task."""
    task = next(task for task in load_suite(Path("runs/suites/reference")).tasks if task.name == name)
    assert [one for one in task.task.expect.judge(delivered_by(run)) if not one.held] == []


def line_of(files: dict[str, bytes], path: str, words: str) -> int:
    return files[path].decode().split(words)[0].count("\n") + 1


def status_of(run: Run, key: str) -> str:
    return Step.objects.get(plan__run=run, key=key).status


def test_three_files_and_which_is_the_largest(api: FakeAnthropic, alice: User, client: Client) -> None:
    files = files_of("three-files")
    said = {
        "three-files/letter.txt": "Dear neighbours,",
        "three-files/minutes.md": "Anna orders the paint by 10 November.",
        "three-files/prices.csv": "item,unit,price in EUR",
    }
    ranked = sorted(files, key=lambda path: -len(files[path]))
    first = ranked[0]
    sizes = "".join(f'{path},{len(files[path])},"{said[path]}"\n' for path in files)
    lines = "\n".join(f"{n}. {path}: {len(files[path])} bytes" for n, path in enumerate(ranked, 1))
    cited = "\n".join(f"- [“{said[path]}”]({path}#L{line_of(files, path, said[path])})" for path in ranked)
    largest = f"# Sizes\n\n{lines}\n\nLargest: {first}\n\n{cited}\n"
    work = {
        "measure": Work(list(files), {"comparison/sizes.csv": f"file,bytes,evidence\n{sizes}"}, "Measured.", [LIST]),
        "compare": Work(["comparison/sizes.csv"], {"comparison/largest.md": largest}, f"{first} is largest.", [LIST]),
    }
    final = "The final answer names the largest file and its size, with evidence"
    measured = f"{len(files[first])}\t{first}"
    bytes_of: list[Proof] = [("@tool-1", f"{len(files[path])}\t{path}", f"{path},{len(files[path])}") for path in files]
    shown: Proof = ("@tool-1", measured, f"{first}: {len(files[first])} bytes")
    proofs: Proofs = {"": shown, BYTES: bytes_of, final: (first, said[first], None)}
    answer = (
        f"{first} is the largest, with {len(files[first])} bytes.\n\n"
        f"It begins so: [“{said[first]}”]({first}#L{line_of(files, first, said[first])})."
    )
    run = job(api, alice, "file-comparison", files, work, proofs, answer)
    must_succeed(run, client, "3 of 3 dealt with by its column “file”")
    must_have_properties(run, "three-files")
    assert {Provenance.GIVEN, Provenance.OBSERVED} <= rests_on(run)


def test_an_idea_is_connected_with_what_is_there(api: FakeAnthropic, alice: User, client: Client) -> None:
    files = files_of("ideas")
    work, proofs = idea_work(alice, list(files))
    answer = "Begin with V1 and V2 (idea/action-plan.md). What weighs most: there is no space."
    run = job(api, alice, "idea-workflow", files, work, proofs, answer)
    must_succeed(run, client, "No sources were needed: a person chose that before it started (alice, with the task,")
    must_have_properties(run, "ideas")


TODO = "// TODO: read the path from the arguments"
LOOKED = ToolUse("glob", {"pattern": "*.json"})


@pytest.mark.exhaustive
def test_a_project_with_a_workflow(api: FakeAnthropic, alice: User, client: Client) -> None:
    files = files_of("project")
    main, flow = "project/src/main.js", "project/flows/weekly.json"
    rows = "".join(f"| {path} | {len(data)} |\n" for path, data in files.items())
    inventory = (
        f"# Inventory\n\n## Files by category\n\n- source: {main}\n\n## Languages\n\n## Largest files\n\n"
        f"## Entry points\n\nNone found.\n\n## TODO marks\n\n- {main}:3: {TODO}\n\n"
        f"## Files\n\n| path | bytes |\n|---|---|\n{rows}"
    )
    architecture = ARCHITECTURE.replace("- main.py:1: import os", f'- {main}:1: import {{ due }} from "./dates.js";')
    node = '{"name": "Every Monday", "type": "n8n-nodes-base.scheduleTrigger", "parameters": {"rule": "0 7 * * 1"}},'
    workflows = (
        f"# Workflows\n\n## n8n\n\nIt begins every Monday, runs the program and sends a mail.\n\n- {flow}:4: {node}\n"
    )
    mend = (
        f"# What to mend\n\n### R1 · medium · Read the path from the arguments\n\n> {TODO}\n\n- Document: {main}\n"
        "- Line: 3\n- Why: nobody can use it with other dates.\n"
    )
    mended = "R1 has a priority, file and line."
    work = {
        "scan": Work(list(files), {"analysis/inventory.md": inventory}, "Two source files.", [LIST]),
        "architecture": Work([main], {"analysis/architecture.md": architecture}, "Two parts."),
        "workflows": Work([flow], {"analysis/workflows.md": workflows}, "One n8n workflow.", [LOOKED]),
        "recommendations": Work([main], {"analysis/recommendations.md": mend}, mended),
    }
    references = (
        "Every reference in analysis/architecture.md (file:line: text) occurs in the file and line that it names"
    )
    scheduled = "Every reference in analysis/workflows.md (file:line: text) occurs in the file and line that it names"
    evidence = (
        "Every recommendation in analysis/recommendations.md has a priority and names its evidence: a file, a line and "
        "the quote; the most important comes first"
    )
    final = "The final answer states the result in figures and names analysis/recommendations.md"
    proofs: dict[str, Proof] = {
        "": (main, TODO, None),
        references: (main, 'import { due } from "./dates.js";', f'{main}:1: import {{ due }} from "./dates.js";'),
        scheduled: (flow, node, f"{flow}:4: {node}"),
        evidence: ("@output", mended, None),
        final: ("@output", "There is 1 recommendation", None),
    }
    answer = (
        "There is 1 recommendation, in analysis/recommendations.md.\n\n"
        f"It is to read the path: [“TODO: read the path from the arguments”]({main}#L3)."
    )
    run = job(api, alice, "project-analysis", files, work, proofs, answer, step_approval="none", parallel=1)
    must_succeed(run, client, "1 diagram that can be drawn")
    must_have_properties(run, "project")
    assert status_of(run, "workflows") == StepStatus.PASSED
