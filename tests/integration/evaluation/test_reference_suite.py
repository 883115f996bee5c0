"""Tasks of the suite that ships, carried out well and badly: only good work has every property that they expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.enums import RunStatus
from runs.evaluation.running import Evaluation, Limits
from runs.evaluation.suite import Suite, load_suite
from runs.models import Run, User
from runs.submission.samples import named, uploads_of
from tests.factories import drain, read_ahead
from tests.fakes.anthropic_answers import ToolUse
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team
from tests.integration.test_example_jobs import LIST
from tests.integration.test_honest_runs import Proof, Proofs, Work, criterion, honest, one_step

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]


def missing_properties(api: FakeAnthropic, owner: User, name: str, team: Team) -> set[str]:
    """The names of the expected properties that a run of the task by this team does not have."""
    (task,) = [one for one in load_suite(Path("runs/suites/reference")).tasks if one.name == name]

    def finish(_: str) -> None:
        """What an evaluation says first is that the run has begun."""
        for run in Run.objects.exclude(status=RunStatus.FINISHED):
            drain(run)
            assert run.status == RunStatus.FINISHED

    api.script(team)
    (judged,) = Evaluation(Suite("reference", (task,)), owner, Limits(), say=finish).run().runs
    assert judged.why_not == ""
    return {one.name for one in judged.properties if not one.held}


# ---- the density of a population -----------------------------------------------------------------------------------

POPULATION, AREA = "In 2024 the population was 5,450,000.", "The land area is 720.2 km²."
OLD_POPULATION = "In 2019 it was 5,665,000, visitors who stayed for a year included."


DENSITY = "The density in density.md is calculated from figures of the files"
STATED = "The answer states the density and names the source of each figure"


def density(population: str, passage: str, result: str) -> Team:
    """Divides this population by the area, and quotes the files correctly."""
    shown = f"{population} / 720.2 = {result}"
    report = (
        f"# Density\n\n- Population: {population}: [“{passage}”](population.md#L3)\n"
        f"- Land area: 720.2 km²: [“{AREA}”](area.md#L3)\n\n{shown} people per km²\n"
    )
    given = one_step([criterion("sources", DENSITY)], ["density.md"], criterion("output", STATED))
    compute = ToolUse("calculate", {"expression": f"{population.replace(',', '')} / 720.2", "decimals": 0})
    looks = [*(ToolUse("read_file", {"path": path}) for path in ("population.md", "area.md")), compute]
    work = {"work": Work((), {"density.md": report}, f"{shown}.", looks)}
    proofs: Proofs = {DENSITY: ("@tool-3", shown, None), STATED: ("@output", shown, None)}
    return honest(given, work, proofs, f"{result} people per km²: {shown} (population.md, area.md).")


def test_a_density_of_the_right_figures_is_as_expected(api: FakeAnthropic, alice: User) -> None:
    assert missing_properties(api, alice, "density", density("5,450,000", POPULATION, "7,567")) == set()


def test_a_density_with_the_population_of_another_year_is_not(api: FakeAnthropic, alice: User) -> None:
    """Every figure in it has a source, so that only the expectation says what is wrong."""
    assert missing_properties(api, alice, "density", density("5,665,000", OLD_POPULATION, "7,866")) == {
        "figure in the answer: 7,567",
        "figure somewhere: 5,450,000",
        "figure nowhere: 7,866",
    }


# ---- a legal review ------------------------------------------------------------------------------------------------

LEASE, SERVICE, DATA = (
    "contracts/Büro lease.md",
    "contracts/Service agreement.docx",
    "contracts/data-processing-agreement.pdf",
)
GAPS = {
    LEASE: ("The lease starts on the commencement date stated above", 27, "The commencement date is empty"),
    SERVICE: ("limited to an amount to be agreed between the parties", 30, "The liability has no limit"),
    DATA: ("The list at the time of signature: TBD.", 63, "The sub-processors are not listed"),
}
KINDS = {LEASE: "lease", SERVICE: "service agreement", DATA: "data processing"}
CATEGORIES = f"""document,category,parties,date,reason
{LEASE},lease,Lindenhof Grundbesitz AG; Marlow Type Studio GmbH,2 February 2026,Lease of office premises
{SERVICE},service agreement,Halvorsen & Pryce Logistics Ltd; Kestrel Systems GmbH,14 March 2026,Service agreement
{DATA},data processing,Clinique du Lac SA; Bramble Analytics Ltd,23 April 2026,Data processing agreement
"""
PARTIES: list[Proof] = [
    (LEASE, "Lindenhof Grundbesitz AG", "Lindenhof Grundbesitz AG"),
    (SERVICE, "This agreement is made on 14 March 2026 between Halvorsen & Pryce Logistics Ltd", "14 March 2026"),
    (DATA, "Clinique du Lac SA", "Clinique du Lac SA"),
]


def legal_review(reviewed: tuple[str, ...], *, advice: bool) -> Team:
    """Reviews these contracts and only mentions the others. Without `advice` no finding says what to do."""
    findings, notices = "# Findings\n", "# Legal notices\n"
    numbers = list[str]()
    for path, (quote, line, gap) in GAPS.items():
        findings += f"\n## Category: {KINDS[path]}\n"
        if path not in reviewed:
            findings += "\nIt has been looked at.\n"
            continue
        numbers.append(f"F{len(numbers) + 1}")
        findings += (
            f"\n### {numbers[-1]} · critical · {gap}\n\n> {quote}\n\n- Document: {path}\n- Line: {line}\n"
            "- Why it matters: each party may read it as it likes.\n"
        )
        findings += "- Recommendation: settle it before signing.\n" if advice else ""
        notices += (
            f"\n## Notice: {path}\n\nTo the other party. We ask you to settle the following with us in writing before "
            f"the agreement is carried out any further:\n\n1. {numbers[-1]}: {gap.lower()}.\n"
        )
    findings += f"\nFindings in all: {len(numbers)}\n"
    listed = ", ".join(numbers)
    counted = f"| critical | {len(numbers)} | {listed} |"
    summary = (
        "# Review\n\n## Executive summary\n\nThe contracts were read from the first to the last line. None of them can "
        f"be carried out as it stands.\n\n## Severities\n\n| severity | findings | numbers |\n|---|---|---|\n{counted}"
        f"\n\n## By category\n\n{'Each contract leaves open what its parties have to know. ' * 10}\n\n"
        f"## Next steps\n\n1. Settle what is open ({listed}).\n\nFindings in all: {len(numbers)}\n"
    )
    work = {
        "categorise": Work(list(GAPS), {"legal/categories.csv": CATEGORIES}, "Three categories.", [LIST]),
        "review": Work(list(GAPS), {"legal/findings.md": findings}, "Each finding names its document and line."),
        "notices": Work(["legal/findings.md"], {"legal/LEGAL_NOTICES.md": notices}, f"{listed} are raised."),
        "summary": Work(["legal/findings.md"], {"legal/REVIEW_SUMMARY.md": summary}, "The findings are counted."),
    }
    said: list[Proof] = [(path, GAPS[path][0], None) for path in reviewed]
    proofs: Proofs = {
        "": said,
        "The category of every row of legal/categories.csv is what the document is, and the parties and the date are "
        "those that it names": PARTIES,
        "Every finding of legal/findings.md names its document and line, why it matters, and a recommendation": (
            "legal/findings.md",
            "- Why it matters: each party may read it as it likes.",
            None,
        ),
        "Every finding of legal/findings.md that is critical or high is raised in legal/LEGAL_NOTICES.md by its "
        "number": ("legal/LEGAL_NOTICES.md", f"1. {numbers[0]}:", None),
        "The severities and numbers in legal/REVIEW_SUMMARY.md are those of legal/findings.md": (
            "legal/REVIEW_SUMMARY.md",
            counted,
            None,
        ),
    }
    quote, _, gap = GAPS[DATA]
    answer = f"{gap}: [“{quote}”]({DATA}#page=1). See legal/LEGAL_NOTICES.md and legal/REVIEW_SUMMARY.md."
    return honest({}, work, proofs, answer)


@pytest.fixture
def contracts() -> None:
    """The documents have been read before the run begins, which a transaction would keep from being read."""
    read_ahead({upload.path: upload.content.read() for upload in uploads_of(named("legal-review"))})


@pytest.mark.usefixtures("contracts")
def test_a_legal_review_of_every_contract_is_as_expected(api: FakeAnthropic, alice: User) -> None:
    assert missing_properties(api, alice, "legal-review", legal_review(tuple(GAPS), advice=True)) == set()


@pytest.mark.usefixtures("contracts")
def test_a_legal_review_that_leaves_a_contract_out_and_recommends_nothing_is_not(
    api: FakeAnthropic, alice: User
) -> None:
    assert missing_properties(api, alice, "legal-review", legal_review((SERVICE, DATA), advice=False)) == {
        "words somewhere: commencement date",
        "words somewhere: recommendation",
    }


# ---- a project without workflows -----------------------------------------------------------------------------------

TOTAL, TODO, USED = "src/total.js", "// TODO: skip days without a value", 'import { sum } from "./sum.js";'
INVENTORY = f"""# Inventory

