"""All settings, from the environment. Every variable is named once here, with its default and its reason.

PEV_DATA_DIR              .data          database, files and the installation's key; of a package the user's data folder
PEV_DATABASE_URL          (SQLite)       postgres://user:password@host:5432/name: PostgreSQL instead
PEV_REDIS_URL             (none)         redis://host:6379/0: messages between several processes that serve or work
PEV_ENGINE                embedded       celery: Celery workers carry out the work, notified through Redis
PEV_BLOBS                 (data folder)  s3://bucket/prefix: files of runs in a bucket, reached as AWS_… variables say
PEV_SECRET_KEY            (a file)       the installation's key, where no file of the data folder is to hold it
PEV_HOSTS                 127.0.0.1,localhost,[::1]   host names that may be asked for, comma-separated
PEV_TLS                   off            on behind a TLS proxy: secure cookies, HSTS, https origins
PEV_DEBUG                 off            Django's debug pages; never on a network
PEV_WORKERS               16             threads that carry out steps in one process
PEV_LEASE_SECONDS         15             after this long without a heartbeat others take the work over
PEV_MAX_LOSSES            5              workers that one piece of work may lose in a row before a person is asked
PEV_UPLOAD_FILES          10000          most files of a run
PEV_UPLOAD_MB             200            most megabytes of a run
PEV_FILE_MB               50             most megabytes of one file
PEV_SESSION_HOURS         336            after so many hours nobody stays signed in
PEV_SESSION_IDLE_MINUTES  (none)         after so many minutes without a page or a click neither
PEV_KEEP_DAYS             (for ever)     finished runs are deleted after so many days
PEV_MIN_FREE_MB           500            free disk space, in megabytes, that uploads and new runs leave
PEV_CONNECTIONS           1000           most connections of browsers at once
PEV_METRICS_TOKEN         (none)         Prometheus gets /metricsz with this bearer token; without it nobody does
OTEL_EXPORTER_OTLP_ENDPOINT   (none)     a collector of OpenTelemetry's traces; the other OTEL_ variables hold too
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT   off   on: traces hold what models, files and people have written
PEV_TIME_ZONE             UTC            how times are shown
PEV_LOG                   line           json: one object a line, for machines that collect logs
ANTHROPIC_API_KEY         (none)         Claude answers; without it, and without a base URL, only a rehearsal
ANTHROPIC_AUTH_TOKEN      (none)         likewise, for servers that want a bearer token
ANTHROPIC_BASE_URL        (Anthropic)    another server that speaks the same API
ANTHROPIC_CUSTOM_HEADERS  (none)         lines “name: value” for that server, as gateways want; a role's own gets none
PEV_MODEL_PLANNER, PEV_MODEL_EXECUTOR, PEV_MODEL_VERIFIER   model ids, needed with a base URL
PEV_BASE_URL_PLANNER, PEV_BASE_URL_EXECUTOR, PEV_BASE_URL_VERIFIER   a server of its own for one role
PEV_API_KEY_ENV_PLANNER, PEV_API_KEY_ENV_EXECUTOR, PEV_API_KEY_ENV_VERIFIER   the name of the variable with its key
PEV_CONTEXT_TOKENS        (as known)     tokens that a model takes in one question with its answer
PEV_CONTEXT_TOKENS_PLANNER, PEV_CONTEXT_TOKENS_EXECUTOR, PEV_CONTEXT_TOKENS_VERIFIER   likewise, for one role
PEV_POLICY                (none)         what new runs start with, such as attempts=2, budget=5: fields of the policy
PEV_COMMANDS              (none)         what models may run, in a sandbox: tests: pytest -q; lint: ruff check .
PEV_COMMAND_SECONDS       300            how long one of these commands may take
PEV_COMMAND_FILES_MB      1000           most megabytes of files that one of them has, in memory
PEV_COMMAND_FOLDERS       (none)         what else they see, read-only: folders of programs, with colons between
PEV_WEB                   (none)         sites that runs may read if their policy says so: example.org gov.uk; * for all
PEV_SERVICE_TOOLS         (none)         what Claude's own service runs for runs: web_search web_fetch code_execution
PEV_MCP                   (none)         a file that names MCP servers whose tools models may call
PEV_MCP_SERVER            off            on: programs of people act for them at /mcp, with access tokens
PEV_REHEARSAL_DELAY       0.4            seconds per reply of the offline rules, so that one can follow
"""

import os
from importlib.util import find_spec

from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

