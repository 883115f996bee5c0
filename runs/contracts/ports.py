"""The ports of pev: a model to ask and a workspace to work in. Values only, no Django.

The engine implements both over the journal. When an attempt is run again after a crash, it gets the recorded replies
and results instead of asking and acting a second time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from runs.contracts.base import JsonObject, schema_in_words
from runs.enums import Effect, Role
from runs.text.domains import Sites


class ByService(NamedTuple):
    """Limits of a tool that the model's service runs within a reply: uses per reply and per attempt, and the sites that
    it may read, if it reads any.
    """

    uses: int
    total: int
    sites: Sites = Sites()


@dataclass(frozen=True)
class ToolSpec:
    name: str
    description: str
    input_schema: JsonObject
    effect: Effect = Effect.READS_FILES
    service: ByService | None = None

    @property
    def parts(self) -> JsonObject:
        """Returns the parts of it that identify a question. For our own tools they are unchanged since before there
        were others, so that replies recorded then are still found.
        """
        parts = dict(vars(self))
        if self.service is None:
            del parts["service"]
        return parts

    @property
    def shortened(self) -> "ToolSpec":
        """Returns the tool with only the first sentence of its description, for slow models."""
        first, stop, _ = self.description.partition(". ")
        return replace(self, description=f"{first}.") if stop else self


def names_that_write(specs: Iterable[ToolSpec]) -> frozenset[str]:
    """Returns the names of the tools that write files."""
    return frozenset(spec.name for spec in specs if spec.effect is Effect.WRITES_FILES)


@dataclass(frozen=True)
class Ask:
    """One question to a model, in terms that every server understands. `llm` adds what depends on the model's
    abilities.

    `messages` only grows within a conversation. `last_round` forbids tools in the answer. `stable` marks prefixes that
    other questions share: the system prompt and so many blocks of the first message.
    """

    role: Role
    model: str
    system: str
    messages: tuple[JsonObject, ...]
    schema_name: str = ""
    schema: JsonObject | None = None
    tools: tuple[ToolSpec, ...] = ()
    last_round: bool = False
    effort: str = "medium"
    max_tokens: int = 16_000
    stable: tuple[int, ...] = ()

    @property
    def instructions(self) -> str:
        """The system prompt for a model that does not support a response format, with the schema of its answer."""
        return self.system if self.schema is None else f"{self.system}\n{schema_in_words(self.schema)}"

    @property
    def uses(self) -> dict[str, int]:
        """How often the reply may use each tool that the service runs."""
        return {} if self.last_round else {tool.name: tool.service.uses for tool in self.tools if tool.service}


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply. `input` excludes tokens read from or written to the cache.

    `searches`, `fetches` and `code_runs` count uses of the service's own tools. `lower_bound`: the service charges for
    more than it has reported.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    searches: int = 0
    fetches: int = 0
    code_runs: int = 0
    lower_bound: bool = False


@dataclass(frozen=True)
class ToolUse:
    """A call of a tool. `agent`: the subagent that calls, or empty for the model of the role."""

    id: str
    name: str
    input: JsonObject
    agent: str = ""


SERVED = "_tool_result"
"""The suffix of the kinds of blocks with results of the service's own tools."""


@dataclass(frozen=True)
class Reply:
    """A model's reply. `content` has the blocks as they came; see `conversation.sendable` for sending them again."""

    content: tuple[JsonObject, ...]
    stop_reason: str
    model: str
    usage: Usage = field(default_factory=Usage)
    request_id: str = ""

    @property
    def text(self) -> str:
        """The text after the last result of the service's tools. Text before it only announces what the model is going
        to do.
        """
        kinds = [str(block.get("type")) for block in self.content]
        start = max((at for at, kind in enumerate(kinds, 1) if kind.endswith(SERVED)), default=0)
        return "".join(str(block.get("text", "")) for block in self.content[start:] if block.get("type") == "text")

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        calls = [block for block in self.content if block.get("type") == "tool_use"]
        return tuple(ToolUse(call_id(call), str(call.get("name") or ""), arguments_of(call)) for call in calls)


