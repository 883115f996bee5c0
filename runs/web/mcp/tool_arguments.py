"""What the tools of the MCP server are called with: the person whose program calls, and the arguments.

Any other argument is refused, also one that claims an approval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from runs.enums import Show, TokenScope
from runs.errors import NotVisible
from runs.models import AccessToken, Run, User
from runs.readmodel.representations import Reader
from runs.reports.formats import TEXT_FORMATS
from runs.submission.submission_checks import MAX_REQUEST

MAX_TEXT = 100_000
"""Characters of a report or a file in one answer."""
MAX_BYTES = 500_000
"""Bytes of a file other than text in one answer."""
MAX_WAIT = 20
"""Seconds. Clients give up after 30 or 60."""
MAX_RUNS = 50


@dataclass(frozen=True)
class Caller:
    """The person whose program calls, by its access token. `site`: the scheme and host of the request, with which
    addresses begin.
    """

    token: AccessToken
    site: str

    @property
    def person(self) -> User:
        return self.token.user

    @property
    def reader(self) -> Reader:
        return Reader(self.person, self.site, reads_decisions=self.token.allows(TokenScope.GATES_READ))

    def run(self, number: int, *related: str, only: Sequence[str] = ()) -> Run:
        """Returns a run, with these related rows and fields. Raises NotVisible with the same words if it does not exist
        or the person may not see it.
        """
        run = self.reader.run(number, *related, only=only)
        if run is None:
            raise NotVisible(f"There is no run {number} that you may see.")
        return run


Dollars = Annotated[Decimal, Field(gt=0, le=100_000, decimal_places=2)]
Minutes = Annotated[int, Field(ge=1, le=30 * 1_440)]
ProgramPreset = Annotated[
    Literal["careful", "balanced"],
    Field(description="careful: people approve every plan and result. balanced: as this installation sets it."),
]
_Run = Annotated[int, Field(strict=True, ge=1, lt=2**63, description="The number of the run.")]


def _known_format(name: str) -> str:
    if name not in TEXT_FORMATS:
        raise ValueError(f"the formats are {', '.join(TEXT_FORMATS)}")
    return name


ReportFormatName = Annotated[str, AfterValidator(_known_format), Field(json_schema_extra={"enum": list(TEXT_FORMATS)})]
_Offset = Annotated[int, Field(ge=0, lt=2**53, description="Where to go on: next_offset of the answer before.")]


class Arguments(BaseModel):
    """The arguments of one tool, or fields that another way in shares with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*")
    @classmethod
    def _has_no_nulls(cls, value: object) -> object:
        """Refuses NUL characters, which not every database can store."""
        parts = value if isinstance(value, tuple) else (value,)
        if any(isinstance(part, str) and "\0" in part for part in parts):
            raise ValueError("null characters cannot be used")
        return value


class ListTemplates(Arguments):
    pass


class GivenFile(Arguments):
    """A file to work on, as text or as base64."""

    path: Annotated[str, Field(max_length=1_000, description="Its path in the run, such as contracts/lease.docx.")]
    text: Annotated[str | None, Field(description="The content of a text file without null characters.")] = None
    base64: Annotated[str | None, Field(description="The content of any other file.")] = None


class SubmittedTask(Arguments):
    """A task as programs submit it, over MCP and over the REST API, apart from its files."""

    request: Annotated[
        str,
        Field(
            description=f"The task in words: at most {MAX_REQUEST:,} characters.",
            examples=["Compare both contracts and list what differs."],
            json_schema_extra={"maxLength": MAX_REQUEST},  # a longer one is refused in the words of the form
        ),
    ]
    template: Annotated[
        str, Field(max_length=40, description="The key of a template from list_templates; else a plan is written.")
    ] = ""
    preset: ProgramPreset = "careful"
    approvers: Annotated[
        tuple[Annotated[str, Field(max_length=150)], ...],
        Field(max_length=50, description="User names of others who may see the run and decide."),
    ] = ()
    no_files: Annotated[bool, Field(description="There are no files for this task. It can end as partial at best.")] = (
        False
    )
    budget_usd: Annotated[
        Dollars | None, Field(description="What all model calls may cost: at most what this site allows.")
    ] = None
    time_limit_minutes: Annotated[
        Minutes | None,
        Field(description="How long it may work, without waiting for people: at most as long as this site allows."),
    ] = None


class SubmitRun(SubmittedTask):
    files: Annotated[tuple[GivenFile, ...], Field(max_length=1_000, description="All files to work on.")] = ()
    submission_id: Annotated[
        UUID | None,
        Field(description="Any UUID of yours: the same one again gives the same run, and not a second one."),
    ] = None


class ListRuns(Arguments):
    show: Annotated[Show, Field(description="mine: those that wait for a decision of your user.")] = Show.ALL
    words: Annotated[str, Field(max_length=200, description="Words that stand in title or request.")] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_RUNS)] = 20
    offset: _Offset = 0


class RunStatusArguments(Arguments):
    run: _Run


class WaitForRun(Arguments):
    run: _Run
    seconds: Annotated[int, Field(ge=1, le=MAX_WAIT)] = MAX_WAIT
    after: Annotated[
        int,
        Field(ge=0, lt=2**63, description="The event of the last answer: what was already said is not waited for."),
    ] = 0


class ReadReport(Arguments):
    run: _Run
    format: ReportFormatName = "markdown"
    offset: _Offset = 0


class ListFilesArguments(Arguments):
    run: _Run
    offset: _Offset = 0


class ReadFileArguments(Arguments):
    run: _Run
    path: Annotated[str, Field(max_length=4_000)]
    version: Annotated[
        Literal["newest", "given"], Field(description="newest: what the run has made of it. given: as submitted.")
    ] = "newest"
    original: Annotated[
        bool, Field(description="The bytes of the file in base64, also where it can be read as text.")
    ] = False
    offset: _Offset = 0
    limit: Annotated[
        int, Field(ge=1, le=MAX_BYTES, description=f"At most so many characters (up to {MAX_TEXT:,}) or bytes.")
    ] = MAX_BYTES
