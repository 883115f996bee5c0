"""The comparison of a new plan with the one that was agreed: what it no longer asks for (G1, T3).

A planner that quietly removes the inconvenient criterion is the failure to catch here. Words count, not meaning: a
criterion that is worded again is listed, and a person decides whether it still says the same.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from runs.enums import About
from runs.pev.checks.base import Check
from runs.pev.contracts import Criterion, PlanContract, PlanStep
from runs.text.normalisation import caseless
from runs.text.truncate import in_quotes


class Relaxation(NamedTuple):
    """One thing that is asked for less or not any more, in a sentence. `step_id`: the step of the agreed plan, nothing
    for the whole task. `criterion`: its number there, from 1; 0 for a file that was to be written.
    """

    step_id: str
    criterion: int
    sentence: str


type MayUse = Callable[[PlanStep], frozenset[str]]
"""The tools that a step may use."""


def relaxed_criteria(agreed: PlanContract, now: PlanContract, passed: Sequence[PlanStep], may_use: MayUse) -> list[str]:
    """A sentence for each of `relaxations`."""
    return [one.sentence for one in relaxations(agreed, now, passed, may_use)]


def relaxations(
    agreed: PlanContract, now: PlanContract, passed: Sequence[PlanStep], may_use: MayUse
) -> list[Relaxation]:
    """Each thing that `agreed` asked for, no step has `passed` with, and `now` asks for less or not; and each tool that
    a step may use now, or agent that it names, and that no one has agreed to.
    """
    steps = [step for step in agreed.steps if step not in passed]
    there = [(step, list(_read(step.acceptance_criteria))) for step in (*now.steps, *passed)]
    final = list(_read(now.success_criteria))
    written = {path for step, _ in there for path in step.outputs}
    return [
        *(
            Relaxation(step.step_id, number, sentence)
            for step in steps
            for number, sentence in _lost(
                f"Step {in_quotes(step.name)}",
                step.acceptance_criteria,
                [*_asked_instead_of(step, there), *final],
                there,
            )
        ),
        *(
            Relaxation(step.step_id, 0, f"Step {in_quotes(step.name)} had to write {path}; no step does so any more.")
            for step in steps
            for path in step.outputs
            if path not in written
        ),
        *(Relaxation("", number, sentence) for number, sentence in _lost("The task", agreed.success_criteria, final)),
        *(relaxation for step in now.steps for relaxation in _more_tools(step, agreed, may_use)),
        *(relaxation for step in now.steps for relaxation in _other_agent(step, agreed)),
        *_more_commands(agreed, now),
    ]


def _more_tools(step: PlanStep, agreed: PlanContract, may_use: MayUse) -> Iterator[Relaxation]:
    """Of a step that was agreed more than it had, of a new one what no step had."""
    before = [one for one in agreed.steps if one.step_id == step.step_id] or agreed.steps
    if more := may_use(step).difference(*(may_use(one) for one in before)):
        sentence = f"Step {in_quotes(step.name)} may use {', '.join(sorted(more))}, which was not agreed."
        yield Relaxation(step.step_id, 0, sentence)


def _other_agent(step: PlanStep, agreed: PlanContract) -> Iterator[Relaxation]:
    """Of a step that was agreed another agent, or none in the place of one; of a new one an agent that no step had."""
    before = [one for one in agreed.steps if one.step_id == step.step_id]
    if not step.agent and before and before[0].agent:
        sentence = (
            f"Step {in_quotes(step.name)} had to be done by the agent {before[0].agent}; the new plan names none."
        )
        yield Relaxation(step.step_id, 0, sentence)
    elif step.agent and step.agent not in {one.agent for one in before or agreed.steps}:
        yield Relaxation(
            step.step_id, 0, f"Step {in_quotes(step.name)} names the agent {step.agent}, which was not agreed."
        )


def _more_commands(agreed: PlanContract, now: PlanContract) -> Iterator[Relaxation]:
    """What a check runs that none had run: it asks for more, and does more on the machine."""
    before = {command for _, command in commands_of(agreed)}
    for step_id, command in commands_of(now):
        if command not in before:
            before.add(command)
            yield Relaxation(step_id, 0, f"The command {command} is run as a check, which was not agreed.")


def commands_of(plan: PlanContract) -> Iterator[tuple[str, str]]:
    """Each command that a check runs, after the key of the step, which is empty for the whole task."""
    criteria = [(step.step_id, one) for step in plan.steps for one in step.acceptance_criteria]
    for step_id, criterion in [*criteria, *(("", one) for one in plan.success_criteria)]:
        for command in criterion.check.commands if criterion.check else ():
            yield step_id, command


type _Read = tuple[str, Criterion]
"""A criterion with its words as they are compared."""


def _read(criteria: Iterable[Criterion]) -> Iterator[_Read]:
    return ((same_criterion_key(criterion.text), criterion) for criterion in criteria)


def _asked_instead_of(before: PlanStep, steps: Iterable[tuple[PlanStep, Sequence[_Read]]]) -> Iterator[_Read]:
    """What these steps ask for that says as much as if `before` asked for it: a check names its file, but what a
    verifier judges is what the step writes. Of several files those count that the criterion names.
    """
    outputs = set(before.outputs)
    for step, criteria in steps:
        for one in criteria:
            named = {path for path in outputs if path.rpartition("/")[2].casefold() in one[0]}
            if one[1].check or (named or outputs) <= set(step.outputs):
                yield one


def _lost(
    whose: str,
    before: Sequence[Criterion],
    now: Sequence[_Read],
    steps: Iterable[tuple[PlanStep, Sequence[_Read]]] = (),
) -> Iterator[tuple[int, str]]:
    """The criteria that `now` does not have as they were. `steps`: where the same words may be asked of other files."""
    for number, (words, criterion) in enumerate(_read(before), 1):
        same = [other for folded, other in now if folded == words]
        moved = [step.name for step, criteria in steps if any(folded == words for folded, _ in criteria)]
        had_to = f"{whose} had to meet {in_quotes(criterion.text)}"
        if not same and moved:
            yield number, f"{had_to}; now step {in_quotes(moved[0])} has to, which writes other files."
        elif not same:
            yield number, f"{had_to}; the new plan does not ask for it."
        elif not any(_is_as_strict(other.check, criterion.check) for other in same):
            yield number, f"{had_to}; the new plan checks it less strictly, or otherwise."
        elif criterion.topic is About.SOURCES and all(other.topic is About.OUTPUT for other in same):
            yield number, f"{had_to} by the sources; the new plan looks at the result only."


def same_criterion_key(text: str) -> str:
    """What the texts of two criteria have in common that say the same."""
    return caseless(text).rstrip(".")


def _is_as_strict(now: Check | None, before: Check | None) -> bool:
    if now is None or before is None:
        return now is before
    return now.is_as_strict_as(before)