def call_id(call: JsonObject) -> str:
    """Returns the id of a tool call as it came, or an empty string."""
    key = call.get("id")
    return key if isinstance(key, str) else ""


def arguments_of(call: JsonObject) -> JsonObject:
    """Returns the arguments of a tool call, or an empty object if they are not an object."""
    arguments = call.get("input")
    return arguments if isinstance(arguments, dict) else {}


class Model(Protocol):
    def ask(self, ask: Ask) -> Reply:
        """Returns the model's reply.

        Raises ModelError if there is none. Raises ToolsUsedUp, without asking, if the question offers tools of the
        service that the run may not use any more.
        """
        ...


class ReplyDraft(Protocol):
    """Receives a reply while it is being written, for people to watch. It is neither stored nor trusted."""

    def begin(self, kind: str, tool: str = "") -> None:
        """Begins a block, which ends the one before: `text`, `thinking`, or `tool_use` of this tool."""
        ...

    def add(self, piece: str) -> None:
        """Adds to the block. Input of tools and structured answers come as JSON that may be cut anywhere."""
        ...


class FileInfo(NamedTuple):
    """`size` in bytes, and the `sha256` of the content in hex. As JSON, a list of the two."""

    sha256: str
    size: int


type Changes = dict[str, FileInfo | None]
"""The differences from a tree: path to the changed file, or to None if it was deleted."""


class Workspace(Protocol):
    """The files of an attempt: a tree, and the attempt's own changes on top."""

    def files(self) -> Mapping[str, FileInfo]:
        """Returns the files by path, sorted."""
        ...

    def read(self, path: str) -> bytes:
        """Returns the whole content. Raises KeyError for an unknown path."""
        ...

    def problem(self, path: str) -> str:
        """Returns why the file cannot be read as text, as a clause that continues its name, or an empty string."""
        ...

    def notes(self, path: str) -> Sequence[str]:
        """Returns sentences on what could not be read."""
        ...

    def extent(self, path: str) -> str:
        """Returns the size of a document, such as "12 pages", or an empty string."""
        ...

    def is_given(self, path: str) -> bool:
        """Whether the file is unchanged since it was given with the task."""
        ...

    def make(self, form: str, data: bytes) -> bytes:
        """Makes a file of this format from `data` (see `documents.made_files`) in an isolated process.

        Raises InvalidInput with a clause that continues the file's name.
        """
        ...

    def comment(self, path: str, place: tuple[int, int], words: str) -> bytes:
        """Returns the Word file at `path` with a comment on these characters of its text. Raises InvalidInput like
        `make`.
        """
        ...

    def write(self, path: str, content: bytes) -> None:
        """Creates or replaces a file. Raises PathRefused or UploadRefused with a sentence for the model."""
        ...


class Answer(NamedTuple):
    """A person's answer. `number`: its number among everything that people said in the run.

    `delegated`: the person left the decision to the model, with or without `words`.
    """

    number: int
    person: str
    words: str
    delegated: bool = False


class People(Protocol):
    """The people who answer for the run."""

    def ask(self, question: str, choices: Sequence[str], why: str) -> Answer:
        """Returns the answer to this question in this run. `why`: what it decides, for the person.

        Raises AnswerAwaited until there is one, and InvalidInput if no further question may be asked.
        """
        ...


class CommandResult(NamedTuple):
    """How a command ended. `status`: its exit status, or None if it was stopped for the reason `why`. `output` is cut
    in the middle if it is long.
    """

    status: int | None
    output: str
    why: str = ""


