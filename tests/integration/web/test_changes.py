"""What a gate compares a result with: what people saw last, in this run or in the one that it repeats."""

import re
import uuid

import pytest
from django.test import Client

from runs.enums import ShareLevel, Verb
from runs.lifecycle.sharing import share
from runs.models import Attempt, Run, User
from runs.store import trees
from runs.submission.policy_presets import default_policy
from runs.submission.samples import named, uploads_of
from runs.submission.submit import Submission, again, submit
from tests import factories
from tests.factories import answer, drain, finish, open_gate
from tests.factories.parts import overlay
from tests.integration.web.deciding import address

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_model"), pytest.mark.slow]

STEP, FINDINGS = "findings", "review/findings.md"


@pytest.fixture(scope="module")
def run_again(rows_of_module: None) -> Run:
    """The sample is run again without reuse and waits at its result; what was accepted before had two lines more."""
    sample, alice = named("contracts"), factories.alice()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ANTHROPIC_API_KEY")
        submission = Submission(sample.request, uploads_of(sample), default_policy(), uuid.uuid4())
        first = finish(submit(alice, submission), alice)
        accepted = Attempt.objects.of_run(first).get(step__key=STEP, status="passed")
        written = accepted.overlay[FINDINGS]
        assert written is not None
        text = trees.read_text(written.sha256)
        accepted.overlay = {
            **accepted.overlay,
            **overlay({FINDINGS: f"{text}One line of [“the lease”](Lease%20two.md#L3).\nThe **second** line too.\n"}),
        }
        accepted.save()
        run = again(first, alice, uuid.uuid4(), reuse=False)
        drain(run)
        answer(run, alice)
        drain(run)
    return run


@pytest.fixture
def repeated(run_again: Run) -> Run:
    """As it was made, whatever other tests did to it."""
    return Run.objects.get(pk=run_again.pk)


def since(page: str) -> tuple[str, str]:
    found = re.search(r'<li data-mark="change"><strong>Since (.*?)</strong> ([^<]*)', page)
    return (found[1], found[2]) if found else ("", "")


def test_a_run_again_compares_with_what_was_accepted_in_the_run_before(alice_client: Client, repeated: Run) -> None:
    page = alice_client.get(f"/runs/{repeated.pk}/").text
    assert since(page) == (f"run {repeated.before_id}", "−2 lines")
    gate = open_gate(repeated)
    assert f"Changes since run {repeated.before_id} " in page
    changes = alice_client.get(f"{address(gate)}changes/").text
    assert "The second line too." in changes
    assert "One line of “the lease” (Lease two.md#L3)." in changes


def test_somebody_who_may_not_see_the_run_before_is_told_nothing_of_it(
    alice_client: Client, repeated: Run, alice: User, bob: User
) -> None:
    share(repeated.pk, alice, bob, ShareLevel.DECIDE)
    assert since(alice_client.get(f"/runs/{repeated.pk}/").text)[0] == "attempt 1"
    assert repeated.before is not None
    share(repeated.before.pk, alice, bob, ShareLevel.DECIDE)
    assert since(alice_client.get(f"/runs/{repeated.pk}/").text)[0] == f"run {repeated.before_id}"


@pytest.mark.exhaustive
def test_what_was_sent_back_here_was_seen_last(alice_client: Client, repeated: Run, alice: User) -> None:
    answer(repeated, alice, Verb.REJECT, "Say who.")
    drain(repeated)
    assert since(alice_client.get(f"/runs/{repeated.pk}/").text)[0] == "attempt 2"
