"""Owns the plan by rules: the kind of job, its documents, what people said, what has passed already."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from runs.llm.offline import wording as w
from runs.llm.offline.choosing import (
    Kind,
    Scope,
    documents_in,
    kind_of,
    narrowed,
    scope_in,
    wants_no_rehearsal,
)
from runs.llm.offline.plans import DESIGNS, Blueprint, Design, chosen, step_from, success_criteria
from runs.llm.offline.questions import Question
from runs.llm.offline.texts import number_of, shortened
from runs.llm.offline.wire import Answer
from runs.pev.contracts import ContextItem, PlanContract, PlanStep
from runs.pev.delimiters import Block

_MARK_CHARS = 1_500
_SAID_CHARS = 600
_KINDS: Mapping[Kind, str] = {
    "review": "document review",
    "analysis": "project analysis",
    "digest": "extractive digest",
    "inventory": "inventory only, since there is no text to work on",
}


@dataclass(frozen=True)
class _Brief:
    """What the fences say, sorted."""

    request: str
    files: Mapping[str, int]
    documents: Sequence[str]
    scope: Scope
    people: Sequence[Block]
    lessons: Sequence[Block]
    kept: Sequence[PlanStep]
    max_steps: int
    own: frozenset[str]

    @property
    def rehearse(self) -> bool:
        return not self.lessons and not wants_no_rehearsal([self.request, *(item.text for item in self.people)])


def answer(question: Question) -> Answer:
    return Answer(plan_for(question).model_dump_json())


def plan_for(question: Question) -> PlanContract:
    """A plan that needs no correction. The kind is shown in its context, so that a person can object."""
    brief = _read(question)
    kind = kind_of(brief.request, brief.documents, [item.text for item in brief.people])
    design = DESIGNS[kind]
    foreign = _foreign(brief.kept, design)
    blueprints = chosen(design, brief.max_steps - len(foreign))
    folder = _folder(design, brief)
    steps = _steps(blueprints, folder, brief)
    return PlanContract(
        goal=design.goal.format(documents=number_of(len(brief.documents), "document")),
        context=_context(kind, brief),
        steps=[*foreign, *_after(foreign, steps)],
        success_criteria=success_criteria(design, blueprints, folder),
        rollback_strategy=(
            "Nothing is changed in place: every step works on a copy, and only verified files are kept. "
            f"If the task fails, drop the folder {folder}/; the documents themselves are as they were."
        ),
    )


def _read(question: Question) -> _Brief:
    previous = _plans(question.one("previous_plan"))
    own = frozenset(path for plan in previous for step in plan.steps for path in step.expected_outputs)
    files = {path: size for path, size in question.listed.items() if path not in own}
    people = question.all("person")
    texts = documents_in(files, {item.name for item in question.all("preview")} & set(files))
    scope = _scope(previous, people, texts)
    return _Brief(
        request=question.one("request"),
        files=files,
        documents=[path for path in texts if scope.keeps(path)],
        scope=scope,
        people=people,
        lessons=question.all("lesson"),
        kept=_kept(question.one("kept_steps")),
        max_steps=_most_steps(question.one("limits")),
        own=own,
    )


def _scope(previous: Sequence[PlanContract], people: Sequence[Block], texts: Sequence[str]) -> Scope:
    """What earlier versions were narrowed to, then each person's words in order; never down to nothing."""
    scope = Scope()
    for plan in previous:
        for step in plan.steps[-1:]:
            scope = scope_in(step.description, texts, w.ONLY, w.LEAVE_OUT)
    for item in people:
        scope = narrowed(scope, item.text, texts)
    return scope if any(scope.keeps(path) for path in texts) else Scope()


def _plans(text: str) -> list[PlanContract]:
    try:
        return [PlanContract.model_validate_json(text)] if text else []
    except ValidationError:
        return []


def _kept(text: str) -> list[PlanStep]:
    try:
        return [PlanStep.model_validate_json(line) for line in text.split("\n") if line.strip()]
    except ValidationError:
        return []


def _most_steps(text: str) -> int:
    try:
        limits = json.loads(text or "{}")
    except ValueError:
        return 20
    most = limits.get("max_steps", 20) if isinstance(limits, dict) else 20
    return most if isinstance(most, int) and most > 0 else 20


def _foreign(kept: Sequence[PlanStep], design: Design) -> list[PlanStep]:
    """Passed steps that these rules would not plan; those whose own dependencies are gone cannot stand."""
    ours = {step.step_id for step in design.steps}
    ids = {step.step_id for step in kept}
    return [step for step in kept if step.step_id not in ours and set(step.dependencies) <= ids - ours]


