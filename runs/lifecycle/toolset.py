"""The tools of this installation, of MCP servers and of models' services: which a plan may name, and what they do."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from runs.accounting.prices import price_of_search
from runs.acts.call import terms_by_shape
from runs.contracts.ports import Acting, ToolSpec
from runs.enums import INSIDE, Effect
from runs.isolation.sandbox_mounts import MountView
from runs.llm.capabilities import has_service_tools
from runs.mcp_client.server_config import SEPARATOR, CallTerms, ServerTool
from runs.models import ServerListing
from runs.pev.contracts import Criterion, PlanStep
from runs.pev.policy import Policy
from runs.pev.tools.registry import TOOLS, effect_of
from runs.pev.tools.service_tools import specs_of_service, what_they_cost
from runs.pev.tools.tool import Resource
from runs.text.domains import sites


def server_tools(names: Iterable[str]) -> Mapping[str, ServerTool]:
    """The tools of those of these servers that are still configured, by the name that models use."""
    known = sorted(set(names) & settings.MCP.keys())
    rows = ServerListing.objects.filter(name__in=known).order_by("name") if known else ()
    return {f"{row.name}{SEPARATOR}{tool.name}": tool for row in rows for tool in row.tools}


def server_specs(policy: Policy) -> list[ToolSpec]:
    """The specifications of the tools of the servers that the policy names."""
    return [
        ToolSpec(
            name, f"{tool.description}\n(A tool of the MCP server {server_of(name)}.)", tool.schema, server_effect(name)
        )
        for name, tool in sorted(server_tools(policy.servers).items())
    ]


def is_of_a_server(name: str) -> bool:
    return SEPARATOR in name


def server_of(name: str) -> str:
    return name.partition(SEPARATOR)[0]


def tool_of(name: str) -> str:
    return name.partition(SEPARATOR)[2]


def server_effect(name: str) -> Effect:
    """The effect of a tool of a server. If the server is not configured any more, the most severe one is assumed."""
    config = settings.MCP.get(server_of(name))
    return config.effect_of(tool_of(name)) if config else Effect.ACTS


def acting_of(name: str) -> Acting | None:
    """How to deal with a call that acts outside; None for a call that only reads."""
    if server_effect(name) is not Effect.ACTS:
        return None
    config = settings.MCP.get(server_of(name))
    return Acting(repeatable=config is not None and tool_of(name) in config.repeatable)


def terms_of(name: str) -> CallTerms:
    """What an administrator says about a tool of a server; nothing if the server is not configured any more."""
    config = settings.MCP.get(server_of(name))
    return config.terms_of(tool_of(name)) if config else CallTerms()


def server_tools_bound(policy: Policy) -> object:
    """What an approval is bound to: descriptions, schemas and effects of the tools of the servers."""
    tools = server_tools(policy.servers)
    return [
        [name, tool.description, tool.schema, server_effect(name), acting_of(name)]
        for name, tool in sorted(tools.items())
    ]


def tool_names(policy: Policy | None = None) -> frozenset[str]:
    """The tools that plans may name: those of this installation that the policy allows."""
    is_there = {
        Resource.COMMANDS: settings.COMMANDS and (policy is None or policy.commands),
        Resource.PAGES: settings.WEB and (policy is None or policy.web),
        Resource.PEOPLE: policy is None or policy.questions,
        Resource.SUBAGENTS: policy is None or policy.subagents,
        Resource.SERVICE: True,  # its tools are allowed one by one
    }
    served = settings.SERVICE_TOOLS if policy is None else {spec.name for spec in service_specs(policy)}
    own = {name for name, tool in TOOLS.items() if tool.requires is None or is_there[tool.requires]}
    own -= {name for name, tool in TOOLS.items() if tool.requires is Resource.SERVICE and name not in served}
    return frozenset(own.union(server_tools(policy.servers if policy else settings.MCP)))


def service_specs(policy: Policy, *, capabilities: bool | None = None) -> tuple[ToolSpec, ...]:
    """The executor's service tools that the installation and the policy allow. `capabilities`: whether the service
    offers tools, if that is already known.
    """
    if not (has_service_tools(policy) if capabilities is None else capabilities):
        return ()
    names = settings.SERVICE_TOOLS.intersection(policy.service_tools)
    allowed = sites(policy.web).within(sites(settings.WEB))
    return tuple(specs_of_service(names, allowed, policy.service_uses, policy.service_uses_in_run))


def commands_allowed(policy: Policy) -> Mapping[str, str]:
    """The commands that checks of plans may run, like `command_lines`."""
    return command_lines() if policy.commands else {}


def command_lines() -> Mapping[str, str]:
    """The commands that models may run in this installation: name to command line."""
    return {name: " ".join(shlex.join(argv).split()) for name, argv in settings.COMMANDS.items()}


@dataclass(frozen=True)
class StepEffect:
    """What a step may do, as a clause; `details` are sentences of an administrator about it."""

    words: str
    details: str = ""

    def __str__(self) -> str:
        return f"{self.words}. {self.details}" if self.details else self.words


def effects_of(step: PlanStep, policy: Policy, known: Mapping[str, ServerTool]) -> list[StepEffect]:
    """What a step may do beyond reading and writing files of the run, for people who approve it. `known`: the tools of
    servers.
    """
    elsewhere = sorted(name for name in step.tools if is_of_a_server(name))
    effects = (_effect_of_server_tool(name, known.get(name)) for name in elsewhere)
    return [*map(StepEffect, _own_effects(step, policy)), *effects]


def _effect_of_server_tool(name: str, tool: ServerTool | None) -> StepEffect:
    terms, effect = terms_of(name), server_effect(name)
    if tool:
        terms = terms_by_shape(tool, terms)
    details = [terms.does] if terms.does else []
    if effect is Effect.ACTS:
        account = terms.account or "not named by the administrator"
        details.append(f"Account: {account}. {terms.undo}. Each call needs a decision.")
    return StepEffect(f"{effect.words}: {name}", " ".join(details))


def _own_effects(step: PlanStep, policy: Policy) -> Iterator[str]:
    """The effects of tools that are not of an MCP server."""
    effects = {effect_of(name) for name in step.tools if not is_of_a_server(name)} - INSIDE
    lines = command_lines()
    if Effect.RUNS_COMMANDS in effects:
        yield f"runs {_named(lines) or 'no command'}"
    elif checks := checking_commands(step.acceptance_criteria):
        yield checks
    if Effect.READS_WEB in effects:
        web = [TOOLS[name] for name in step.tools if effect_of(name) is Effect.READS_WEB]
        verb = " and ".join(sorted({tool.web_verb for tool in web}, reverse=True))
        yield f"{verb} the web ({sites(policy.web).words or 'no site'})"
    if Effect.DELEGATES in effects:
        yield f"may hand parts to {', '.join(policy.subagents) or 'no one'}"
        yield "what subagents cost is not in the estimate"
    shown = {Effect.RUNS_COMMANDS, Effect.READS_WEB, Effect.DELEGATES}
    yield from (effect.words for effect in sorted(effects - shown))
    price = price_of_search(timezone.now().date())
    yield from what_they_cost(step.tools, price, policy.service_uses, policy.service_uses_in_run)


def checking_commands(criteria: Iterable[Criterion]) -> str:
    """A clause with the commands that decide criteria; empty if there are none."""
    lines, checks = command_lines(), [one.check for one in criteria if one.check]
    names = dict.fromkeys(name for check in checks for name in check.commands)
    return f"runs {_named({name: lines.get(name, 'not there') for name in names})} as a check" if names else ""


def _named(lines: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({line})" for name, line in lines.items())


def view_of_commands() -> MountView:
    """The parts of the file system that commands can see."""
    return MountView(tuple(settings.COMMAND_FOLDERS), (Path(settings.DATA_DIR),))
