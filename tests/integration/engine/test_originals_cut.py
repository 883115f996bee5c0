"""Pages of one question, cut for it: how many fit, what is tried again, and how large pictures may be."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from runs import isolation
from runs.contracts.ports import Ask
from runs.engine import original_pages
from runs.enums import Role
from runs.errors import InvalidInput
from runs.store import blobs, page_pictures
from tests.documents import pdfs
from tests.documents.pictures import saved
from tests.integration.engine.test_original_pages import GREY, MIXED, PHOTO, Block

pytestmark = pytest.mark.django_db


def test_pages_that_fit_into_no_request_together_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sha256 = blobs.put(MIXED).sha256
    question = asked_about(sha256, (1, 2))
    one, two = (original_pages.with_pages(asked_about(sha256, (page, page))) for page in (1, 2))
    largest = max(size_of(one), size_of(two))
    monkeypatch.setattr(original_pages, "MAX_BYTES", largest)
    result = original_pages.with_pages(question)
    assert result.pages == ("“a.pdf”, page 2",)
    (message,) = result.ask.messages
    content: Any = message["content"]
    assert [block["type"] for block in content] == ["text", "text", "document"]
    assert content[0]["text"].startswith("“a.pdf”, page 1: no longer shown as it looks, since newer pages")
    monkeypatch.setattr(original_pages, "MAX_BYTES", 100)
    assert [text(block) for block in blocks_of(original_pages.with_pages(question))] == [
        f"“a.pdf”, page {page}: too large to be sent as it looks. Its text is above." for page in (1, 2)
    ]


def test_a_page_that_is_too_large_takes_no_room_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = blobs.put(GREY).sha256, blobs.put(PHOTO).sha256
    assert len(GREY) < len(PHOTO)
    question = asked_about(small, (1, 1), kind="picture")
    later = asked_about(large, (1, 1), kind="picture")
    both = replace(question, messages=(*question.messages, *later.messages))
    monkeypatch.setattr(original_pages, "MAX_BYTES", len(base64.b64encode(PHOTO)) - 1)
    kinds = [
        [block["type"] for block in message["content"]] for message in messages_of(original_pages.with_pages(both))
    ]
    assert kinds == [["text", "image"], ["text"]]
    assert original_pages.with_pages(both).pages == ()


def test_a_process_that_was_ended_from_outside_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Exception] = [isolation.Interrupted("it was ended"), isolation.NoTurn("it waited")]

    def run(function: str, *args: Any, **options: Any) -> bytes:
        if ended:
            raise ended.pop()
        return run_isolated(function, *args, **options)

    run_isolated = isolation.run
    monkeypatch.setattr(isolation, "run", run)
    content = pdfs.joined(MIXED, pdfs.pages_of([pdfs.line("Nobody has cut this one before.")]))
    result = original_pages.with_pages(asked_about(blobs.put(content).sha256, (1, 1)))
    assert (result.pages, ended) == (("“a.pdf”, page 1",), [])


def test_a_page_that_could_not_be_cut_is_tried_again_after_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[Exception] = [isolation.TimedOut("it took longer than 20 seconds")]

    def run(function: str, *args: Any, **options: Any) -> bytes:
        if failures:
            raise failures.pop()
        return run_isolated(function, *args, **options)

    run_isolated = isolation.run
    monkeypatch.setattr(isolation, "run", run)
    sha256 = blobs.put(pdfs.joined(MIXED, pdfs.pages_of([pdfs.line("A page on a busy day.")]))).sha256
    for _ in range(2):
        with pytest.raises(InvalidInput, match="cannot be drawn"):
            page_pictures.cut(sha256, 1, 1)
    monkeypatch.setattr(page_pictures, "FAILED_SECONDS", 0)
    assert page_pictures.cut(sha256, 1, 1).startswith(b"%PDF-")


def asked_about(sha256: str, pages: tuple[int, int], kind: str = "pdf") -> Ask:
    named: Block = {"type": "pages", "sha256": sha256, "kind": kind, "path": "a.pdf", "weight": 1}
    block = named | {"first": pages[0], "last": pages[1]}
    return Ask(Role.EXECUTOR, "model", "", ({"role": "user", "content": [block]},), max_tokens=100)


def messages_of(result: original_pages.Sent) -> Sequence[Block]:
    return result.ask.messages


def blocks_of(result: original_pages.Sent) -> list[Block]:
    return [block for message in messages_of(result) for block in message["content"]]


def size_of(result: original_pages.Sent) -> int:
    return sum(len(block["source"]["data"]) for block in blocks_of(result) if "source" in block)


def text(block: Block) -> str:
    return str(block["text"])


def test_large_pictures_and_tiff_files_are_made_smaller_and_known() -> None:
    large = blobs.put(saved(Image.new("RGB", (5_000, 100), "white"), "PNG")).sha256
    tiff = blobs.put(
        saved(Image.new("L", (50, 40)), "TIFF", save_all=True, append_images=[Image.new("L", (60, 80))])
    ).sha256
    found = [page_pictures.for_models(large, 1), page_pictures.for_models(tiff, 1), page_pictures.for_models(tiff, 2)]
    assert [(kind, Image.open(io.BytesIO(data)).size) for kind, data in found] == [
        ("image/webp", (2_000, 40)),
        ("image/webp", (50, 40)),
        ("image/webp", (60, 80)),
    ]
