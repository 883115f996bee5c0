"""What runs the loop of an attempt, by the policy of its run."""

from collections.abc import Callable
from typing import assert_never

from runs.enums import Executor
from runs.pev import executor
from runs.pev.contracts import StepOutput
from runs.pev.ports import Model, Toolbox
from runs.pev.step_brief import StepBrief


def executor_of(kind: Executor) -> Callable[[Model, Toolbox, StepBrief], StepOutput]:
    match kind:
        case Executor.MESSAGES:
            return executor.execute
        case Executor.AGENT_SDK:
            # An extra, and a second of imports, which only runs pay for that chose it.
            from runs.agent_sdk.session import execute

            return execute
        case _:
            assert_never(kind)
