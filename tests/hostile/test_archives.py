"""Archives that want to be expensive, sent to a draft: each is one sentence, and the rest is taken."""

from __future__ import annotations

import resource
import threading
import uuid
from collections.abc import Callable

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from runs.models import Draft
from runs.submission import submission_drafts
from runs.submission.intake import Upload
from runs.submission.unpacking import unpacked
from tests import factories as made
from tests.documents import archives
from tests.documents.archives import tarred, zipped

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

MEGABYTES = 250
"""Some times what the largest of them takes in the process of the site."""
NOTHING = "It is an archive without a file that can be taken."
DAMAGED = "It is a damaged archive; pack it again."
TOO_MUCH = "It unpacks to more than 256 MB; give less at a time."
BOMBS: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "large.zip": (archives.large, NOTHING, "It has more than the 50 MB that one file may have."),
    "lying.zip": (archives.lying, NOTHING, "It is damaged in the archive."),
    "overlapping.zip": (lambda: archives.overlapping(4_000), NOTHING, "It is damaged in the archive."),
    "locked.zip": (lambda: archives.encrypted({"a": b"x"}), "It needs a password; save it without one.", ""),
    "many.zip": (
        lambda: zipped({f"{number}": b"" for number in range(50_001)}),
        "It has more than 50,000 entries; give the folder itself.",
        "",
    ),
    "full.zip": (
        lambda: zipped({f"{number}": bytes(1) for number in range(5_001)}),
        "It has more than 5,000 files; give fewer, or the folder itself.",
        "",
    ),
    "huge.zip": (
        lambda: zipped({f"{number}": bytes(45_000_000) for number in range(5)}),
        "It unpacks to more than 200 MB; give less at a time.",
        "",
    ),
    "deep.zip": (lambda: zipped({"d/" * 400 + "x": b"x"}), NOTHING, "it has 801 characters and may have 400"),
    "large.tar.gz": (archives.large_tar, TOO_MUCH, ""),
    "large.gz": (archives.large_gz, "It unpacks to more than 50 MB; give less at a time.", ""),
    "deep.tar": (lambda: tarred({"d/" * 3_000 + "x": b"x"}), NOTHING, "Its name is too long."),
    "negative.tar": (archives.negative, DAMAGED, ""),
    "properties.tar.gz": (archives.of_properties, DAMAGED, ""),
    "gaps.tar.gz": (archives.of_gaps, DAMAGED, ""),
    "chained.tar.gz": (archives.of_chained_gaps, DAMAGED, ""),
}


@pytest.fixture
def alice_client(client: Client) -> Client:
    client.force_login(made.alice())
    return client


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_a_sentence_and_the_rest_is_taken(alice_client: Client, name: str) -> None:
    make, problem, refused = BOMBS[name]
    sent, token = [SimpleUploadedFile(name, make()), SimpleUploadedFile("a.md", b"one")], uuid.uuid4()
    before = _memory()
    answer = alice_client.post(
        f"/runs/drafts/{token}/", {"files": sent, "paths": [name, "a.md"]}, headers={"Accept": "application/json"}
    ).json()
    assert _memory() - before < MEGABYTES
    assert list(submission_drafts.files_of(Draft.objects.get())) == ["a.md", name]
    assert problem in answer["html"]
    assert refused in answer["html"]


@pytest.mark.exhaustive
def test_the_site_answers_while_archives_are_unpacked(alice_client: Client) -> None:
    alice_client.get("/")
    data = archives.large_tar()
    work = threading.Thread(target=lambda: [unpacked([Upload("x.tar.gz", ContentFile(data))]) for _ in range(2)])
    work.start()
    answers = 0
    while work.is_alive():
        assert alice_client.get("/").status_code == 200
        answers += 1
    work.join()
    assert answers > 4, "one or two for each archive, if they had to wait for it"


def _memory() -> float:
    """The most megabytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
