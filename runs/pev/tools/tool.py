"""What each tool declares, and the limits of its answers.

A tool is a class in a module of this package, and `registry` finds it. The fields are the tool's input. Models get
their schema and the description.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar

from runs.contracts.base import Contract, JsonObject, schema_for
from runs.contracts.ports import Original, Reach, ToolResult, ToolSpec, Workspace
from runs.enums import Effect, OriginalPages
from runs.evidence.sources import FailedSearch
from runs.pev.conversation.window import MAX_RESULT_CHARS, result_chars
from runs.pev.read_set import ReadTracker


@dataclass(frozen=True)
class ToolLimits:
    """`result_chars`: of one answer. `file_bytes`: of a written file. `hit_chars`: of a line that search finds.
    `originals`: which pages are shown as pictures next to their text.
    """

    result_chars: int = MAX_RESULT_CHARS
    file_bytes: int = 5_000_000
    search_seconds: float = 2.0
    listed_files: int = 500
    hits: int = 200
    hit_chars: int = 300
    originals: OriginalPages = OriginalPages.NEVER


def limits_for(window: int | None, originals: OriginalPages = OriginalPages.NEVER) -> ToolLimits:
    """Returns the default limits. A model with a small context window gets smaller answers and reads on in parts."""
    usual = ToolLimits()
    return replace(usual, result_chars=result_chars(window, usual.result_chars), originals=originals)


NO_COMMANDS: Mapping[str, str] = MappingProxyType({})


class Resource(StrEnum):
    """What a tool works with beyond the files of the run. Installation and policy decide which of them a run has."""

    COMMANDS = "commands"
    PAGES = "pages"
    PEOPLE = "people"
    SUBAGENTS = "subagents"
    SERVICE = "service"


def resources_of(reach: Reach) -> frozenset[Resource]:
    """Subagents and tools of the service are not among them: `RunTools` carries out neither."""
    there = {Resource.COMMANDS: reach.commands, Resource.PAGES: reach.pages, Resource.PEOPLE: reach.people}
    return frozenset(resource for resource, port in there.items() if port is not None)


class Results(StrEnum):
    """What the results of a tool rest on, which decides what they prove."""

    FILES = "files"
    """They repeat files, which are sources themselves."""
    FINDINGS = "findings"
    """Our code has found, counted or calculated them."""
    COMMAND = "command"
    """A command of the installation has printed them."""
    WEB = "web"
    """Strangers have written all but the first line."""
    WORDS = "words"
    """They say what was done, or what a person or a model has said."""


class Shows(StrEnum):
    """What a tool that reads files shows of them."""

    NONE = "none"
    NAMES = "names"
    TEXTS = "texts"


@dataclass(frozen=True)
class ToolContext:
    """What a call may use."""

    workspace: Workspace
    reach: Reach
    limits: ToolLimits


class Tool(Contract):
    """The base class of all tools."""

    name: ClassVar[str]
    """As models and plans call it."""
    effect: ClassVar[Effect]
    """What calls touch, which decides whether people are asked."""
    description: ClassVar[str]
    """The description for models. Small models get only its first sentence."""
    results: ClassVar[Results]
    shows: ClassVar[Shows] = Shows.TEXTS
    requires: ClassVar[Resource | None] = None
    """What there has to be beyond files."""
    needs: ClassVar[str] = ""
    """Says in words how a run gets what the tool requires."""
    instead: ClassVar[str] = ""
    """The name of a tool that does as well where this one is missing."""
    refusal: ClassVar[str] = ""
    """The error for a model that calls the tool although what it requires is missing; a general one if empty."""
    depends_on_time: ClassVar[bool] = False
    """Whether the same call gives something else at another time, so that a result of it is never reused."""
    is_basic: ClassVar[bool] = False
    """Whether models that are asked in the simple form have it, whatever the plan names."""
    web_verb: ClassVar[str] = "reads"
    """What a tool does with the web whose effect is to read it."""
    subject_field: ClassVar[str] = ""
    """The field that says what a call is about. If empty, it is the first of `registry.SUBJECTS`."""

    @classmethod
    def spec(cls, commands: Mapping[str, str] = NO_COMMANDS) -> ToolSpec:
        """The description for models. `commands`: the command lines that can be run, by their names."""
        schema = {key: value for key, value in schema_for(cls).items() if key != "title"}
        schema["required"] = [name for name, field in cls.model_fields.items() if field.is_required()]
        return ToolSpec(cls.name, cls.description, schema, cls.effect)

    def run(self, context: ToolContext) -> ToolResult:
        """The text for the model, with the parts of files that it shows. Raises InvalidInput with a sentence that the
        model can act on. Tools that something else carries out do not have it.
        """
        raise NotImplementedError

    def looks_at(self, looks: ReadTracker) -> None:
        """Note every file that a result may depend on, as long as the call is not refused."""
        if self.requires is None:
            looks.everything()

    @classmethod
    def calculation_in(cls, arguments: JsonObject) -> str:
        """What a call has computed that was carried out; empty for all that is no calculation."""
        return ""

    @classmethod
    def missing_in(cls, arguments: JsonObject, result: str) -> FailedSearch | None:
        """What a call that was carried out looked for and did not find; None if it found something."""
        return None

    @classmethod
    def originals(
        cls, workspace: Workspace, arguments: JsonObject, result: ToolResult, limits: ToolLimits
    ) -> Sequence[Original]:
        """The pages to be shown as they look next to this result."""
        return ()
