"""How long a connection may keep the server waiting, and how large a body may be at each address."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from django.conf import settings
from django.http.cookie import parse_cookie
from django.urls import Resolver404, ResolverMatch, resolve

from runs.enums import TokenScope
from runs.web.api.api import scope_for
from runs.web.mcp import endpoint as mcp
from runs.web.mcp.tools import SCOPES
from runs.web.site.addresses import API_PATH, MCP_PATH

UPLOADS = {"new_run", "draft", "give_files", "run_again_with", "letterhead"}
"""The names of the pages that accept files."""
API_UPLOADS = {"runs", "uploads", "gate_files"}
"""The names of the addresses of the REST API that accept files."""
MAX_BODY = 1_000_000
"""Bytes of a form without files: 20,000 characters of a reason are 180,000 at most, as browsers write them."""
MAX_UNSIGNED_BODY = 16_000
"""Bytes of a body that comes without the cookie of a session: signing in needs a hundredth of it."""
_PER_FILE = 1_000
"""Bytes that a browser sends around each file: its name, its path and the lines between."""
COPIES = 3
"""How many copies of an upload are on the disk while it arrives: the body, the files of the form, and the blobs."""


@dataclass(frozen=True)
class Patience:
    """Seconds that a client may take; who takes longer is cut off.

    `idle`: between an answer and the next request. `headers`: until they are whole. `body`: before the bytes of it must
    have come at `body_rate` a second on average. `stalled`: for reading what fills the buffer. `closing`: for reading
    the rest of the last answer. `refused`: for reading why it was refused.
    """

    idle: float = 60
    headers: float = 20
    body: float = 20
    body_rate: int = 1_000
    stalled: float = 60
    closing: float = 60
    refused: float = 5


def max_body(method: bytes, uri: bytes, cookies: bytes) -> int:
    """The most bytes of a body for this request, by its address and by whether a session may be behind it."""
    if is_message(uri):
        return mcp.MAX_BODY
    if is_for_api(uri):
        return max_upload() if method == b"POST" and takes_files(uri) else MAX_BODY
    if settings.SESSION_COOKIE_NAME not in parse_cookie(cookies.decode("latin-1")):
        return MAX_UNSIGNED_BODY
    return max_upload() if method == b"POST" and takes_files(uri) else MAX_BODY


def max_unknown(uri: bytes) -> int:
    """The most bytes of a body that are accepted before it is known who sends them. Looking at a cookie costs
    nothing.
    """
    return MAX_UNSIGNED_BODY if is_for_programs(uri) else MAX_BODY


def is_for_programs(uri: bytes) -> bool:
    """Whether this is asked for with an access token, and never with a session."""
    return is_message(uri) or is_for_api(uri)


def is_for_api(uri: bytes) -> bool:
    return bool(settings.API) and uri.startswith(API_PATH.encode())


def is_message(uri: bytes) -> bool:
    """Whether this goes to the MCP server, which uses no cookies."""
    return bool(settings.MCP_SERVER) and uri.partition(b"?")[0] == MCP_PATH.encode()


def max_upload() -> int:
    """The most bytes of a form with files: larger ones break the limits of a run whatever is in them."""
    return (
        int(settings.UPLOAD_BYTES) + _PER_FILE * int(settings.UPLOAD_FILES) + int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    )


def takes_files(uri: bytes) -> bool:
    """Whether this is the address of a form with files."""
    match = match_of(uri)
    return match is not None and match.url_name in UPLOADS | API_UPLOADS


def usable_scopes(method: bytes, uri: bytes) -> Sequence[TokenScope]:
    """The scopes with which a program can do something with this request. Empty if there is no such operation."""
    if is_message(uri):
        return SCOPES
    match = match_of(uri)
    scope = scope_for(method.decode("latin-1"), match) if match else None
    return [scope] if scope else []


def match_of(uri: bytes) -> ResolverMatch | None:
    """What is at an address. None if it is none of ours."""
    try:
        return resolve(unquote(uri.partition(b"?")[0].decode("ascii")))
    except (Resolver404, UnicodeDecodeError):
        return None


def has_room(size: int) -> bool:
    """Whether an upload of so many bytes leaves the free space that the installation keeps, on both disks."""
    places = (Path(tempfile.gettempdir()), Path(settings.DATA_DIR))
    return all(shutil.disk_usage(place).free - COPIES * size >= settings.MIN_FREE_BYTES for place in places)
