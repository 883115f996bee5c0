"""A run with hostile documents among good ones goes on, and says of each in one sentence why it could not be read."""

from __future__ import annotations

import pytest

from runs.enums import Outcome
from runs.lifecycle.coverage import known_unread
from runs.models import Rendition, User
from runs.store import trees
from tests.documents import pdfs, word, word_bombs
from tests.factories import Submit, finish
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def files() -> dict[str, bytes]:
    return {
        "bomb.docx": dict(word_bombs.large())["unpacks to a lot"],
        "damaged.pdf": pdfs.pages_of([pdfs.line("The rent is 1,200.")])[:300],
        "good.docx": word.word(word.paragraph(word.run("The rent is 1,200 EUR."))),
        "laughs.docx": dict(word_bombs.of_xml())["laughs"],
        "locked.pdf": pdfs.locked(pdfs.pages_of([pdfs.line("The rent is 1,200.")])),
        "notes.md": b"Some notes.\n",
    }


def test_a_run_with_hostile_documents_goes_on(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team())
    run = finish(submitted(files=files(), sources_needed=True), alice)
    problems = trees.problems_of(run.inputs)
    assert problems == {
        "bomb.docx": "unpacks to more than 64 MB; split it",
        "damaged.pdf": "is damaged, or no PDF file; open it and save it again",
        "laughs.docx": "has a document type or entities in it, which no such file needs; save it again",
        "locked.pdf": "needs a password; save it without one",
    }
    assert run.outcome == Outcome.PARTIAL
    assert len(known_unread(run)) == 4
    assert all(len(row.problem) < 200 for row in Rendition.objects.exclude(problem=""))
    assert trees.contents_of(run.inputs)["good.docx"] == b"The rent is 1,200 EUR."
