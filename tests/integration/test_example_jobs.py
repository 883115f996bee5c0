"""The example jobs, from the templates that ship: each ends succeeded with honest models, and says what it rests on."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from runs.enums import Provenance, StepStatus
from runs.models import Run, Step, User
from runs.pev.policy import Policy
from runs.submission.intake import Upload
from runs.submission.run_templates import chosen
from runs.submission.submit import Submission, submit
from tests.factories import MODELS, drain
from tests.fakes.anthropic_answers import ToolUse
from tests.fakes.anthropic_api import FakeAnthropic
from tests.integration.test_honest_runs import AS_USUAL, Proof, Proofs, Work, honest, must_succeed, rests_on

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2"]), pytest.mark.slow]
LIST = ToolUse("list_files", {})


def job(
    api: FakeAnthropic,
    owner: User,
    key: str,
    files: Mapping[str, bytes],
    work: Mapping[str, Work],
    proofs: Proofs,
    answer: str,
    **policy: Any,
) -> Run:
    """A run of this template by a team that does this work, driven to its end."""
    template = chosen(owner, key)
    api.script(honest({}, work, proofs, answer))
    rules = {"models": MODELS, **AS_USUAL, "plan_approval": "never", "sources_needed": template.sources_needed}
    uploads = [Upload(path, ContentFile(data)) for path, data in files.items()]
    submission = Submission(
        "Do what the template says",
        uploads,
        Policy.model_validate(rules | policy),
        uuid.uuid4(),
        plan=template.plan,
        plan_from=template.reason,
        no_files=not files,
    )
    run = submit(owner, submission)
    drain(run)
    run.refresh_from_db()
    return run


# ---- legal review --------------------------------------------------------------------------------------------------

CONTRACTS = {
    "acme.md": b"# Service agreement\n\nBetween Acme GmbH and Borealis AG, 1 March 2026.\nLiability is unlimited.\n",
    "flat.md": b"# Lease\n\nBetween Ms Weber and Mr Quist, 2 May 2024.\nNotice is three months.\n",
}
CATEGORIES = """document,category,parties,date,reason
acme.md,service agreement,Acme GmbH; Borealis AG,1 March 2026,Service agreement
flat.md,lease,Ms Weber; Mr Quist,2 May 2024,Lease
"""
FINDINGS = """# Findings

## Category: service agreement

### F1 · critical · Nothing limits the liability

> Liability is unlimited.

- Document: acme.md
- Line: 4
- Why it matters: one loss may be more than the company has.
- Recommendation: agree on a cap.

## Category: lease

### F2 · low · The notice is short

> Notice is three months.

- Document: flat.md
- Line: 4
- Why it matters: the tenant has to plan for it.
- Recommendation: note the date.

Findings in all: 2
"""
NOTICES = """# Legal notices

## Notice: acme.md

To Borealis AG, on the service agreement of 1 March 2026. We ask you to agree to the following by 15 December 2026:

1. F1: a cap on liability, since the agreement has none.
"""
SUMMARY = f"""# Review

## Executive summary

Two documents were reviewed, a service agreement and a lease. The service agreement must not stand as it is.

## Severities

| severity | findings | numbers |
|---|---|---|
| critical | 1 | F1 |
| low | 1 | F2 |

## By category

The service agreement leaves liability without any limit. The lease is in order. {"What follows says more of it. " * 12}

## Next steps

1. Agree on a cap (F1).

