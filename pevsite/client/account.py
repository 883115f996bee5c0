"""The server of a person, and the access token for it: from the environment, or as `login` has stored them.

`login` stores one account in a file, and `logout` deletes it.
"""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from pevsite.client.terminal import WRONG_USE, Failed
from pevsite.installation import PROGRAM

URL = "PEVSITE_URL"
TOKEN = "PEVSITE_TOKEN"  # noqa: S105  # the name of a variable


@dataclass(frozen=True)
class Account:
    url: str
    token: str


def path() -> Path:
    """The file in which `login` stores an account."""
    return platformdirs.user_config_path("pevsite", appauthor=False) / "account.json"


def current(*, insecure: bool) -> Account:
    """The account of this command. A token is used only for the server that it was stored for. Raises Failed."""
    url, token = os.environ.get(URL, ""), os.environ.get(TOKEN, "")
    stored = None if url and token else _stored()
    url = checked_url(url or (stored.url if stored else ""), insecure=insecure)
    if not token and stored and stored.url == url:
        token = stored.token
    if not token:
        raise Failed(f"There is no access token for {url}. Sign in with: {PROGRAM} login {url}", exit_code=WRONG_USE)
    return Account(url, checked_token(token))


def store(account: Account) -> None:
    """Store the account in a file that only this user may read. Raises Failed."""
    file = path()
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
            json.dump({"url": account.url, "token": account.token}, opened)
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise Failed(f"The access token cannot be stored in “{file}”: {error.strerror}.") from error


def forget(url: str) -> Account:
    """Delete the stored account, which has to be that of `url` if one is given. Returns it. Raises Failed."""
    stored = _stored()
    if stored is None or (url and stored.url != url):
        raise Failed(f"No access token{f' for {url}' if url else ''} is stored in “{path()}”.")
    try:
        path().unlink(missing_ok=True)
    except OSError as error:
        raise Failed(f"“{path()}” cannot be deleted: {error.strerror}.") from error
    return stored


def checked_url(raw: str, *, insecure: bool) -> str:
    """The address of the server in one form. Raises Failed for one to which no token may be sent."""
    if not raw:
        raise Failed(f"There is no server yet. Sign in with: {PROGRAM} login https://…", exit_code=WRONG_USE)
    try:
        parts = urlsplit(raw.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    usable = parts.scheme in {"http", "https"} and host and raw.isascii() and raw.strip().isprintable()
    if not usable or parts.username is not None or parts.path.strip("/") or parts.query or parts.fragment:
        raise Failed(
            "Give the address of the server as https://pevsite.example.org, without a path, a name or a password.",
            exit_code=WRONG_USE,
        )
    if parts.scheme == "http" and not insecure and not _is_this_machine(host):
        raise Failed(
            f"The access token would travel to {host} unencrypted. Use https, or say --insecure in a network that you "
            "trust.",
            exit_code=WRONG_USE,
        )
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}"


def checked_token(token: str) -> str:
    """The token, if a header can carry it. Raises Failed, which does not repeat it."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise Failed("This is no access token. Make one on the page “Access tokens”.", exit_code=WRONG_USE)
    return token


def _stored() -> Account | None:
    try:
        content = json.loads(path().read_text(encoding="utf-8"))
        return Account(str(content["url"]), str(content["token"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"“{path()}” cannot be read. Sign in again with: {PROGRAM} login https://…") from error


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
