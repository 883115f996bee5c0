"""What people asked for, as a gate tells it: the latest first, what is said of several once, and no filled button."""

import re
import uuid

import pytest
from django.test import Client

from runs.enums import Verb
from runs.models import User
from runs.submission.policy_presets import default_policy
from runs.submission.samples import named, uploads_of
from runs.submission.submit import Submission, submit
from tests.factories import answer, drain, open_gate
from tests.integration.web.deciding import address, form

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_model"), pytest.mark.slow]
REASON = "The offline rules cannot judge this; look for yourself."


def test_the_latest_requests_come_first_with_one_reason_and_earlier_ones_are_folded(
    alice_client: Client, alice: User
) -> None:
    sample = named("contracts")
    request, uploads = sample.request, uploads_of(sample)
    run = submit(alice, Submission(request, uploads, default_policy(), uuid.uuid4()))
    drain(run)
    answer(run, alice, Verb.REJECT, "Rank every point by severity.")
    drain(run)
    answer(run, alice)
    drain(run)
    gate = open_gate(run)
    sent = form(gate, "reject", "Translate it into German.") | {"back": ["3", "8"], "note-3": "Say who.", "note-8": ""}
    assert alice_client.post(address(gate), sent).status_code == 302
    drain(run)
    page = " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    lines = page[page.index('<ul class="gate-lines">') : page.index('<div class="gate-folds">')]
    assert lines.startswith(
        '<ul class="gate-lines"><li data-mark="warn"><strong>alice asked</strong> for 3 things: '
        '<span class="gate-answer">not provable: nothing that changed shows it</span> '
        f'<span class="faint">{REASON}</span>'
        '<ul class="gate-asked"><li>“Translate it into German.”</li><li>“Say who.” (on F3)</li><li>“This is not'
    )
    assert '<summary><strong>Asked earlier</strong> <span class="gate-answer">1 not done</span></summary>' in lines
    assert lines.index("Asked earlier") < lines.index("Rank every point by severity.")
    assert page.count(REASON) == 1
    assert page.count("Translate it into German.") == 1, "and not below the card again"
    assert re.findall(r'<button class="([^"]+)" name="verb" value="(approve|reject)"', page) == [
        ("button", "approve"),
        ("button", "reject"),
    ]
