"""Web addresses in texts, and sites as people list them.

`example.org` means this site and all below it, `*` all sites, and `-example.org` an exception.
"""

import ipaddress
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from runs.errors import InvalidInput

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})+")
_SEPARATORS = re.compile(r"[\s,;+]+")
MAX_SITES = 200
EVERY = "*"


class Sites(NamedTuple):
    """`allowed` and `refused` names, in small letters, as they go over the wire; EVERY among the allowed is any."""

    allowed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def has(self, host: str) -> bool:
        """Whether a page of this host may be read."""
        return any(_is_in(host, name) for name in self.allowed) and not any(_is_in(host, one) for one in self.refused)

    @property
    def words(self) -> str:
        """The sites in words for people; empty for none."""
        listed = "any site" if EVERY in self.allowed else ", ".join(self.allowed)
        return f"{listed}, but not {', '.join(self.refused)}" if listed and self.refused else listed

    def beyond(self, others: "Sites") -> list[str]:
        """The names that are allowed here and not in the other list."""
        return [name for name in self.allowed if not (others.has(name) if name != EVERY else others.allowed)]

    def within(self, others: "Sites") -> "Sites":
        """What both allow. Of the refused only those that would else be allowed are named."""
        names = [*(others.allowed if EVERY in self.allowed else self.allowed)]
        allowed = tuple(name for name in names if name == EVERY or (self.has(name) and others.has(name)))
        refused = dict.fromkeys((*self.refused, *others.refused))
        return Sites(allowed, tuple(one for one in refused if any(_is_in(one, name) for name in allowed)))

    @property
    def is_mixed(self) -> bool:
        """Whether it names sites and exceptions below them."""
        return EVERY not in self.allowed and bool(self.refused)

    def __str__(self) -> str:
        return " ".join([*self.allowed, *(f"-{name}" for name in self.refused)])


def sites(text: str) -> Sites:
    """The sites of a list, divided by spaces, commas, semicolons or +. Raises InvalidInput with a sentence."""
    parts = [part for part in _SEPARATORS.split(text.strip()) if part]
    if len(parts) > MAX_SITES:
        raise InvalidInput(f"There are {len(parts)} sites; at most {MAX_SITES} may be named.")
    allowed = [_read(part) for part in parts if not part.startswith("-")]
    refused = [_read(part.removeprefix("-")) for part in parts if part.startswith("-")]
    if EVERY in refused:
        raise InvalidInput("“-*” would leave no site; leave the list empty for none.")
    return Sites(tuple(dict.fromkeys(allowed)), tuple(dict.fromkeys(refused)))


def _read(part: str) -> str:
    if part == EVERY:
        return EVERY
    name = part.lower().removeprefix("*.").rstrip(".")
    try:
        name = name if name.isascii() else name.encode("idna").decode()
    except UnicodeError:
        name = ""
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"“{part[:60]}” is not a site; write it as example.org, without https:// and a path.")
    return name


def _is_in(host: str, name: str) -> bool:
    return name == EVERY or host == name or host.endswith(f".{name}")


_ADDRESS = re.compile(r"(?:https?://|(?<![\w.@/:-])www\.(?=\w))[^\s<>\"“”«»|\\^`{}]+", re.IGNORECASE)
_BEHIND = ".,;:!?'’]*_"


def addresses_in(text: str) -> Iterator[tuple[int, int]]:
    """The characters of each web address, with its scheme or beginning with `www.`, without the punctuation and the
    closing brackets behind it.
    """
    for match in _ADDRESS.finditer(text):
        start, end = match.span()
        unopened = match[0].count(")") - match[0].count("(")
        while text[end - 1] in _BEHIND or (text[end - 1] == ")" and unopened > 0):
            unopened -= text[end - 1] == ")"
            end -= 1
        yield start, end


def normal_address(written: str) -> str:
    """The address without parts that do not change the page: capitals of the site, a fragment, a last slash. Without a
    scheme it is read as `https:`.
    """
    written = written if "://" in written else f"https://{written}"
    scheme, _, rest = written.partition("://")
    site, slash, path = rest.partition("#")[0].partition("/")
    port = ":443" if scheme.lower() == "https" else ":80"
    return f"{scheme.lower()}://{site.lower().removesuffix(port)}{slash}{path}".rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_kept_private(address: str) -> bool:
    """Whether nobody on the way can read or change what is sent there: https, or http on this machine."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    host = parts.hostname or ""
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))
