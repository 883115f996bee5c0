"""The brief of a step, and the first question to its executor that is made from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runs.contracts.base import schema_for
from runs.contracts.feedback import AnsweredQuestion, Feedback
from runs.contracts.ports import Ask, FileInfo, ToolSpec
from runs.enums import Role
from runs.pev import prompts
from runs.pev.agents import Subagent
from runs.pev.contracts import ContextItem, PlanStep, StepOutput
from runs.pev.conversation.asking import user
from runs.pev.conversation.examples import form_of
from runs.pev.conversation.window import answer_tokens
from runs.pev.delimiters import answered, beginning_of, delimited, listing, results_with_notes
from runs.pev.tools.registry import BASIC
from runs.text.plural import pluralize

CONTEXT_CHARS = 20_000  # of the results of earlier steps
LISTED_STEPS = 100
SIMPLE_CONTEXT_CHARS = 2_000
NAME_CHARS = 120
"""Of the plan's context, and of its steps: some 6,000 tokens at most that every prompt of the run begins with."""


class Critique(Feedback):
    """Earlier critiques that are shown to the next attempt."""


@dataclass(frozen=True)
class StepBrief:
    """Everything that an executor may see: the step, the results it rests on, and all critiques so far.

    * `context` and `steps` (names by key, in order) are those of the plan.
    * `files` are those of the run, the same for all its steps; `changed_files` what earlier steps have added or
      changed.
    * `results` and `notes` belong to the steps that this one rests on.
    * `window`: the tokens that question and answer may have together, None if unknown.
    * `remarks`: which files cannot be read, or are excluded.
    * `answers`: what people answered to questions of models.
    * `instructions`: those of the agent that the step names, or empty.
    * `subagents`: the agents that it may delegate to, by name.
    * `simple`: the executor is asked in the simple form.
    """

    request: str
    goal: str
    step: PlanStep
    files: Mapping[str, FileInfo]
    results: Mapping[str, str]
    model: str
    effort: str
    rounds: int
    critiques: tuple[Critique, ...] = ()
    changed_files: Mapping[str, FileInfo] = field(default_factory=dict)
    context: Sequence[ContextItem] = ()
    steps: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    window: int | None = None
    remarks: Mapping[str, str] = field(default_factory=dict)
    answers: Sequence[AnsweredQuestion] = ()
    instructions: str = ""
    subagents: Mapping[str, Subagent] = field(default_factory=dict)
    simple: bool = False


def question(brief: StepBrief, tools: Sequence[ToolSpec]) -> Ask:
    """The first question of an attempt. It begins with what the steps of a run have in common (`Ask.stable`)."""
    if brief.simple:
        return _simple_question(brief, tools)
    schema = schema_for(StepOutput)
    # The same in every step of the run, to the byte, so that the service caches it.
    shared = [
        delimited("request", brief.request),
        delimited("goal", brief.goal),
        *_of_the_plan(brief),
        delimited("files", listing(brief.files, brief.remarks)),
    ]
    return Ask(
        role=Role.EXECUTOR,
        model=brief.model,
        effort=brief.effort,
        system=f"{prompts.instructions(Role.EXECUTOR)}\n{form_of(StepOutput)}",
        messages=(user(*shared, *_of_the_step(brief)),),
        schema_name="step_output",
        schema=schema,
        tools=tuple(tools),
        max_tokens=answer_tokens(brief.window),
        stable=(0, len(shared)),
    )


def _simple_question(brief: StepBrief, tools: Sequence[ToolSpec]) -> Ask:
    """The question for a simple report: the step in words, and the few tools that most steps need."""
    step = brief.step
    context = "\n".join(f"{item.name}: {item.value}" for item in brief.context)
    wanted = BASIC.union(step.tools, (action.tool for action in step.actions))
    lines = [
        step.name,
        step.description,
        *(f"Use {action.tool}: {action.purpose}" for action in step.actions),
        *([f"Files to deal with: {', '.join(step.inputs)}"] if step.inputs else []),
        "It is done when:",
        *(f"- {criterion.text}" for criterion in step.acceptance_criteria),
        f"Files to write: {', '.join(step.outputs) or 'none'}",
    ]
    parts = [
        delimited("request", brief.request),
        delimited("files", listing(brief.files, brief.remarks)),
        *(
            [delimited("files", listing(brief.changed_files), "made or changed by earlier steps")]
            if brief.changed_files
            else []
        ),
        *results_with_notes(brief.results, brief.notes),
        *answered(brief.answers),
        *([delimited("agent", brief.instructions, step.agent)] if brief.instructions else []),
        *([delimited("context", beginning_of(context, SIMPLE_CONTEXT_CHARS))] if context else []),
        delimited("step", "\n".join(lines)),
        *_critiques(brief),
    ]
    return Ask(
        role=Role.EXECUTOR,
        model=brief.model,
        effort=brief.effort,
        system=prompts.simple(Role.EXECUTOR),
        messages=(user(*parts),),
        tools=tuple(tool.shortened for tool in tools if tool.name in wanted),
        max_tokens=answer_tokens(brief.window),
    )


def _of_the_plan(brief: StepBrief) -> list[str]:
    context = "\n".join(f"{item.name}: {item.value}" for item in brief.context)
    names = [f"{number}. {key}: {name[:NAME_CHARS]}" for number, (key, name) in enumerate(brief.steps.items(), 1)]
    if len(names) > LISTED_STEPS:
        names[LISTED_STEPS:] = [f"… and {pluralize(len(names) - LISTED_STEPS, 'more step')}"]
    return [
        *([delimited("context", beginning_of(context, CONTEXT_CHARS))] if context else []),
        *([delimited("steps", "\n".join(names), "of the plan, in order")] if names else []),
    ]


def _of_the_step(brief: StepBrief) -> list[str]:
    """Ordered from what no attempt changes to what each one adds, so that a retry begins with the cached prompt."""
    made = (
        [delimited("files", listing(brief.changed_files), "made or changed by earlier steps")]
        if brief.changed_files
        else []
    )
    keys, key = list(brief.steps), brief.step.step_id
    place = f"step {keys.index(key) + 1} of {len(keys)}" if key in keys else ""
    return [
        *results_with_notes(brief.results, brief.notes),
        *answered(brief.answers),
        *([delimited("agent", brief.instructions, brief.step.agent)] if brief.instructions else []),
        delimited("step", brief.step.model_dump_json(), place),
        *made,
        *_critiques(brief),
    ]


def _critiques(brief: StepBrief) -> list[str]:
    return [
        delimited("person" if critique.from_person else "critique", critique.text, critique.title)
        for critique in brief.critiques
    ]
