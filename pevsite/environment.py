"""The settings of an installation: every environment variable that pevsite reads, declared once.

`pevsite/settings.py` turns the values into Django's settings. `manage.py check_setup` lists them, and
`manage.py document_settings` makes docs/settings.md from this table.
"""

import os
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from annotated_types import Ge, Le
from django.core.exceptions import ImproperlyConfigured
from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict
from rapidfuzz import process

from pevsite import setting_values as values
from pevsite.installation import usual_data_dir
from runs.contracts.quotas import Quotas
from runs.enums import GateKind, PersonRole
from runs.mcp_client.server_config import ServerConfig
from runs.people.identity_provider import IdentityProvider
from runs.pev.decision_limits import DecisionLimits, parse_installation
from runs.redaction import redacted

PREFIX = "PEV_"


class Form(NamedTuple):
    """How the value of a setting is written, in words, for the documentation and for errors."""

    words: str


def _digits(text: object) -> object:
    """Only plain digits: int() also takes 1_000, +5 and the figures of other scripts."""
    if isinstance(text, str) and not (text.isascii() and text.isdigit()):
        raise PydanticCustomError("digits", "not a whole number")
    return text


def _whole_path(path: Path) -> Path:
    return path.expanduser().resolve()


Switch = bool
Count = Annotated[int, BeforeValidator(_digits)]
Secret = Annotated[SecretStr, BeforeValidator(values.no_comment)]
Address = Annotated[str, Form("an address")]
ModelId = Annotated[str, Form("a model id")]


_MODEL = "The model of new runs for this role. With a base URL it must be set."
_BASE_URL = "A server for this role alone, such as a verifier of another provider."
_KEY_NAME = (
    "The name of the variable with the key of this role's server. Without it, a server for one role gets no key."
)
_CONTEXT = "The same, for this role."
NO_SECRET = SecretStr("")


def _variable(field: str) -> str:
    return field.upper() if field.startswith(("anthropic_", "otel_")) else f"{PREFIX}{field.upper()}"


