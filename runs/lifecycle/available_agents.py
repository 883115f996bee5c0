"""The agents of this installation: which of them a run can have, what approvals bind, and how administrators change
them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files

from django.db import IntegrityError, transaction
from django.utils import timezone

from runs.accounting.prices import price_of
from runs.enums import AuditKind, Role
from runs.errors import InvalidInput, NotAllowed
from runs.lifecycle.toolset import tool_names
from runs.models import Agent, Plan, User
from runs.people.permissions import is_administrator
from runs.pev.agents import NO_AGENTS, AgentDefinition, AgentRoster, named_in, policy_for_agent, subagents_of
from runs.pev.contracts import PlanContract, PlanStep
from runs.pev.policy import RULES, Policy, RoleModel
from runs.store import audit_trail
from runs.text.diff import DiffBudget, TextChange, sentence_diff
from runs.text.truncate import quoted

MAX_NAMED = 3
"""Steps of an agent that are named; the others are counted."""
PART = "agent "
"""How the names of those parts of a fingerprint begin that stand for agents; the name of the agent follows."""


def agent_roster(policy: Policy, plan: PlanContract | None = None) -> AgentRoster:
    """The agents that steps of a run with this policy may name.

    Nothing is read from the database if a `plan` is given whose steps name no agent.
    """
    if plan is not None and not named_in(plan.steps):
        return NO_AGENTS
    known = Agent.objects.definitions()
    refused = {name: why for name, agent in known.items() if (why := why_refused(agent, policy))}
    return AgentRoster(known, refused)


def why_refused(agent: AgentDefinition, policy: Policy) -> str:
    """Why a run with this policy cannot have the agent, as a sentence; empty if it can."""
    own = policy_for_agent(policy, agent)
    model = own.model_for(Role.EXECUTOR).model
    if model.startswith(RULES):
        return f"{model}, the executor of this run, follows no instructions."
    if own.same_model and not policy.same_model_verifier:
        return f"its model {model} is the verifier, too, which would judge its own work."
    if policy.budget is not None and price_of(model, 1, timezone.now().date()) is None:
        return f"no price is known for its model {model}, so that the budget could not be kept."
    return ""


def bound(names: Collection[str]) -> dict[str, str]:
    """The parts of a fingerprint that stand for these agents: the digest of each, empty for an agent that is gone."""
    there = Agent.objects.definitions(names)
    return {f"{PART}{name}": there[name].digest if name in there else "" for name in sorted(names)}


def as_bound(fingerprint: Mapping[str, str]) -> dict[str, AgentDefinition]:
    """The agents of a fingerprint by name, without those that were changed since."""
    names = [part.removeprefix(PART) for part in fingerprint if part.startswith(PART)]
    there = Agent.objects.definitions(names)
    return {name: one for name, one in there.items() if one.digest == fingerprint[f"{PART}{name}"]}


def change_of(part: str, digest: str) -> str:
    """What happened to the agent of a part of a fingerprint, in words; empty if the part stands for no agent.

    `digest` is that of the agent as it is now, empty if it is gone.
    """
    if not part.startswith(PART):
        return ""
    return f"the agent {part.removeprefix(PART)} {'was changed' if digest else 'no longer exists'}"


def as_used(name: str, used: Iterable[AgentDefinition | None]) -> str:
    """The name of an agent and the first characters of the digest of each version of it that was used."""
    digests = dict.fromkeys(one.digest[:12] for one in used if one)
    return f"{name} ({', '.join(digests)})" if digests else name


@dataclass(frozen=True)
class NamedAgent:
    """An agent of a plan as it is now.

    `steps` are the names of the steps that it carries out, `parts` those of the steps that may hand it a part of their
    work. `definition` is None if there is no such agent. `changed` is true if it differs from the approved definition
    last, and `changes` say in what, if the approved definition is stored. `model` is the one that follows its
    instructions, its own or that of the run.
    """

    name: str
    steps: tuple[str, ...]
    parts: tuple[str, ...]
    definition: AgentDefinition | None
    changed: bool
    changes: tuple[TextChange, ...] = ()
    model: str = ""

    @property
    def does(self) -> str:
        """Which steps it carries out, and in which it may do parts."""
        whole = f"carries out {_named(self.steps)}" if self.steps else ""
        parts = f"may be given parts of {_named(self.parts)}" if self.parts else ""
        return " and ".join(filter(None, (whole, parts)))

    @property
    def may_use(self) -> str:
        """The tools that it may use, in words."""
        return ", ".join(self.definition.tools) if self.definition and self.definition.tools else ""

    @property
    def problem(self) -> str:
        """A sentence if the agent is gone or was changed since the approval; empty otherwise."""
        if self.definition is None:
            return f"The agent {self.name} no longer exists."
        return f"The agent {self.name} was changed since this plan was approved." if self.changed else ""


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(map(quoted, names[:MAX_NAMED])) + more


def named_by(plan: Plan, steps: Iterable[PlanStep], policy: Policy) -> list[NamedAgent]:
    """The agents and subagents of a plan with these steps, by name. No query where it has none."""
    there, bound_to, known = Agent.objects.definitions(plan.agents), plan.approval_fingerprint or {}, list(steps)
    approved, budget = plan.approved_agents, DiffBudget()
    found = []
    for name in plan.agents:
        agent, before = there.get(name), approved.get(name)
        # A plan that is asked about again has no fingerprint any more, but its approved agents are still stored.
        was = bound_to.get(f"{PART}{name}", before.digest if before else None)
        changed = was is not None and was != (agent.digest if agent else "")
        whole = tuple(one.name for one in known if one.agent == name)
        parts = tuple(one.name for one in known if name in subagents_of(one, policy))
        differs = tuple(changes(before, agent, policy, budget)) if before and agent else ()
        model = policy_for_agent(policy, agent).model_for(Role.EXECUTOR).model if agent else ""
        found.append(NamedAgent(name, whole, parts, agent, changed, differs, model))
    return found


def changes(
    before: AgentDefinition, after: AgentDefinition, policy: Policy, budget: DiffBudget
) -> Iterator[TextChange]:
    """The differences that may change how a step is carried out: first what it may do, its wording last."""
    executor = policy.model_for(Role.EXECUTOR)
    for (what, old), (_, new) in zip(_texts(before, executor), _texts(after, executor), strict=True):
        if old != new:
            yield TextChange(what, old, new, sentence_diff(old, new, budget))


def _texts(agent: AgentDefinition, executor: RoleModel) -> Iterator[tuple[str, str]]:
    yield "tools", ", ".join(agent.tools) or "those that its step names"
    yield "model", agent.model or f"{executor.model}, the model of the run"
    yield "effort", agent.effort or f"{executor.effort}, the effort of the run"
    yield "instructions", agent.instructions


MAX_AGENTS = 100
"""Every prompt of the planner lists all of them."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_RESERVED_NAMES = frozenset({"new"})
"""What is the address of something else."""
_STALE = "Someone changed this agent since you opened it. Reload the page, then change what is there now."


