"""The page of a report changes what it names, and its downloads are of the part that is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs.models import Run
from runs.reports.outline import Part
from tests import factories as made

pytestmark = pytest.mark.django_db


def test_the_page_changes_the_names_and_keeps_what_is_refused(alice_client: Client) -> None:
    run = made.finished_succeeded()
    address = f"/runs/{run.pk}/report/"
    assert alice_client.post(address, {"client": "Acme & Co", "author": "B. Smith"}).status_code == 302
    assert "<dt>Client</dt><dd>Acme &amp; Co</dd>" in alice_client.get(address).text
    answer = alice_client.post(address, {"client": "y" * 300})
    assert (answer.status_code, "y" * 300 in answer.text, "Not saved." in answer.text) == (422, True, True)
    assert "This is too long by 100 characters; 200 fit." in answer.text
    assert answer.text.count('data-max-length="200"') == 3
    assert alice_client.get("/runs/new/").text.count('data-max-length="200"') == 3
    assert Run.objects.get(pk=run.pk).client == "Acme & Co"


def test_a_download_is_of_the_asked_part(alice_client: Client) -> None:
    run = made.finished_succeeded()
    texts = {}
    for part in Part:
        file: Any = alice_client.get(f"/runs/{run.pk}/report.md", {"part": part})
        texts[part] = b"".join(file.streaming_content).decode()
    assert [("## Answer" in text, "## Plan and steps" in text) for text in texts.values()] == [
        (True, False), (False, True), (True, True),
    ]  # fmt: skip
    assert alice_client.get(f"/runs/{run.pk}/report.md?part=none").status_code == 404
    whole = alice_client.get(f"/runs/{run.pk}/report.md?part=protocol")
    assert f'filename="run-{run.pk}-protocol.md"' in whole["Content-Disposition"]
