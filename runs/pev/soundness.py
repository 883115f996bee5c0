"""The problems that keep a plan from being run, each as a sentence with its place in the plan."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Required, TypedDict, Unpack

from runs.enums import About
from runs.errors import PathRefused
from runs.pev.agents import NO_AGENTS, AgentRoster
from runs.pev.checks.base import Check
from runs.pev.checks.deciding import problem_with
from runs.pev.checks.material import list_in_words, matching
from runs.pev.checks.registry import KINDS
from runs.pev.contracts import Criterion, PlanContract, PlanStep, RequestAnswer
from runs.pev.plans.ordering import ancestors, cycle_in
from runs.pev.plans.problem import PlanProblem
from runs.pev.tools.registry import WRITING, tools_of, why_missing
from runs.text.paths import clashes, clean_path
from runs.text.patterns import Budget, TooSlow
from runs.text.plural import pluralize
from runs.text.sentences import says_each
from runs.text.truncate import quoted


def unanswered_requests(plan: PlanContract, requests: Collection[int]) -> list[str]:
    """A sentence for each request without an answer, and for each answer that names something that does not exist."""
    given = {answer.request for answer in plan.answers}
    problems = [
        f"Request {number} is answered nowhere: name in `answers` the step or criterion that meets it."
        for number in requests
        if number not in given
    ]
    for answer in plan.answers:
        problems += _problems_with(answer, plan, requests)
    return problems


def _problems_with(answer: RequestAnswer, plan: PlanContract, requests: Collection[int]) -> Iterator[str]:
    what = f"The answer to request {answer.request}"
    if answer.request not in requests:
        there = f"there are: {', '.join(map(str, requests))}" if requests else "no one has asked for anything"
        yield f"{what} answers nothing; {there}."
        return
    if answer.step_id is None:
        if answer.criterion is None:
            yield f"{what} names neither a step nor a criterion."
        elif answer.criterion > len(plan.success_criteria):
            yield f"{what} names success criterion {answer.criterion}; there are {len(plan.success_criteria)}."
        return
    step = next((step for step in plan.steps if step.step_id == answer.step_id), None)
    if step is None:
        yield f"{what} names “{answer.step_id}”, which is no step of this plan."
    elif answer.criterion and answer.criterion > len(step.acceptance_criteria):
        count = len(step.acceptance_criteria)
        yield f"{what} names criterion {answer.criterion} of step “{answer.step_id}”, which has {count}."


CHECKS_SECONDS = 10.0
"""Seconds for all checks of a plan together: compiling one pattern may take 50 ms, and a plan may have thousands."""
_ABOUT = "ask with `about` “output” how the result has to be, or leave it out."


def _one_of(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"


_COMPARING = _one_of(name for name, kind in KINDS.items() if kind.can_compare)
_COUNTING = _one_of(name for name, kind in KINDS.items() if kind.counts_each)


class Bounds(TypedDict, total=False):
    """What a plan is held against: it has to answer the `requests` with these numbers, its checks may run these
    `commands`, and its steps may name these `agents`.
    """

    commands: Collection[str]
    agents: AgentRoster
    max_steps: Required[int]
    sources_needed: bool
    requests: Collection[int]


def problems_in(plan: PlanContract, tools: frozenset[str], **bounds: Unpack[Bounds]) -> list[str]:
    """One sentence for each problem; empty if the plan is sound."""
    return [problem.sentence for problem in placed_problems(plan, tools, **bounds)]


def placed_problems(
    plan: PlanContract,
    tools: frozenset[str],
    *,
    commands: Collection[str] = (),
    agents: AgentRoster = NO_AGENTS,
    max_steps: int,
    sources_needed: bool = True,
    requests: Collection[int] = (),
) -> list[PlanProblem]:
    """The problems, each with its place in the plan."""
    problems: list[PlanProblem] = []
    ids = [step.step_id for step in plan.steps]
    twice = sorted({i for i in ids if ids.count(i) > 1})
    problems += [PlanProblem(f"The step_id “{name}” is used twice.", name) for name in twice]
    if len(ids) > max_steps:
        problems.append(PlanProblem(f"The plan has {pluralize(len(ids), 'step')}; this run allows {max_steps}."))
    for step in plan.steps:
        problems += _step_problems(step, frozenset(ids), tools)
        problems += agents.problems_with(step, tools_of(step), WRITING)
    if not sources_needed:
        problems += [
            one.problem(f"it is about sources, and this run needs none; {_ABOUT}", "about")
            for one in _about_sources(plan)
        ]
    problems += [PlanProblem(sentence) for sentence in unanswered_requests(plan, requests)]
    problems += _check_problems(plan, commands)
    if not problems:
        problems += _graph_problems(plan)
    return problems


def about_sources(plan: PlanContract) -> list[str]:
    """The places of criteria about sources, which a run without sources must not have."""
    return [one.named for one in _about_sources(plan)]


def _about_sources(plan: PlanContract) -> list["_Placed"]:
    return [one for one in _criteria_of(plan) if one.criterion.topic is About.SOURCES]


def without_sources(plan: PlanContract) -> tuple[PlanContract, int]:
    """The plan for a run that needs no sources, and how many of its criteria did not say what they are about: these are
    about the output, unless their check compares with sources.
    """
    unsaid = 0

    def settled(criterion: Criterion) -> Criterion:
        nonlocal unsaid
        if criterion.about is not None or (criterion.check and criterion.check.compares):
            return criterion
        unsaid += 1
        return criterion.model_copy(update={"about": About.OUTPUT})

    steps = [
        step.model_copy(update={"acceptance_criteria": [settled(one) for one in step.acceptance_criteria]})
        for step in plan.steps
    ]
    final = [settled(one) for one in plan.success_criteria]
    return plan.model_copy(update={"steps": steps, "success_criteria": final}), unsaid


class _Placed(NamedTuple):
    """A criterion, its number and its place; a success criterion has no step."""

    criterion: Criterion
    number: int
    step_id: str = ""

    @property
    def where(self) -> str:
        return f"Step “{self.step_id}”" if self.step_id else "success_criteria"

    @property
    def named(self) -> str:
        return f"{self.where}, criterion “{self.criterion.text[:80]}”"

    def problem(self, what: str, field: str) -> PlanProblem:
        return PlanProblem(what, self.step_id, self.number, field, self.named)


def _criteria_of(plan: PlanContract, but: Sequence[PlanStep] = ()) -> Iterator[_Placed]:
    """Every criterion with its place, except those of steps that are the same in `but`."""
    for step in plan.steps:
        if step not in but:
            yield from (_Placed(one, number, step.step_id) for number, one in enumerate(step.acceptance_criteria, 1))
    yield from (_Placed(one, number) for number, one in enumerate(plan.success_criteria, 1))


def unsaid_topics(plan: PlanContract, kept: Sequence[PlanStep]) -> Iterator[str]:
    """A planner must say what each criterion is about. Steps of earlier versions are kept as they are."""
    for one in _criteria_of(plan, but=kept):
        if one.criterion.about is None:
            yield (
                f"{one.named}: say what it is about: “sources” if it says something of "
                "the material or the world, “output” if only of how the result must look."
            )


def uncounted_in(plan: PlanContract, kept: Sequence[PlanStep]) -> Iterator[str]:
    """A sentence for each criterion about each of something in the sources that no check counts. Such a plan can be
    run: a person then has to accept what a verifier has found in a sample.
    """
    for one in _criteria_of(plan, but=kept):
        if one.criterion.topic is About.SOURCES and one.criterion.check is None and says_each(one.criterion.text):
            yield (
                f"{one.named}: it speaks of each of several things, and a verifier looks at a sample. Give it a check "
                f"that counts them all ({_COUNTING}), or leave it if none can."
            )


def _step_problems(step: PlanStep, ids: frozenset[str], tools: frozenset[str]) -> Iterator[PlanProblem]:
    where, key = f"Step “{step.step_id}”", step.step_id
    for name in step.dependencies:
        if name not in ids:
            yield PlanProblem(f"{where} depends on “{name}”, which is no step of this plan.", key, field="dependencies")
    for name in step.tools:
        if name not in tools:
            yield PlanProblem(f"{where} names the tool “{name}”, {why_missing(name, tools)}", key, field="tools")
    for action in step.actions:
        if action.tool not in tools and action.tool not in step.tools:
            yield PlanProblem(
                f"{where} plans the tool “{action.tool}”, {why_missing(action.tool, tools)}", key, field="actions"
            )
        elif step.tools and action.tool not in step.tools:
            sentence = f"{where} plans the tool “{action.tool}”, which is not among its tools."
            yield PlanProblem(sentence, key, field="actions")
    if step.tools and step.outputs and WRITING.isdisjoint(step.tools):
        yield PlanProblem(f"{where} has an output, and none of its tools writes files.", key, field="tools")
    for path in step.outputs:
        try:
            if clean_path(path) != path:
                sentence = f"{where} names the output “{path}”; write it as “{clean_path(path)}”."
                yield PlanProblem(sentence, key, field="expected_outputs")
        except PathRefused as error:
            sentence = f"{where} names an output that cannot be written: {error}"
            yield PlanProblem(sentence, key, field="expected_outputs")


def _check_problems(plan: PlanContract, commands: Collection[str]) -> list[PlanProblem]:
    budget, problems = Budget(CHECKS_SECONDS), list[PlanProblem]()
    try:
        for one in _criteria_of(plan):
            budget.left()
            check, topic = one.criterion.check, one.criterion.topic
            problem = _problem_with_decision(check, topic, commands) if check else None
            problems += [one.problem(problem, "check")] if problem else []
    except TooSlow:
        problems.append(
            PlanProblem(
                f"Its checks take more than {CHECKS_SECONDS:g} seconds to examine; use fewer or simpler patterns."
            )
        )
    return problems


def compared_with_itself(plan: PlanContract, given: Mapping[str, object], kept: Sequence[PlanStep] = ()) -> list[str]:
    """A sentence for each criterion about the sources whose check would compare the result with what the run wrote.

    The plan has no other problem. `given`: the files of the task, by path. Steps of earlier versions are kept as they
    are.
    """
    return [problem.sentence for problem in placed_comparisons(plan, given, kept)]


def placed_comparisons(
    plan: PlanContract, given: Mapping[str, object], kept: Sequence[PlanStep] = ()
) -> list[PlanProblem]:
    """The same problems, each with its place in the plan."""
    budget, problems = Budget(CHECKS_SECONDS), list[PlanProblem]()
    try:
        for one in _criteria_of(plan, but=kept):
            budget.left()
            if one.criterion.check and one.criterion.topic is About.SOURCES:
                problem = _problem_with_sources(one.criterion.check, given)
                problems += [one.problem(problem, "check")] if problem else []
    except TooSlow:
        problems.append(
            PlanProblem(
                f"Its checks take more than {CHECKS_SECONDS:g} seconds to examine; name fewer files by patterns."
            )
        )
    return problems


def _problem_with_sources(check: Check, given: Mapping[str, object]) -> str | None:
    paths = list(check.compared_paths)
    if not paths or any(matching(path, given) for path in paths):
        return None
    return (
        f"It is about the sources, but no given file is {list_in_words(paths)}, so it would compare the result with "
        "what the run wrote itself; compare it with a given file, or say that it is about the output."
    )


def _problem_with_decision(check: Check, topic: About, commands: Collection[str]) -> str | None:
    """The run's own files can prove how the result looks, but not that it is true."""
    for command in check.commands:
        if command not in commands:
            there = f"There are: {', '.join(sorted(commands))}." if commands else "Its administrator has named none."
            return f"It runs the command {quoted(command)}, which this installation does not have. {there}"
    if problem := problem_with(check):
        return problem
    if topic is About.OUTPUT or check.compares:
        return None
    return (
        f"It is about the sources, but its check {check.kind} reads only the result; use {_COMPARING}, or leave check "
        "null, so that a verifier judges it."
    )


