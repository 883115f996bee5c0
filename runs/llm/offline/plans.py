"""Owns the steps of the plans that the rules can make: what each is called, writes, needs and must fulfil."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runs.enums import Complexity
from runs.llm.offline import wording as w
from runs.llm.offline.choosing import Kind
from runs.pev.contracts import (
    Check,
    Criterion,
    CsvColumns,
    FileExists,
    Matches,
    MinBytes,
    PlannedAction,
    PlanStep,
)

FACT_COLUMNS = ("document", "kind", "text", "line")
_SOURCES = (
    ("list_files", "find the files of the task"),
    ("read_file", "read the documents"),
)


@dataclass(frozen=True)
class Blueprint:
    """A step before folder, feedback and rehearsal are known. `output` is a name inside the plan's folder."""

    step_id: str
    name: str
    description: str
    output: str
    complexity: Complexity
    criteria: tuple[tuple[str, str], ...]
    """Template of a criterion and the output it also names ("" when it names its own only)."""
    dependencies: tuple[str, ...] = ()
    reads: tuple[tuple[str, str], ...] = _SOURCES
    left_out: str = ""
    """What the rehearsal leaves out; only the deep step of a plan has it."""


@dataclass(frozen=True)
class Design:
    """A kind of plan. `steps` in the order of their run, `worth` from the step that matters most."""

    folder: str
    steps: tuple[Blueprint, ...]
    worth: tuple[str, ...]
    answer: str
    goal: str


_INVENTORY = Blueprint(
    "inventory",
    "Inventory of the documents",
    "List every document with its size, lines and words, and name the files that are not text.",
    "inventory.md",
    Complexity.LOW,
    ((w.INVENTORY_FILES, ""), (w.INVENTORY_LINES, "")),
)

_REVIEW = Design(
    "review",
    (
        _INVENTORY,
        Blueprint(
            "key-facts",
            "Key facts: parties, dates, amounts",
            "Collect the parties, dates and amounts that stand in the documents, each with its line.",
            "key-facts.csv",
            Complexity.MEDIUM,
            ((w.FACTS_OCCUR, ""),),
            ("inventory",),
        ),
        Blueprint(
            "findings",
            "Points that need attention",
            "Find vague terms, placeholders, missing dates, amounts and parties. Each point gets an id, "
            "its document, "
            "line and verbatim quote, why it matters, and a recommendation.",
            "findings.md",
            Complexity.HIGH,
            ((w.FINDINGS_WHOLE, ""), (w.QUOTES_OCCUR, "")),
            ("inventory",),
            left_out="one recommendation",
        ),
        Blueprint(
            "notices",
            "Notices to the counterparties",
            "Draft per document a short notice with the points to raise, by the ids of the findings.",
            "notices.md",
            Complexity.MEDIUM,
            ((w.NOTICES_COMPLETE, "findings.md"),),
            ("findings", "key-facts"),
            (("read_file", "read the findings and the key facts"),),
        ),
    ),
    ("findings", "inventory", "key-facts", "notices"),
    "findings.md",
    "Review {documents} for vague terms, gaps and placeholders, and draft notices about them.",
)

_ANALYSIS = Design(
    "analysis",
    (
        Blueprint(
            "scan",
            "Inventory of the project",
            "Count files and lines by language; list the largest files, entry points and TODO marks.",
            "inventory.md",
            Complexity.LOW,
            ((w.INVENTORY_FILES, ""), (w.INVENTORY_LINES, ""), (w.REFERENCES_OCCUR, "")),
        ),
        Blueprint(
            "architecture",
            "Which parts use which",
            "List the folders and the imports between the files of the project.",
            "architecture.md",
            Complexity.MEDIUM,
            ((w.REFERENCES_OCCUR, ""),),
            ("scan",),
        ),
        Blueprint(
            "workflows",
            "How it is started, built and tested",
            "List entry points, scripts, make targets and the jobs of continuous integration.",
            "workflows.md",
            Complexity.MEDIUM,
            ((w.REFERENCES_OCCUR, ""),),
            ("scan",),
        ),
        Blueprint(
            "recommendations",
            "Recommendations",
            "Say what the counts suggest to mend, each point with the line that shows it.",
            "recommendations.md",
            Complexity.HIGH,
            ((w.ADVICE_WHOLE, ""), (w.QUOTES_OCCUR, "")),
            ("architecture", "workflows"),
            (("read_file", "read the inventory, the architecture and the workflows"),),
            left_out="one piece of evidence",
        ),
    ),
    ("scan", "recommendations", "architecture", "workflows"),
    "recommendations.md",
    "Take stock of {documents} as a project and say what to mend.",
)

