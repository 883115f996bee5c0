"""What administrators do with agents: add, change and delete them. Approvals that rest on one end with that (G1)."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files as package_files

from django.db import IntegrityError, transaction
from django.utils import timezone

from runs.errors import InvalidInput, NotAllowed
from runs.lifecycle.toolset import tool_names
from runs.models import Agent, User
from runs.people.permissions import is_administrator
from runs.pev.agents import AgentDefinition
from runs.pev.policy import RULES

MAX_AGENTS = 100
"""Planners are told of each in every question."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TAKEN = frozenset({"new"})
"""What is the address of something else."""
_STALE = "Somebody changed this agent since you opened it. Load the page again, then change what is there now."


SAMPLE = "legal-notices-writer"
"""An agent that comes with pevsite, as a start for one's own: `agent_templates/NAME.json`."""


@cache
def sample() -> AgentDefinition:
    text = package_files("runs").joinpath("agent_templates", f"{SAMPLE}.json").read_text("utf-8")
    return AgentDefinition.model_validate_json(text)


def listed() -> Sequence[Agent]:
    """All agents by name, with who changed them."""
    return list(Agent.objects.select_related("changed_by").order_by("name"))


def add(user: User, name: str, definition: AgentDefinition) -> Agent:
    """A new agent. Raises InvalidInput with the sentence for the person, NotAllowed for no administrator."""
    _check(user, definition)
    if not _NAME.fullmatch(name) or len(name) > 60 or name in _TAKEN:
        raise InvalidInput("Give the agent a name of small letters, digits and hyphens, such as legal-notices-writer.")
    if Agent.objects.count() >= MAX_AGENTS:
        raise InvalidInput(f"There are {MAX_AGENTS} agents, and no more are allowed. Delete one that is not needed.")
    try:
        with transaction.atomic():
            return Agent.objects.create(name=name, definition=definition, changed_by=user, changed_at=timezone.now())
    except IntegrityError as error:
        raise InvalidInput(f"There is an agent “{name}” already. Change that one, or choose another name.") from error


def edit(user: User, agent: Agent, definition: AgentDefinition, seen: str) -> None:
    """Put a definition in the place of the one that was there at the time `seen` (ISO 8601), when it had been changed
    last. Raises InvalidInput, also where somebody else has changed it since; NotAllowed for no administrator.
    """
    _check(user, definition)
    there = Agent.objects.filter(pk=agent.pk, changed_at=agent.changed_at)
    now = {"definition": definition, "changed_by": user, "changed_at": timezone.now()}
    if agent.changed_at.isoformat() != seen or not there.update(**now):  # another may be faster in between
        raise InvalidInput(_STALE)


def delete(user: User, agent: Agent) -> None:
    """Raises NotAllowed for no administrator. Attempts keep what they were done with."""
    if not is_administrator(user):
        raise NotAllowed("Only an administrator changes agents.")
    Agent.objects.filter(pk=agent.pk).delete()


def _check(user: User, definition: AgentDefinition) -> None:
    if not is_administrator(user):
        raise NotAllowed("Only an administrator changes agents.")
    if definition.model.startswith(RULES):
        raise InvalidInput(f"{definition.model} follows no instructions. Name a model, or leave the field empty.")
    known = tool_names()
    if unknown := [name for name in definition.tools if name not in known]:
        raise InvalidInput(f"There is no tool “{unknown[0][:60]}”. There are: {', '.join(sorted(known))}.")