class Commands(Protocol):
    """The commands that an administrator allows on a copy of the workspace. What they write is discarded."""

    @property
    def known(self) -> Mapping[str, str]:
        """Command lines by name."""
        ...

    def run(self, name: str) -> CommandResult:
        """Raises InvalidInput if there is no such command, or if commands cannot be run."""
        ...


class Page(NamedTuple):
    """A web page: its `address` after redirects, when it was read, and its text."""

    address: str
    at: datetime
    text: str


class Pages(Protocol):
    """The web pages that models may read."""

    def read(self, address: str) -> Page:
        """Raises InvalidInput for a page that cannot or may not be read."""
        ...


class Shown(NamedTuple):
    """Which part of a file the characters from `start` to before `end` of a tool's result show.

    Lines from `first_line` to `last_line`, from 1, are shown whole; the file has `lines` lines. If `last_line` is less
    than `first_line`, only a part of `first_line` is shown. All three are 0 if only name and size are shown. `unit`:
    the page, slide or sheet of a document, such as "page 7" or "sheet Rents".
    """

    path: str
    sha256: str
    start: int
    end: int
    first_line: int = 0
    last_line: int = 0
    lines: int = 0
    unit: str = ""


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call. `text` goes to the model, and `@tool-N` quotes are looked up in it. `shown`: the parts
    of it that show files.

    `within`: the calls that were carried out for this one, in order. Their numbers precede its own.
    """

    text: str
    is_error: bool = False
    shown: tuple[Shown, ...] = ()
    within: "tuple[tuple[ToolUse, ToolResult], ...]" = ()


class Acting(NamedTuple):
    """A call that acts outside. `repeatable`: sending it twice has the same effect as sending it once."""

    repeatable: bool = False


type OriginalKind = Literal["pdf", "picture"]
"""Formats that models take unchanged: pages cut from PDF files, and pictures."""


class Original(NamedTuple):
    """A page, from 1, that a model may see as a picture next to its text."""

    path: str
    sha256: str
    kind: OriginalKind
    page: int
    size: int | None = 0
    """Bytes of its text, which models are sent again with the page. None if the text could not be read."""


class Servers(Protocol):
    """External servers whose tools models may call."""

    def specs(self) -> Sequence[ToolSpec]:
        """Returns their tools, sorted by name."""
        ...

    def acting(self, name: str) -> Acting | None:
        """As in GuardedToolbox."""
        ...

    def call(self, use: ToolUse) -> ToolResult:
        """Calls a tool. Every failure is a result with `is_error`."""
        ...


@dataclass(frozen=True)
class Reach:
    """What tools may use in addition to the files, None if unavailable. `service`: tools that the
    model's service runs.
    """

    people: People | None = None
    commands: Commands | None = None
    pages: Pages | None = None
    servers: Servers | None = None
    service: tuple[ToolSpec, ...] = ()


class Toolbox(Protocol):
    def specs(self) -> Sequence[ToolSpec]: ...

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        """Returns the pages to show as pictures next to this result of a call of this attempt."""
        ...

    def run(self, use: ToolUse) -> ToolResult:
        """Carries out one tool call. Every failure is a result with `is_error`, never an exception."""
        ...


class JournaledToolbox(Toolbox, Protocol):
    """A toolbox that records its calls and those carried out elsewhere."""

    def read_pdf(self, address: str, data: bytes) -> str:
        """Returns the text of a PDF file that the model's service has read at the address. Raises InvalidInput if it is
        unreadable.
        """
        ...

    def serve(self, use: ToolUse, result: ToolResult) -> ToolResult:
        """Records a call that the model's service has carried out. Returns the result to use from now on."""
        ...

    def note(self, use: ToolUse, result: ToolResult) -> ToolResult:
        """Records a call that is refused, or whose result was made from other calls."""
        ...


class GuardedToolbox(Toolbox, Protocol):
    """A toolbox that says which calls a person must approve."""

    def acting(self, use: ToolUse) -> Acting | None:
        """Returns how to treat a call that acts outside, or None for all others."""
        ...
