"""What each model accepts and how much it reads: known, probed or configured.

What is known is from the documentation of the Messages API and its Python package, read on 2026-11-21.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from runs.contracts.base import Contract
from runs.contracts.ports import Ask
from runs.enums import Executor, OriginalPages, Role
from runs.llm.model_servers import ModelServer, configured_window, server_for
from runs.pev.policy import MAX_WINDOW, RULES, Capacities, Capacity, Policy
from runs.pev.prompts import SIMPLE_ROLES


@dataclass(frozen=True)
class Capability:
    """What a model accepts.

    * `format`: structured output.
    * `forced_tool`, `no_tools`: tool_choice with a name, and none.
    * `effort`, `caching`, `adaptive` (thinking): the parameters of these names.
    * `documents`, `images`: PDF files and pictures in questions.
    * `service_tools`: its service searches the web and runs code.
    * `whole_form`: it answers in the form that the prompt shows.
    * `window`: tokens of question and answer together, None if unknown.
    """

    format: bool = False
    effort: bool = False
    caching: bool = False
    adaptive: bool = False
    no_tools: bool = False
    forced_tool: bool = False
    documents: bool = False
    images: bool = False
    service_tools: bool = False
    whole_form: bool = True
    window: int | None = None


class Probed(Contract):
    """What questions to a model on a server have shown. None: not asked, or no conclusive answer."""

    streaming: bool | None = None
    tools: bool | None = None
    forced_tool: bool | None = None
    no_tools: bool | None = None
    format: bool | None = None
    usage: bool | None = None
    documents: bool | None = None
    images: bool | None = None
    whole_form: bool | None = None
    window: int | None = None


_FULL = Capability(
    format=True,
    effort=True,
    caching=True,
    adaptive=True,
    no_tools=True,
    documents=True,
    images=True,
    service_tools=True,
    window=1_000_000,
)
_KNOWN = {
    "claude-opus-5-5": _FULL,
    "claude-sonnet-5-5": _FULL,
    "claude-haiku-5-5": replace(_FULL, forced_tool=True),
    "claude-opus-4-6": replace(_FULL, forced_tool=True),
    "claude-haiku-4-5": replace(
        _FULL, effort=False, adaptive=False, forced_tool=True, service_tools=False, window=200_000
    ),
}
_probed: Mapping[tuple[str, str], Probed] = {}


def use_probed(found: Mapping[tuple[str, str], Probed]) -> None:
    """Uses these probe results from now on. They are keyed by the server's address and the model."""
    global _probed  # one per process, and replaced as a whole, because threads read it at the same time
    _probed = dict(found)


def known_capability(model: str) -> Capability | None:
    """Returns what is known of this model, or None. A dated id such as `claude-haiku-5-5-20261001` counts as its
    family.
    """
    if model in _KNOWN:
        return _KNOWN[model]
    return next((found for name, found in _KNOWN.items() if model.startswith(f"{name}-")), None)


def capability(model: str, server: ModelServer | None = None) -> Capability:
    """Returns what this model accepts on this server (by default Anthropic's).

    On another server, what is known of a model by its name is only assumed, and probe results take precedence. Pages,
    pictures and tools of the service are not assumed, because a server that does not know them may refuse the question.
    """
    server = server or ModelServer()
    assumed = known_capability(model)
    found = _probed.get((server.address, model))
    if assumed and not server.is_anthropic:
        assumed = replace(assumed, documents=False, images=False, service_tools=False)
    if found is None:
        return assumed or Capability()
    if assumed and server.is_anthropic:
        return replace(assumed, window=found.window or assumed.window)
    return replace(
        assumed or Capability(),
        format=found.format is True,
        forced_tool=found.forced_tool is True,
        no_tools=found.no_tools is True,
        documents=found.documents is True,
        images=found.images is True,
        whole_form=found.whole_form is not False,
        window=found.window or (assumed.window if assumed else None),
    )


def capability_of(ask: Ask, environ: Mapping[str, str] = os.environ) -> Capability:
    """Returns what the model of a question accepts on the server of its role."""
    return capability(ask.model, server_for(ask.role, environ))


def capacities(policy: Policy) -> Capacities:
    """Returns the capacities of the models that a run asks, as they are known now."""

    def of(role: Role) -> Capacity:
        window = window_of(policy.model_for(role).model, role)
        return Capacity(pages=pages_for(policy, role), window=window if window and 0 < window <= MAX_WINDOW else None)

    planner = capability(policy.model_for(Role.PLANNER).model, server_for(Role.PLANNER, os.environ))
    by_messages = policy.executor is Executor.MESSAGES  # the Agent SDK has its own prompts
    return Capacities(
        executor=of(Role.EXECUTOR),
        verifier=of(Role.VERIFIER),
        planner_tools=planner.format,
        service_tools=has_service_tools(policy),
        simple=[role for role in SIMPLE_ROLES if by_messages and is_asked_simply(policy.model_for(role).model, role)],
    )


def is_asked_simply(model: str, role: Role, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this role's model is asked in the simple form.

    A planner is asked simply if no format can be enforced and nothing is known of its model, because a whole plan is
    too much for a small model. The other roles are if probing has shown that the model cannot give a whole answer.
    """
    server = server_for(role, environ)
    capabilities = capability(model, server)
    if (
        server.is_anthropic
        or known_capability(model)
        or capabilities.format
        or capabilities.forced_tool
        or model.startswith(RULES)
    ):
        return False
    return role is Role.PLANNER or not capabilities.whole_form


def has_service_tools(policy: Policy, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the executor's model is on a service that runs tools itself."""
    model = policy.model_for(Role.EXECUTOR).model
    return capability(model, server_for(Role.EXECUTOR, environ)).service_tools


def pages_for(policy: Policy, role: Role, environ: Mapping[str, str] = os.environ) -> OriginalPages:
    """Returns which pages a role is shown as pictures: none if its model does not accept them."""
    capabilities = capability(policy.model_for(role).model, server_for(role, environ))
    return policy.original_pages if capabilities.documents or capabilities.images else OriginalPages.NEVER


def window_of(model: str, role: Role, environ: Mapping[str, str] = os.environ) -> int | None:
    """Returns the tokens that question and answer may have together, or None if unknown.

    The configured value takes precedence over the server's, and that over what is known of the model.
    """
    return configured_window(role, environ) or capability(model, server_for(role, environ)).window
