"""Owns the executor by rules: read what a step needs, write its file, report; by real tool calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import basename

from pydantic import ValidationError

from runs.llm.offline import wording as w
from runs.llm.offline.analysis import architecture, recommendations, scan, workflows
from runs.llm.offline.choosing import Scope, scope_in
from runs.llm.offline.digests import digest, summary
from runs.llm.offline.questions import BadRequest, Question
from runs.llm.offline.reading import Library, library, next_reads
from runs.llm.offline.review import findings, inventory, key_facts, notices
from runs.llm.offline.texts import folder_of, inside, is_binary_name, is_texty, number_of
from runs.llm.offline.wire import Answer, Use
from runs.llm.offline.works import Job, Recipe, Work
from runs.pev.contracts import CriterionMet, PlanStep, StepOutput

_RECIPES: Mapping[tuple[str, str], Recipe] = {
    ("inventory", "inventory.md"): Recipe(inventory),
    ("key-facts", "key-facts.csv"): Recipe(key_facts),
    ("findings", "findings.md"): Recipe(findings),
    ("notices", "notices.md"): Recipe(notices, ("findings.md", "key-facts.csv")),
    ("scan", "inventory.md"): Recipe(scan),
    ("architecture", "architecture.md"): Recipe(architecture),
    ("workflows", "workflows.md"): Recipe(workflows),
    ("recommendations", "recommendations.md"): Recipe(
        recommendations, ("inventory.md", "architecture.md", "workflows.md")
    ),
    ("digest", "digest.md"): Recipe(digest),
    ("summary", "summary.md"): Recipe(summary, ("digest.md",)),
}
_DIGESTIBLE = ("digest", "summar", "extract", "overview", "zusammenfass", "überblick")
_NEEDED = frozenset({"read_file", "write_file"})


@dataclass(frozen=True)
class _Task:
    """The step with everything around it that the rules look at."""

    step: PlanStep
    output: str
    recipe: Recipe
    question: Question

    @property
    def folder(self) -> str:
        return folder_of(self.output)

    def inputs(self, books: Library) -> list[str]:
        """The files to read: named outputs of earlier steps, or the documents of the person."""
        if self.recipe.needs:
            return [f"{self.folder}/{name}" for name in self.recipe.needs if f"{self.folder}/{name}" in books.documents]
        scope = self.scope(books)
        kept = [path for path in self.every(books) if scope.keeps(path) and not is_binary_name(path)]
        return sorted(kept, key=lambda path: (not is_texty(path), path))

    def every(self, books: Library) -> list[str]:
        """The person's files, text or not; never what the plan itself has written."""
        own = set(self.step.expected_outputs)
        return [path for path in books.documents if not inside(path, self.folder) and path not in own]

    def scope(self, books: Library) -> Scope:
        return scope_in(self.step.description, list(books.documents), w.ONLY, w.LEAVE_OUT)


def answer(question: Question) -> Answer:
    """Tool calls while something is to be read or written, then the report."""
    step = _step(question)
    task = _task(step, question)
    if task is None:
        return _report(
            _blocked(
                step,
                "The offline rules do not know this step. They can do reviews, project analyses and digests only.",
            )
        )
    if written := [call for call in question.calls if call.name == "write_file" and call.result is not None]:
        last = written[-1]
        if last.is_error:
            return _report(_blocked(step, f"{task.output} could not be written: {last.result}"))
        return _report(_done(task, _work(task)))
    if not question.tools >= _NEEDED:
        return _report(_blocked(step, "No tools may be used any more, and the file is not written yet."))
    return _next(task)


def _next(task: _Task) -> Answer:
    books = library(task.question)
    if not books.listed and not task.recipe.needs and "list_files" in task.question.tools:
        return Answer("Listing the files.", (Use("list_files", {"prefix": ""}),))
    inputs = task.inputs(books)
    if task.recipe.needs and len(inputs) < len(task.recipe.needs) and not inputs:
        return _report(_blocked(task.step, f"None of {', '.join(task.recipe.needs)} is there in {task.folder}/."))
    if reads := next_reads(books, inputs, task.question.turns):
        return Answer(f"Reading {number_of(len(reads), 'page')}.", tuple(reads))
    work = _work(task)
    return Answer(f"Writing {task.output}.", (Use("write_file", {"path": task.output, "content": work.content}),))


def _work(task: _Task) -> Work:
    """The content and the report, computed from what was read; the same again after it was written."""
    books = library(task.question)
    critiques, people = task.question.all("critique"), task.question.all("person")
    rehearsing = w.REHEARSAL_MARK in task.step.description and not critiques and not people
    every, scope = task.every(books), task.scope(books)
    job = Job(
        books=books,
        inputs=task.inputs(books),
        every=every,
        excluded=frozenset(path for path in every if not scope.keeps(path)),
        folder=task.folder,
        output=task.output,
        remarks=tuple(item.text for item in people),
        leave_out=rehearsing,
    )
    return task.recipe.make(job)


def _done(task: _Task, work: Work) -> StepOutput:
    books = library(task.question)
    shortfall = books.shortfall(task.inputs(books))
    met = [
        CriterionMet(criterion=criterion.text, met=True, how=f"By rule, see {task.output}.")
        for criterion in task.step.acceptance_criteria
    ]
    remarks = [f"{w.REMARKS}: {text}" for text in work.remarks]
    said = [work.findings, f"Not covered: {shortfall}" if shortfall else "", *remarks]
    return StepOutput(
        status="done",
        reasoning=f"{w.NO_AI}. {work.reasoning}",
        findings="\n\n".join(text for text in said if text),
        criteria_met=met,
        confidence=0.6 if shortfall else 0.9,
        notes="\n".join(note for note in (shortfall, w.RULES_NOTE) if note),
    )


def _blocked(step: PlanStep, reason: str) -> StepOutput:
    return StepOutput(
        status="blocked",
        reasoning=f"{w.NO_AI}. {reason}",
        findings="",
        criteria_met=[
            CriterionMet(criterion=item.text, met=False, how="The step was not carried out.")
            for item in step.acceptance_criteria
        ],
        confidence=0.0,
        notes=reason,
    )


def _report(output: StepOutput) -> Answer:
    return Answer(output.model_dump_json())


def _step(question: Question) -> PlanStep:
    try:
        return PlanStep.model_validate_json(question.one("step"))
    except ValidationError:
        raise BadRequest("The offline rules found no valid step in the first message.") from None


def _task(step: PlanStep, question: Question) -> _Task | None:
    if len(step.expected_outputs) != 1:
        return None
    output = step.expected_outputs[0]
    recipe = _RECIPES.get((step.step_id, basename(output)))
    if recipe is None and output.endswith((".md", ".txt")):
        words = f"{step.step_id} {step.name} {step.description}".casefold()
        recipe = Recipe(digest) if any(word in words for word in _DIGESTIBLE) else None
    return _Task(step, output, recipe, question) if recipe else None
