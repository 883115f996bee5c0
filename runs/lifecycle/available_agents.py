"""The agents of this installation as they are now: who they are, which of them a run can have, what approvals bind."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.utils import timezone

from runs.accounting.prices import price_of
from runs.enums import Role
from runs.models import Agent, Plan
from runs.pev.agents import NO_AGENTS, AgentDefinition, AgentRoster, named_in, policy_for_agent, subagents_of
from runs.pev.contracts import PlanContract, PlanStep
from runs.pev.policy import RULES, Policy
from runs.text.diff import DiffBudget, TextChange, word_diff

PART = "agent "
"""What the parts of an approval's fingerprint are called by, before the name."""


def agent_roster(policy: Policy, plan: PlanContract | None = None) -> AgentRoster:
    """Those that steps of a run with this policy may name. With a `plan`, as far as that needs to be known: nothing is
    read where its steps name none.
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
    """What an approval is bound to, a part for each agent: the digest of what it is; empty for one that is gone."""
    there = Agent.objects.definitions(names)
    return {f"{PART}{name}": there[name].digest if name in there else "" for name in sorted(names)}


def as_bound(fingerprint: Mapping[str, str]) -> dict[str, AgentDefinition]:
    """The agents of an approval with this fingerprint, by name: those that still are what it is bound to."""
    names = [part.removeprefix(PART) for part in fingerprint if part.startswith(PART)]
    there = Agent.objects.definitions(names)
    return {name: one for name, one in there.items() if one.digest == fingerprint[f"{PART}{name}"]}


def change_of(part: str, digest: str) -> str:
    """In words what happened to the agent of a part of a fingerprint, which is bound to `digest` now; empty for a part
    that is no agent's.
    """
    if not part.startswith(PART):
        return ""
    return f"the agent {part.removeprefix(PART)} {'was changed' if digest else 'is not there any more'}"


def as_used(name: str, used: Iterable[AgentDefinition | None]) -> str:
    """The name, with how the digests begin of what the agent was when it was used."""
    digests = dict.fromkeys(one.digest[:12] for one in used if one)
    return f"{name} ({', '.join(digests)})" if digests else name


@dataclass(frozen=True)
class NamedAgent:
    """An agent of a plan as it is now, with the names of the steps that name it, and of those that may hand `parts` of
    them to it. `definition`: None where it is not there (any more). `changed`: it is another than the one that was
    approved last; `changes`: in what, as far as what was approved is known.
    """

    name: str
    steps: tuple[str, ...]
    parts: tuple[str, ...]
    definition: AgentDefinition | None
    changed: bool
    changes: tuple[TextChange, ...] = ()

    @property
    def problem(self) -> str:
        """What became of it since it was named or approved, as a sentence; empty if nothing did."""
        if self.definition is None:
            return f"The agent {self.name} is not there any more."
        return f"The agent {self.name} was changed since this plan was approved." if self.changed else ""


def named_by(plan: Plan, steps: Iterable[PlanStep], policy: Policy) -> list[NamedAgent]:
    """The agents and subagents of a plan with these steps, by name. No query where it has none."""
    there, bound_to, known = Agent.objects.definitions(plan.agents), plan.approval_fingerprint or {}, list(steps)
    approved, budget = plan.approved_agents, DiffBudget()
    found = []
    for name in plan.agents:
        agent, before = there.get(name), approved.get(name)
        # of one that is asked about again the fingerprint is gone
        was = bound_to.get(f"{PART}{name}", before.digest if before else None)
        changed = was is not None and was != (agent.digest if agent else "")
        whole = tuple(one.name for one in known if one.agent == name)
        parts = tuple(one.name for one in known if name in subagents_of(one, policy))
        differs = tuple(changes(before, agent, budget)) if before and agent else ()
        found.append(NamedAgent(name, whole, parts, agent, changed, differs))
    return found


def changes(before: AgentDefinition, after: AgentDefinition, budget: DiffBudget) -> Iterator[TextChange]:
    """What of that which decides how a step is carried out differs, word by word."""
    for (what, old), (_, new) in zip(_texts(before), _texts(after), strict=True):
        if old != new:
            yield TextChange(what, old, new, word_diff(old, new, budget))


def _texts(agent: AgentDefinition) -> Iterator[tuple[str, str]]:
    yield "instructions", agent.instructions
    yield "model", agent.model or "that of the run"
    yield "effort", agent.effort or "that of the run"
    yield "tools", ", ".join(agent.tools) or "what its step says"
