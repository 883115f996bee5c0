"""Plans as files and as templates: what is downloaded, what is saved, and that nobody else sees either."""

import io
from typing import Any

import pytest
from django.db.models.expressions import RawSQL
from django.test import Client
from PIL import Image

from runs.enums import GateKind, Verb
from runs.lifecycle.approval import fingerprint
from runs.models import Run, Template, User
from runs.pev.imports.imported import plan_in
from runs.submission.run_templates import save
from tests import factories
from tests.integration.web.submitting import file, form


def body(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def test_each_version_is_a_file_that_can_be_imported_again(alice_client: Client) -> None:
    run = factories.awaiting_second_plan()
    for plan in run.plans.all():
        text = alice_client.get(f"/runs/{run.pk}/plan/?version={plan.version}").text
        place = f"/runs/{run.pk}/plans/{plan.version}.json"
        assert f'href="{place}"' in text
        answer = alice_client.get(place)
        assert plan_in(body(answer)) == fingerprint.contract_of(plan)
        assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}-plan-{plan.version}.json"'
        assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("application/json", "nosniff")


def test_a_plan_is_for_those_who_may_see_its_run(alice_client: Client, charlie_client: Client) -> None:
    run = factories.awaiting_plan()
    for client, version in ((charlie_client, 1), (alice_client, 2), (alice_client, 99999999999999999999)):
        assert client.get(f"/runs/{run.pk}/plans/{version}.json").status_code == 404
    assert alice_client.post(f"/runs/{run.pk}/plans/1.json").status_code == 405


def test_a_finished_run_offers_to_keep_its_plan(alice_client: Client) -> None:
    run = factories.finished_partial()
    place = f"/runs/{run.pk}/template/"
    assert f'href="{place}"' in alice_client.get(f"/runs/{run.pk}/").text
    assert f'value="{run.title}"' in alice_client.get(place).text
    answer = alice_client.post(place, {"name": "Three <b>contracts</b>\0"}, follow=True)
    assert "Saved as the template “Three &lt;b&gt;contracts&lt;/b&gt;”." in answer.text
    assert ">Three &lt;b&gt;contracts&lt;/b&gt;</a>" in answer.text
    assert Template.objects.get().owner == factories.alice()


def test_a_template_is_saved_with_a_description_that_begins_as_the_goal(alice_client: Client) -> None:
    run = factories.finished_partial()
    place = f"/runs/{run.pk}/template/"
    goal = run.plans.get(version=1).header.goal
    page = alice_client.get(place).text
    assert f">{goal}</textarea>" in page
    assert f'href="/runs/{run.pk}/plans/1.json"' in page
    assert alice_client.post(place, {"name": "Own", "description": " For leases\nof shops "}).status_code == 302
    assert alice_client.post(place, {"name": "Without"}).status_code == 302
    descriptions = dict(Template.objects.values_list("name", "description"))
    assert descriptions == {"Own": "For leases of shops", "Without": goal[:400]}
    refused = alice_client.post(place, {"name": "Long", "description": "x" * 401})
    assert refused.status_code == 422
    assert "The description is too long by 1 character; 400 fit." in refused.text
    assert f">{'x' * 401}</textarea>" in refused.text


@pytest.mark.slow
def test_a_run_that_goes_on_or_whose_plan_was_never_approved_does_not(alice_client: Client) -> None:
    stopped = factories.awaiting_plan()
    factories.decide(stopped, GateKind.PLAN, Verb.STOP)
    for run in (factories.executing(), stopped):
        assert f"/runs/{run.pk}/template/" not in alice_client.get(f"/runs/{run.pk}/").text
        assert "Only an approved plan of a finished run" in alice_client.get(f"/runs/{run.pk}/template/").text
        assert alice_client.post(f"/runs/{run.pk}/template/", {"name": "x"}).status_code == 422
    assert not Template.objects.exists()


def test_a_name_that_is_taken_is_kept_in_the_field(alice_client: Client, alice: User) -> None:
    run = factories.finished_succeeded()
    save(alice, run, "Taken")
    answer = alice_client.post(f"/runs/{run.pk}/template/", {"name": "Taken"})
    assert answer.status_code == 422
    assert "You have a template “Taken” already; choose another name." in answer.text
    assert 'value="Taken"' in answer.text


def test_nobody_saves_the_plan_of_a_run_that_is_not_theirs_to_see(charlie_client: Client) -> None:
    run = factories.finished_succeeded()
    assert charlie_client.get(f"/runs/{run.pk}/template/").status_code == 404
    assert charlie_client.post(f"/runs/{run.pk}/template/", {"name": "x"}).status_code == 404
    assert not Template.objects.exists()


def test_own_templates_are_listed_and_deleted_by_their_owner_alone(
    alice_client: Client, alice: User, charlie_client: Client
) -> None:
    run = factories.finished_succeeded()
    template = save(alice, run, "Mine")
    place = f"/templates/{template.pk}/delete/"
    assert ">Mine</a>" in alice_client.get("/templates/").text
    assert ">Mine</a>" not in charlie_client.get("/templates/").text
    assert charlie_client.post(place).status_code == 404
    assert "Delete the template “Mine”?" in alice_client.get(place).text
    assert Template.objects.exists()
    assert "The template “Mine” was deleted." in alice_client.post(place, follow=True).text
    assert not Template.objects.exists()