def _graph_problems(plan: PlanContract) -> list[PlanProblem]:
    dependencies = {step.step_id: list(step.dependencies) for step in plan.steps}
    cycle = cycle_in(dependencies)
    if cycle:
        sentence = f"The steps depend on each other in a circle: {' → '.join(cycle)}."
        return [PlanProblem(sentence, cycle[0], field="dependencies")]
    before = ancestors(dependencies)
    writers = {path: step.step_id for step in reversed(plan.steps) for path in reversed(step.outputs)}
    outputs = dict.fromkeys(path for step in plan.steps for path in step.outputs)
    problems = [
        PlanProblem(
            f"The outputs “{one}” and “{other}” cannot lie in one folder; rename one of the two.",
            writers[other],
            field="expected_outputs",
        )
        for one, other in clashes(outputs)
    ]
    for index, one in enumerate(plan.steps):
        problems += [
            PlanProblem(
                f"The steps “{one.step_id}” and “{other.step_id}” can run at the same time and both write “{shared}”. "
                "Let one depend on the other, or give them different files.",
                other.step_id,
                field="expected_outputs",
            )
            for other in plan.steps[index + 1 :]
            for shared in sorted(set(one.outputs) & set(other.outputs))[:1]
            if one.step_id not in before[other.step_id] and other.step_id not in before[one.step_id]
        ]
    return problems