SAMPLE_AGENT = "legal-notices-writer"
"""An agent that comes with pevsite, as a start for one's own: `agent_templates/NAME.json`."""


@cache
def sample_agent() -> AgentDefinition:
    text = package_files("runs").joinpath("agent_templates", f"{SAMPLE_AGENT}.json").read_text("utf-8")
    return AgentDefinition.model_validate_json(text)


def all_agents() -> Sequence[Agent]:
    """All agents by name, with who changed them."""
    return list(Agent.objects.select_related("changed_by").order_by("name"))


def add_agent(user: User, name: str, definition: AgentDefinition) -> Agent:
    """A new agent. Raises InvalidInput with the sentence for the person, NotAllowed for no administrator."""
    _check(user, definition)
    if not _NAME.fullmatch(name) or len(name) > 60 or name in _RESERVED_NAMES:
        raise InvalidInput("Give the agent a name of small letters, digits and hyphens, such as legal-notices-writer.")
    if Agent.objects.count() >= MAX_AGENTS:
        raise InvalidInput(f"There are {MAX_AGENTS} agents, and no more are allowed. Delete one that is not needed.")
    try:
        with transaction.atomic():
            agent = Agent.objects.create(name=name, definition=definition, changed_by=user, changed_at=timezone.now())
            _record(user, name, after=definition)
            return agent
    except IntegrityError as error:
        raise InvalidInput(f"There is an agent “{name}” already. Change that one, or choose another name.") from error


def edit_agent(user: User, agent: Agent, definition: AgentDefinition, seen: str) -> None:
    """Replace the definition of the time `seen` (ISO 8601), when it had been changed
    last. Raises InvalidInput, also where someone else has changed it since; NotAllowed for no administrator.
    """
    _check(user, definition)
    there = Agent.objects.filter(pk=agent.pk, changed_at=agent.changed_at)
    now = {"definition": definition, "changed_by": user, "changed_at": timezone.now()}
    with transaction.atomic():
        if agent.changed_at.isoformat() != seen or not there.update(**now):  # another may be faster in between
            raise InvalidInput(_STALE)
        _record(user, agent.name, before=agent.definition, after=definition)


def delete_agent(user: User, agent: Agent) -> None:
    """Raises NotAllowed for no administrator. Attempts keep what they were done with."""
    if not is_administrator(user):
        raise NotAllowed("Only an administrator changes agents.")
    with transaction.atomic():
        Agent.objects.filter(pk=agent.pk).delete()
        _record(user, agent.name, before=agent.definition)


def _record(
    user: User, name: str, *, before: AgentDefinition | None = None, after: AgentDefinition | None = None
) -> None:
    """The line of the audit trail, with the digests that approvals of plans are bound to."""
    audit_trail.record(
        AuditKind.SETTING_CHANGED,
        by=user,
        subject=f"agent {name}",
        name="definition",
        before=before.digest if before else "",
        after=after.digest if after else "",
    )


def _check(user: User, definition: AgentDefinition) -> None:
    if not is_administrator(user):
        raise NotAllowed("Only an administrator changes agents.")
    if definition.model.startswith(RULES):
        raise InvalidInput(f"{definition.model} follows no instructions. Name a model, or leave the field empty.")
    known = tool_names()
    if unknown := [name for name in definition.tools if name not in known]:
        raise InvalidInput(f"There is no tool “{unknown[0][:60]}”. There are: {', '.join(sorted(known))}.")
