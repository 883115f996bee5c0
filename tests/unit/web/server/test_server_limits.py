"""How large a body may be, by address and cookie, and the free space that an upload has to leave."""

import inspect
import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.urls import URLPattern, resolve
from pytest_django import Settings

from runs.enums import TokenScope
from runs.web.api.documentation import document
from runs.web.server.server_limits import (
    API_UPLOADS,
    COPIES,
    MAX_BODY,
    MAX_UNSIGNED_BODY,
    UPLOADS,
    has_room,
    max_body,
    max_upload,
    usable_scopes,
)
from runs.web.urls import urlpatterns

COOKIE = b"other=1; sessionid=abcdefghijklmnopqrstuvwxyz012345"


@pytest.mark.parametrize(
    ("method", "uri", "cookies", "most"),
    [
        (b"POST", b"/sign-in/", b"", MAX_UNSIGNED_BODY),
        (b"POST", b"/sign-in/", COOKIE, MAX_BODY),
        (b"POST", b"/runs/new/", b"", MAX_UNSIGNED_BODY),
        (b"POST", b"/runs/new/", b"sessionidx=1", MAX_UNSIGNED_BODY),
        (b"POST", b"/runs/1/gates/1/", COOKIE, MAX_BODY),
        (b"PUT", b"/runs/new/", COOKIE, MAX_BODY),
        (b"GET", b"/runs/new/", COOKIE, MAX_BODY),
        (b"POST", b"/nowhere/runs/new/", COOKIE, MAX_BODY),
        (b"POST", b"/runs/\xff/", COOKIE, MAX_BODY),
        (b"POST", b"*", COOKIE, MAX_BODY),
        (b"POST", b"", b"\xff\0;;=", MAX_UNSIGNED_BODY),
        (b"POST", b"/api/v1/gates/1/decision", b"", MAX_BODY),
        (b"PUT", b"/api/v1/runs", b"", MAX_BODY),
    ],
)
def test_bodies_are_small(method: bytes, uri: bytes, cookies: bytes, most: int) -> None:
    assert max_body(method, uri, cookies) == most


def test_every_view_that_reads_files_may_get_them() -> None:
    reading = {
        pattern.name for pattern in urlpatterns if isinstance(pattern, URLPattern) and reads_files(pattern.callback)
    }
    assert reading == UPLOADS


def test_every_operation_that_takes_a_form_with_files_may_get_them() -> None:
    with_files = {
        resolve(re.sub(r"\{\w+\}", "1", path)).url_name
        for path, methods in document()["paths"].items()
        if "multipart/form-data" in methods.get("post", {}).get("requestBody", {}).get("content", {})
    }
    assert with_files == API_UPLOADS


def test_the_scope_of_a_request_is_that_of_its_operation() -> None:
    """Each operation of the document with the scope that it names there, whatever its path has for parameters."""
    values = defaultdict(lambda: "1", upload=str(uuid4()), suffix="md")
    for path, methods in document()["paths"].items():
        uri = path.format_map(values).encode()
        for method, operation in methods.items():
            (security,) = operation["security"]
            assert [usable_scopes(method.upper().encode(), uri)] == list(security.values()), (method, path)
    assert usable_scopes(b"HEAD", b"/api/v1/runs/1") == [TokenScope.RUNS_READ]


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        (b"PUT", b"/api/v1/runs"),
        (b"POST", b"/api/v1/nothing"),
        (b"POST", b"/runs/new/"),
        (b"POST", b"/api/v1/runs/\xff"),
        (b"\xff", b"/api/v1/runs"),
    ],
)
def test_what_is_no_operation_needs_no_scope(method: bytes, uri: bytes) -> None:
    assert usable_scopes(method, uri) == []


def reads_files(view: Callable[..., object]) -> bool:
    return "request.FILES" in inspect.getsource(inspect.unwrap(view))


@pytest.mark.parametrize(
    "uri", [b"/runs/new/", b"/runs/new/?a=b", b"/runs/%6eew/", b"/api/v1/runs", b"/api/v1/gates/1/files"]
)
def test_a_form_with_files_is_as_large_as_the_files_of_a_run(uri: bytes, settings: Settings) -> None:
    settings.UPLOAD_BYTES, settings.UPLOAD_FILES, settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 5_000_000, 10, 1_000_000
    assert max_body(b"POST", uri, COOKIE) == max_upload() == 6_010_000


@pytest.mark.parametrize(("size", "fits"), [(0, True), (100, True), (101, False)])
def test_an_upload_leaves_free_space_for_all_its_copies(
    size: int, fits: bool, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MIN_FREE_BYTES = 1_000
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000 + 100 * COPIES))
    assert has_room(size) is fits