## Files by category

- documentation: README.md
- source: src/sum.js, {TOTAL}

## Languages

JavaScript

## Largest files

{TOTAL}

## Entry points

None found.

## TODO marks

- {TOTAL}:3: {TODO}

## Files

| path |
|---|
| README.md |
| src/sum.js |
| {TOTAL} |
"""
ARCHITECTURE = f"""# Architecture

## Folders

All source lies in src: one function adds numbers up, and the other takes the numbers from the rows of a table and uses
the first one for them.

- {TOTAL}:1: {USED}

## Diagram

```mermaid
flowchart LR
  total[{TOTAL}] --> sum[src/sum.js]
```
"""
INVENTED = f"""# Workflows

## Scripts

The project is started once a month, and prints the total of the month.

- {TOTAL}:1: {USED}
"""
FIXES = f"""# What to fix

### R1 · medium · Skip days without a value

> {TODO}

- Document: {TOTAL}
- Line: 3
- Why: an empty day makes the total useless.
"""


def analysis(workflows: Work) -> Team:
    """Analyses the project, with this work at the step about workflows."""
    files = ["README.md", "src/sum.js", TOTAL]
    fixed = "R1 has a priority, file and line."
    work = {
        "scan": Work(files, {"analysis/inventory.md": INVENTORY}, "Two source files.", [LIST]),
        "architecture": Work(files, {"analysis/architecture.md": ARCHITECTURE}, "Two parts."),
        "workflows": workflows,
        "recommendations": Work(files, {"analysis/recommendations.md": FIXES}, fixed),
    }
    references = "Every reference in analysis/{}.md (file:line: text) occurs in the file and line that it names"
    used: Proof = (TOTAL, USED, f"{TOTAL}:1: {USED}")
    proofs: Proofs = {
        "": (TOTAL, TODO, None),
        references.format("architecture"): used,
        references.format("workflows"): used,
        "The files that were given have nothing that this step is to deal with, so there is nothing for it to do.": (
            "@tool-1",
            "No path of 4 files matches “*.json”.",
            None,
        ),
        "Every recommendation in analysis/recommendations.md has a priority and names its evidence: a file, a line and "
        "the quote; the most important comes first": ("@output", fixed, None),
        "The final answer states the result in figures and names analysis/recommendations.md": (
            "@output",
            "There is 1 recommendation",
            None,
        ),
    }
    answer = (
        "There is 1 recommendation, in analysis/recommendations.md.\n\n"
        f"It is to skip days without a value: [“TODO: skip days without a value”]({TOTAL}#L3)."
    )
    return honest({}, work, proofs, answer)


def test_a_project_whose_missing_workflows_are_said_to_be_missing_is_as_expected(
    api: FakeAnthropic, alice: User
) -> None:
    looked = ToolUse("glob", {"pattern": "*.json"})
    team = analysis(Work((), {}, "There are no workflows.", [looked], status="not_applicable"))
    assert missing_properties(api, alice, "project-without-workflows", team) == set()


def test_a_project_with_invented_workflows_is_not(api: FakeAnthropic, alice: User) -> None:
    """The references are real, and a careless verifier passes what is said of them."""
    team = analysis(Work([TOTAL], {"analysis/workflows.md": INVENTED}, "It is started once a month."))
    assert missing_properties(api, alice, "project-without-workflows", team) == {
        "step workflows: not_applicable",
        "file not made: analysis/workflows.md",
    }
