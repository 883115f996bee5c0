"""Named agents, and plans whose step has one."""

from typing import Any

from runs.lifecycle import available_agents
from runs.models import Agent
from runs.pev.agents import AgentDefinition
from tests.factories.cast import person
from tests.fakes.team import plan, step

WRITER = "legal-notices-writer"


def defined(**changes: Any) -> AgentDefinition:
    values = {"purpose": "Writes notices to other parties.", "instructions": "Write in plain words. Name the clause."}
    return AgentDefinition.model_validate({**values, **changes})


def agent(name: str = WRITER, **changes: Any) -> Agent:
    """As an administrator, Zoe, has added it."""
    zoe = person("zoe", is_superuser=True)
    return available_agents.add_agent(zoe, name, defined(**changes))


def change(one: Agent, **changes: Any) -> None:
    """Zoe changes it."""
    one.refresh_from_db()
    definition = AgentDefinition.model_validate({**one.definition.model_dump(), **changes})
    available_agents.edit_agent(person("zoe", is_superuser=True), one, definition, one.changed_at.isoformat())


def played_plan(**changes: Any) -> dict[str, Any]:
    """A plan of two steps, the first of which names the agent; keywords change that one."""
    return plan(step("one") | {"agent": WRITER} | changes, step("two", "one"))
