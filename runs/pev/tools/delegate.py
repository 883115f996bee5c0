"""Declares the tool that hands a part of a step to a subagent. `runs.pev.subagents` carries it out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field, StringConstraints

from runs.contracts.ports import ToolSpec
from runs.enums import Effect
from runs.pev.agents import DELEGATE, AgentDefinition
from runs.pev.tools.tool import Resource, Results, Tool

MAX_TASK = 8_000
"""Characters, some four pages. A task is a description; the subagent reads the material itself."""
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
_Task = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TASK)]


class Delegate(Tool):
    name = DELEGATE
    effect = Effect.DELEGATES
    results = Results.WORDS
    requires = Resource.SUBAGENTS
    needs = "a policy that names subagents"
    description = (
        "Hands a part of the step to a subagent, and waits for its answer. It sees the files of the step and nothing "
        "of this conversation, works with what the step and it may use, and is an expense of its own: for a part that "
        "can be described by itself and that it is made for. Its calls get numbers of their own among yours, which "
        "you cite; its answer is no source. What it has found and written you answer for."
    )

    agent: Annotated[_Name, Field(description="The name of the subagent")]
    task: Annotated[_Task, Field(description="All that it has to know: what to do, with which files, what to answer")]

    @classmethod
    def spec_for(cls, subagents: Mapping[str, AgentDefinition]) -> ToolSpec:
        """Returns the description for models that may delegate parts of a step to these agents."""
        names = "; ".join(f"{name}: {agent.purpose}" for name, agent in sorted(subagents.items()))
        return replace(cls.spec(), description=f"{cls.description} There are: {names}")
