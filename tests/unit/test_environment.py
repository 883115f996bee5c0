"""The table of settings: values of the right type, and one sentence for each that cannot be used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from pevsite.environment import FIELDS, form, is_secret, read_environment, shown, unknown_variables
from runs.enums import PersonRole

POSTGRES = "postgres://alice:secret@db.example:5433/pev"
REDIS = "redis://:secret@cache.example"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FIELDS:
        monkeypatch.delenv(name, raising=False)


def refusal(monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as refused:
        read_environment()
    assert "secret" not in str(refused.value)
    return str(refused.value)


def test_blank_values_count_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = read_environment()
    for name in FIELDS:
        monkeypatch.setenv(name, "  ")
    assert read_environment() == usual


def test_values_have_their_types(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"DATA_DIR": "data", "HOSTS": "pev.example, localhost,", "TLS": "Yes", "WORKERS": " 4 ", "LOG": "JSON"}
    for name, value in given.items():
        monkeypatch.setenv(f"PEV_{name}", value)
    read = read_environment()
    assert (read.data_dir, read.hosts) == (tmp_path / "data", ("pev.example", "localhost"))
    assert (read.tls, read.workers, read.log) == (True, 4, "json")


HOURS = "hours go from 1 to 8,784. Write it as “tool: remind 2, another 4, end 8, reject; plan: end 72, stop”."
POSTGRES_FORM = " cannot be used: it must be an address such as postgres://user:password@host:5432/name."


@pytest.mark.parametrize(
    ("name", "value", "rest"),
    [
        ("PEV_WORKERS", "many", " is “many”: it must be a whole number from 1 to 1,000."),
        ("PEV_WORKERS", "1_0", " is “1_0”: it must be a whole number from 1 to 1,000."),
        ("PEV_KEEP_DAYS", "-1", " is “-1”: it must be a whole number from 0 to 36,500."),
        ("PEV_KEEP_DAYS", "9" * 5_000, f" is “{'9' * 60}”: it must be a whole number from 0 to 36,500."),
        ("PEV_CONTEXT_TOKENS_VERIFIER", "8k", " is “8k”: it must be a whole number from 0 to 1,000,000,000."),
        ("PEV_REHEARSAL_DELAY", "nan", " is “nan”: it must be seconds from 0 to 60."),
        ("PEV_TLS", "maybe", " is “maybe”: it must be on or off."),
        ("PEV_ENGINE", "celerey", " is “celerey”: it must be embedded or celery."),
        (
            "PEV_SECRET_KEY",
            "   # python3 -c …",
            " cannot be used: it begins with #, so a comment was taken for its value. Put comments on their own lines.",
        ),
        (
            "PEV_METRICS_TOKEN",
            "guess",
            " cannot be used: it has 5 characters and must have at least 20. openssl rand -hex 20 makes one.",
        ),
        ("PEV_DATABASE_URL", "mysql://alice:secret@db/pev", POSTGRES_FORM),
        ("PEV_DATABASE_URL", "postgres://alice:secret@db:port/pev", POSTGRES_FORM),
        (
            "PEV_REDIS_URL",
            "http://:secret@cache.example",
            " cannot be used: it must be an address such as redis://:password@host:6379/0.",
        ),
        (
            "PEV_COMMANDS",
            "pytest -q",
            " is “pytest -q”: “pytest -q” cannot be read. Write it as in “tests: pytest -q; "
            "lint: ruff check .”: each name once, in small letters.",
        ),
        ("PEV_MCP", "/no/such", " is “/no/such”: /no/such cannot be read: No such file or directory."),
        (
            "PEV_PUBLIC_URL",
            "https://pev.example/app",
            " is “https://pev.example/app”: it must be an address without a path, such as https://pevsite.example.org.",
        ),
        ("PEV_MAIL_FROM", "pevsite", " is “pevsite”: it must be a mail address, such as pevsite@example.org."),
        ("PEV_PRIVATE_HOSTS", "*", " is “*”: “*” is not a host. Name each one, as in hooks.internal 10.1.2.3."),
        (
            "PEV_WEBHOOKS",
            "hooks.example",
            " needs PEV_PUBLIC_URL, because the links in notices begin with it: set it to the address under which "
            "people reach the site.",
        ),
        (
            "PEV_DECISION_LIMITS",
            "every: remind 24, end 72; tool: end 8",
            " is “every: remind 24, end 72; tool: end 8”: Limits for “tool”: The reminder (24), another person (none) "
            "and the end (8) come one after the other: each needs more hours than the one before.",
        ),
        (
            "PEV_DECISION_LIMITS",
            "all: end 8",
            " is “all: end 8”: “all” is no kind of decision; there are: every, plan, start, step, exhausted, error, "
            "budget, question, tool. Write it as “tool: remind 2, another 4, end 8, reject; plan: end 72, stop”.",
        ),
        (
            "PEV_DECISION_LIMITS",
            "every: to approvers, end 8",
            " is “every: to approvers, end 8”: Whose turn a decision is can only be set in the policy of a run: leave "
            "out “to …”.",
        ),
        ("PEV_DECISION_LIMITS", "plan: approve", f" is “plan: approve”: “approve” cannot be read; {HOURS}"),
        (
            "PEV_ENGINE",
            "celery",
            "=celery works with PostgreSQL only: set PEV_DATABASE_URL, the same for all.",
        ),
    ],
)
def test_a_wrong_value_is_one_sentence(monkeypatch: pytest.MonkeyPatch, name: str, value: str, rest: str) -> None:
    assert refusal(monkeypatch, **{name: value}) == f"{name}{rest}"


def test_each_wrong_value_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    said = refusal(monkeypatch, PEV_WORKERS="many", PEV_TLS="maybe")
    assert [line.partition(" ")[0] for line in said.splitlines()] == ["PEV_TLS", "PEV_WORKERS"]


@pytest.mark.parametrize(
    "address", ["s3:/bucket", "s3://", "s3://Bucket", "s3://a", "/folder", "https://bucket.example", "s3://pev/../x"]
)
def test_an_address_that_is_no_bucket_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    assert refusal(monkeypatch, PEV_BLOBS=address).startswith(
        f"PEV_BLOBS is “{address}”: it must be s3://bucket/prefix."
    )


def test_a_provider_needs_a_name_and_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEV_OIDC_DEFAULT_ROLE", "viewer")
    with pytest.raises(ImproperlyConfigured, match=r"PEV_OIDC_DEFAULT_ROLE says something .* set PEV_OIDC_URL"):
        read_environment()
    monkeypatch.setenv("PEV_OIDC_DEFAULT_ROLE", " ")
    assert read_environment().identity_provider is None
    monkeypatch.setenv("PEV_OIDC_URL", "https://login.example")
    with pytest.raises(ImproperlyConfigured, match="set PEV_OIDC_CLIENT_ID and PEV_OIDC_CLIENT_SECRET"):
        read_environment()
    monkeypatch.setenv("PEV_OIDC_CLIENT_ID", "pevsite")
    monkeypatch.setenv("PEV_OIDC_CLIENT_SECRET", "the-secret-of-nobody-1")
    monkeypatch.setenv("PEV_OIDC_GROUPS", "admins=administrator")
    provider = read_environment().identity_provider
    assert provider is not None
    assert (provider.url, provider.roles_for(["admins"])) == (
        "https://login.example",
        frozenset({PersonRole.ADMINISTRATOR}),
    )
    assert "the-secret-of-nobody-1" not in repr(provider)


def test_celery_needs_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    said = refusal(monkeypatch, PEV_ENGINE="celery", PEV_DATABASE_URL=POSTGRES)
    assert said == "PEV_ENGINE=celery needs Redis as its broker: set PEV_REDIS_URL, the same for all."
    monkeypatch.setenv("PEV_REDIS_URL", REDIS)
    assert read_environment().engine == "celery"


@pytest.mark.parametrize("service", ["file", "syslog", "dbus", "json", "mailto", "exec"])
def test_chats_that_reach_into_this_machine_cannot_be_allowed(monkeypatch: pytest.MonkeyPatch, service: str) -> None:
    said = refusal(monkeypatch, PEV_CHAT_SERVICES=f"slack {service}", PEV_PUBLIC_URL="https://pev.example")
    assert said.startswith(f"PEV_CHAT_SERVICES is “slack {service}”: “{service}” cannot be used. There are: discord, ")


def test_mail_needs_a_sender_and_an_address_for_links(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(monkeypatch, PEV_SMTP_HOST="mail.example").startswith("PEV_SMTP_HOST needs PEV_PUBLIC_URL")
    said = refusal(monkeypatch, PEV_PUBLIC_URL="https://pev.example/")
    assert said == "PEV_SMTP_HOST needs PEV_MAIL_FROM: set it to the sender of mails."
    monkeypatch.setenv("PEV_MAIL_FROM", "pevsite <pevsite@pev.example>")
    assert read_environment().public_url == "https://pev.example"


@pytest.mark.parametrize(
    ("module", "extra", "variables"),
    [
        ("dj_database_url", "scale", {"PEV_DATABASE_URL": POSTGRES}),
        ("psycopg_pool", "scale", {"PEV_DATABASE_URL": POSTGRES}),
        ("channels_redis", "scale", {"PEV_REDIS_URL": REDIS}),
        ("boto3", "scale", {"PEV_BLOBS": "s3://bucket"}),
        ("storages", "scale", {"PEV_BLOBS": "s3://bucket"}),
        ("celery", "scale", {"PEV_DATABASE_URL": POSTGRES, "PEV_REDIS_URL": REDIS, "PEV_ENGINE": "celery"}),
        ("prometheus_client", "monitoring", {"PEV_METRICS_TOKEN": "t" * 20}),
        ("mcp", "mcp", {"PEV_MCP_SERVER": "on"}),
        ("apprise", "chat", {"PEV_CHAT_SERVICES": "slack"}),
    ],
)
def test_what_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, extra: str, variables: dict[str, str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert refusal(monkeypatch, **variables).endswith(
        f" needs the extra {extra}, which is not installed. Run uv sync --extra {extra}."
    )


def test_every_setting_says_what_it_is_and_how_it_is_written() -> None:
    assert [name for name, field in FIELDS.items() if not field.description or not form(field)] == []


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FIELDS:
        monkeypatch.setenv(name, f"https://alice:{name.lower()}-s3cret-w0rd-{'x' * 12}@example.org")
    assert [name for name in FIELDS if "s3cret" in shown(name)] == []
    assert {shown(name) for name, field in FIELDS.items() if is_secret(field)} == {"set, and not shown"}


def test_values_are_shown_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEV_COMMANDS", "tests: pytest -q")
    names = ("PEV_COMMANDS", "PEV_HOSTS", "PEV_TLS", "PEV_WORKERS", "PEV_SECRET_KEY")
    assert [shown(name) for name in names] == [
        "tests: pytest -q",
        "127.0.0.1,localhost,[::1]",
        "off",
        "16",
        "not set",
    ]


def test_variables_that_are_no_setting_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PEV_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PEV_WORKER", "4")
    monkeypatch.setenv("PEV_XYZ", "4")
    assert list(unknown_variables()) == [
        "PEV_WORKER is not a setting. Did you mean PEV_WORKERS?",
        "PEV_XYZ is not a setting.",
    ]
