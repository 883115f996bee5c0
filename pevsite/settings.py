"""Django's settings. Those that an installation may change come from the table in `pevsite.environment`."""

from typing import Any

from django.contrib.messages import constants as levels
from django.utils.csp import CSP

from pevsite.databases import caches, database, files, messages
from pevsite.environment import read_environment
from pevsite.installation import SITE, key_of
from pevsite.setting_values import is_installed

_environment = read_environment()
DATA_DIR = _environment.data_dir
SECRET_KEY = _environment.secret_key.get_secret_value() or key_of(DATA_DIR)
HAS_OWN_KEY = bool(_environment.secret_key)  # not that of the data folder
DEBUG = _environment.debug
TLS = _environment.tls
ALLOWED_HOSTS = list(_environment.hosts)

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",  # pevsite.urls says which site; nothing is discovered
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "runs.apps.RunsConfig",
]
MIDDLEWARE = [
    "runs.web.site.headers.no_body_for_head",
    "django.middleware.security.SecurityMiddleware",
    "runs.web.site.headers.Compressed",
    "runs.web.site.headers.no_store",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "runs.web.operations.health.Probes",  # behind what gives headers, and before what asks for the host
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "runs.web.site.headers.places_for_scripts",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "runs.web.site.audit_origin.audit_origin",
    "runs.web.site.sessions.SessionLimits",
    "runs.web.site.sessions.Refusals",
    "runs.web.site.sessions.SignInRequired",
    "runs.web.people.second_factor.SecondFactorRequired",
    "runs.web.people.time_zone_page.own_time_zone",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "runs.web.site.error_views.UnansweredErrors",
]
ROOT_URLCONF = "pevsite.urls"
ASGI_APPLICATION = "pevsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "runs.web.site.page_templates.VisiblePages",
        "DIRS": [SITE / "templates"],
        "APP_DIRS": True,  # for the pages of django.contrib.admin
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "runs.web.site.page_templates.installation",
            ],
            "builtins": ["runs.web.templatetags.pev"],
        },
    }
]

WORKERS = _environment.workers
REDIS_URL = _environment.redis_url.get_secret_value()
DATABASES = {"default": database(DATA_DIR, _environment.database_url.get_secret_value(), WORKERS)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = caches(REDIS_URL)
CHANNEL_LAYERS = {"default": messages(REDIS_URL)}
ENGINE = _environment.engine
_BACKENDS = {
    "embedded": "runs.engine.embedded_backend.EmbeddedBackend",
    "celery": "runs.engine.celery_backend.CeleryBackend",
}
TASKS = {"default": {"BACKEND": _BACKENDS[ENGINE]}}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "runs.web.site.static_files.HashedNames"},
    "blobs": files(DATA_DIR, _environment.blobs),
    "pages": {"BACKEND": "runs.store.blobs.BlobStorage", "OPTIONS": {"location": DATA_DIR / "pages"}},
}

