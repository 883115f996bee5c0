"""The letterhead of a template: used by runs made from it, over the settings, and kept as long as something uses it."""

from __future__ import annotations

import base64
import io
import os
import uuid
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from runs.documents.printing.blocks import Letterhead
from runs.errors import InvalidInput
from runs.lifecycle import deletion
from runs.models import Run, Template
from runs.models.runs import OwnLetterhead
from runs.operations.backup import named_contents
from runs.reports.letterheads import letterhead_of
from runs.store import blobs
from runs.submission.run_templates import chosen, save
from runs.submission.submit import Submission, again, submit
from runs.submission.template_letterheads import MAX_LINE, change_letterhead, delete_template
from tests import factories as made

pytestmark = pytest.mark.django_db


def picture(colour: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (30, 10), colour).save(file, "PNG")
    return file.getvalue()


def template() -> Template:
    found = save(made.alice(), made.finished_succeeded(), "Three contracts")
    change_letterhead(found, " Smith &  Partners ", "1 High Street", picture("navy"), keep_logo=False)
    return found


def own(record: Run | Template) -> OwnLetterhead:
    record.refresh_from_db()
    assert record.letterhead is not None
    return record.letterhead


def test_runs_from_a_template_use_its_letterhead_and_others_that_of_the_settings(settings: Any) -> None:
    settings.REPORT_ORGANISATION, settings.REPORT_LOGO, settings.REPORT_FOOTER = "Acme", "eA==", "2 Low Street"
    from_settings = Letterhead("Acme", "eA==", "2 Low Street")
    before = made.finished_succeeded()
    assert letterhead_of(before) == from_settings
    mine = template()
    letterhead = OwnLetterhead(organisation="Smith & Partners", footer="1 High Street", logo=own(mine).logo)
    assert own(mine) == letterhead
    plan = chosen(made.alice(), str(mine.pk))
    given = Submission(
        "Review", (), made.policy(), uuid.uuid4(), no_files=True, plan=plan.plan, letterhead=plan.letterhead
    )
    run = submit(made.alice(), given)
    logo = base64.b64encode(blobs.read(letterhead.logo)).decode()
    assert letterhead_of(run) == Letterhead("Smith & Partners", logo, "1 High Street")
    change_letterhead(mine, "Smith LLP", "", None, keep_logo=False)
    assert (own(mine), own(run)) == (OwnLetterhead(organisation="Smith LLP"), letterhead)
    change_letterhead(mine, " ", "", None, keep_logo=True)
    assert Template.objects.get(pk=mine.pk).letterhead is None, "that of the settings, again"


def test_it_goes_with_a_run_that_is_run_again_and_with_a_template_of_its_plan() -> None:
    run = made.finished_succeeded()
    letterhead = own(template())
    Run.objects.filter(pk=run.pk).update(letterhead=letterhead)
    run.refresh_from_db()
    assert own(again(run, made.alice(), uuid.uuid4())) == letterhead
    assert own(save(made.alice(), run, "Another")) == letterhead


@pytest.mark.parametrize(
    ("organisation", "logo", "problem"),
    [
        ("x" * (MAX_LINE + 2), None, "The organisation is too long by 2 characters; 200 fit."),
        ("Acme", b"<svg><script>alert(1)</script></svg>", "The logo is no PNG or JPEG picture, or is damaged."),
        ("Acme", b"", "The logo is no PNG or JPEG picture, or is damaged."),
    ],
)
def test_what_cannot_be_used_changes_nothing(organisation: str, logo: bytes | None, problem: str) -> None:
    mine = template()
    before = own(mine)
    with pytest.raises(InvalidInput) as refused:
        change_letterhead(mine, organisation, "", logo, keep_logo=False)
    assert (str(refused.value), own(mine)) == (problem, before)


@pytest.mark.services
def test_a_logo_is_backed_up_and_stays_until_neither_template_nor_run_uses_it() -> None:
    mine, run = template(), made.finished_succeeded()
    first = own(mine).logo
    Run.objects.filter(pk=run.pk).update(letterhead=own(mine))
    change_letterhead(mine, "Acme", "", picture("red"), keep_logo=False)
    second = own(mine).logo
    assert {first, second} <= {one.sha256 for one in named_contents()}
    delete_template(mine)
    places = [Path(blobs.store().path(blobs.name_of(sha256))) for sha256 in (first, second)]
    for place in places:
        os.utime(place, (0, 0))
    deletion.delete_discarded()
    assert [place.exists() for place in places] == [True, False]
    run.refresh_from_db()
    deletion.delete(run.pk, run.owner)
    deletion.delete_discarded()
    assert [place.exists() for place in places] == [False, False]
