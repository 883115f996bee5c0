"""Who answers: Claude, another server that speaks the same API, or the rehearsal without AI."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from runs.enums import Provider, Role

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
"""The ids under which the rehearsal plays each role; they stand in the policies of stored runs."""
HOW_TO_CONNECT = (
    "set a key (ANTHROPIC_API_KEY) or the base URL (ANTHROPIC_BASE_URL) of another or a local server that speaks the "
    "Messages API, and start pevsite again"
)


@dataclass(frozen=True)
class Service:
    """Who answers new runs. `sentence` is the line on the first page; `models` the default per role."""

    provider: Provider
    sentence: str
    models: Mapping[Role, str]


def service(environ: Mapping[str, str]) -> Service:
    """Read from the environment: the key, the base URL, the models. Keys are looked at, never kept."""
    base = environ.get("ANTHROPIC_BASE_URL", "")
    host = urlsplit(base).netloc.rpartition("@")[2]
    if base and not _is_anthropic(base):
        models = {role: environ.get(f"PEV_MODEL_{role.upper()}") or _CLAUDE[role] for role in _CLAUDE}
        return Service(Provider.COMPATIBLE, f"Another server answers, with the Messages API: {host}", models)
    if environ.get("ANTHROPIC_API_KEY") or environ.get("ANTHROPIC_AUTH_TOKEN"):
        models = {role: environ.get(f"PEV_MODEL_{role.upper()}") or _CLAUDE[role] for role in _CLAUDE}
        return Service(Provider.CLAUDE, f"Claude answers: {', '.join(dict.fromkeys(models.values()))}", models)
    sentence = "Offline rules, no AI: they can do the sample and the template “Document review” on text files"
    return Service(Provider.OFFLINE, f"{sentence}. To connect a model, {HOW_TO_CONNECT}", REHEARSAL)


def _is_anthropic(base_url: str) -> bool:
    return f".{urlsplit(base_url).hostname or ''}".endswith(".anthropic.com")
