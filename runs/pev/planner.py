"""Planning: what the planner is asked, how a valid plan is obtained, and which work must not be planned again."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runs.contracts.base import schema_for
from runs.contracts.feedback import AnsweredQuestion, Feedback
from runs.contracts.ports import Ask, FileInfo, Model, Toolbox, ToolSpec
from runs.enums import Effect, Role
from runs.errors import PlanRefused, PlanRepeated
from runs.pev import prompts
from runs.pev.agents import NO_AGENTS, AgentRoster
from runs.pev.contracts import PlanContract, PlanStep, SimplePlan
from runs.pev.conversation.asking import ask_for, user
from runs.pev.conversation.examples import form_of
from runs.pev.conversation.turns import after_tools
from runs.pev.delimiters import answered, beginning_of, delimited, listing
from runs.pev.imports.imported import Imported
from runs.pev.imports.simple_plans import simple_plan, whole_plan
from runs.pev.policy import RULES
from runs.pev.soundness import compared_with_itself, problems_in, uncounted_in, unsaid_topics


@dataclass(frozen=True)
class RejectedWork:
    """Work that must not be planned again: a whole version, or a step that cannot be done. `why`:
    what happened to it.
    """

    version: int
    what: PlanContract | PlanStep
    why: str


def repeated_in(plan: PlanContract, spent: Iterable[RejectedWork]) -> list[str]:
    """Returns a sentence for each part of the plan that was tried before and must not be repeated unchanged."""
    problems: list[str] = []
    for one in spent:
        match one.what:
            case PlanContract() if _work(plan) == _work(one.what):
                problems.append(
                    f"This is version {one.version} of the plan again, word for word. {one.why} "
                    "Change the steps or criteria that this is about, or take another way."
                )
            case PlanStep() as cannot:
                problems += [
                    f"Step “{step.step_id}” is a step of version {one.version} again that cannot be done. {one.why} "
                    "Change what it asks for, or leave it out."
                    for step in plan.steps
                    if _task(step) == _task(cannot)
                ]
    return problems


def _work(plan: PlanContract) -> tuple[object, ...]:
    """Returns the parts of a plan that are carried out and judged."""
    return plan.goal, plan.context, plan.steps, plan.success_criteria


def _task(step: PlanStep) -> dict[str, object]:
    """Returns the parts of a step that say what to do, without its name and complexity."""
    return step.model_dump(exclude={"step_id", "name", "estimated_complexity"})


_CREATIVE = "A person has said that this task needs no sources: it is creative work."
_NO_SOURCES = f"{_CREATIVE} Every criterion is about `output`."
_LOOK_FIRST = (
    "You are in plan mode: look into the files with your tools as far as the plan depends on what stands in them. "
    "Nothing can be changed now. Then answer with the plan alone."
)
_ANSWERS = (
    "The person has asked for something: request {}. Add `answers` to the plan, one for each request: "
    '[{{"request": {}, "step": 1, "how": "one sentence"}}], where `step` is the number of the step that does it.'
)
SIMPLE_PREVIEW_CHARS = 400
SIMPLE_PLAN_TOKENS = 4_000
"""Of the beginning of each text file that a small model is shown, in characters, and of its answer."""
PLAN = "Tools cannot be used any more. Answer now with the plan, one JSON object that follows the schema."


class Lesson(Feedback):
    """Something that the next version must take into account. The plan must answer each request."""


@dataclass(frozen=True)
class PlanBrief:
    """Everything that a planner may see.

    * `previews`: the beginnings of some text files.
    * `results`: the findings of the steps that are kept.
    * `stands`: the previous version continues if there is no new one.
    * `remarks`: which files cannot be read, or are excluded.
    * `commands`: the commands that checks may run.
    * `agents`: the agents that steps may name.
    * `answers`: what people answered to questions of models.
    * `simple`: a simple plan is requested, without tools.
    """

    request: str
    files: Mapping[str, FileInfo]
    previews: Mapping[str, str]
    tools: tuple[ToolSpec, ...]
    model: str
    effort: str
    max_steps: int
    commands: Collection[str] = ()
    agents: AgentRoster = NO_AGENTS
    sources_needed: bool = True
    remarks: Mapping[str, str] = field(default_factory=dict)
    lessons: tuple[Lesson, ...] = ()
    kept: tuple[PlanStep, ...] = ()
    results: Mapping[str, str] = field(default_factory=dict)
    previous: PlanContract | None = None
    spent: tuple[RejectedWork, ...] = ()
    stands: bool = False
    answers: Sequence[AnsweredQuestion] = ()
    simple: bool = False

    @property
    def requests(self) -> list[int]:
        """The numbers of the requests that the plan must answer."""
        return sorted({lesson.request for lesson in self.lessons if lesson.request})


def make_plan(model: Model, brief: PlanBrief, tools: Toolbox | None = None) -> Imported:
    """Returns a valid plan, with notes on how it was read. With `tools`, the planner may use them first.

    Raises ContractBroken if there is none after the corrections, and ModelError without a reply. A plan that repeats
    spent work is refused with the reason; if it happens again, PlanRepeated is raised.
    """
    if brief.simple:
        return _make_simple_plan(model, brief)
    if tools is None or not tools.specs():
        return Imported(*ask_for(model, question(brief), PlanContract, judging(brief)))
    ask = question(brief, tools.specs())
    return Imported(*ask_for(model, ask, PlanContract, judging(brief), lambda ask: after_tools(model, ask, tools)))


def _make_simple_plan(model: Model, brief: PlanBrief) -> Imported:
    """Converts a simple plan to a whole one. It is refused for the same reasons as any other plan."""
    problems_with, made = judging(brief), list[Imported]()

    def problems_in_whole(simple: SimplePlan) -> list[str]:
        try:
            found = whole_plan(simple, brief.files, brief.kept, sources_needed=brief.sources_needed)
        except PlanRefused as refused:
            return list(refused.problems)
        made.append(found)
        return problems_with(found.plan)

    _, notes = ask_for(model, simple_question(brief), SimplePlan, problems_in_whole)
    plan, guessed = made[-1].plan, made[-1].notes
    return Imported(plan, [*notes, *guessed])


def judging(brief: PlanBrief) -> Callable[[PlanContract], list[str]]:
    """Returns a function that lists what keeps a plan from being run.

    The first plan is also refused for criteria about each of several things that no check counts. The function raises
    PlanRepeated for a plan that repeats spent work after the planner was told so.
    """
    names = frozenset(tool.name for tool in brief.tools)
    refused: list[str] = []
    is_first = not (brief.simple or brief.model.startswith(RULES))  # offline rules always make the same plan

    def problems_with(plan: PlanContract) -> list[str]:
        nonlocal is_first
        asked, is_first = is_first, False
        repeated = repeated_in(plan, brief.spent)
        if repeated and refused:
            raise PlanRepeated("The planner was told so once, and brought it again.", tuple(repeated))
        refused.extend(repeated)
        found = problems_in(
            plan,
            names,
            commands=brief.commands,
            agents=brief.agents,
            max_steps=brief.max_steps,
            sources_needed=brief.sources_needed,
            requests=brief.requests,
        )
        found = found or compared_with_itself(plan, brief.files, brief.kept)
        uncounted = list(uncounted_in(plan, brief.kept)) if asked else []
        return [*repeated, *unsaid_topics(plan, brief.kept), *found, *uncounted]

    return problems_with


def question(brief: PlanBrief, tools: Sequence[ToolSpec] = ()) -> Ask:
    """Returns the first question to a planner that may use these tools before it answers."""
    schema = schema_for(PlanContract)
    shared = _of_the_run(brief)
    reads = any(tool.effect is Effect.READS_FILES for tool in tools)
    return Ask(
        role=Role.PLANNER,
        model=brief.model,
        effort=brief.effort,
        system=f"{prompts.instructions(Role.PLANNER)}\n{form_of(PlanContract)}",
        messages=(user(*shared, *_of_this_version(brief), *([_LOOK_FIRST] if reads else [])),),
        schema_name="plan",
        schema=schema,
        tools=tuple(tools),
        max_tokens=32_000,
        stable=(0, len(shared)),
    )


def simple_question(brief: PlanBrief) -> Ask:
    """Returns the question for a simple plan."""
    kept = len(brief.kept)
    parts = [
        delimited("request", brief.request),
        delimited("files", listing(brief.files, brief.remarks)),
        *(
            delimited("preview", beginning_of(text, SIMPLE_PREVIEW_CHARS), path)
            for path, text in brief.previews.items()
        ),
    ]
    if brief.previous:
        parts.append(
            delimited("previous_plan", simple_plan(brief.previous, brief.kept).model_dump_json(exclude={"answers"}))
        )
    if kept:
        names = "\n".join(f"{number}. {step.name}" for number, step in enumerate(brief.kept, 1))
        parts += [delimited("done", names), f"These steps are done. Plan only what follows, from step {kept + 1} on."]
    parts += answered(brief.answers)
    parts += [delimited("person" if one.from_person else "lesson", one.text, one.title) for one in brief.lessons]
    if brief.requests:
        parts.append(_ANSWERS.format(", ".join(map(str, brief.requests)), brief.requests[0]))
    if not brief.sources_needed:
        parts.append(_CREATIVE)
    return Ask(
        role=Role.PLANNER,
        model=brief.model,
        effort=brief.effort,
        system=prompts.simple(Role.PLANNER),
        messages=(user(*parts, f"At most {brief.max_steps} steps. Answer with the plan."),),
        max_tokens=SIMPLE_PLAN_TOKENS,
    )


def _of_the_run(brief: PlanBrief) -> list[str]:
    """Returns the parts that are the same for every version of the plan."""
    tools = "\n".join(f"{tool.name} ({tool.effect.words}): {tool.description}" for tool in brief.tools)
    return [
        delimited("request", brief.request),
        delimited("files", listing(brief.files, brief.remarks)),
        *(delimited("preview", text, path) for path, text in brief.previews.items()),
        delimited("tools", tools),
        *([delimited("agents", there)] if (there := brief.agents.listing) else []),
        delimited("limits", json.dumps({"max_steps": brief.max_steps, "sources_needed": brief.sources_needed})),
        *([] if brief.sources_needed else [_NO_SOURCES]),
    ]


def _of_this_version(brief: PlanBrief) -> list[str]:
    parts: list[str] = []
    if brief.previous:
        parts.append(delimited("previous_plan", brief.previous.model_dump_json()))
    if brief.kept:
        kept = "\n".join(step.model_dump_json() for step in brief.kept)
        parts.append(
            "These steps are settled: passed, or accepted by a person. Keep them exactly as they are:\n"
            + delimited("kept_steps", kept)
        )
    parts += [delimited("result", text, key) for key, text in brief.results.items()]
    parts += answered(brief.answers)
    parts += [delimited("person" if one.from_person else "lesson", one.text, one.title) for one in brief.lessons]
    return parts
