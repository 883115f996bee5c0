"""What runs the loop of an attempt, by the policy of its run, and how it went on after a crash."""

from collections.abc import Callable
from typing import assert_never

from runs.engine.recording import RecordedModel, Recording
from runs.enums import Executor
from runs.errors import ModelError
from runs.events.kinds import SessionResumed
from runs.models import Attempt
from runs.pev import executor
from runs.pev.contracts import StepOutput
from runs.pev.ports import GuardedToolbox, JournaledToolbox, Model
from runs.pev.step_brief import StepBrief
from runs.pev.tools.toolbox import RunTools
from runs.pev.verification.writing import CheckedWrites
from runs.trees import Overlay

_MISSING = "This worker has no Agent SDK, which the policy of the run asks for: run uv sync --extra agent-sdk."


def executor_of(kind: Executor) -> Callable[[Model, JournaledToolbox, StepBrief], StepOutput]:
    """Raises ModelError where it is not installed."""
    match kind:
        case Executor.MESSAGES:
            return executor.execute
        case Executor.AGENT_SDK:
            try:
                # an extra, and a second of imports, which only runs pay for that chose it
                from runs.agent_sdk.session import execute
            except ImportError as error:
                raise ModelError(_MISSING, kind="agent_program", retriable=False) from error
            return execute
        case _:
            assert_never(kind)


def tools_for(kind: Executor, tools: RunTools, overlay: Overlay, recording: Recording) -> GuardedToolbox:
    """The tools of an attempt: a session, which goes on for long before its report is looked at, is told at once what
    code finds wrong with a file.
    """
    attempt = recording.item.attempt
    assert attempt is not None
    if kind is Executor.MESSAGES:
        return tools
    return CheckedWrites(tools, overlay, attempt.step.spec, recording.item.run.policy.min_document_bytes)


def session_resumed(attempt: Attempt, model: RecordedModel) -> SessionResumed:
    """What became of the session that a worker before this one, or before a person's answer, had begun."""
    step = attempt.step.key
    return SessionResumed(step=step, attempt=attempt.number, replies=model.replayed, otherwise=model.diverged)