def test_a_template_is_opened_with_its_whole_plan_and_used(alice_client: Client, alice: User) -> None:
    template = save(alice, factories.finished_succeeded(), "Mine")
    for key in (str(template.pk), "document-review"):
        text = alice_client.get(f"/templates/{key}/").text
        assert f'href="/runs/new/?template={key}"' in text
        assert "estimated, from typical figures for steps of this risk" in text
        assert f'<option value="{key}" selected' in alice_client.get(f"/runs/new/?template={key}").text
    page = alice_client.get(f"/templates/{template.pk}/").text
    assert [name in page for name in (step.name for step in template.plan.steps)] == [True] * len(template.plan.steps)
    assert alice_client.get("/templates/nothing/").status_code == 404
    assert alice_client.get(f"/templates/{10**20}/").status_code == 404


def test_a_template_is_renamed_unless_the_name_is_taken_or_none(alice_client: Client, alice: User) -> None:
    run = factories.finished_succeeded()
    template, _ = save(alice, run, "Mine"), save(alice, run, "Other")
    place = f"/templates/{template.pk}/rename/"
    assert "is now called “New &lt;b&gt;”" in alice_client.post(place, {"name": " New  <b> "}, follow=True).text
    for name, sentence in (("Other", "You have a template “Other” already"), (" ", "Give the template a name.")):
        answer = alice_client.post(place, {"name": name})
        assert (answer.status_code, sentence in answer.text) == (422, True)
    assert Template.objects.get(pk=template.pk).name == "New <b>"


def test_a_template_has_a_letterhead_that_runs_from_it_get(alice_client: Client, alice: User) -> None:
    template = save(alice, factories.finished_succeeded(), "Mine")
    page, place = f"/templates/{template.pk}/", f"/templates/{template.pk}/letterhead/"
    lines = {"organisation": "Smith & <b>Partners</b>", "footer": "1 High Street"}
    bad = alice_client.post(place, {**lines, "logo": file("logo.png", b"<svg></svg>")})
    assert (bad.status_code, "The logo is no PNG or JPEG picture" in bad.text) == (422, True)
    assert 'value="Smith &amp; &lt;b&gt;Partners&lt;/b&gt;"' in bad.text, "what was typed stays"
    logo = io.BytesIO()
    Image.new("RGB", (30, 10), "navy").save(logo, "JPEG")
    assert alice_client.post(place, {**lines, "logo": file("logo.jpg", logo.getvalue())}).status_code == 302
    text = alice_client.get(page).text
    assert ('src="data:image/png;base64,' in text, 'value="1 High Street"' in text) == (True, True)
    alice_client.post("/runs/new/", form(template=str(template.pk)))
    template.refresh_from_db()
    run = Run.objects.latest("pk")
    assert (run.letterhead, bool(template.letterhead and template.letterhead.logo)) == (template.letterhead, True)
    assert "Smith &amp; &lt;b&gt;Partners&lt;/b&gt;" in alice_client.get(f"/runs/{run.pk}/report/").text


def test_a_template_whose_plan_no_longer_fits_can_be_looked_at_and_deleted(alice_client: Client, alice: User) -> None:
    template = save(alice, factories.finished_succeeded(), "Mine")
    Template.objects.filter(pk=template.pk).update(plan=RawSQL("%s", ['{"goal": 1}']))
    answer = alice_client.get(f"/templates/{template.pk}/")
    assert "can no longer be used: its plan was changed by hand" in answer.text
    assert f'href="/templates/{template.pk}/delete/"' in answer.text
    assert alice_client.get(f"/templates/{template.pk}/delete/").status_code == 200


def test_what_a_template_may_cost_is_said_and_nonsense_is_said_nothing_to(alice_client: Client) -> None:
    sent = {"template": "document-review", "attempts": "3"}
    models = {"executor_model": "claude-sonnet-5-5", "verifier_model": "claude-haiku-5-5"}
    answer = alice_client.get("/runs/new/estimate/", sent | models).text
    assert "estimated, from typical figures for steps of this risk." in answer
    assert (
        "No price is known for llama"
        in alice_client.get("/runs/new/estimate/", sent | models | {"executor_model": "llama"}).text
    )
    nothing: dict[str, str] = {}
    for wrong in (nothing, {"template": "nothing"} | models, sent | models | {"attempts": "many"}):
        assert alice_client.get("/runs/new/estimate/", wrong).content == b""


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_costs_the_same_for_one_and_for_many(
    alice_client: Client, alice: User, count: int, django_assert_num_queries: Any
) -> None:
    run = factories.finished_succeeded()
    for number in range(count):
        save(alice, run, f"Template {number}")
    with django_assert_num_queries(4):
        alice_client.get("/templates/")


def test_whoever_has_not_signed_in_is_sent_to_do_so(client: Client, db: None) -> None:
    for place in ("/templates/", "/runs/1/template/", "/runs/1/plans/1.json"):
        assert client.get(place)["Location"].startswith("/sign-in/")
