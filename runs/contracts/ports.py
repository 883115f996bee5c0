"""What pev needs from outside: a model to ask and a workspace to work in. Values only, no Django.

The engine implements both over the journal, so that an attempt which is run again after a crash is given
the recorded replies and results instead of asking and acting a second time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from runs.contracts.answer_schemas import schema_in_words
from runs.contracts.base import JsonObject
from runs.enums import Effect, Role
from runs.text.domains import Sites


class ByService(NamedTuple):
    """Of a tool that the model's service runs itself, within a reply: how often in one reply and in one attempt, and
    which sites it may read; none for a tool that reads none.
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
        """What a question says of it. Of a tool of ours the same as before there were others, so that replies
        recorded then are found.
        """
        parts = dict(vars(self))
        if self.service is None:
            del parts["service"]
        return parts

    @property
    def shortened(self) -> "ToolSpec":
        """The same with the first sentence of its description, for models that read slowly."""
        first, stop, _ = self.description.partition(". ")
        return replace(self, description=f"{first}.") if stop else self


def names_that_write(specs: Iterable[ToolSpec]) -> frozenset[str]:
    """Those of the tools that write files."""
    return frozenset(spec.name for spec in specs if spec.effect is Effect.WRITES_FILES)


@dataclass(frozen=True)
class Ask:
    """One question to a model, in terms that every server understands; `llm` adds what a model is capable of.

    `messages` only ever grows within a conversation. `last_round` forbids tools in the answer. `stable` names the
    prefixes that other questions begin with too: the system prompt and so many blocks of the first message.
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
        """The system prompt of a model that takes no format: with the schema of its answer."""
        return self.system if self.schema is None else f"{self.system}\n{schema_in_words(self.schema)}"

    @property
    def uses(self) -> dict[str, int]:
        """Of each tool that the service runs itself, how often the reply may use it."""
        return {} if self.last_round else {tool.name: tool.service.uses for tool in self.tools if tool.service}


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply. `input` counts only what was neither read from nor written to the cache. `searches`,
    `fetches` and `code_runs`: how often the service has searched and read the web and run code for it.
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
    """`agent`: the subagent that calls; empty for whoever it works for."""

    id: str
    name: str
    input: JsonObject
    agent: str = ""


SERVED = "_tool_result"
"""How the kinds of blocks end in which a service says what came of its own calls."""


@dataclass(frozen=True)
class Reply:
    """What came back. `content` holds the blocks as they came; `conversation.sendable` is about sending them again."""

    content: tuple[JsonObject, ...]
    stop_reason: str
    model: str
    usage: Usage = field(default_factory=Usage)
    request_id: str = ""

    @property
    def text(self) -> str:
        """What is said behind the last result of the service: before that it only says what it is about to do."""
        kinds = [str(block.get("type")) for block in self.content]
        start = max((at for at, kind in enumerate(kinds, 1) if kind.endswith(SERVED)), default=0)
        return "".join(str(block.get("text", "")) for block in self.content[start:] if block.get("type") == "text")

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        calls = [block for block in self.content if block.get("type") == "tool_use"]
        return tuple(ToolUse(call_id(call), str(call.get("name") or ""), arguments_of(call)) for call in calls)


def call_id(call: JsonObject) -> str:
    """The id of a tool call, as it came; empty where it has none."""
    key = call.get("id")
    return key if isinstance(key, str) else ""


def arguments_of(call: JsonObject) -> JsonObject:
    """The arguments of a tool call; none where they are no object."""
    arguments = call.get("input")
    return arguments if isinstance(arguments, dict) else {}


class Model(Protocol):
    def ask(self, ask: Ask) -> Reply:
        """The model's reply. Raises ModelError when there is none, and ToolsUsedUp, with nothing asked, for a question
        that offers tools of the service which the run may not use any more.
        """
        ...


class ReplyDraft(Protocol):
    """Is told of a reply while it is being written, for people to watch. Nothing of it is kept, or trusted."""

    def begin(self, kind: str, tool: str = "") -> None:
        """A block begins and the one before is whole: `text`, `thinking`, or `tool_use` of the tool of this name."""
        ...

    def add(self, piece: str) -> None:
        """More of the block: of a tool's input and of a structured answer a piece of JSON, cut anywhere."""
        ...


class FileInfo(NamedTuple):
    """`size` in bytes; `sha256` of the content, in hex. As JSON a list of the two."""

    sha256: str
    size: int


type Changes = dict[str, FileInfo | None]
"""What differs from a tree: path to the file that is there now, or to None where it is gone."""


class Workspace(Protocol):
    """The files of an attempt: a tree with the attempt's own changes on top."""

    def files(self) -> Mapping[str, FileInfo]:
        """Path to what is known of the file, sorted by path."""
        ...

    def read(self, path: str) -> bytes:
        """The whole content. Raises KeyError for a path that is not there."""
        ...

    def problem(self, path: str) -> str:
        """Why it cannot be read as text, as a clause behind its name; empty if it can, or if nothing is known of it."""
        ...

    def notes(self, path: str) -> Sequence[str]:
        """What of it could not be read, as sentences."""
        ...

    def extent(self, path: str) -> str:
        """How much a document is, such as "12 pages"; empty for all else."""
        ...

    def is_given(self, path: str) -> bool:
        """Whether it lies there as the task was given it."""
        ...

    def make(self, form: str, data: bytes) -> bytes:
        """A file of this format made of `data` as its maker takes it (`documents.made_files`), outside this process.
        Raises InvalidInput with a clause behind the file's name.
        """
        ...

    def comment(self, path: str, place: tuple[int, int], words: str) -> bytes:
        """The Word file at `path` with a comment at these characters of its text. Raises InvalidInput as `make`."""
        ...

    def write(self, path: str, content: bytes) -> None:
        """Replace or create. Raises PathRefused or UploadRefused; the sentence is for the model."""
        ...


