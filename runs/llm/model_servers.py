"""Which server answers each role: its address, the variable with its key, and the configured context.

The service that new runs get follows from that: Claude, other servers with the same API, or the rehearsal without AI.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from runs.enums import Provider, Role
from runs.errors import ModelError

ANTHROPIC = "https://api.anthropic.com"
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
ROLES = (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)
"""Roles with settings of their own. The synthesizer uses the executor's server."""


@dataclass(frozen=True)
class ModelServer:
    """A server. `base_url` is empty for Anthropic's own service.

    The key is in the first of the variables `key_names` that is set; if the tuple is empty, no key is sent. `set_by`:
    the variables that a person would change.
    """

    base_url: str = ""
    key_names: tuple[str, ...] = _KEYS
    set_by: tuple[str, str] = ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")

    @property
    def is_anthropic(self) -> bool:
        """Whether it is Anthropic's own service, the only one about which anything is known without probing."""
        parts = _parts(self.base_url)
        return not self.base_url or (parts is not None and f".{parts.hostname or ''}".endswith(".anthropic.com"))

    @property
    def is_general(self) -> bool:
        """Whether it is the server for roles that name none."""
        return self.key_names == _KEYS

    @property
    def address(self) -> str:
        """The normalised base URL without user, password and query, which may be stored and shown (S5)."""
        parts = _parts(self.base_url or ANTHROPIC)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            return ""
        return f"{parts.scheme}://{_place(parts).lower()}{parts.path.rstrip('/')}"

    @property
    def host(self) -> str:
        """Host name and port, for display."""
        return _place(_parts(self.base_url or ANTHROPIC)) or "an address that is none"

    def key(self, environ: Mapping[str, str]) -> str:
        """Returns the key. Raises ModelError, which says what to set, if it cannot be sent."""
        for name in self.key_names:
            if any(char.isspace() for char in environ.get(name, "")):
                raise _no_key(f"{name} has a space or a line break in it. Set it again and start again.")
        found = next((environ[name] for name in self.key_names if environ.get(name)), "")
        if found:
            return found
        if self.key_names and not self.is_general:
            sentence = f"{self.set_by[1]} has to name a variable that is set and holds the key."
            raise _no_key(f"{sentence} Set both and start again.")  # not what it holds: that may be the key itself
        if not self.is_anthropic:
            return "none"
        if self.key_names:
            raise _no_key("This run needs a model, and there is no ANTHROPIC_API_KEY in the environment of the server.")
        raise _no_key(f"{self.set_by[0]} leads to Anthropic: name the variable with its key in {self.set_by[1]}.")


def server_for(role: Role, environ: Mapping[str, str]) -> ModelServer:
    """Returns the server from the role's own variables, or else from the general ones. The general key is not sent to
    other servers.
    """
    name = (role if role in ROLES else Role.EXECUTOR).upper()
    url_name, key_name = f"PEV_BASE_URL_{name}", f"PEV_API_KEY_ENV_{name}"
    general, own = environ.get("ANTHROPIC_BASE_URL", "").strip(), environ.get(url_name, "").strip()
    key = environ.get(key_name, "").strip()
    if key:
        return ModelServer(own or general, (key,), (url_name if own else "ANTHROPIC_BASE_URL", key_name))
    if own and own != general:
        return ModelServer(own, (), (url_name, key_name))
    return ModelServer(general)


def configured_window(role: Role, environ: Mapping[str, str]) -> int | None:
    """Tokens that a question and its answer may have together, as it was set for this role or for all."""
    name = (role if role in ROLES else Role.EXECUTOR).upper()
    tokens = int(environ.get(f"PEV_CONTEXT_TOKENS_{name}") or environ.get("PEV_CONTEXT_TOKENS") or 0)
    return tokens if tokens > 0 else None


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _place(parts: SplitResult | None) -> str:
    return parts.netloc.rpartition("@")[2] if parts else ""


def _no_key(sentence: str) -> ModelError:
    return ModelError(sentence, kind="no_key", retriable=False)


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
    """The service that answers new runs. `sentence` is for everyone, without a full stop; `advice` says to
    administrators how to connect a model, empty if one is. `models` are the defaults by role.
    """

    provider: Provider
    sentence: str
    models: Mapping[Role, str]
    advice: str = ""

    @property
    def for_operators(self) -> str:
        """The sentence, and the advice behind it."""
        return f"{self.sentence}. {self.advice}".strip()


def service(environ: Mapping[str, str]) -> Service:
    """Returns the service according to the environment: keys, base URLs and models. Keys are checked but not stored.

    Models answer new runs only if every role has a server.
    """
    servers = {role: server_for(role, environ) for role in ROLES}
    without = {role: problem for role, server in servers.items() if (problem := _problem(server, environ))}
    if without:
        known = "the sample and the template “Document review” on texts and documents"
        sentence = f"Offline rules, no AI: they can do {known}"
        reason = "" if len(without) == len(ROLES) and _is_bare(environ) else f"{_missing(without)} "
        return Service(Provider.OFFLINE, sentence, REHEARSAL, f"{reason}To connect a model, {HOW_TO_CONNECT}.")
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