def _folder(design: Design, brief: _Brief) -> str:
    """A folder in which no file of the person's would be overwritten, the same one again in a new version."""
    for path in sorted(path for step in brief.kept for path in step.expected_outputs):
        if path.startswith(design.folder) and "/" in path:
            return path.split("/", 1)[0]
    taken = {path.split("/", 1)[0].casefold() for path in brief.files}
    names = [design.folder, *(f"{design.folder}-{number}" for number in range(2, 1_000))]
    return next(name for name in names if name not in taken)


def _steps(blueprints: Sequence[Blueprint], folder: str, brief: _Brief) -> list[PlanStep]:
    kept = {step.step_id: step for step in brief.kept}
    present = [blueprint.step_id for blueprint in blueprints]
    marks = _marks(brief)
    made = []
    for blueprint in blueprints:
        step = step_from(blueprint, folder, present, marks, rehearse=brief.rehearse)
        old = kept.get(blueprint.step_id)
        fits = old and old.expected_outputs == step.expected_outputs and set(old.dependencies) <= set(present)
        made.append(old if old and fits else step)
    return made


def _after(foreign: Sequence[PlanStep], steps: Sequence[PlanStep]) -> list[PlanStep]:
    """Two steps that write the same file must not be able to run at the same time."""
    made = []
    for step in steps:
        rivals = [f.step_id for f in foreign if set(f.expected_outputs) & set(step.expected_outputs)]
        made.append(step.model_copy(update={"dependencies": [*step.dependencies, *rivals]}) if rivals else step)
    return made


def _marks(brief: _Brief) -> list[str]:
    marks = []
    only, out = _line(w.ONLY, brief.documents), _line(w.LEAVE_OUT, sorted(brief.scope.out))
    if brief.scope.only and len(only) <= _MARK_CHARS:
        marks.append(only)
    elif brief.scope.out and len(out) <= _MARK_CHARS:
        marks.append(out)
    marks += [f"{w.FEEDBACK}“{shortened(item.text, _SAID_CHARS)}”" for item in brief.people[-2:]]
    marks += [f"{w.LESSON}“{shortened(item.text, _SAID_CHARS)}”" for item in brief.lessons[-1:]]
    return marks


def _line(label: str, paths: Sequence[str]) -> str:
    return label + ", ".join(f"`{path}`" for path in paths)


def _context(kind: Kind, brief: _Brief) -> list[ContextItem]:
    size = sum(brief.files[path] for path in brief.documents)
    other = len(brief.files) - len(brief.documents)
    items = [
        ("How this plan was made", f"{w.NO_AI}. The rules took the request for: {_KINDS[kind]}."),
        (
            "Documents",
            f"{number_of(len(brief.documents), 'document')} by name or preview, {size:,} bytes; "
            f"{number_of(other, 'other file')} not worked on.",
        ),
        ("Limits of offline rules", _LIMITS),
        ("Rehearsal", _REHEARSAL if brief.rehearse and kind != "inventory" else "None in this version."),
    ]
    items += [("Feedback", f"{item.name}: “{item.text.strip()}”"[:4_000]) for item in brief.people[-12:]]
    if brief.scope != Scope():
        items.append(("What the feedback changed", _changed(brief)))
    elif brief.people:
        items.append(("What the feedback changed", "No file is named in it that could be taken or left out."))
    items += [("What happened before", f"{item.name}: {item.text.strip()}"[:4_000]) for item in brief.lessons[-12:]]
    return [ContextItem(name=name, value=value) for name, value in items]


def _changed(brief: _Brief) -> str:
    out = ", ".join(sorted(brief.scope.out)) or "nothing by name"
    only = ", ".join(sorted(brief.scope.only)) or "every other document"
    return shortened(f"Worked on: {only}. Left out: {out}.", 3_900)


_LIMITS = (
    "No AI reads the request, the documents or any feedback. Words of the request choose between "
    "document review, "
    "project analysis and digest. In feedback only files named with “only”, “leave out” and the like, "
    "“no rehearsal” and "
    "“… instead” with one of these three kinds have an effect; all other words are carried along for people."
)
_REHEARSAL = (
    "The deep step leaves something out on its first attempt, so that you can see a "
    "verification fail "
    "and be mended. Say “no rehearsal” to do without."
)
