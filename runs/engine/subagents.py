"""To whom the steps of a run may hand parts of their work, for planners and for the executor of an attempt."""

from collections.abc import Iterator

from runs.contracts.ports import ToolSpec
from runs.lifecycle.available_agents import agent_roster
from runs.models import Attempt
from runs.pev.agents import DELEGATE, NO_AGENTS, Subagent, permitted
from runs.pev.policy import Capacities, Policy
from runs.pev.tools.delegate import Delegate
from runs.pev.tools.registry import tools_of


def delegating(policy: Policy) -> Iterator[ToolSpec]:
    """The tool that plans may give to steps, where the run has subagents."""
    known = agent_roster(policy) if policy.subagents else NO_AGENTS
    if there := {name: known.agents[name] for name in policy.subagents if not known.missing(name)}:
        yield Delegate.spec_for(there)


def of_attempt(attempt: Attempt, capabilities: Capacities) -> dict[str, Subagent]:
    """As they were when it began; none where its own agent may not hand anything on."""
    if DELEGATE not in permitted(tools_of(attempt.step.spec), attempt.agent):
        return {}
    return {name: Subagent(one, capabilities.subagents[name].window) for name, one in attempt.subagents.items()}