STATIC_URL = "/static/"
STATICFILES_DIRS = [(part, SITE / "static" / part) for part in ("css", "icons", "js", "vendor")]  # not the tools
AUTH_USER_MODEL = "runs.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
_VALIDATION = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{_VALIDATION}.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": f"{_VALIDATION}.CommonPasswordValidator"},
    {"NAME": f"{_VALIDATION}.UserAttributeSimilarityValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "inbox"
ACCOUNT_ADAPTER = "runs.web.people.sign_in.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]  # what accounts have; no one signs up
ACCOUNT_EMAIL_VERIFICATION = "none"  # signing in needs no address; one that gets mails is confirmed
ACCOUNT_EMAIL_CONFIRMATION_AUTHENTICATED_REDIRECT_URL = "notices"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_MAX_EMAIL_ADDRESSES = 3
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # to change how one signs in
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900
ACCOUNT_REAUTHENTICATION_METHODS = {"password", "mfa"}
ACCOUNT_SESSION_REMEMBER = True
MFA_SUPPORTED_TYPES = ["webauthn", "totp", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
_FORMS = "runs.web.people.sign_in_forms"
ACCOUNT_FORMS = {"login": f"{_FORMS}.SignInForm", "reset_password": f"{_FORMS}.ResetPasswordForm"}
PASSWORD_RESET_TIMEOUT = 3_600
MFA_FORMS = {
    "add_webauthn": f"{_FORMS}.AddPasskeyForm",
    "authenticate_webauthn": f"{_FORMS}.SecondFactorForm",
    "login_webauthn": f"{_FORMS}.PasskeyForm",
    "reauthenticate_webauthn": f"{_FORMS}.PasskeyAgainForm",
}
MFA_ADAPTER = "runs.web.people.sign_in.FactorsAdapter"
MFA_TOTP_ISSUER = "pevsite"
IDENTITY_PROVIDER = _environment.identity_provider
SOCIALACCOUNT_ADAPTER = "runs.web.people.provider_sign_in.ProviderAdapter"
USERSESSIONS_ADAPTER = "runs.web.people.sign_in.SessionsAdapter"
SECOND_FACTOR = _environment.second_factor
SECOND_PERSON = _environment.second_person
DECISION_LIMITS = _environment.decision_limits
QUOTAS = _environment.quotas
PUBLIC_URL = _environment.public_url
MAILERS: dict[str, Any] = {}
if _environment.smtp_host:
    MAILERS["default"] = {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": _environment.smtp_host,
            "port": _environment.smtp_port,
            "username": _environment.smtp_user,
            "password": _environment.smtp_password.get_secret_value(),
            "use_tls": _environment.smtp_security == "starttls",
            "use_ssl": _environment.smtp_security == "tls",
            "timeout": 20,
        },
    }
DEFAULT_FROM_EMAIL = SERVER_EMAIL = _environment.mail_from
CHAT_SERVICES = _environment.chat_services
WEBHOOKS = _environment.webhooks
PRIVATE_HOSTS = _environment.private_hosts
NOTICE_CONTENT = _environment.notice_content
SESSION_ENGINE = "runs.web.site.sessions"
SESSION_COOKIE_AGE = _environment.session_hours * 3_600  # also at most from the sign-in on
SESSION_IDLE = _environment.session_idle_minutes * 60
_PREFIX = "__Host-" if TLS else ""  # browsers take such a cookie only over https, and from no other host
SESSION_COOKIE_NAME = f"{_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{_PREFIX}csrftoken"
WANTED_COOKIE_NAME = f"{_PREFIX}pev_next"  # the page that was asked for before signing in
MESSAGE_TAGS = {levels.SUCCESS: "good", levels.WARNING: "warn", levels.ERROR: "bad"}  # as styles name them
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # no cookie of its own
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = TLS
SECURE_REDIRECT_EXEMPT = [r"^(health|ready|metrics)z$"]  # asked from inside, by what stands behind the proxy
SECURE_HSTS_SECONDS = 31_536_000 if TLS else 0
SILENCED_SYSTEM_CHECKS = [
    "mail.W001",  # an installation without a mail server sends none
    "security.W005",  # HSTS for subdomains: they belong to anyone who runs the domain, not to this site
    "security.W021",  # the browsers' preload list: the same holds, and it can't be undone for months
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

UPLOAD_FILES = _environment.upload_files
UPLOAD_BYTES = _environment.upload_mb * 1_000_000
FILE_BYTES = _environment.file_mb * 1_000_000
METRICS_TOKEN = _environment.metrics_token.get_secret_value()
TRACES = _environment.traces
TRACE_CONTENT = _environment.otel_instrumentation_genai_capture_message_content
KEEP_DAYS = _environment.keep_days
REPORT_ORGANISATION = _environment.report_organisation
REPORT_LOGO = _environment.report_logo  # base64
REPORT_FOOTER = _environment.report_footer
MIN_FREE_BYTES = _environment.min_free_mb * 1_000_000
MAX_CONNECTIONS = _environment.connections
DATA_UPLOAD_MAX_NUMBER_FILES = UPLOAD_FILES + 3  # the plan, and fields for files count also when they are empty
DATA_UPLOAD_MAX_NUMBER_FIELDS = UPLOAD_FILES * 2 + 200
DATA_UPLOAD_MAX_MEMORY_SIZE = 5_000_000
FILE_UPLOAD_TEMP_DIR = None
FILE_UPLOAD_HANDLERS = ["runs.web.site.uploads.OneFile"]

LEASE_SECONDS = _environment.lease_seconds
MAX_LOSSES = _environment.max_losses
AGENT_SDK = is_installed("claude_agent_sdk")
COMMANDS = _environment.commands
COMMAND_SECONDS = _environment.command_seconds
COMMAND_FILES_MB = _environment.command_files_mb
COMMAND_FOLDERS = _environment.command_folders
WEB = _environment.web
SERVICE_TOOLS = _environment.service_tools
MCP = _environment.mcp
MCP_SERVER = _environment.mcp_server
API = _environment.api
API_DECIDES = _environment.api_decides
API_RATE = _environment.api_rate
REHEARSAL_DELAY = _environment.rehearsal_delay
POLICY = _environment.policy

USE_TZ = True
TIME_ZONE = _environment.time_zone
BUSINESS_DAYS = _environment.business_days
HOLIDAYS = _environment.holidays
LANGUAGE_CODE = "en-us"
USE_I18N = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "runs.logs.LineFormatter"}, "json": {"()": "runs.logs.JsonFormatter"}},
    "filters": {
        "no_probes": {"()": "django.utils.log.CallbackFilter", "callback": "ext://runs.logs.is_worth_a_line"},
        "faults_of_clients": {"()": "runs.logs.FaultsOfClients"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": _environment.log,
            "filters": ["faults_of_clients"],
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