from pevsite.commands import command_folders, commands, mcp_server, mcp_servers, service_tools, web_sites
from pevsite.databases import database, engine, files, messages
from pevsite.installation import SITE, data_dir, secret, secret_key


def _on(name: str) -> bool:
    return os.environ.get(name, "").lower() in {"1", "on", "true", "yes"}


def _number(name: str, default: int) -> int:
    """At least 0. Raises ImproperlyConfigured for what is no such number."""
    value = os.environ.get(name, "").strip() or str(default)
    if not (value.isascii() and value.isdigit()):
        raise ImproperlyConfigured(f"{name} has to be a whole number from 0 on, without a unit; it is “{value[:40]}”.")
    return int(value)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is in
        return False


def _metrics_token(given: str) -> str:
    """Empty for none. Raises ImproperlyConfigured for one that could be guessed, or without the library."""
    if given and len(given) < 20:
        raise ImproperlyConfigured(
            f"PEV_METRICS_TOKEN has {len(given)} characters: make one of at least 20, as openssl rand -hex 20 does."
        )
    if given and not _is_installed("prometheus_client"):
        raise ImproperlyConfigured(
            "PEV_METRICS_TOKEN asks for metrics, whose library is not installed: run uv sync --extra monitoring."
        )
    return given


def _traces() -> bool:
    """Whether there is a collector. Raises ImproperlyConfigured for one without the library."""
    given = any(os.environ.get(f"OTEL_EXPORTER_OTLP_{of}ENDPOINT") for of in ("", "TRACES_"))
    if not given or _on("OTEL_SDK_DISABLED") or os.environ.get("OTEL_TRACES_EXPORTER", "") == "none":
        return False
    if not _is_installed("opentelemetry.exporter.otlp.proto.http"):
        raise ImproperlyConfigured(
            "OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, whose library is not installed: run uv sync --extra "
            "monitoring, or set OTEL_TRACES_EXPORTER=none."
        )
    return True


DATA_DIR = data_dir()
SECRET_KEY = secret_key(DATA_DIR)
DEBUG = _on("PEV_DEBUG")
TLS = _on("PEV_TLS")
ALLOWED_HOSTS = [
    name.strip() for name in os.environ.get("PEV_HOSTS", "127.0.0.1,localhost,[::1]").split(",") if name.strip()
]

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",  # pevsite.urls says which site; nothing is discovered
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "runs.apps.RunsConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "runs.web.site.headers.Compressed",
    "runs.web.site.headers.no_store",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "runs.web.operations.health_views.Probes",  # behind what gives headers, and before whoever asks for the host
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "runs.web.site.sessions.SessionLimits",
    "runs.web.site.sessions.Refusals",
    "runs.web.site.sessions.SignInRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "runs.web.site.error_views.FilesAway",
    "runs.web.site.error_views.Later",
]
ROOT_URLCONF = "pevsite.urls"
ASGI_APPLICATION = "pevsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "runs.web.site.visible_pages.VisiblePages",
        "DIRS": [SITE / "templates"],
        "APP_DIRS": True,  # for the pages of django.contrib.admin
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "runs.web.site.context.installation",
            ],
            "builtins": ["runs.web.templatetags.pev"],
        },
    }
]

WORKERS = _number("PEV_WORKERS", 16)
_DATABASE_URL, REDIS_URL = os.environ.get("PEV_DATABASE_URL", ""), os.environ.get("PEV_REDIS_URL", "")
DATABASES = {"default": database(DATA_DIR, _DATABASE_URL, WORKERS)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
_LOCMEM = "django.core.cache.backends.locmem.LocMemCache"
CACHES = {
    "default": {"BACKEND": _LOCMEM, "OPTIONS": {"MAX_ENTRIES": 10_000}}
}  # runs.web.site.throttle: addresses of a minute
CHANNEL_LAYERS = {"default": messages(REDIS_URL)}
ENGINE = engine(os.environ.get("PEV_ENGINE", ""), _DATABASE_URL, REDIS_URL)
_BACKENDS = {
    "embedded": "runs.engine.embedded_backend.EmbeddedBackend",
    "celery": "runs.engine.celery_backend.CeleryBackend",
}
TASKS = {"default": {"BACKEND": _BACKENDS[ENGINE]}}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "runs.web.site.static_files.HashedNames"},
    "blobs": files(DATA_DIR, os.environ.get("PEV_BLOBS", "").strip()),
    "pages": {"BACKEND": "runs.store.blobs.BlobStorage", "OPTIONS": {"location": DATA_DIR / "pages"}},
}