Findings in all: 2
"""


def test_a_legal_review(api: FakeAnthropic, alice: User, client: Client) -> None:
    work = {
        "categorise": Work(list(CONTRACTS), {"legal/categories.csv": CATEGORIES}, "Two categories.", [LIST]),
        "review": Work(list(CONTRACTS), {"legal/findings.md": FINDINGS}, "Two findings."),
        "notices": Work(["legal/findings.md"], {"legal/LEGAL_NOTICES.md": NOTICES}, "One notice: F1 is raised."),
        "summary": Work(["legal/findings.md"], {"legal/REVIEW_SUMMARY.md": SUMMARY}, "F1 and F2 are counted."),
    }
    categorised = (
        "The category of every row of legal/categories.csv is what the document is, and the parties and the date are "
        "those that it names"
    )
    unlimited: Proof = ("acme.md", "Liability is unlimited.", None)
    raised = (
        "Every finding of legal/findings.md that is critical or high is raised in legal/LEGAL_NOTICES.md by its number"
    )
    counted = "The severities and numbers in legal/REVIEW_SUMMARY.md are those of legal/findings.md"
    proofs: Proofs = {
        "": unlimited,
        categorised: [
            ("acme.md", "Between Acme GmbH and Borealis AG, 1 March 2026.", "Acme GmbH; Borealis AG,1 March 2026"),
            ("flat.md", "Between Ms Weber and Mr Quist, 2 May 2024.", "Ms Weber; Mr Quist,2 May 2024"),
        ],
        raised: ("legal/LEGAL_NOTICES.md", "1. F1: a cap on liability", None),
        counted: ("legal/REVIEW_SUMMARY.md", "| critical | 1 | F1 |", None),
    }
    answer = (
        "Most severe is acme.md: [“Liability is unlimited.”](acme.md#L4) "
        "See legal/LEGAL_NOTICES.md and legal/REVIEW_SUMMARY.md."
    )
    run = job(api, alice, "legal-review", CONTRACTS, work, proofs, answer)
    must_succeed(run, client, "2 of 2 dealt with by its column “document”")
    assert Provenance.GIVEN in rests_on(run)


# ---- idea workflow -------------------------------------------------------------------------------------------------

FILLING = " ".join(f"word{n}" for n in range(220))
SCORES = "".join(
    f"| {name} | 7/10 | It may be so. |\n" for name in ("Novelty", "Feasibility", "Demand", "Effort", "Risk")
)
VARIANTS = "".join(f"### V{n} · Variant {n}\n\nFor neighbours.\n\n" for n in range(1, 6))
TIES = "".join(f"- V{n} ↔ A1 · 6/10: it needs demand.\n" for n in range(1, 6))
IDEA = {
    "validate": f"## The idea\n\n{FILLING}\n\n## Assumptions\n\n### A1\n\n### A2\n\n### A3\n\n## Scores\n\n"
    f"| criterion | score | reason |\n|---|---|---|\n{SCORES}\n"
    "## Market potential\n\nNeighbours.\n\n## Verdict\n\nYes.\n",
    "expand": f"{FILLING}\n\n{VARIANTS}",
    "connect": f"{TIES}\n## Strongest combination\n\nV1 and V2.\n",
    "action-plan": "## Recommendation\n\nBegin with V1 and V2, which rest on A1.\n\n## Why\n\n"
    f"{FILLING}\n\n## Risks\n\nNo space.\n\n## Actions\n\n1. **High** · Ask.\n2. **Medium** · Find space.\n"
    "3. **Low** · Begin.\n",
}


def idea_work(owner: User, reads: Sequence[str] = ()) -> tuple[dict[str, Work], dict[str, Proof]]:
    """What is done of each step of the template after these files were read, and what proves its criteria."""
    plan = chosen(owner, "idea-workflow").plan
    work = {
        one.step_id: Work(reads, {one.outputs[0]: IDEA[one.step_id]}, f"Done: {one.step_id}.") for one in plan.steps
    }
    proofs: dict[str, Proof] = {
        each.text: ("@output", f"Done: {one.step_id}.", None) for one in plan.steps for each in one.acceptance_criteria
    }
    return work, proofs | {one.text: ("@output", "Begin with V1 and V2", None) for one in plan.success_criteria}


def test_an_idea_needs_no_sources(api: FakeAnthropic, alice: User, client: Client) -> None:
    """Without a file: the template presets the choice, and the report says who made it."""
    work, proofs = idea_work(alice)
    answer = "Begin with V1 and V2 (idea/action-plan.md). What weighs most: there is no space."
    run = job(api, alice, "idea-workflow", {}, work, proofs, answer)
    must_succeed(run, client, "No sources were needed: a person chose that before it started (alice, with the task,")
    assert rests_on(run) == {Provenance.MADE}


# ---- project analysis ----------------------------------------------------------------------------------------------

PROJECT = {"main.py": b"import os\n# TODO: read the options\n", "readme.md": b"# Tool\n"}
INVENTORY = f"""# Inventory

## Files by category

- source: main.py

## Languages

## Largest files

## Entry points

None found.

## TODO marks

- main.py:2: # TODO: read the options

## Files

| path | bytes |
|---|---|
| main.py | {len(PROJECT["main.py"])} |
| readme.md | {len(PROJECT["readme.md"])} |
"""
ARCHITECTURE = f"""# Architecture

## Folders

All lies in one folder. {"It is a small tool, and has one part. " * 4}

- main.py:1: import os

## Diagram

```mermaid
flowchart LR
  main[main.py] --> os[(os)]
```
"""
MEND = """# What to mend

