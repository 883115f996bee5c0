"""Contents that nothing names are deleted; what somebody stores at the same moment stays."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

import pytest
from django.utils import timezone

from runs.contracts.ports import FileInfo
from runs.models import Draft, Rendition
from runs.store import blobs, garbage_collection, input_examination, trees
from tests import factories

TEXT = "Die Größe der Straße."
pytestmark = [pytest.mark.django_db, pytest.mark.services]


def stored(content: bytes, *, minutes_ago: float = 60) -> str:
    sha256 = blobs.put(content).sha256
    then = time.time() - 60 * minutes_ago
    os.utime(place(sha256), (then, then))
    return sha256


def place(sha256: str) -> Path:
    return Path(blobs.store().path(blobs.name_of(sha256)))


def test_what_nothing_names_is_deleted() -> None:
    one, other = stored(b"of nobody"), stored(b"nor this")
    assert garbage_collection.delete([one, other, "0" * 64]) == set()
    assert (place(one).exists(), place(other).exists()) == (False, False)
    assert list(place(one).parent.glob("*.unused")) == []


def test_what_a_tree_an_attempt_a_tool_call_or_a_draft_names_stays() -> None:
    run = factories.finished_succeeded()
    infos = [*trees.files_of(run.inputs).values(), *trees.files_of(run.head).values()]
    drafted = stored(b"drafted")
    draft = Draft.objects.create(token=uuid.uuid4(), owner=factories.alice(), expires_at=timezone.now())
    draft.files.create(path="a.md", sha256=drafted, size=7, removed=True)
    named = {info.sha256 for info in infos} | {drafted}
    for sha256 in named:
        os.utime(place(sha256), (0, 0))
    assert len(named) > 4
    assert garbage_collection.delete(named) == set()
    assert [sha256 for sha256 in named if not place(sha256).exists()] == []


def test_what_was_stored_lately_or_again_is_left_alone_and_said() -> None:
    fresh, again = stored(b"fresh", minutes_ago=1), stored(b"stored again")
    blobs.put(b"stored again")
    assert garbage_collection.delete([fresh, again]) == {fresh, again}
    assert (place(fresh).exists(), place(again).exists()) == (True, True)


def test_what_is_stored_between_the_look_and_the_deletion_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The race: another process finds the content there, and counts on it, just before it is deleted."""
    content = TEXT.encode("utf-16")
    sha256 = stored(content)
    input_examination.examine({"a": FileInfo(sha256, len(content))})
    replace = Path.replace

    def raced(self: Path, target: Path) -> Path:
        if self == place(sha256):
            blobs.put(content)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", raced)
    assert garbage_collection.delete([sha256]) == {sha256}
    assert trees.read_text(sha256) == TEXT


def test_the_text_of_a_content_goes_with_it_unless_another_reads_the_same() -> None:
    long, wide = stored(TEXT.encode("utf-32")), stored(TEXT.encode("utf-16"))
    input_examination.examine({"a": FileInfo(long, 1), "b": FileInfo(wide, 1)})
    text = Rendition.objects.get(source=long).text
    assert Rendition.objects.get(source=wide).text == text
    os.utime(place(text), (0, 0))
    assert garbage_collection.delete([long]) == set()
    assert (place(text).exists(), Rendition.objects.count()) == (True, 1)
    assert garbage_collection.delete([wide]) == set()
    assert (place(text).exists(), Rendition.objects.count()) == (False, 0)
