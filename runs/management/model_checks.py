"""Asks the model of each role, says in words what its server honours, and stores the result."""

import os
from collections.abc import Callable

from runs.engine import probes
from runs.enums import Role
from runs.llm.capabilities import capability, is_asked_simply, known_capability, window_of
from runs.llm.client import Clients
from runs.llm.model_servers import ModelServer, configured_models, configured_window, server_for
from runs.llm.probe import ProbeReport, probe
from runs.rehearsal.model import MODELS
from runs.submission.policy_presets import current_service

_FIELDS = {
    "streaming": ("Streaming", "yes", "no"),
    "tools": ("Tools", "called when it was told to", "not called when it was told to"),
    "forced_tool": ("A tool that is demanded", "called", "not called"),
    "no_tools": ("Tools that are forbidden", "not called", "called all the same"),
    "format": ("Format of the answer", "kept", "not kept"),
    "whole_form": ("Form of the answer without that", "kept", "not kept"),
    "images": ("Pictures", "seen", "not seen"),
    "documents": ("Pages of PDF files", "read", "not read"),
    "usage": ("Tokens used", "reported", "not reported, so that no budget can be kept"),
}


def check(say: Callable[[str], object], seconds: float) -> list[Role]:
    """Ask the model of each role within so many seconds, say the results line by line, and store them.

    Returns the roles whose model cannot be used.
    """
    say(current_service().for_operators)
    clients, found, unusable = Clients(), dict[tuple[ModelServer, str], ProbeReport](), list[Role]()
    for role, model in configured_models(os.environ).items():
        server = server_for(role, os.environ)
        say(f"\n{role.capitalize()}: “{model}” on {server.host}")
        if model in MODELS:
            say("  The offline rules answer: there is nothing to ask.")
            continue
        if (server, model) not in found:
            found[server, model] = _ask(clients, server, model, seconds)
        for line in _lines(role, model, server, found[server, model]):
            say(f"  {line}")
        if problem := _problem(role, model, server, found[server, model]):
            say(f"  Cannot be used: {problem}")
            unusable.append(role)
    clients.close()
    return unusable


def _ask(clients: Clients, server: ModelServer, model: str, seconds: float) -> ProbeReport:
    finding = probe(clients, server, model, seconds)
    if not finding.problem:
        probes.remember(server, model, finding.probed)
    return finding


def _problem(role: Role, model: str, server: ModelServer, finding: ProbeReport) -> str:
    """Why the model cannot have this role; empty if it can. Executors read and write only with tools."""
    if finding.problem:
        return finding.problem
    if role is Role.EXECUTOR and not finding.probed.tools and not _is_documented(model, server):
        return finding.reasons.get("tools", "an executor reads and writes files by tools, and it called none.")
    return ""


def _lines(role: Role, model: str, server: ModelServer, finding: ProbeReport) -> list[str]:
    """The result of the tests in words, and what follows from it."""
    if finding.problem:
        return []
    lines = [f"Answers: yes, in {finding.seconds:.1f} seconds"]
    for name, (title, yes, no) in _FIELDS.items():
        shown = getattr(finding.probed, name)
        if shown is None and name not in finding.reasons:
            continue  # it was not asked
        words = yes if shown else "unknown" if shown is None else no
        reason = finding.reasons.get(name)
        lines.append(f"{title}: {words}{f' ({reason})' if reason else ''}")
    if _is_documented(model, server):
        lines.append("Everything else: as the model's documentation says")
    return [*lines, _context(role, model, server, finding), _use(role, model, server)]


def _context(role: Role, model: str, server: ModelServer, finding: ProbeReport) -> str:
    window = window_of(model, role)
    if window is None:
        return f"Context: unknown. Set PEV_CONTEXT_TOKENS or PEV_CONTEXT_TOKENS_{role.upper()} to its tokens"
    by = (
        "configured" if configured_window(role, os.environ) else "the server says" if finding.probed.window else "known"
    )
    return f"Context: {window:,} tokens, as {by}"


def _use(role: Role, model: str, server: ModelServer) -> str:
    capabilities = capability(model, server)
    if capabilities.format:
        how = "in their format"
    elif capabilities.forced_tool:
        how = "as calls of a tool, which are demanded"
    elif is_asked_simply(model, role):
        how = "by the prompt alone, as JSON in a short form"
    else:
        how = "by the prompt alone, as JSON"
    return f"So answers are asked for {how}; all are checked"


def _is_documented(model: str, server: ModelServer) -> bool:
    return server.is_anthropic and known_capability(model) is not None
