"""Sends one message by Apprise, in a process of its own that reaches public addresses alone.

The address comes from a person and is hostile input: its parameters may name files and hosts. So this process opens no
file but those of Python, starts no program, and connects to nothing that is not public, whatever a name or a redirect
leads to. The package `runs.isolation` calls `send`; nothing here knows Django.
"""

from __future__ import annotations

import json
import logging
import mimetypes
import re
import socket
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from runs.errors import InvalidInput
from runs.http_client.http_fetch import is_public

_SCHEME = re.compile(r"([a-z0-9]{1,20})://")
_NATIVE = "https"
"""Some services show addresses of their own, which Apprise recognises."""
_READABLE = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]), "/usr/share/zoneinfo")
_REFUSED = frozenset(
    (
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
        *("socket.bind", "socket.sendto", "socket.sendmsg"),
    )
)
_WORDS = re.compile(r"[^/?&=:@,\s]{6,}")
_MAX_PROBLEM = 400


class AccessRefused(OSError):
    """A connection or file that this process does not open."""


def send(data: bytes) -> bytes:
    """Sends `title` and `body` to `address`. Returns why it could not be sent now, in the words of the service; empty
    if it was sent.

    `allowed`: the schemes of the services that may be used; without a `body` the address is only checked. `private`:
    hosts that need no public address. Raises InvalidInput for an address that cannot be used.
    """
    given = json.loads(data)
    address, allowed = str(given["address"]).strip(), frozenset(given["allowed"])
    scheme = _SCHEME.match(address.lower())
    if scheme is None or scheme[1] not in allowed | {_NATIVE}:
        raise InvalidInput(f"Addresses must begin with {_listed(allowed)}.")
    problems = guard(given["private"])

    import apprise  # half a second, in the process of the call alone

    asset = apprise.AppriseAsset(app_id="pevsite", app_desc="", app_url="", async_mode=False, secure_logging=True)
    # Read before a line is captured: an address that cannot be read is repeated in the log.
    logging.getLogger("apprise").setLevel(logging.WARNING)
    service = apprise.Apprise.instantiate(address, asset=asset)
    if service is None:
        raise InvalidInput("This is not an address of that service, as Apprise describes it.")
    if not set(_schemes(service)) & allowed:
        raise InvalidInput(f"Addresses must begin with {_listed(allowed)}.")
    if not given["body"]:
        return b""
    with apprise.LogCapture(level=logging.WARNING, fmt="%(message)s") as log:  # type: ignore[no-untyped-call]
        sent = service.notify(title=given["title"], body=given["body"], body_format=apprise.NotifyFormat.TEXT)
        said = log.getvalue()
    if problems:
        raise InvalidInput(problems[0])
    if sent:
        return b""
    line = next((line for line in said.splitlines() if line.strip()), "The service did not take the message.")
    return _without_secrets(line, address)[:_MAX_PROBLEM].encode()


def guard(private: Collection[str]) -> list[str]:
    """From now on, refuse what this process must not do. Returns the list that gets a sentence for each connection
    that was refused.
    """
    known = {str(info[4][0]) for host in private for info in _addresses(host)}
    readable = (*_READABLE, *map(str, mimetypes.knownfiles))
    problems: list[str] = []

    def look(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path = given[0]
            if isinstance(path, int):
                return
            path = path.decode(errors="replace") if isinstance(path, bytes) else str(path)
            if not path.startswith(readable) or "/../" in path:
                raise AccessRefused("No file is read for a notice.")
        elif event == "socket.connect":
            host = given[1][0] if isinstance(given[1], tuple) else ""
            if not (host in known or _is_public(host)):
                problems.append("The address leads to a host that is not public; nothing is sent there.")
                raise AccessRefused(problems[-1])
        elif event in _REFUSED:
            raise AccessRefused("No program is started for a notice.")

    sys.addaudithook(look)
    return problems


def _addresses(host: str) -> list[Any]:
    try:
        return socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:  # not there now
        return []


def _is_public(host: object) -> bool:
    try:
        return is_public(str(host))
    except ValueError:  # a name: where it leads is not known yet
        return False


def _schemes(service: Any) -> list[str]:
    found: list[str] = []
    for names in (service.protocol, service.secure_protocol):
        found += [names] if isinstance(names, str) else list(names or ())
    return found


def _listed(schemes: Collection[str]) -> str:
    return " or ".join(f"{one}://" for one in sorted(schemes))


def _without_secrets(text: str, address: str) -> str:
    """The text without the parts of the address: most are keys."""
    for word in sorted(set(_WORDS.findall(address)), key=len, reverse=True):
        text = text.replace(word, "…")
    return text