### R1 · medium · Read the options

> # TODO: read the options

- Document: main.py
- Line: 2
- Why: nobody can change what it does.
"""


MENDED = "R1 has a priority, file and line."


def test_a_project_without_workflows(api: FakeAnthropic, alice: User, client: Client) -> None:
    """What the project does not have is settled as that, and the rest goes on."""
    looked = ToolUse("glob", {"pattern": "*.json"})
    work = {
        "scan": Work(list(PROJECT), {"analysis/inventory.md": INVENTORY}, "One source file.", [LIST]),
        "architecture": Work(["main.py"], {"analysis/architecture.md": ARCHITECTURE}, "One part."),
        "workflows": Work((), {}, "There are no workflows.", [looked], status="not_applicable"),
        "recommendations": Work(
            ["main.py"], {"analysis/recommendations.md": MEND}, "R1 has a priority, file and line."
        ),
    }
    references = (
        "Every reference in analysis/architecture.md (file:line: text) occurs in the file and line that it names"
    )
    evidence = (
        "Every recommendation in analysis/recommendations.md has a priority and names its evidence: a file, a line and "
        "the quote; the most important comes first"
    )
    final = "The final answer states the result in figures and names analysis/recommendations.md"
    nothing = "The files that were given have nothing that this step is to deal with, so there is nothing for it to do."
    proofs: dict[str, Proof] = {
        "": ("main.py", "# TODO: read the options", None),
        references: ("main.py", "import os", "main.py:1: import os"),
        nothing: ("@tool-1", "No path of 4 files matches “*.json”.", None),
        evidence: ("@output", MENDED, None),
        final: (
            "@output",
            "There is 1 recommendation",
            None,
        ),
    }
    answer = (
        "There is 1 recommendation, in analysis/recommendations.md.\n\n"
        "It is to read the options: [“TODO: read the options”](main.py#L2)."
    )
    run = job(api, alice, "project-analysis", PROJECT, work, proofs, answer, step_approval="none", parallel=1)
    must_succeed(run, client, "1 diagram that can be drawn")
    assert Step.objects.get(plan__run=run, key="workflows").status == StepStatus.NOT_APPLICABLE


# ---- three files ---------------------------------------------------------------------------------------------------

BYTES = "The bytes of every row of comparison/sizes.csv are those that list_files shows for that file"
THREE = {
    "a.txt": b"A short text.\n",
    "b.txt": b"A text that is a little longer.\n",
    "c.txt": b"The text of the three that is longest.\n",
}


@pytest.mark.exhaustive
def test_three_files_and_which_is_the_largest(api: FakeAnthropic, alice: User, client: Client) -> None:
    sizes = {path: len(data) for path, data in THREE.items()}
    rows = "".join(f"{path},{sizes[path]},{THREE[path].decode().strip()}\n" for path in THREE)
    ranked = sorted(THREE, key=lambda path: -sizes[path])
    lines = "\n".join(f"{n}. {path}: {sizes[path]} bytes" for n, path in enumerate(ranked, 1))
    cited = "\n".join(f"- [“{THREE[path].decode().strip()}”]({path}#L1)" for path in ranked)
    largest = f"# Sizes\n\n{lines}\n\nLargest: c.txt\n\n{cited}\n"
    work = {
        "measure": Work(list(THREE), {"comparison/sizes.csv": f"file,bytes,evidence\n{rows}"}, "Measured.", [LIST]),
        "compare": Work(["comparison/sizes.csv"], {"comparison/largest.md": largest}, "c.txt is the largest.", [LIST]),
    }
    measured = f"{sizes['c.txt']}\tc.txt"
    bytes_of: list[Proof] = [("@tool-1", f"{size}\t{path}", f"{path},{size}") for path, size in sizes.items()]
    final = "The final answer names the largest file and its size, with evidence"
    shown: Proof = ("@tool-1", measured, f"c.txt: {sizes['c.txt']} bytes")
    proofs: Proofs = {"": shown, BYTES: bytes_of, final: ("c.txt", "The text of the three that is longest.", None)}
    answer = (
        f"c.txt is the largest, with {sizes['c.txt']} bytes.\n\n"
        "Its text is the longest: [“the three that is longest”](c.txt#L1)."
    )
    run = job(api, alice, "file-comparison", THREE, work, proofs, answer)
    must_succeed(run, client, "3 of 3 dealt with by its column “file”")
    assert {Provenance.GIVEN, Provenance.OBSERVED} <= rests_on(run)
