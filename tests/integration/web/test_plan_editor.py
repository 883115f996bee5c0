"""The editor of a plan over HTTP: what its buttons give back, what saving does, and that nothing typed is lost."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils.html import escape

from runs.enums import About, GateKind, PlanStatus, Verb
from runs.lifecycle import plan_edits
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gate_decisions import already_decided
from runs.llm.model_servers import REHEARSAL
from runs.models import Run
from runs.pev.contracts import PlanContract
from runs.pev.policy import RoleModel
from runs.web.plan_editor.part_forms import BROKEN, TOO_MANY
from tests import factories
from tests.html_forms import sent_of


def newest(run: Run) -> PlanContract:
    plan = run.plans.newest()
    assert plan is not None
    return fingerprint.contract_of(plan)


def place(run: Run) -> str:
    return f"/runs/{run.pk}/plan/edit/"


def form_of(client: Client, run: Run, step: int | None = None) -> QueryDict:
    """What a browser sends of the editor, with the fields of one step."""
    page = client.get(place(run) + ("" if step is None else f"?step={step}"))
    return sent_of(page.text, "plan-editor")


def press(client: Client, run: Run, form: QueryDict, do: str, **changes: Any) -> Any:
    """The answer to a button, after these fields were changed."""
    form = form.copy()
    for name, value in changes.items():
        form[name] = value
    form["do"] = do
    return client.post(place(run), form.urlencode(), content_type="application/x-www-form-urlencoded")


@pytest.mark.slow
def test_a_plan_is_edited_into_a_new_version(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    page = alice_client.get(place(run) + "?step=0").text
    assert "Edit version 1" in page
    assert 'value="List the contracts and their parties"' in page
    assert 'value="Review the clauses"' not in page, "only the step that is open has its fields"
    form = sent_of(page, "plan-editor")
    answer = press(alice_client, run, form, "save", **{"steps-0-name": "List <b>them</b>"})
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/plan/")
    first, second = run.plans.all()
    assert (first.status, second.author) == (PlanStatus.SUPERSEDED, factories.alice())
    assert [step.name for step in newest(run).steps][:1] == ["List <b>them</b>"]
    assert fingerprint.contract_of(first).steps[1:] == newest(run).steps[1:]


@pytest.mark.parametrize(("rules", "who"), [(False, "AI review: a model judges"), (True, "Offline rules: they judge")])
def test_a_criterion_says_who_decides_it(alice_client: Client, rules: bool, who: str) -> None:
    models = {role: RoleModel(model=model) for role, model in REHEARSAL.items()}
    run = factories.awaiting_plan()
    if rules:
        run.policy = run.policy.model_copy(update={"models": models})
        run.save()
    assert f'<option value="" selected>{who}' in alice_client.get(place(run)).text


def test_planned_actions_are_edited(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    before = newest(run).steps[0].actions
    page = press(alice_client, run, form_of(alice_client, run, 0), "add:steps-0-actions").text
    new = f"steps-0-actions-{len(before)}"
    assert f'<select name="{new}-tool"' in page
    changes = {f"{new}-tool": "search_files", f"{new}-purpose": "Look for <dates>."}
    assert press(alice_client, run, sent_of(page, "plan-editor"), "save", **changes).status_code == 302
    assert [(one.tool, one.purpose) for one in newest(run).steps[0].actions] == [
        *((one.tool, one.purpose) for one in before),
        ("search_files", "Look for <dates>."),
    ]


@pytest.mark.parametrize(
    ("tool", "purpose", "says"),
    [
        ("search_files", "", "Must not be empty."),
        ("rm", "Remove all.", "plans the tool “rm”, which does not exist"),
    ],
)
def test_an_action_that_cannot_be_says_why(alice_client: Client, tool: str, purpose: str, says: str) -> None:
    run = factories.awaiting_plan()
    form = sent_of(press(alice_client, run, form_of(alice_client, run, 0), "add:steps-0-actions").text, "plan-editor")
    new = f"steps-0-actions-{len(newest(run).steps[0].actions)}"
    page = press(alice_client, run, form, "save", **{f"{new}-tool": tool, f"{new}-purpose": purpose}).text
    assert says in page
    assert run.plans.count() == 1


def test_saved_by_a_script_it_leads_to_the_page_of_the_plan(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    form = form_of(alice_client, run, 0)
    form["steps-0-name"], form["do"] = "Another name", "save"
    answer = alice_client.post(place(run), dict(form.lists()), headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"], answer.content) == (200, f"/runs/{run.pk}/plan/", b"")


def test_a_page_on_which_nothing_was_changed_has_nothing_to_save(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    form = form_of(alice_client, run, 0)
    for step in (1, 2):
        form = sent_of(press(alice_client, run, form, f"open:steps-{step}").text, "plan-editor")
    answer = press(alice_client, run, form, "save")
    assert (answer.status_code, "Nothing was changed, so there is nothing to save." in answer.text) == (422, True)
    assert "edited</span>" not in answer.text


def test_a_button_gives_the_form_back_with_its_rows_changed(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    typed = {"steps-0-description": "Typed, and <kept>."}
    form = form_of(alice_client, run, 0)
    page = press(alice_client, run, form, "add:steps-0-acceptance_criteria", **typed).text
    assert "Typed, and &lt;kept&gt;." in page
    assert 'name="steps-0-acceptance_criteria-2-text"' in page
    folded = press(alice_client, run, form, "close:steps-0", **typed).text
    assert 'name="steps-0-description"' not in folded
    assert sent_of(folded, "plan-editor")["steps-0-folded"].count("Typed%2C+and+%3Ckept%3E.") == 1
    again = press(alice_client, run, sent_of(folded, "plan-editor"), "open:steps-0").text
    assert "Typed, and &lt;kept&gt;." in again
    form["do"] = "add:steps"
    fragment = alice_client.post(place(run), dict(form.lists()), headers={"HX-Request": "true"}).text
    assert fragment.lstrip().startswith('<form id="plan-editor"')
    assert run.plans.count() == 1


def test_a_new_step_comes_after_the_last_one_and_says_in_which_stage_it_runs(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    page = press(alice_client, run, form_of(alice_client, run), "add:steps").text
    assert sent_of(page, "plan-editor").getlist("steps-3-dependencies") == ["notices"]
    assert re.findall(r">(stage \d)<", page) == ["stage 1", "stage 2", "stage 3", "stage 4"]


def test_a_removed_step_is_restored_with_what_was_typed(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    form = form_of(alice_client, run, 0)
    removed = press(alice_client, run, form, "remove:steps-0", **{"steps-0-name": "Typed <before>"}).text
    assert "Removed: Typed &lt;before&gt;" in removed
    assert 'name="steps-0-name"' not in removed
    restored = press(alice_client, run, sent_of(removed, "plan-editor"), "restore:steps-0").text
    assert {**sent_of(restored, "plan-editor")} == {**form, "steps-0-name": ["Typed <before>"]}


def test_a_removed_criterion_is_left_out_when_the_plan_is_saved(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    criteria = newest(run).steps[0].acceptance_criteria
    form = form_of(alice_client, run, 0)
    removed = press(alice_client, run, form, "remove:steps-0-acceptance_criteria-0").text
    assert f"Removed: {criteria[0].text}" in removed
    assert press(alice_client, run, sent_of(removed, "plan-editor"), "save").status_code == 302
    assert newest(run).steps[0].acceptance_criteria == criteria[1:]


@pytest.mark.slow
def test_an_invalid_plan_says_why_at_the_field_and_keeps_what_was_typed(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    form = form_of(alice_client, run, 0)
    answer = press(alice_client, run, form, "save", **{"steps-0-name": "  ", "steps-0-description": "Typed."})
    assert answer.status_code == 422
    assert "Not saved: correct 1 problem first." in answer.text
    assert 'aria-describedby="id_steps-0-name_error"' in answer.text
    assert "Must not be empty." in answer.text
    assert "Typed." in answer.text
    kind = {"steps-0-acceptance_criteria-0-kind": "matches"}
    chosen = sent_of(press(alice_client, run, form, "show", **kind).text, "plan-editor")
    chosen.setlist("steps-0-dependencies", ["notices"])
    check = "steps-0-acceptance_criteria-0-check"
    circle = press(alice_client, run, chosen, "save", **{f"{check}-path": "a.md", f"{check}-pattern": "("}).text
    assert "The pattern “(” cannot be used" in circle
    form.setlist("steps-0-dependencies", ["notices"])
    circle = press(alice_client, run, form, "save").text
    assert "The steps depend on each other in a circle" in circle
    assert "stage 1" not in circle
    assert run.plans.count() == 1


def test_a_folded_step_that_is_wrong_is_opened(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    form = form_of(alice_client, run, 1)
    form["steps-1-name"] = ""
    folded = sent_of(press(alice_client, run, form, "close:steps-1").text, "plan-editor")
    page = press(alice_client, run, folded, "save").text
    assert 'id="id_steps-1-name_error"' in page
    assert 'id="steps-1" tabindex="-1" autofocus' in page


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_refused_edit_of_thousands_of_open_rows_shows_some_and_keeps_all(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    form = form_of(alice_client, run)
    for step in range(60):
        form[f"steps-{step}-step_id"], form[f"steps-{step}-name"] = f"k{step}", f"Typed {step}"
        form[f"steps-{step}-description"], form[f"steps-{step}-estimated_complexity"] = "x", "low"
        for name, count in (("actions", 0), ("expected_outputs", 0), ("acceptance_criteria", 40)):
            form[f"steps-{step}-{name}-TOTAL_FORMS"], form[f"steps-{step}-{name}-INITIAL_FORMS"] = str(count), "0"
        for number in range(40):
            row = f"steps-{step}-acceptance_criteria-{number}"
            form[f"{row}-text"], form[f"{row}-about"], form[f"{row}-kind"] = "", "output", ""
        form.pop(f"steps-{step}-folded", None)
    form["steps-TOTAL_FORMS"] = "60"
    page = press(alice_client, run, form, "save").text
    assert "Not saved: correct 2,400 problems first." in page
    assert page.count("Correct 40 problems in this step first.") == page.count('data-open="no"')
    assert page.count('data-open="yes"') + page.count('data-open="no"') == 60
    assert len(page) < 2_000_000
    assert all(f"Typed {step}" in page for step in range(60))
    first, last = (f'id="id_steps-{step}-acceptance_criteria-0-text_error"' in page for step in (0, 59))
    assert (first, last) == (True, False)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"steps-TOTAL_FORMS": None}, BROKEN),
        ({"steps-TOTAL_FORMS": "x"}, BROKEN),
        ({"steps-TOTAL_FORMS": "501"}, TOO_MANY.format(500)),
        ({"steps-TOTAL_FORMS": "9" * 5_000}, BROKEN),
        ({"steps-0-actions-TOTAL_FORMS": None}, BROKEN),
        ({"steps-0-actions-TOTAL_FORMS": "4000"}, TOO_MANY.format(100)),
        ({"steps-0-name": ["one", "two"]}, BROKEN),
        ({"steps-0-colour": "red"}, BROKEN),
        ({"steps-9-folded": ""}, BROKEN),
        ({"steps-0-ORDER": "first"}, BROKEN),
        ({"success_criteria-0-text": "x" * 10_000}, "Has more than 4000 characters."),
    ],
)
def test_what_no_page_sends_is_refused_with_a_sentence(
    alice_client: Client, changes: dict[str, Any], sentence: str
) -> None:
    run = factories.awaiting_plan()
    form = form_of(alice_client, run, 0)
    for name, value in changes.items():
        form.pop(name, None)
        form.setlist(name, value if isinstance(value, list) else [value] if value is not None else [])
    answer = press(alice_client, run, form, "save")
    assert (answer.status_code, escape(sentence) in answer.text) == (422, True)
    assert run.plans.count() == 1


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ({"path": "review/findings.md"}, "review/findings.md does not exist yet."),
        ({"path": "contracts/Service agreement.md"}, "Met today: contracts/Service agreement.md exists"),
        ({}, "Fill in the fields of the check first."),
    ],
)
def test_what_a_check_says_today(alice_client: Client, check: dict[str, str], sentence: str) -> None:
    run = factories.awaiting_plan()
    path = {"steps-0-acceptance_criteria-0-check-path": check.get("path", "")}
    tried = press(alice_client, run, form_of(alice_client, run, 0), "try:steps-0-acceptance_criteria-0", **path)
    assert sentence in tried.text


def test_a_hostile_pattern_is_tried_in_bounds(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    first = "steps-0-acceptance_criteria-0"
    page = press(alice_client, run, form_of(alice_client, run, 0), "show", **{f"{first}-kind": "matches"}).text
    check = {f"{first}-check-path": "contracts/Service agreement.md", f"{first}-check-pattern": "(a*)*" * 60 + "b"}
    assert "edit-preview" in press(alice_client, run, sent_of(page, "plan-editor"), f"try:{first}", **check).text


@pytest.mark.slow
def test_who_comes_second_keeps_what_was_typed_and_can_save_it_over_the_other(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    stale = form_of(alice_client, run, 0)
    stale["steps-0-name"] = "Mine"
    others = newest(run).steps[:1]
    theirs = newest(run).model_copy(update={"goal": "Theirs.", "steps": others, "answers": []})
    gate = factories.open_gate(run, GateKind.PLAN)
    plan_edits.edit(gate.pk, factories.bob(), gate.digest, theirs)
    answer = press(alice_client, run, stale, "save")
    assert answer.status_code == 409
    assert "bob has edited the plan since: decide on version 2, which took its place." in answer.text
    assert 'value="Mine"' in answer.text
    adopted = press(alice_client, run, stale, "adopt").text
    later = factories.open_gate(run, GateKind.PLAN)
    form = sent_of(adopted, "plan-editor")
    assert (form["gate"], form["replaces"], form["digest"]) == (str(gate.pk), str(later.pk), later.digest)
    assert press(alice_client, run, form, "save").status_code == 302
    assert [step.name for step in newest(run).steps] == ["Mine", "Review the clauses", "Draft the notices"]
    assert newest(run).goal != "Theirs."


def test_a_plan_that_was_decided_on_is_not_edited(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    stale = form_of(alice_client, run, 0)
    factories.decide(run, GateKind.PLAN, Verb.APPROVE)
    answer = press(alice_client, run, stale, "save", **{"steps-0-name": "Mine"})
    assert answer.status_code == 409
    assert "Already decided: alice approved it at" in answer.text
    assert "there is none to edit" in alice_client.get(place(run), follow=True).text


def test_nobody_else_edits(alice_client: Client, charlie_client: Client) -> None:
    run = factories.awaiting_plan()
    assert charlie_client.get(place(run)).status_code == 404
    assert press(charlie_client, run, form_of(alice_client, run), "save").status_code == 404


@pytest.mark.parametrize("changes", [{"gate": "0"}, {"gate": "x"}, {"gate": "9" * 30}])
def test_a_gate_of_nowhere_is_not_found(alice_client: Client, changes: dict[str, str]) -> None:
    run = factories.awaiting_plan()
    assert press(alice_client, run, form_of(alice_client, run), "save", **changes).status_code == 404


@pytest.mark.parametrize("count", [2, 40])
def test_the_editor_costs_the_same_for_few_steps_and_for_many(
    alice_client: Client, count: int, django_assert_num_queries: Any
) -> None:
    steps = [factories.plan_step(f"s{n}", f"Step {n}") for n in range(count)]
    run = factories.awaiting_plan(factories.plan(*steps), max_steps=60)
    with django_assert_num_queries(15):
        page = alice_client.get(place(run) + "?step=0")
    assert len(page.content) < 100_000


def test_what_a_criterion_is_about_is_changed_with_one_click(alice_client: Client) -> None:
    about = factories.criterion("Every party is named", about=About.SOURCES)
    step = factories.plan_step("review", "Review", acceptance_criteria=[about])
    run = factories.awaiting_plan(factories.plan(step))
    gate = factories.open_gate(run, GateKind.PLAN)
    clicked = {"gate": str(gate.pk), "digest": gate.digest, "step": "review", "number": "1"}
    assert "Look only at the result</button>" in " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    assert alice_client.post(f"/runs/{run.pk}/plan/about/", clicked)["Location"] == f"/runs/{run.pk}/"
    first, second = run.plans.all()
    assert (first.status, second.author) == (PlanStatus.SUPERSEDED, factories.alice())
    assert [one.topic for one in newest(run).steps[0].acceptance_criteria] == [About.OUTPUT]
    assert run.gates.open().get().digest != gate.digest
    answer = alice_client.post(f"/runs/{run.pk}/plan/about/", clicked, follow=True)
    assert run.plans.count() == 2, "the page was of the version before"
    gate.refresh_from_db()
    assert escape(already_decided(gate)) in answer.text


@pytest.mark.parametrize("number", ["0", "9", "-1", "x", "9" * 5_000, ""])
def test_a_criterion_that_is_not_there_is_a_sentence(alice_client: Client, number: str) -> None:
    run = factories.awaiting_plan()
    gate = factories.open_gate(run, GateKind.PLAN)
    clicked = {"gate": str(gate.pk), "digest": gate.digest, "step": "", "number": number}
    answer = alice_client.post(f"/runs/{run.pk}/plan/about/", clicked, follow=True)
    assert "There is no such criterion in this version of the plan" in answer.text
    assert run.plans.count() == 1
