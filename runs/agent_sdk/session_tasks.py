"""What a session is asked for: the report of an attempt, or a plan, and what the agent's program may do for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from runs.contracts.ports import Ask, Reply, ToolSpec
from runs.pev.contracts import PlanContract, StepOutput
from runs.pev.conversation.asking import read
from runs.pev.conversation.turns import MAX_TURNS
from runs.pev.executor import REPORT, report_of
from runs.pev.imports.imported import Imported
from runs.pev.planner import PLAN, PlanBrief, judging
from runs.pev.planner import question as planning_question
from runs.pev.step_brief import StepBrief, question


@dataclass(frozen=True)
class SessionTask[Output]:
    """`first` is the question. After `rounds` rounds tools are forbidden and `last` demands the output, whose name is
    `output`. `read` returns the output of a reply, or None and what is wrong with it; it raises ContractBroken for a
    refusal. `window` is that of a StepBrief. In the `mode` plan the program calls no tool that changes anything.
    """

    first: Ask
    output: str
    last: str
    rounds: int
    read: Callable[[Reply], tuple[Output | None, list[str]]]
    window: int | None = None
    mode: Literal["dontAsk", "plan"] = "dontAsk"


def of_step(brief: StepBrief, tools: Sequence[ToolSpec]) -> SessionTask[StepOutput]:
    first = question(brief, tools)

    def report(reply: Reply) -> tuple[StepOutput | None, list[str]]:
        given, errors = read(reply, StepOutput, first)
        return (report_of(given) if given else None), errors

    return SessionTask(
        first=first,
        output="report",
        last=REPORT,
        rounds=brief.rounds,
        read=report,
        window=brief.window,
    )


def of_plan(brief: PlanBrief, tools: Sequence[ToolSpec]) -> SessionTask[Imported]:
    """A plan is refused for all that it would be refused for without a session."""
    first, problems_with = planning_question(brief, tools), judging(brief)

    def sound(reply: Reply) -> tuple[Imported | None, list[str]]:
        given, errors = read(reply, PlanContract, first)
        if given is not None:
            errors = problems_with(given.answer)
        return (None, errors) if errors or given is None else (Imported(*given), [])

    return SessionTask(
        first=first,
        output="plan",
        last=PLAN,
        rounds=MAX_TURNS,
        read=sound,
        mode="plan",
    )
