"""All files of a form lie in one: each reads as if it had one of its own, and the process has few open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.wsgi import WSGIRequest
from django.test import RequestFactory
from pytest_django import Settings

CONTENTS = [bytes([65 + number]) * (100_000 + number) for number in range(40)]


def open_files() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def posted(*contents: bytes) -> WSGIRequest:
    files = [SimpleUploadedFile(f"{number}.txt", content) for number, content in enumerate(contents)]
    return RequestFactory().post("/", {"files": files})


def files_of(request: WSGIRequest) -> list[Any]:
    return [*request.FILES.getlist("files")]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files in /proc")
def test_forty_files_take_one_open_file_which_is_closed_with_the_request() -> None:
    request = posted(*CONTENTS)
    before = open_files()
    assert len(files_of(request)) == 40
    assert open_files() == before + 1
    request.close()
    assert open_files() == before


@pytest.mark.parametrize("contents", [CONTENTS, [b"one", b"two", b"three"]], ids=["large", "small"])
def test_each_file_has_its_own_bytes_and_place(contents: list[bytes]) -> None:
    request = posted(*contents)
    files = files_of(request)
    assert [(file.name, file.size) for file in files] == [(f"{n}.txt", len(c)) for n, c in enumerate(contents)]
    first, last = files[0], files[-1]
    assert (first.read(2), last.read(3), first.read(1)) == (contents[0][:2], contents[-1][:3], contents[0][2:3])
    assert [b"".join(file.chunks(7_000)) for file in files] == contents
    assert first.seek(-1, os.SEEK_END) == len(contents[0]) - 1
    assert (first.read(9), first.read(9)) == (contents[0][-1:], b"")
    request.close()


def test_a_form_that_is_refused_leaves_nothing_open(settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 3
    request = posted(*CONTENTS[:5])
    with pytest.raises(TooManyFilesSent):
        _ = request.FILES
    request.close()
