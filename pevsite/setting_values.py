"""How the text of an environment variable becomes a value, for settings that are more than a number or a word.

Each function raises ValueError with the second half of a sentence that begins with the name of the variable.
"""

import base64
import re
import shlex
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from email.utils import parseaddr
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pydantic
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from pydantic import AfterValidator, SecretStr

from runs.contracts.quotas import Quotas
from runs.enums import PersonRole
from runs.errors import InvalidInput
from runs.mcp_client.server_config import ServerConfig, read_servers
from runs.pev.tools.service_tools import SERVICE_TOOLS
from runs.text.domains import is_kept_private, sites

BUCKET = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/+[\w.=-]+)*)/*")
MIN_TOKEN_CHARACTERS = 20
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_SANDBOX_FOLDERS = frozenset(map(Path, ("/", "/tmp", "/root", "/home", "/run", "/var", "/var/tmp")))  # noqa: S108
"""Folders that commands must not see: the sandbox has its own there, or they contain more than a command should see."""
_KERNEL_FOLDERS = tuple(map(Path, ("/proc", "/dev", "/sys")))


def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that contains the module is missing
        return False


def needs(extra: str, *modules: str) -> AfterValidator:
    """A validator that refuses every value except an empty one if one of the optional modules is missing."""

    def check[Value](value: Value) -> Value:
        if value and not all(map(is_installed, modules)):
            raise ValueError(f"it needs the extra {extra}, which is not installed. Run uv sync --extra {extra}.")
        return value

    return AfterValidator(check)


def no_comment(text: str) -> str:
    """The text of a secret. Raises ValueError for a comment, which some readers of variable files take for the value of
    an empty variable. The secret would then be a text that is known from the example.
    """
    if text.startswith("#"):
        raise ValueError("it begins with #, so a comment was taken for its value. Put comments on their own lines.")
    return text


def logo(path: str) -> str:
    """The PNG or JPEG file at this path as reports show it: a PNG in base64."""
    from runs.documents.printing import logos  # slow to import, and only needed where there is a logo

    try:
        with Path(path).open("rb") as file:
            data = file.read(logos.MAX_BYTES + 1)
        return base64.b64encode(logos.logo(data)).decode()
    except OSError as error:
        raise ValueError(f"the file cannot be read ({error.strerror}).") from error
    except InvalidInput as error:
        raise ValueError(f"the file {error}.") from error


def postgres_address(address: SecretStr) -> SecretStr:
    text = address.get_secret_value()
    try:
        import dj_database_url  # slow to import, and only installed with the extra

        dj_database_url.parse(text)
        readable = text.startswith(("postgres://", "postgresql://"))
    except ValueError:
        readable = False
    if not readable:
        raise ValueError("it must be an address such as postgres://user:password@host:5432/name.")
    return address


def redis_address(address: SecretStr) -> SecretStr:
    if not address.get_secret_value().startswith(("redis://", "rediss://")):
        raise ValueError("it must be an address such as redis://:password@host:6379/0.")
    return address


def bucket_address(address: str) -> str:
    if BUCKET.fullmatch(address) is None or "/.." in address:
        raise ValueError("it must be s3://bucket/prefix. AWS_ENDPOINT_URL names a server of your own.")
    return address


def provider_address(address: str) -> str:
    """The issuer of an OpenID Connect provider, also from the address of its configuration."""
    issuer = address.partition("/.well-known/")[0]
    if not is_kept_private(issuer) or "@" in urlsplit(issuer).netloc or "?" in issuer or "#" in issuer:
        raise ValueError(
            "it must be an address such as https://login.example/realms/staff (http on this machine only)."
        )
    if len(issuer) > 200:
        raise ValueError(f"it has {len(issuer)} characters; at most 200 can be stored with each person.")
    return issuer


def roles_of_groups(text: str) -> Mapping[str, frozenset[PersonRole]]:
    """Roles by group, from a text such as `legal-leads=approver, admins=administrator`. A group may be named again."""
    found = dict[str, frozenset[PersonRole]]()
    for part in filter(None, map(str.strip, text.split(","))):
        group, _, role = (word.strip() for word in part.rpartition("="))
        if not group or role not in set(PersonRole):
            raise ValueError(
                f"“{part[:60]}” cannot be read. Write it as in legal-leads=approver, admins=administrator. The roles "
                f"are {', '.join(PersonRole)}."
            )
        found[group] = found.get(group, frozenset()) | {PersonRole(role)}
    return found


def quotas(text: str) -> Quotas:
    """Quotas from a text such as `everyone runs=3 usd=50; person alice gigabytes=20; group Legal usd=500`."""
    found: dict[str, Any] = {"people": {}, "groups": {}}
    for part in filter(None, map(str.strip, text.split(";"))):
        words = part.split()
        named = [word for word in words if "=" not in word]
        values = [word.split("=", 1) for word in words if "=" in word]
        match named:
            case ["everyone"]:
                found["everyone"] = dict(values)
            case ["person", name]:
                found["people"][name] = dict(values)
            case ["group", *names] if names:
                found["groups"][" ".join(names)] = dict(values)
            case _:
                raise _unreadable_quota(part)
    try:
        return Quotas.model_validate(found)
    except pydantic.ValidationError as error:
        raise _unreadable_quota(text) from error


def _unreadable_quota(part: str) -> ValueError:
    return ValueError(
        f"“{part[:60]}” cannot be read. Write it as in everyone runs=3 gigabytes=10 usd=50; person alice runs=10; "
        "group Legal usd=500."
    )


def access_token(token: SecretStr) -> SecretStr:
    if len(token.get_secret_value()) < MIN_TOKEN_CHARACTERS:
        raise ValueError(
            f"it has {len(token.get_secret_value())} characters and must have at least {MIN_TOKEN_CHARACTERS}. "
            "openssl rand -hex 20 makes one."
        )
    return token


def time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: a folder of zones, such as Europe
        raise ValueError("it must be the name of a time zone, such as Europe/Berlin.") from error
    return name


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def business_days(text: str) -> frozenset[int]:
    """The days of the week on which time limits run, Monday as 0, from a text such as `Mon-Fri` or `Mon-Thu, Sat`."""
    found = set[int]()
    for part in text.lower().replace(",", " ").split():
        first, dash, last = part.partition("-")
        last = last if dash else first
        if first not in _WEEKDAYS or last not in _WEEKDAYS:
            raise ValueError(f"“{part[:20]}” is no day. Write it as Mon-Fri, or as Mon-Thu, Sat.")
        start, end = _WEEKDAYS.index(first), _WEEKDAYS.index(last)
        if end < start:
            raise ValueError(f"“{part[:20]}” goes backwards. Weeks begin with Mon.")
        found |= set(range(start, end + 1))
    if not found:
        raise ValueError("it names no day. Write it as Mon-Fri, or as Mon-Thu, Sat.")
    return frozenset(found)


def holidays(text: str) -> frozenset[date]:
    """Days on which no time limit runs, from a text such as `2026-12-25, 2027-01-01`."""
    found = set[date]()
    for part in text.replace(",", " ").split():
        try:
            found.add(datetime.strptime(part, "%Y-%m-%d").date())
        except ValueError as error:
            raise ValueError(f"“{part[:20]}” is no date. Write it as 2026-12-25.") from error
    return frozenset(found)


def host_names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def policy_values(text: str) -> Mapping[str, str]:
    """Values by field, from a text such as `attempts=2, budget=5`. The policy validates them later."""
    found = dict[str, str]()
    for part in text.replace(",", " ").split():
        name, equals, value = part.partition("=")
        if not equals or not name:
            raise ValueError(f"“{part[:40]}” cannot be read. Write it as attempts=2, budget=5.")
        found[name] = value
    return found


def commands(text: str) -> Mapping[str, tuple[str, ...]]:
    """Arguments by name, from a text such as `tests: pytest -q; lint: ruff check .`. No shell is involved."""
    found = dict[str, tuple[str, ...]]()
    for words in _parts(text):
        name, colon, first = words[0].partition(":")
        argv = (*([first] if first else []), *words[1:])
        if not (colon and argv and _NAME.fullmatch(name)) or name in found:
            raise _unreadable_command(shlex.join(words))
        found[name] = argv
    return found


def _parts(text: str) -> Iterator[list[str]]:
    """The words between semicolons. A semicolon inside quotation marks is a part of its word."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise _unreadable_command(text) from error
    for is_end, part in groupby(words, lambda word: not word.strip(";")):
        if not is_end:
            yield list(part)


def _unreadable_command(text: str) -> ValueError:
    return ValueError(
        f"“{text[:60]}” cannot be read. Write it as in “tests: pytest -q; lint: ruff check .”: each name once, in "
        "small letters."
    )


def command_folders(text: str) -> tuple[Path, ...]:
    """Folders that commands see in addition to those of the system, from a text such as `/srv/tools:/srv/venv`."""
    folders = tuple(Path(part.strip()) for part in text.split(":") if part.strip())
    for folder in folders:
        if not folder.is_absolute() or ".." in folder.parts or not folder.is_dir():
            raise ValueError(
                f"{str(folder)[:200]} is not a folder here. Name whole paths with colons between them, as in "
                "/srv/tools:/srv/venv."
            )
        both = {folder, folder.resolve()}  # a link must not lead to a folder that is refused by its own name
        if both & _SANDBOX_FOLDERS or any(path.is_relative_to(kernel) for path in both for kernel in _KERNEL_FOLDERS):
            raise ValueError(f"commands cannot see {folder}. Name the folder of a program in it.")
    return folders


def web_sites(text: str) -> str:
    try:
        return str(sites(text))
    except InvalidInput as error:
        raise ValueError(str(error)) from error


def public_address(text: str) -> str:
    """The address of the site, without a slash at its end."""
    try:
        url = urlsplit(text)
        usable = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        usable = False
    if not usable or url.username is not None or url.path.strip("/") or url.query or url.fragment or set(text) & {" "}:
        raise ValueError("it must be an address without a path, such as https://pevsite.example.org.")
    return text.rstrip("/")


def mail_address(text: str) -> str:
    try:
        validate_email(parseaddr(text)[1])
    except ValidationError as error:
        raise ValueError("it must be a mail address, such as pevsite@example.org.") from error
    if not text.isprintable():
        raise ValueError("it must be one line.")
    return text


CHATS = frozenset(
    (
        *("discord", "gchat", "gotify", "gotifys", "guilded", "lark", "line", "mastodon", "mastodons", "matrix"),
        *("matrixs", "mattermost", "mmost", "mmosts", "msteams", "ncloud", "nclouds", "nctalk", "nctalks", "ntfy"),
        *("ntfys", "opsgenie", "pagerduty", "pover", "pushover", "rocket", "rockets", "ryver", "signal", "signals"),
        *("slack", "signl4", "tgram", "twist", "webex", "wxteams", "workflow", "workflows", "zoom", "zulip"),
    )
)
"""The services of Apprise that may be allowed: chats that are reached over HTTP, and nothing that starts programs,
writes files, or speaks to this machine.
"""


def chat_services(text: str) -> frozenset[str]:
    names = frozenset(text.replace(",", " ").replace("://", " ").lower().split())
    if unknown := sorted(names - CHATS):
        raise ValueError(f"“{unknown[0][:40]}” cannot be used. There are: {', '.join(sorted(CHATS))}.")
    return names


def private_hosts(text: str) -> frozenset[str]:
    names = frozenset(text.replace(",", " ").lower().split())
    if wrong := sorted(name for name in names if "/" in name or "*" in name):
        raise ValueError(f"“{wrong[0][:40]}” is not a host. Name each one, as in hooks.internal 10.1.2.3.")
    return names


def service_tools(text: str) -> frozenset[str]:
    names = frozenset(text.replace(",", " ").split())
    if unknown := sorted(names - SERVICE_TOOLS):
        raise ValueError(f"“{unknown[0][:40]}” is not a tool. There are: {', '.join(sorted(SERVICE_TOOLS))}.")
    return names


def mcp_servers(path: str) -> Mapping[str, ServerConfig]:
    """The MCP servers in a file, by name."""
    try:
        return read_servers(path)
    except InvalidInput as error:
        raise ValueError(str(error)) from error
