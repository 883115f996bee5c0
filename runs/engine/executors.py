"""What runs the loop of an attempt or of a planner, by the policy of its run, and how it went on after a crash."""

from collections.abc import Callable
from typing import NamedTuple, assert_never

from runs.contracts.ports import GuardedToolbox, JournaledToolbox, Model, Toolbox
from runs.engine.recording import RecordedModel, Recording
from runs.enums import Executor
from runs.errors import ModelError
from runs.events.kinds import SessionResumed
from runs.models import Attempt
from runs.pev import executor, planner
from runs.pev.contracts import StepOutput
from runs.pev.imports.imported import Imported
from runs.pev.planner import PlanBrief
from runs.pev.policy import Capacities
from runs.pev.step_brief import StepBrief
from runs.pev.tools.ask_person import AskPerson
from runs.pev.tools.registry import LOOKING
from runs.pev.tools.toolbox import RunTools
from runs.pev.verification.writing import CheckedWrites
from runs.store.trees import Overlay

_MISSING = "This worker has no Agent SDK, which the policy of the run asks for: run uv sync --extra agent-sdk."


class Loops(NamedTuple):
    """`carry_out`: the report of an attempt; `make_plan`: a plan. Both raise ContractBroken and ModelError."""

    carry_out: Callable[[Model, JournaledToolbox, StepBrief], StepOutput]
    make_plan: Callable[[Model, PlanBrief, Toolbox], Imported]


def loops_of(kind: Executor) -> Loops:
    """Raises ModelError where it is not installed."""
    match kind:
        case Executor.MESSAGES:
            return Loops(executor.execute, planner.make_plan)
        case Executor.AGENT_SDK:
            try:
                # an extra, and a second of imports, which only runs pay for that chose it
                from runs.agent_sdk import session
            except ImportError as error:
                raise ModelError(_MISSING, kind="agent_program", retriable=False) from error
            return Loops(session.execute, session.make_plan)
        case _:
            assert_never(kind)


def planner_tools(kind: Executor, capabilities: Capacities) -> frozenset[str]:
    """Those that a planner may use: in the plan mode of the Agent SDK it also looks into files."""
    if not capabilities.planner_tools:
        return frozenset()
    return frozenset({AskPerson.name}) if kind is Executor.MESSAGES else LOOKING


def tools_for(kind: Executor, tools: RunTools, overlay: Overlay, recording: Recording) -> GuardedToolbox:
    """The tools of an attempt: a session, which goes on for long before its report is looked at, is told at once what
    code finds wrong with a file.
    """
    attempt = recording.item.attempt
    assert attempt is not None
    if kind is Executor.MESSAGES:
        return tools
    return CheckedWrites(tools, overlay, attempt.step.spec, recording.item.run.policy.min_document_bytes)


def session_resumed(model: RecordedModel, attempt: Attempt | None = None) -> SessionResumed:
    """What became of the session that a worker before this one, or before a person's answer, had begun: of an attempt,
    or of the planner.
    """
    step, number = (attempt.step.key, attempt.number) if attempt else ("", 0)
    return SessionResumed(step=step, attempt=number, replies=model.replayed, otherwise=model.diverged)
