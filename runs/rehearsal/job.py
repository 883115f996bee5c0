"""The one job that the rehearsal knows, the shipped document review: its steps, its criteria, its file of findings.

All who count findings read that file with `entries_in`, so that they count alike.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from runs.pev.contracts import Criterion, LeftOut, PlanContract, PlanStep
from runs.pev.imports.imported import plan_in
from runs.pev.plans import commented

SAMPLE = "contracts"
SAMPLE_REQUEST = (
    "Review these three contracts: find vague terms, missing dates, amounts and parties, and placeholders."
    " Quote each one with its line, recommend what to do, and draft the notices to the other parties."
)
TEMPLATE = "document-review"

NO_AI = "Offline rules, no AI"
NOTE = f"{NO_AI}: fixed patterns and counts made this. No one understood the text or looked for anything else."

INVENTORY_LINES = "The lines given in {path} are those that reading the documents showed"
FACTS_OCCUR = "The text of every row of {path} occurs in the document and line that the row names"
FINDINGS_WHOLE = "Every finding in {path} names its document, line, verbatim quote and a recommendation"
QUOTES_OCCUR = "Every quote in {path} occurs verbatim in the document and line it is attributed to"
NOTICES_COMPLETE = "Every finding of {other} is named by its id in {path}"
ANSWER_FIGURES = "The final answer states the result in figures and names {path}"
ANSWER_NO_AI = "The final answer says that no AI was involved"
COMMENTS_STAND = commented.COMMENTS_STAND
_OF_STEPS = (INVENTORY_LINES, FACTS_OCCUR, FINDINGS_WHOLE, QUOTES_OCCUR, NOTICES_COMPLETE, COMMENTS_STAND)
_OF_THE_RUN = (ANSWER_FIGURES, ANSWER_NO_AI)

LEAVE_OUT = "Leave out these documents: "
ON_PURPOSE = "Rehearsal: on its first attempt this step leaves one recommendation out on purpose."

POINTS = "Points in all: "
FACT_COLUMNS = ("document", "kind", "text", "line")
OUTPUTS = {
    "inventory": "review/inventory.md",
    "key-facts": "review/key-facts.csv",
    "findings": "review/findings.md",
    "notices": "review/notices.md",
}


@cache
def template() -> PlanContract:
    return plan_in(files("runs").joinpath("plan_templates", f"{TEMPLATE}.json").read_bytes())


def can_carry_out(plan: PlanContract) -> bool:
    """Whether every step is one of the document review, described and judged as there."""
    return all(map(is_known, plan.steps)) and all(map(is_known_of_the_run, plan.success_criteria))


def is_known_of_the_run(criterion: Criterion) -> bool:
    """Whether it is a success criterion that can be judged."""
    return _is_known(criterion, _OF_THE_RUN)


def is_known(step: PlanStep) -> bool:
    description, *added = step.description.split("\n")
    return (
        not step.agent
        and description == _descriptions().get(step.step_id)
        and all(line.startswith((LEAVE_OUT, ON_PURPOSE)) for line in added)
        and _writes_its_own(step)
        and all(_is_known(one, _OF_STEPS) for one in step.acceptance_criteria)
    )


def _writes_its_own(step: PlanStep) -> bool:
    """Whether its outputs are those of this step: its one file, or copies of Word documents."""
    if step.step_id == commented.STEP:
        copies = [path.startswith(commented.REVIEWED) and commented.is_word(path) for path in step.outputs]
        return bool(copies) and all(copies)
    return step.outputs == [OUTPUTS[step.step_id]]


def is_own(path: str) -> bool:
    """Whether it is a file of the review. All other files are documents, in any folder."""
    return path in OUTPUTS.values() or path.startswith(commented.REVIEWED)


@cache
def _descriptions() -> dict[str, str]:
    known = {step.step_id: step.description for step in template().steps}
    return known | {commented.STEP: commented.step_for(OUTPUTS["findings"], [commented.REVIEWED]).description}


def _is_known(criterion: Criterion, wordings: Iterable[str]) -> bool:
    return criterion.check is not None or any(pattern(one).fullmatch(criterion.text) for one in wordings)


@cache
def pattern(wording: str) -> re.Pattern[str]:
    """Recognises a criterion; its blanks become groups."""
    parts = re.split(r"\{(\w+)\}", wording)
    return re.compile("".join(f"(?P<{part}>.+)" if index % 2 else re.escape(part) for index, part in enumerate(parts)))


def left_out(description: str, paths: Iterable[str]) -> frozenset[str]:
    """The paths that a step is not to look at, by the lines of its description."""
    lines = [line for line in description.split("\n") if line.startswith(LEAVE_OUT)]
    return frozenset(path for path in paths if any(f"`{path}`" in line for line in lines))


NOT_REVIEWED = "## Not reviewed"
_HEAD = re.compile(r"### (F\d+) · (.+)")
_FIELD = re.compile(r"^- ([A-Z][A-Za-z ]*): (.*\S)", re.MULTILINE)
_QUOTE = re.compile(r"^> (.*\S)", re.MULTILINE)


@dataclass(frozen=True)
class PointEntry:
    """One finding: its id, such as F3, what it is, and its fields by their labels; a missing one is empty."""

    name: str
    title: str
    quote: str
    fields: Mapping[str, str]

    def __getitem__(self, label: str) -> str:
        return self.fields.get(label, "")

    @property
    def document(self) -> str:
        return self["Document"]

    @property
    def place(self) -> str:
        return self["Place"] or f"line {self['Line'] or '?'}"


def entries_in(text: str) -> Iterator[PointEntry]:
    """In their order. Quotes begin with “> ”, so that nothing in a document can pass for an entry."""
    for part in re.split(r"^(?=#{1,3} )", text, flags=re.MULTILINE):
        if head := _HEAD.match(part):
            yield PointEntry(head[1], head[2], " ".join(_QUOTE.findall(part)), dict(_FIELD.findall(part)))


def gaps_section(gaps: Iterable[LeftOut]) -> list[str]:
    """The lines of the section that names what was not reviewed, as `gaps_in` reads them; nothing without gaps."""
    lines = [f"- {gap.path}: {gap.why}" for gap in gaps]
    return ["", NOT_REVIEWED, "", *lines] if lines else []


def gaps_in(text: str, documents: Iterable[str]) -> dict[str, str]:
    """Why these documents were not reviewed, or not as a whole. Documents without a gap are left out."""
    lines = text.partition(f"\n{NOT_REVIEWED}\n")[2].split("\n")
    said = ((path, line, f"- {path}: ") for path in documents for line in lines)
    return {path: line.removeprefix(start) for path, line, start in said if line.startswith(start)}
