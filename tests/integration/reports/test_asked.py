"""What people asked for and did not get, and what they changed, as pages and reports tell it."""

import uuid

import pytest
from django.test import Client

from runs.enums import Outcome, Verb
from runs.lifecycle import plan_edits
from runs.lifecycle.approval.fingerprint import contract_of
from runs.models import Run
from runs.submission import samples
from runs.submission.policy_presets import default_policy
from runs.submission.submit import Submission, submit
from tests.factories import alice, answer, drain, finish, open_gate
from tests.reporting import as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_model"), pytest.mark.slow]

ASKED = "Request 1 of alice is not done: “Rank every point.” Offline rules cannot read it."
LOOKED = "No one checked whether request 2 of alice is met, which is not provable: “Translate it”."


@pytest.fixture
def ended() -> Run:
    """Of the sample: Alice edited the plan, a request was not done, and nobody looked at the last result."""
    sample = samples.named("contracts")
    request, uploads = sample.request, samples.uploads_of(sample)
    run = submit(alice(), Submission(request, uploads, default_policy(), uuid.uuid4()))
    drain(run)
    gate = open_gate(run)
    assert gate.plan
    plan = contract_of(gate.plan)
    named = plan.steps[0].model_copy(update={"name": "List them all"})
    plan_edits.edit(gate.pk, alice(), gate.digest, plan.model_copy(update={"steps": [named, *plan.steps[1:]]}))
    answer(run, alice(), Verb.REJECT, "Rank every point.")
    drain(run)
    answer(run, alice())
    drain(run)
    answer(run, alice(), Verb.REJECT, "Translate it")
    drain(run)
    answer(run, alice(), how="--approve-all")
    return finish(run, alice())


def test_a_request_that_was_not_done_is_an_open_point_in_the_same_words_everywhere(ended: Run, client: Client) -> None:
    assert ended.outcome == Outcome.PARTIAL
    report = as_markdown(ended)
    points = report.split("## Open points")[1].split("\n## ")[0]
    assert [row for row in points.split("\n") if row.startswith("- ")] == [f"- {LOOKED}", f"- {ASKED}"]
    assert "- **NOT DONE** R1: “Rank every point.”" in report
    client.force_login(alice())
    page = client.get(f"/runs/{ended.pk}/").text
    assert f"<strong>Open point</strong> {ASKED}</li>" in page
    assert (page.count("Rank every point."), "You asked" in page) == (1, False)


@pytest.mark.exhaustive
def test_who_edited_the_plan_stands_among_the_decisions(ended: Run) -> None:
    decisions = as_markdown(ended).split("## Decisions")[1].split("\n## ")[0]
    assert "- **alice** edited version 1 of the plan into version 2, " in decisions
    assert decisions.index("edited version 1") < decisions.index("requested changes to") < decisions.index("approved")