class Answer(NamedTuple):
    """What a person answered, as the `number`th thing that people said in the run. `delegated`: they left it to the
    model, with or without `words`.
    """

    number: int
    person: str
    words: str
    delegated: bool = False


class People(Protocol):
    """Those who answer for the run."""

    def ask(self, question: str, choices: Sequence[str]) -> Answer:
        """What was answered to this question in this run. Raises AnswerAwaited as long as nothing was, and InvalidInput
        where no more may be asked.
        """
        ...


class CommandResult(NamedTuple):
    """How a command has ended. `status`: of its exit, None where it was ended for what `why` says; `output`: what it
    printed, cut in the middle where it is long.
    """

    status: int | None
    output: str
    why: str = ""


class Commands(Protocol):
    """What an administrator lets be run on a copy of the workspace. Nothing of what it writes is kept."""

    @property
    def known(self) -> Mapping[str, str]:
        """Name to command line, as people write it."""
        ...

    def run(self, name: str) -> CommandResult:
        """Raises InvalidInput where there is no such command, or none can be run."""
        ...


class Page(NamedTuple):
    """A page of the web: `address` where it was found, after redirects, when, and what of it is text."""

    address: str
    at: datetime
    text: str


class Pages(Protocol):
    """What models may read of the web."""

    def read(self, address: str) -> Page:
        """Raises InvalidInput for a page that cannot be read, or may not."""
        ...


class Shown(NamedTuple):
    """What a part of a tool's result, the characters from `start` to before `end`, shows of which file.

    `first_line` to `last_line`, from 1, are shown whole, of the `lines` that the file has; where `last_line` is the
    smaller one, only a piece of `first_line` is. All three are 0 where nothing but name and size is shown. `unit`: the
    page, slide or sheet of a document that has such, as "page 7" or "sheet Rents".
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
    """`text` goes to the model and is what `@tool-N` quotes are looked up in. `shown`: which of it shows files.
    `within`: the calls that were carried out for this one, in order; each has its number before it.
    """

    text: str
    is_error: bool = False
    shown: tuple[Shown, ...] = ()
    within: "tuple[tuple[ToolUse, ToolResult], ...]" = ()


class Acting(NamedTuple):
    """Of a call that acts outside. `repeatable`: sent twice it does no more than sent once."""

    repeatable: bool = False


type OriginalKind = Literal["pdf", "picture"]
"""What models take as it is: pages cut from PDF files, and pictures."""


class Original(NamedTuple):
    """A page, from 1, that a model may see as it looks, beside what was read of it."""

    path: str
    sha256: str
    kind: OriginalKind
    page: int
    size: int | None = 0
    """Bytes of the text on it, which models are sent with the page once more; None where it could not be read."""


class Servers(Protocol):
    """The servers beyond this installation whose tools models may call."""

    def specs(self) -> Sequence[ToolSpec]:
        """Their tools, sorted by name."""
        ...

    def acting(self, name: str) -> Acting | None:
        """As of a GuardedToolbox."""
        ...

    def call(self, use: ToolUse) -> ToolResult:
        """Whatever goes wrong is a result with `is_error`."""
        ...


@dataclass(frozen=True)
class Reach:
    """What tools may reach beyond the files; what is None nobody reaches. `service`: what the model's service runs
    itself.
    """

    people: People | None = None
    commands: Commands | None = None
    pages: Pages | None = None
    servers: Servers | None = None
    service: tuple[ToolSpec, ...] = ()


class Toolbox(Protocol):
    def specs(self) -> Sequence[ToolSpec]: ...

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        """The pages to be shown as they look beside this result of this call, which was carried out in this attempt."""
        ...

    def run(self, use: ToolUse) -> ToolResult:
        """Carry out one tool call. Whatever goes wrong is a result with `is_error`, never an exception."""
        ...


class JournaledToolbox(Toolbox, Protocol):
    """One that takes down what it does, and what is done elsewhere."""

    def read_pdf(self, address: str, data: bytes) -> str:
        """What a PDF file says that the model's service has read there. Raises InvalidInput where it cannot be read."""
        ...

    def serve(self, use: ToolUse, result: ToolResult) -> ToolResult:
        """A call that the model's service has carried out itself; its result as it counts from now on."""
        ...

    def note(self, use: ToolUse, result: ToolResult) -> ToolResult:
        """A call whose result was made of other calls, or that is refused."""
        ...


class GuardedToolbox(Toolbox, Protocol):
    """One that says which calls a person has to let go."""

    def acting(self, use: ToolUse) -> Acting | None:
        """How a call that acts outside is to be dealt with; None for all others."""
        ...