STATIC_URL = "/static/"
STATICFILES_DIRS = [SITE / "static"]
AUTH_USER_MODEL = "runs.User"
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "inbox"
SESSION_ENGINE = "runs.web.site.session_rows"
SESSION_COOKIE_AGE = _number("PEV_SESSION_HOURS", 336) * 3_600  # also at most from the sign-in on
SESSION_IDLE = _number("PEV_SESSION_IDLE_MINUTES", 0) * 60
_PREFIX = "__Host-" if TLS else ""  # browsers take such a cookie only over https, and from no other host
SESSION_COOKIE_NAME = f"{_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{_PREFIX}csrftoken"
WANTED_COOKIE_NAME = f"{_PREFIX}pev_next"  # the page that was asked for before signing in
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # no cookie of its own
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = TLS
SECURE_REDIRECT_EXEMPT = [r"^(health|ready|metrics)z$"]  # asked from inside, by what stands behind the proxy
SECURE_HSTS_SECONDS = 31_536_000 if TLS else 0
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # HSTS for subdomains: they belong to anyone who runs the domain, not to this site
    "security.W021",  # the browsers' preload list: likewise, and it can't be undone for months
]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TLS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "connect-src": [CSP.SELF],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}

UPLOAD_FILES = _number("PEV_UPLOAD_FILES", 10_000)
UPLOAD_BYTES = _number("PEV_UPLOAD_MB", 200) * 1_000_000
FILE_BYTES = _number("PEV_FILE_MB", 50) * 1_000_000
METRICS_TOKEN = _metrics_token(secret("PEV_METRICS_TOKEN").strip())
TRACES = _traces()
TRACE_CONTENT = _on("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")
KEEP_DAYS = _number("PEV_KEEP_DAYS", 0)
MIN_FREE_BYTES = _number("PEV_MIN_FREE_MB", 500) * 1_000_000
MAX_CONNECTIONS = _number("PEV_CONNECTIONS", 1_000)
DATA_UPLOAD_MAX_NUMBER_FILES = UPLOAD_FILES + 3  # the plan, and fields for files count also when they are empty
DATA_UPLOAD_MAX_NUMBER_FIELDS = UPLOAD_FILES * 2 + 200
DATA_UPLOAD_MAX_MEMORY_SIZE = 5_000_000
FILE_UPLOAD_TEMP_DIR = None
FILE_UPLOAD_HANDLERS = ["runs.web.site.uploads.OneFile"]

LEASE_SECONDS = _number("PEV_LEASE_SECONDS", 15)
MAX_LOSSES = _number("PEV_MAX_LOSSES", 5)
AGENT_SDK = _is_installed("claude_agent_sdk")
COMMANDS = commands(os.environ.get("PEV_COMMANDS", ""))
COMMAND_SECONDS = _number("PEV_COMMAND_SECONDS", 300)
COMMAND_FILES_MB = max(
    _number("PEV_COMMAND_FILES_MB", 1_000), 1
)  # a file system without a size is as large as half of the memory
COMMAND_FOLDERS = command_folders(os.environ.get("PEV_COMMAND_FOLDERS", ""))
WEB = web_sites(os.environ.get("PEV_WEB", ""))
SERVICE_TOOLS = service_tools(os.environ.get("PEV_SERVICE_TOOLS", ""))
MCP = mcp_servers(os.environ.get("PEV_MCP", "").strip())
MCP_SERVER = mcp_server(_on("PEV_MCP_SERVER"))
REHEARSAL_DELAY = float(os.environ.get("PEV_REHEARSAL_DELAY") or 0.4)
for _role in ("", "_PLANNER", "_EXECUTOR", "_VERIFIER"):
    _number(f"PEV_CONTEXT_TOKENS{_role}", 0)  # runs.llm reads it: what is no number ends the start, not a step

USE_TZ = True
TIME_ZONE = os.environ.get("PEV_TIME_ZONE", "UTC")
LANGUAGE_CODE = "en-us"
USE_I18N = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "runs.logs.LineFormatter"}, "json": {"()": "runs.logs.JsonFormatter"}},
    "filters": {
        "no_probes": {"()": "django.utils.log.CallbackFilter", "callback": "ext://runs.logs.is_worth_a_line"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "json" if os.environ.get("PEV_LOG", "").lower() == "json" else "line",
        }
    },
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "runs": {"level": "INFO"},
        "mcp": {"level": "CRITICAL"},  # it logs whatever a server sends that is no message
        "django.request": {"filters": ["no_probes"]},
        "django.tasks": {"level": "WARNING"},  # at INFO it tells of each task when it starts and when it ends
    },
}
