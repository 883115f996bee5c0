"""Which service answers: Claude, another server with the same API, or the rehearsal without AI."""

from collections.abc import Mapping
from dataclasses import dataclass

from runs.enums import Provider, Role
from runs.errors import ModelError
from runs.llm.model_servers import ROLES, ModelServer, server_for

_CLAUDE = {
    Role.PLANNER: "claude-opus-5-5",
    Role.EXECUTOR: "claude-sonnet-5-5",
    Role.VERIFIER: "claude-haiku-5-5",
}
REHEARSAL = {
    Role.PLANNER: "offline-planner",
    Role.EXECUTOR: "offline-executor",
    Role.VERIFIER: "offline-verifier",
}
"""The model ids of the rehearsal by role. They are in the policies of stored runs."""
HOW_TO_CONNECT = (
    "set a key (ANTHROPIC_API_KEY) or the base URL (ANTHROPIC_BASE_URL) of another or a local server that speaks the "
    "Messages API, and start pevsite again"
)


@dataclass(frozen=True)
class Service:
    """The service that answers new runs. `sentence` is shown on the start page; `models` are the defaults by role."""

    provider: Provider
    sentence: str
    models: Mapping[Role, str]


def service(environ: Mapping[str, str]) -> Service:
    """Returns the service according to the environment: keys, base URLs and models. Keys are checked but not stored.

    Models answer new runs only if every role has a server.
    """
    servers = {role: server_for(role, environ) for role in ROLES}
    without = {role: problem for role, server in servers.items() if (problem := _problem(server, environ))}
    if without:
        known = "the sample and the template “Document review” on texts and documents"
        sentence = f"Offline rules, no AI: they can do {known}"
        reason = "" if len(without) == len(ROLES) and _is_bare(environ) else f" {_missing(without)}"
        return Service(Provider.OFFLINE, f"{sentence}.{reason} To connect a model, {HOW_TO_CONNECT}", REHEARSAL)
    models = configured_models(environ)
    if all(server.is_anthropic for server in servers.values()):
        return Service(Provider.CLAUDE, f"Claude answers: {', '.join(dict.fromkeys(models.values()))}", models)
    hosts = {role: server.host for role, server in servers.items()}
    if len(set(hosts.values())) == 1:
        sentence = f"Another server answers, with the Messages API: {hosts[Role.PLANNER]}"
    else:
        sentence = f"Several servers answer, with the Messages API: {', '.join(f'{r} {h}' for r, h in hosts.items())}"
    return Service(Provider.COMPATIBLE, sentence, models)


def configured_models(environ: Mapping[str, str]) -> dict[Role, str]:
    """Returns the models that answer new runs once every role has a server."""
    return {role: environ.get(f"PEV_MODEL_{role.upper()}") or _CLAUDE[role] for role in ROLES}


def _problem(server: ModelServer, environ: Mapping[str, str]) -> str:
    """Returns why no model answers there, or an empty string. An unusable key is reported only when it is used."""
    if any(environ.get(name) for name in server.key_names):
        return ""
    try:
        server.key(environ)
    except ModelError as error:
        return str(error)
    return ""


def _is_bare(environ: Mapping[str, str]) -> bool:
    """Whether nothing is configured, which needs no explanation."""
    return not any(name.startswith(("PEV_BASE_URL_", "PEV_API_KEY_ENV_")) and environ[name] for name in environ)


def _missing(without: Mapping[Role, str]) -> str:
    return f"No model would answer as {' and '.join(without)}: {next(iter(without.values()))}"