class Environment(BaseSettings):
    """One field for each variable, in the order of the documentation. A blank value counts as none.

    A Secret is never shown. The bounds of numbers also keep out values that would fail later, such as days that no
    date can hold.
    """

    model_config = SettingsConfigDict(
        alias_generator=_variable,
        case_sensitive=True,
        enable_decoding=False,  # no value is JSON
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        validate_default=False,
    )

    # Where data lies
    data_dir: Annotated[Path, AfterValidator(_whole_path), Form("a folder")] = Field(
        default_factory=lambda: _whole_path(usual_data_dir()),
        description="The folder of the database, the files and the installation's key. Without it: `.data` in a "
        "checkout, and the user's data folder for an installed package. It must be on a local disk, because SQLite's "
        "locks cannot be trusted on network file systems.",
    )
    database_url: Annotated[
        Secret,
        values.needs("scale", "dj_database_url", "psycopg_pool"),  # first: the next one imports a part of it
        AfterValidator(values.postgres_address),
        Form("`postgres://user:password@host:5432/name`"),
    ] = Field(NO_SECRET, description="A PostgreSQL database, instead of SQLite in the data folder.")
    redis_url: Annotated[
        Secret,
        AfterValidator(values.redis_address),
        values.needs("scale", "channels_redis"),
        Form("`redis://:password@host:6379/0`"),
    ] = Field(NO_SECRET, description="Redis, which carries messages between several processes.")
    engine: Literal["embedded", "celery"] = Field(
        "embedded", description="`celery`: Celery workers carry out the work and are notified through Redis."
    )
    blobs: Annotated[
        str,
        AfterValidator(values.bucket_address),
        values.needs("scale", "boto3", "storages"),
        Form("`s3://bucket/prefix`"),
    ] = Field(
        "",
        description="A bucket for the files of runs, instead of the data folder. `AWS_…` variables say how to "
        "reach it.",
    )
    secret_key: Secret = Field(
        NO_SECRET,
        description="The installation's key, instead of the file `secret.key` in the data folder. It signs sessions "
        "and back-ups: with another key sessions end, and back-ups need `--unsigned` to be restored.",
    )

    # Who reaches it
    hosts: Annotated[tuple[str, ...], PlainValidator(values.host_names), Form("names with commas between them")] = (
        Field(
            ("127.0.0.1", "localhost", "[::1]"),
            description="The host names of the site. Requests for other names are answered with 400.",
        )
    )
    tls: Switch = Field(default=False, description="`on` behind a TLS proxy: secure cookies, HSTS and https origins.")
    debug: Switch = Field(
        default=False, description="Django's debug pages. Never on a network: they show settings and code."
    )
    session_hours: Count = Field(336, ge=1, le=87_600, description="A session ends so many hours after the sign-in.")
    session_idle_minutes: Count = Field(
        0,
        le=525_600,
        description="A session ends after so many minutes without a new page or a click. An open page counts as idle. "
        "0: no limit.",
    )
    second_factor: Literal["optional", "administrators", "everyone"] = Field(
        "optional",
        description="Who must have a passkey or an authenticator app. Anyone else is asked to add one before they go "
        "on.",
    )
    second_person: Literal["policy", "high_risk"] = Field(
        "policy",
        description="Where a second person has to approve, who neither submitted the task nor edited its plan or gave "
        "files for it. `policy`: where the policy of a run says so. `high_risk`: also for plans with high-risk steps, "
        "for these steps and for calls that act outside; no policy weakens that.",
    )
    decision_limits: Annotated[
        Mapping[GateKind, DecisionLimits],
        PlainValidator(parse_installation),
        Form("`every: remind 24, another 48, end 72, reject; tool: remind 2, another never, end 8`"),
    ] = Field(
        {},
        description="How many hours decisions may wait, for every kind and for single kinds, as in the policy of a "
        "run: a reminder, another person, the end, and what follows then (`reject` or `stop`; without either it is "
        "shown as overdue). It holds for all decisions that are asked for from now on. The policy of a run can set "
        "earlier limits, and neither later ones nor none.",
    )
    oidc_url: Annotated[str, AfterValidator(values.provider_address), Form("`https://login.example/realms/staff`")] = (
        Field(
            "",
            description="The issuer of an OpenID Connect provider, through which people sign in too. Its "
            "configuration is read below `/.well-known/`.",
        )
    )
    oidc_client_id: Annotated[str, Form("text")] = Field("", description="The name of pevsite at this provider.")
    oidc_client_secret: Secret = Field(NO_SECRET, description="The secret that belongs to this name.")
    oidc_name: Annotated[str, Form("text")] = Field(
        "your organisation", max_length=40, description="The provider on the button: *Sign in with …*."
    )
    oidc_groups_claim: Annotated[str, Form("a name")] = Field(
        "groups", description="The claim in which the provider names the groups of a person."
    )
    oidc_groups: Annotated[
        Mapping[str, frozenset[PersonRole]],
        PlainValidator(values.roles_of_groups),
        Form("`legal-leads=approver, admins=administrator`"),
    ] = Field(
        {},
        description="The roles of groups. Where it is set, each sign-in through the provider sets the person's roles "
        "again, and people without any of these groups cannot sign in through it.",
    )
    oidc_default_role: Annotated[
        Literal["", "viewer", "submitter", "approver"], Form("viewer, submitter or approver")
    ] = Field(
        "",
        description="The role of people without any of these groups. With it, everyone whom the provider knows may "
        "sign in.",
    )
    oidc_second_factor: Switch = Field(
        default=False,
        description="`on`: the provider asks for a second factor, so that `PEV_SECOND_FACTOR` asks people for none "
        "where they have signed in through it.",
    )
    connections: Count = Field(
        1_000,
        ge=1,
        le=1_000_000,
        description="The most connections of browsers at once. The limit of open files of the process also "
        "bounds them.",
    )

    # Work
    workers: Count = Field(
        16,
        ge=1,
        le=1_000,
        description="The threads of a process that carry out steps. A thread that waits for a model takes no processor "
        "time.",
    )
    lease_seconds: Count = Field(
        15,
        ge=1,
        le=3_600,
        description="After so many seconds without a sign of life another worker takes the work over. Raise it if the "
        "machine stands still for longer than that.",
    )
    max_losses: Count = Field(
        5,
        ge=1,
        le=1_000,
        description="After so many lost workers in a row without a new entry in the journal, the work waits at an "
        "error gate until a person decides.",
    )

    # Limits
    upload_files: Count = Field(10_000, ge=1, le=1_000_000, description="The most files of a run.")
    upload_mb: Count = Field(200, ge=1, le=1_000_000, description="The most megabytes of all files of a run.")
    file_mb: Count = Field(50, ge=1, le=1_000_000, description="The most megabytes of one file.")
    quotas: Annotated[
        Quotas,
        PlainValidator(values.quotas),
        Form("`everyone runs=3 usd=50; person alice gigabytes=20; group Legal usd=500`"),
    ] = Field(
        Quotas(),
        description="What people may use at most: open `runs` at the same time, `gigabytes` of files, and `usd` within "
        "a calendar month, counting what the budgets of open runs still allow. A line for a person replaces that for "
        "everyone; the members of a group share its line.",
    )
    keep_days: Count = Field(
        0,
        le=36_500,
        description="Finished runs are deleted after so many days. 0: they are kept until a person deletes them.",
    )
    min_free_mb: Count = Field(
        500,
        le=1_000_000_000,
        description="The megabytes of disk space to keep free. Below it, uploads and new runs are refused; runs that "
        "have begun go on.",
    )

    # Observation
    metrics_token: Annotated[
        Secret,
        AfterValidator(values.access_token),
        values.needs("monitoring", "prometheus_client"),
        Form(f"at least {values.MIN_TOKEN_CHARACTERS} characters"),
    ] = Field(
        NO_SECRET,
        description="The bearer token with which Prometheus reads `/metricsz`. Without it there are no metrics.",
    )
    otel_exporter_otlp_endpoint: Address = Field(
        "",
        description="A collector for OpenTelemetry's traces. The other `OTEL_` variables have their usual meaning too.",
    )
    otel_exporter_otlp_traces_endpoint: Address = Field("", description="The same, for traces alone.")
    otel_traces_exporter: Annotated[str, Form("a name")] = Field(
        "", description="`none`: no traces, even with a collector."
    )
    otel_sdk_disabled: Switch = Field(default=False, description="`true`: no traces, even with a collector.")
    otel_instrumentation_genai_capture_message_content: Switch = Field(
        default=False, description="`true`: traces contain what people, files and models have written."
    )
    time_zone: Annotated[str, AfterValidator(values.time_zone), Form("a time zone")] = Field(
        "UTC",
        description="The zone in which times are shown, such as `Europe/Berlin`. Stored and logged times are UTC.",
    )
    business_days: Annotated[frozenset[int], PlainValidator(values.business_days), Form("`Mon-Fri`")] = Field(
        frozenset(range(7)),
        description="The days of the week on which the time limits of decisions run, in the time zone of the person "
        "whose turn it is. Without it: every day.",
    )
    holidays: Annotated[frozenset[date], PlainValidator(values.holidays), Form("`2026-12-25, 2027-01-01`")] = Field(
        frozenset(), description="Days on which these time limits do not run."
    )
    log: Annotated[Literal["line", "json"], BeforeValidator(str.lower)] = Field(
        "line", description="`json`: one object for each line, for programs that collect logs."
    )

    # Notices
    public_url: Annotated[str, AfterValidator(values.public_address), Form("`https://pevsite.example.org`")] = Field(
        "",
        description="The address under which people reach the site. Links in notices begin with it; without it nothing "
        "is sent. The address at which an identity provider sends people back begins with it too.",
    )
    smtp_host: Annotated[str, Form("a host name")] = Field(
        "", description="The mail server. Without it no mail is sent, and there is no resetting of passwords by mail."
    )
    smtp_port: Count = Field(587, ge=1, le=65_535, description="Its port.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls",
        description="How the connection is encrypted: from the first command on (`starttls`), from the beginning "
        "(`tls`, mostly port 465), or not at all.",
    )
    smtp_user: Annotated[str, Form("a name")] = Field("", description="The user name for the mail server, if any.")
    smtp_password: Secret = Field(NO_SECRET, description="The password for the mail server.")
    mail_from: Annotated[str, AfterValidator(values.mail_address), Form("`pevsite <pevsite@example.org>`")] = Field(
        "", description="The sender of mails. Needed with a mail server."
    )
    chat_services: Annotated[
        frozenset[str],
        PlainValidator(values.chat_services),
        values.needs("chat", "apprise"),
        Form("`slack msteams matrixs ntfys`"),
    ] = Field(
        frozenset(),
        description="The services of Apprise by which people may have notices sent, by the beginnings of their "
        "addresses. Without it there is no such channel.",
    )
    webhooks: Annotated[str, AfterValidator(values.web_sites), Form("`hooks.example.org`, or `*` for all")] = Field(
        "",
        description="The sites to which people may have notices posted as webhooks. Without it there is no such "
        "channel.",
    )
    private_hosts: Annotated[
        frozenset[str], PlainValidator(values.private_hosts), Form("`hooks.internal 10.1.2.3`")
    ] = Field(
        frozenset(),
        description="Hosts of the own network that chats and webhooks may reach, also without TLS. All other hosts "
        "must have public addresses.",
    )
    notice_content: Literal["title", "question", "details"] = Field(
        "title",
        description="What a notice says besides its link: the title of the run alone, or the question too. Mail "
        "servers and chats can read it. Webhooks also have the state of the run, and with details the whole decision "
        "as the REST API gives it.",
    )

    # Reports
    report_organisation: Annotated[str, Form("text")] = Field(
        "", max_length=200, description="The organisation that reports name at the top of their first page."
    )
    report_logo: Annotated[str, PlainValidator(values.logo), Form("a PNG or JPEG file")] = Field(
        "", description="The logo next to it, at most 1 MB."
    )
    report_footer: Annotated[str, Form("text")] = Field(
        "", max_length=200, description="A line at the foot of each page of a report, such as an address."
    )

    # Models
    anthropic_api_key: Secret = Field(
        NO_SECRET, description="Claude answers. Without a key and a base URL there is only the rehearsal without AI."
    )
    anthropic_auth_token: Secret = Field(NO_SECRET, description="The same, for services that expect a bearer token.")
    anthropic_base_url: Address = Field(
        "", description="Another server that speaks the Messages API, instead of Anthropic's."
    )
    anthropic_custom_headers: Annotated[Secret, Form("lines of `name: value`")] = Field(
        NO_SECRET,
        description="Headers that a gateway at this base URL expects. Servers of single roles do not get them.",
    )
    model_planner: ModelId = Field("", description=_MODEL)
    model_executor: ModelId = Field("", description=_MODEL)
    model_verifier: ModelId = Field("", description=_MODEL)
    base_url_planner: Address = Field("", description=_BASE_URL)
    base_url_executor: Address = Field("", description=_BASE_URL)
    base_url_verifier: Address = Field("", description=_BASE_URL)
    # Secrets, because people sometimes write the key itself where its name belongs.
    api_key_env_planner: Annotated[Secret, Form("a variable")] = Field(NO_SECRET, description=_KEY_NAME)
    api_key_env_executor: Annotated[Secret, Form("a variable")] = Field(NO_SECRET, description=_KEY_NAME)
    api_key_env_verifier: Annotated[Secret, Form("a variable")] = Field(NO_SECRET, description=_KEY_NAME)
    context_tokens: Count = Field(
        0,
        le=1_000_000_000,
        description="The tokens of a question with its answer, for a server that offers less than its model or does "
        "not say how many. 0: what the server says, or what is known of the model.",
    )
    context_tokens_planner: Count = Field(0, le=1_000_000_000, description=_CONTEXT)
    context_tokens_executor: Count = Field(0, le=1_000_000_000, description=_CONTEXT)
    context_tokens_verifier: Count = Field(0, le=1_000_000_000, description=_CONTEXT)
    policy: Annotated[Mapping[str, str], PlainValidator(values.policy_values), Form("`attempts=2, budget=5`")] = Field(
        {},
        description="The policy that new runs start with. The fields have the names of the options in "
        "`manage.py run --help`. `serve` and `run` do not start with a value that the policy does not allow.",
    )
    rehearsal_delay: Annotated[float, Form("seconds from 0 to 60")] = Field(
        0.4, ge=0, le=60, description="Seconds for each reply of the rehearsal, so that a person can follow it."
    )

    # What models may use
    commands: Annotated[
        Mapping[str, tuple[str, ...]],
        PlainValidator(values.commands),
        Form("`tests: pytest -q; lint: ruff check .`"),
    ] = Field({}, description="The commands that models may run, in a sandbox.")
    command_seconds: Count = Field(300, ge=1, le=86_400, description="The most seconds of one of these commands.")
    command_files_mb: Count = Field(
        1_000,
        ge=1,  # a file system without a size would be as large as half of the memory
        le=1_000_000,
        description="The most megabytes of files of one of these commands. They are in memory.",
    )
    command_folders: Annotated[
        tuple[Path, ...], PlainValidator(values.command_folders), Form("`/srv/tools:/srv/venv`")
    ] = Field((), description="Folders of programs that these commands see, read-only, besides those of the system.")
    web: Annotated[str, AfterValidator(values.web_sites), Form("`example.org gov.uk`, or `*` for all")] = Field(
        "", description="The sites that runs may read if their policy allows it."
    )
    service_tools: Annotated[
        frozenset[str], PlainValidator(values.service_tools), Form("`web_search web_fetch code_execution`")
    ] = Field(frozenset(), description="The tools that Claude's own service runs for runs if their policy allows it.")
    mcp: Annotated[
        Mapping[str, ServerConfig], PlainValidator(values.mcp_servers), values.needs("mcp", "mcp"), Form("a file")
    ] = Field({}, description="The file that names the MCP servers whose tools models may call.")
    mcp_server: Annotated[Switch, values.needs("mcp", "mcp")] = Field(
        default=False,
        description="`on`: programs of people submit runs and read results at `/mcp`, with access tokens.",
    )
    api: Switch = Field(
        default=True, description="`off`: no REST API. Otherwise programs of people use it at `/api/v1/`, with tokens."
    )
    api_decides: Switch = Field(
        default=False,
        description="`on`: access tokens may have the scope `gates:decide`, with which programs decide over the REST "
        "API in the name of a person.",
    )
    api_rate: Count = Field(
        3_000,
        ge=1,
        le=1_000_000,
        description="The most requests with one access token in a minute, to the REST API and over MCP together.",
    )

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        texts = {name: value.strip() if isinstance(value, str) else value for name, value in given.items()}
        return {name: value for name, value in texts.items() if value != ""}

    @model_validator(mode="after")
    def _celery_has_what_it_needs(self) -> Self:
        if self.engine == "celery" and not self.database_url:
            raise ValueError("PEV_ENGINE=celery works with PostgreSQL only: set PEV_DATABASE_URL, the same for all.")
        if self.engine == "celery" and not self.redis_url:
            raise ValueError("PEV_ENGINE=celery needs Redis as its broker: set PEV_REDIS_URL, the same for all.")
        if self.engine == "celery" and not values.is_installed("celery"):
            raise ValueError(
                "PEV_ENGINE=celery needs the extra scale, which is not installed. Run uv sync --extra scale."
            )
        return self

    @model_validator(mode="after")
    def _notices_have_what_they_need(self) -> Self:
        channels = {
            "PEV_SMTP_HOST": self.smtp_host,
            "PEV_CHAT_SERVICES": self.chat_services,
            "PEV_WEBHOOKS": self.webhooks,
        }
        for name, value in channels.items():
            if value and not self.public_url:
                raise ValueError(
                    f"{name} needs PEV_PUBLIC_URL, because the links in notices begin with it: set it to the address "
                    "under which people reach the site."
                )
        if self.smtp_host and not self.mail_from:
            raise ValueError("PEV_SMTP_HOST needs PEV_MAIL_FROM: set it to the sender of mails.")
        return self

    @model_validator(mode="after")
    def _the_provider_is_complete(self) -> Self:
        named = sorted(name for name in self.model_fields_set if name.startswith("oidc_"))
        if named and not self.oidc_url:
            raise ValueError(
                f"{_variable(named[0])} says something about an identity provider, but PEV_OIDC_URL does not say which "
                "one: set PEV_OIDC_URL to its issuer, or remove the other variables that begin with PEV_OIDC_."
            )
        if self.oidc_url and not (self.oidc_client_id and self.oidc_client_secret):
            raise ValueError(
                "PEV_OIDC_URL needs the name and the secret that the provider has given to pevsite: set "
                "PEV_OIDC_CLIENT_ID and PEV_OIDC_CLIENT_SECRET."
            )
        return self

    @property
    def identity_provider(self) -> IdentityProvider | None:
        """None if people sign in here alone."""
        if not self.oidc_url:
            return None
        return IdentityProvider(
            url=self.oidc_url,
            client_id=self.oidc_client_id,
            client_secret=self.oidc_client_secret,
            name=self.oidc_name,
            groups_claim=self.oidc_groups_claim,
            roles_of_groups=self.oidc_groups,
            default_role=PersonRole(self.oidc_default_role) if self.oidc_default_role else None,
            has_second_factor=self.oidc_second_factor,
        )

    @model_validator(mode="after")
    def _traces_have_their_library(self) -> Self:
        if self.traces and not values.is_installed("opentelemetry.exporter.otlp.proto.http"):
            raise ValueError(
                "OTEL_EXPORTER_OTLP_ENDPOINT needs the extra monitoring, which is not installed. Run uv sync --extra "
                "monitoring, or set OTEL_TRACES_EXPORTER=none."
            )
        return self

    @property
    def traces(self) -> bool:
        """Whether there is a collector for traces, and no other variable switches them off."""
        collector = self.otel_exporter_otlp_endpoint or self.otel_exporter_otlp_traces_endpoint
        return bool(collector) and not self.otel_sdk_disabled and self.otel_traces_exporter != "none"


