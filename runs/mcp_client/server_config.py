"""Which MCP servers there are, as an administrator writes them, in the form that other programs know; and their tools.

{"mcpServers": {
    "tickets": {"command": "uvx", "args": ["tickets-mcp"], "env": {"TOKEN": "${TICKETS_TOKEN}"},
                "effects": {"search": "reads"}, "repeatable": ["close"], "account": "robot@example.com",
                "tools": {"close": {"does": "Closes a ticket and tells who opened it.", "can_be_undone": true}}},
    "wiki": {"url": "https://wiki.example/mcp", "headers": {"Authorization": "Bearer ${WIKI_TOKEN}"}}
}}
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from runs.enums import Effect
from runs.errors import InvalidInput

SEPARATOR = "__"
"""Separates the name of a server from that of its tool in the names that models use."""
ALL = "*"
_NAME = re.compile(r"[a-z](?:[a-z0-9]|-(?!$)){0,29}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_EFFECTS = {"reads": Effect.READS_OUTSIDE, "acts": Effect.ACTS}
type Text = Annotated[str, StringConstraints(max_length=4_000)]


MAX_ACCOUNT, MAX_SENTENCE = 120, 200
"""Characters. People read both at each call."""


@dataclass(frozen=True)
class CallTerms:
    """What an administrator says about calls of a tool: as whom they act, what they do, whether that can be undone.

    Empty texts, and None, for what is not said.
    """

    account: str = ""
    does: str = ""
    can_be_undone: bool | None = None

    @property
    def undo(self) -> str:
        match self.can_be_undone:
            case True:
                return "Can be undone"
            case False:
                return "Cannot be undone"
            case None:
                return "Not known whether it can be undone"


def _line(limit: int) -> AfterValidator:
    """Refuses a text that is blank, longer than `limit` characters, or not on one line."""

    def checked(text: str) -> str:
        if not text.strip() or len(text.splitlines()) > 1 or len(text) > limit:
            raise ValueError(f"it has to be one line of 1 to {limit} characters")
        return text.strip()

    return AfterValidator(checked)


def _truth(value: object) -> object:
    """Refuses words and numbers that Pydantic would take for true or false, such as "no" and 1."""
    if value is not None and not isinstance(value, bool):
        raise ValueError("it has to be true or false, without quotation marks; leave it out if it is not known")
    return value


class ToolSettings(BaseModel):
    """What people read at each call of a tool: a sentence on what it does, and whether that can be undone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    does: Annotated[str, _line(MAX_SENTENCE)] = ""
    can_be_undone: Annotated[bool | None, BeforeValidator(_truth)] = None


class ServerConfig(BaseModel):
    """One server: a `command` that communicates over standard input and output, or a `url` (streamable HTTP).

    `effects`: by tool name, with `*` for all others; a tool without an entry acts outside. `repeatable`: tools that may
    be called twice with the same effect as once. `seconds`: the limit of one call. `account`: as whom calls act, in
    words for people; `tools`: what people read about each tool. In `args`, `env`, `headers` and
    `url`, `${NAME}` stands for a variable of the environment, so that no secret needs to be in the file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Text = ""
    args: tuple[Text, ...] = ()
    env: dict[str, Text] = {}
    url: Text = ""
    headers: dict[str, Text] = {}
    effects: dict[str, Literal["reads", "acts"]] = {}
    repeatable: tuple[str, ...] = ()
    seconds: Annotated[float, Field(ge=1, le=600)] = 60.0
    account: Annotated[str, _line(MAX_ACCOUNT)] = ""
    tools: dict[str, ToolSettings] = {}

    @model_validator(mode="after")
    def _one_way(self) -> "ServerConfig":
        if bool(self.command) == bool(self.url):
            raise ValueError("it needs either a command or a url")
        if self.url and not self.url.startswith(("http://", "https://", "${")):
            raise ValueError("its url has to begin with https:// or http://")
        return self

    def effect_of(self, tool: str) -> Effect:
        return _EFFECTS[self.effects.get(tool) or self.effects.get(ALL) or "acts"]

    def terms_of(self, tool: str) -> CallTerms:
        said = self.tools.get(tool, ToolSettings())
        return CallTerms(self.account, said.does, said.can_be_undone)

    def resolved(self) -> "ServerConfig":
        """Returns the configuration with environment variables replaced. Raises InvalidInput for
        one that is not set.
        """
        return self.model_copy(
            update={
                "args": tuple(map(_fill_in, self.args)),
                "env": {name: _fill_in(value) for name, value in self.env.items()},
                "headers": {name: _fill_in(value) for name, value in self.headers.items()},
                "url": _fill_in(self.url),
            }
        )


class _ServersFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mcpServers: dict[str, ServerConfig]  # noqa: N815  as others spell it


def read_servers(path: str) -> Mapping[str, ServerConfig]:
    """Returns the servers of a file by name, or none without a path. Raises InvalidInput with a sentence for its
    author.
    """
    if not path:
        return {}
    try:
        found = _ServersFile.model_validate_json(Path(path).read_bytes()).mcpServers
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "its beginning"
        raise InvalidInput(
            f"{path} cannot be used at {place}: {first['msg'].removeprefix('Value error, ')}."
        ) from error
    wrong = next((name for name in found if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        raise InvalidInput(f"{path} names a server “{wrong[:40]}”: names have small letters, digits and hyphens.")
    return found


def _fill_in(text: str) -> str:
    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise InvalidInput(f"The variable {match[1]} is not set, which an MCP server needs.")
        return found

    return _VARIABLE.sub(value, text)


@dataclass(frozen=True)
class ServerTool:
    """A tool as its server describes it. `schema`: that of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


class Listing(NamedTuple):
    """The usable tools of a server, sorted by name, and a sentence for each unusable one."""

    tools: Sequence[ServerTool]
    problems: Sequence[str]
