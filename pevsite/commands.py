"""What an administrator lets models run and read, as variables name it."""

import re
import shlex
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from runs.errors import InvalidInput
from runs.mcp_client.server_config import ServerConfig, read_servers
from runs.pev.tools.serving import SERVICE_TOOLS
from runs.text.domains import sites

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_OWN_FOLDERS = frozenset(map(Path, ("/", "/tmp", "/root", "/home", "/run", "/var", "/var/tmp")))  # noqa: S108
"""Either the sandbox has one of its own there, or more lies in it than anyone means to show to a command."""
_KERNEL_FOLDERS = tuple(map(Path, ("/proc", "/dev", "/sys")))
_UNREADABLE = (
    "PEV_COMMANDS cannot be read at “{}”. Write it as in “tests: pytest -q; lint: ruff check .”: each name once, in "
    "small letters."
)


def commands(text: str) -> Mapping[str, tuple[str, ...]]:
    """Name to arguments, of a text such as `tests: pytest -q; lint: ruff check .`. No shell reads them.

    Raises ImproperlyConfigured, with a sentence for whoever starts pevsite, for what cannot be read so.
    """
    found = dict[str, tuple[str, ...]]()
    for words in _parts(text):
        name, colon, first = words[0].partition(":")
        argv = (*([first] if first else []), *words[1:])
        if not (colon and argv and _NAME.fullmatch(name)) or name in found:
            raise ImproperlyConfigured(_UNREADABLE.format(shlex.join(words)[:60]))
        found[name] = argv
    return found


def command_folders(text: str) -> tuple[Path, ...]:
    """Folders that commands see besides those of the system, of a text such as `/srv/tools:/srv/venv`.

    Raises ImproperlyConfigured for what is no folder, and for one in whose place the sandbox has its own.
    """
    folders = tuple(Path(part.strip()) for part in text.split(":") if part.strip())
    for folder in folders:
        if not folder.is_absolute() or ".." in folder.parts or not folder.is_dir():
            raise ImproperlyConfigured(
                f"PEV_COMMAND_FOLDERS names {str(folder)[:200]}, which is no folder here. Name whole paths with colons "
                "between them, as in /srv/tools:/srv/venv."
            )
        there = {folder, folder.resolve()}
        if there & _OWN_FOLDERS or any(path.is_relative_to(one) for path in there for one in _KERNEL_FOLDERS):
            raise ImproperlyConfigured(
                f"PEV_COMMAND_FOLDERS names {folder}, which commands cannot see. Name the folder of a program in it."
            )
    return folders


def web_sites(text: str) -> str:
    """The list of sites, empty for none. Raises ImproperlyConfigured for what is no such list."""
    try:
        return str(sites(text))
    except InvalidInput as error:
        raise ImproperlyConfigured(f"PEV_WEB cannot be read: {error}") from error


def service_tools(text: str) -> frozenset[str]:
    """The tools of the model's service that runs may use. Raises ImproperlyConfigured for a name that it has not."""
    names = frozenset(text.replace(",", " ").split())
    if unknown := sorted(names - SERVICE_TOOLS):
        there = ", ".join(sorted(SERVICE_TOOLS))
        raise ImproperlyConfigured(f"PEV_SERVICE_TOOLS names {unknown[0][:40]}. There are: {there}.")
    return names


def mcp_servers(path: str) -> Mapping[str, ServerConfig]:
    """The servers of the file, by name, none without one. Raises ImproperlyConfigured for a file that cannot be used,
    or without the library.
    """
    if path and find_spec("mcp") is None:
        raise ImproperlyConfigured("PEV_MCP needs the extra mcp: uv sync --extra mcp. Install it, or leave it empty.")
    try:
        return read_servers(path)
    except InvalidInput as error:
        raise ImproperlyConfigured(f"PEV_MCP: {error}") from error


def mcp_server(wanted: bool) -> bool:
    """Whether programs of people may act for them at `/mcp`. Raises ImproperlyConfigured without the library."""
    if wanted and find_spec("mcp") is None:
        raise ImproperlyConfigured(
            "PEV_MCP_SERVER needs the extra mcp: uv sync --extra mcp. Install it, or leave it off."
        )
    return wanted


def _parts(text: str) -> Iterator[list[str]]:
    """The words between semicolons that stand in no quotation marks."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise ImproperlyConfigured(_UNREADABLE.format(text.strip()[:60])) from error
    for is_end, part in groupby(words, lambda word: not word.strip(";")):
        if not is_end:
            yield list(part)
