"""Agents: instructions under a name, as an administrator has written them, for a kind of step."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from runs.contracts.base import Contract, Line
from runs.enums import Role
from runs.pev.contracts import PlanStep
from runs.pev.plans.problem import PlanProblem
from runs.pev.policy import Policy, RoleModel

MAX_INSTRUCTIONS = 8_000
"""Characters, some four pages. They are part of every question of a step."""


class AgentDefinition(Contract):
    """What an agent is. `purpose` is for people and planners, and `instructions` go to the executor.

    Without `model` and `effort`, those of the run are used. Without `tools`, only the step decides which tools may be
    used.
    """

    purpose: Line
    instructions: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_INSTRUCTIONS)]
    model: Annotated[str, StringConstraints(strip_whitespace=True, max_length=120)] = ""
    effort: Literal["", "low", "medium", "high"] = ""
    tools: Annotated[tuple[Line, ...], Field(max_length=100)] = ()

    @property
    def digest(self) -> str:
        """A digest of everything that affects how a step is carried out. The purpose does not."""
        parts = self.model_dump(mode="json", exclude={"purpose"})
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def policy_for_agent(policy: Policy, agent: AgentDefinition | None) -> Policy:
    """Returns the policy with the agent's model and effort for the executor. The model for the final answer stays the
    same.
    """
    if agent is None or not (agent.model or agent.effort):
        return policy
    own = policy.model_for(Role.EXECUTOR)
    role_model = RoleModel(model=agent.model or own.model, effort=agent.effort or own.effort)
    others = {**policy.models, Role.SYNTHESIZER: policy.model_for(Role.SYNTHESIZER)}
    return policy.model_copy(update={"models": {**others, Role.EXECUTOR: role_model}})


def permitted(tools: frozenset[str], agent: AgentDefinition | None) -> frozenset[str]:
    """Returns the tools of a step that its agent allows too."""
    return tools.intersection(agent.tools) if agent and agent.tools else tools


DELEGATE = "delegate"
"""The tool with which a step delegates parts of its work to subagents."""


@dataclass(frozen=True)
class Subagent:
    """An agent that an executor may delegate to. `window`: the tokens that question and answer may have together, None
    if unknown.
    """

    definition: AgentDefinition
    window: int | None = None


def named_in(steps: Iterable[PlanStep]) -> list[str]:
    """Returns the agents that these steps name, sorted."""
    return sorted({step.agent for step in steps if step.agent})


def subagents_of(step: PlanStep, policy: Policy) -> tuple[str, ...]:
    """Returns the subagents that the step may delegate to, sorted."""
    return tuple(sorted(set(policy.subagents))) if DELEGATE in step.tools else ()


def needed_by(steps: Iterable[PlanStep], policy: Policy) -> list[str]:
    """Returns the agents that these steps name or may delegate to, sorted."""
    return sorted({name for step in steps for name in (step.agent, *subagents_of(step, policy)) if name})


@dataclass(frozen=True)
class AgentRoster:
    """The agents that steps of a run may name. `refused`: by name, a sentence on why this run cannot use it."""

    agents: Mapping[str, AgentDefinition] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def listing(self) -> str:
        """One line per agent, for planners."""
        lines = [
            f"{name}: {agent.purpose}{f' (may use: {", ".join(agent.tools)})' if agent.tools else ''}"
            for name, agent in sorted(self.agents.items())
            if name not in self.refused
        ]
        return "\n".join(lines)

    def missing(self, name: str) -> str:
        """Returns why a step cannot use this agent, as the end of a sentence, or an empty string."""
        if name in self.refused:
            return f"which this run cannot have: {self.refused[name]}"
        if name in self.agents:
            return ""
        there = f"There are: {', '.join(sorted(self.agents))}." if self.agents else "It has none."
        return f"which this installation does not have. {there}"

    def problems_with(self, step: PlanStep, usable: frozenset[str], writing: frozenset[str]) -> Iterator[PlanProblem]:
        """Yields what keeps the step from using its agent.

        `usable`: the tools that the step may use without an agent. `writing`: the tools that write files.
        """
        if not step.agent:
            return
        where, key = f"Step “{step.step_id}”", step.step_id
        if why := self.missing(step.agent):
            yield PlanProblem(f"{where} names the agent “{step.agent}”, {why}", key, field="agent")
            return
        agent = self.agents[step.agent]
        its, may = f"its agent “{step.agent}”", f"It may use: {', '.join(agent.tools)}."
        asked = dict.fromkeys([*step.tools, *(action.tool for action in step.actions)])
        for name in [name for name in asked if agent.tools and name not in agent.tools]:
            yield PlanProblem(f"{where} asks for the tool “{name}”, which {its} may not use. {may}", key, field="tools")
        left = permitted(usable, agent)
        if not left:
            yield PlanProblem(f"{where} names no tool that {its} may use. {may}", key, field="tools")
        elif step.outputs and writing.isdisjoint(left) and not writing.isdisjoint(usable):
            yield PlanProblem(
                f"{where} has an output, and {its} may use no tool that writes files.", key, field="tools"
            )


NO_AGENTS = AgentRoster()