FIELDS: Mapping[str, FieldInfo] = {_variable(name): field for name, field in Environment.model_fields.items()}
"""The settings by the names of their variables."""


def read_environment() -> Environment:
    """Raises ImproperlyConfigured with one sentence for each variable that cannot be used."""
    try:
        return Environment()
    except ValidationError as error:
        sentences = [_sentence(details) for details in error.errors(include_url=False)]
        raise ImproperlyConfigured("\n".join(sentences)) from None  # the cause would show secrets in a traceback


def _sentence(error: ErrorDetails) -> str:
    is_ours = error["type"] == "value_error"
    message = str(error["ctx"]["error"]) if is_ours else ""
    if not error["loc"]:  # about several variables, which the message names
        return message
    name = str(error["loc"][0])
    verb = "cannot be used" if is_secret(FIELDS[name]) else f"is “{str(error['input'])[:60]}”"
    return f"{name} {verb}: {message or f'it must be {form(FIELDS[name])}.'}"


def is_secret(field: FieldInfo) -> bool:
    return field.annotation is SecretStr


def form(field: FieldInfo) -> str:
    """How a value is written, in words."""
    for item in field.metadata:
        if isinstance(item, Form):
            return item.words
    if field.annotation is bool:
        return "on or off"
    if field.annotation is int:
        least = next((item.ge for item in field.metadata if isinstance(item, Ge)), 0)
        most = next(item.le for item in field.metadata if isinstance(item, Le))
        return f"a whole number from {least} to {most:,}"
    return " or ".join(get_args(field.annotation)) or "text"


def default(field: FieldInfo) -> str:
    """The default as it would be written in the environment, or nothing."""
    match field.get_default():
        case bool(value):
            return "on" if value else "off"
        case int(value) | float(value):
            return str(value)
        case str(value):
            return value
        case tuple(value):
            return ",".join(map(str, value))
    return ""


def shown(name: str) -> str:
    """The value of a variable for people, without its secrets."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default(FIELDS[name]) or "not set"
    return "set, and not shown" if is_secret(FIELDS[name]) else redacted(text)


def unknown_variables() -> Iterator[str]:
    """A sentence for each variable with the prefix of our settings that is none of them."""
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in FIELDS:
            similar = process.extractOne(name, FIELDS.keys(), score_cutoff=85)
            yield f"{name} is not a setting.{f' Did you mean {similar[0]}?' if similar else ''}"