_DIGEST = Design(
    "digest",
    (
        _INVENTORY,
        Blueprint(
            "digest",
            "Telling passages of each document",
            "Pick from each document the sentences whose words weigh most in it, verbatim, with their lines.",
            "digest.md",
            Complexity.HIGH,
            ((w.PASSAGES_WHOLE, ""), (w.QUOTES_OCCUR, "")),
            ("inventory",),
            left_out="one line reference",
        ),
        Blueprint(
            "summary",
            "Summary",
            "Name every document of the digest with its most telling passage.",
            "summary.md",
            Complexity.MEDIUM,
            ((w.SUMMARY_COVERS, "digest.md"),),
            ("digest",),
            (("read_file", "read the digest"),),
        ),
    ),
    ("digest", "inventory", "summary"),
    "digest.md",
    "Make an extractive digest of {documents}.",
)

DESIGNS: Mapping[Kind, Design] = {
    "review": _REVIEW,
    "analysis": _ANALYSIS,
    "digest": _DIGEST,
    "inventory": Design(
        "inventory",
        (_INVENTORY,),
        ("inventory",),
        "inventory.md",
        "List {documents}; there is no text to work on.",
    ),
}


def chosen(design: Design, most: int) -> list[Blueprint]:
    """The blueprints that fit into `most` steps, without those that need one that does not fit."""
    kept = set(design.worth[: max(1, most)])
    kept -= {step.step_id for step in design.steps if _named_files(step) - _outputs(design, kept)}
    return [step for step in design.steps if step.step_id in kept]


def step_from(
    blueprint: Blueprint, folder: str, present: Sequence[str], marks: Sequence[str], *, rehearse: bool
) -> PlanStep:
    """The step as the plan holds it. `marks` are lines of feedback and scope that every step carries."""
    path = f"{folder}/{blueprint.output}"
    lines = [blueprint.description, *marks]
    if rehearse and blueprint.left_out:
        lines.append(w.REHEARSAL.format(what=blueprint.left_out))
    actions = [*blueprint.reads, ("write_file", f"write {path}")]
    return PlanStep(
        step_id=blueprint.step_id,
        name=blueprint.name,
        description="\n".join(lines)[:4_000],
        actions=[PlannedAction(tool=tool, purpose=purpose) for tool, purpose in actions],
        acceptance_criteria=[*_checks(blueprint, path), *_judged(blueprint, folder, path)],
        expected_outputs=[path],
        dependencies=[name for name in blueprint.dependencies if name in present],
        estimated_complexity=blueprint.complexity,
    )


def success_criteria(design: Design, blueprints: Sequence[Blueprint], folder: str) -> list[Criterion]:
    """What must hold for the whole: the files are there, the answer has their figures and says no AI."""
    outputs = [blueprint.output for blueprint in blueprints]
    main = f"{folder}/{design.answer if design.answer in outputs else outputs[0]}"
    made = [
        Criterion(text=f"{folder}/{name} exists", check=FileExists(kind="file_exists", path=f"{folder}/{name}"))
        for name in outputs
    ]
    said = [w.ANSWER_FIGURES.format(path=main), w.ANSWER_NO_AI]
    return [*made, *(Criterion(text=text) for text in said)]


def _checks(blueprint: Blueprint, path: str) -> list[Criterion]:
    if path.endswith(".csv"):
        columns = list(FACT_COLUMNS)
        held: list[tuple[str, Check]] = [
            (
                f"{path} has the columns {', '.join(columns)}",
                CsvColumns(kind="csv_columns", path=path, columns=columns),
            )
        ]
    else:
        held = [
            (f"{path} is not a stub: 80 bytes or more", MinBytes(kind="min_bytes", path=path, min=80)),
            (
                f"{path} says that offline rules made it",
                Matches(kind="matches", path=path, pattern=f"^{w.NO_AI}"),
            ),
        ]
    if blueprint.step_id == "findings":
        counted = Matches(kind="matches", path=path, pattern=rf"^{w.POINTS}\d+$")
        held.append((f"{path} states the number of points on a line of its own", counted))
    return [Criterion(text=text, check=check) for text, check in held]


def _judged(blueprint: Blueprint, folder: str, path: str) -> list[Criterion]:
    return [
        Criterion(text=template.format(path=path, other=f"{folder}/{other}")) for template, other in blueprint.criteria
    ]


def _named_files(step: Blueprint) -> set[str]:
    return {other for _, other in step.criteria if other}


def _outputs(design: Design, ids: set[str]) -> set[str]:
    return {step.output for step in design.steps if step.step_id in ids}
