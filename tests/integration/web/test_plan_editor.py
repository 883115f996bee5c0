"""The editor of a plan over HTTP: what its buttons give back, what saving does, and that nothing typed is lost."""

from __future__ import annotations

from typing import Any

import pytest
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
from runs.web.plan_editor.plan_draft import PlanDraft
from tests import factories
from tests.unit.web.plan_editor.test_plan_edit_forms import opened, posted


def newest(run: Run) -> PlanContract:
    plan = run.plans.newest()
    assert plan is not None
    return fingerprint.contract_of(plan)


def sent(run: Run, do: str, draft: PlanDraft | None = None, **changes: str) -> dict[str, Any]:
    """What a browser sends of the editor when a button is pressed."""
    gate = factories.open_gate(run, GateKind.PLAN)
    fields = posted(draft or PlanDraft.of(1, newest(run)))
    given = {name: fields.getlist(name) for name in fields}
    return {**given, "gate": str(gate.pk), "digest": gate.digest, "do": do, **changes}


def place(run: Run) -> str:
    return f"/runs/{run.pk}/plan/edit/"


@pytest.mark.slow
def test_a_plan_is_edited_into_a_new_version(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    page = alice_client.get(place(run) + "?step=0").text
    assert "Edit version 1" in page
    assert 'value="List the contracts and their parties"' in page
    assert 'value="Review the clauses"' not in page, "only the step that is open has its fields"
    draft = opened(newest(run))
    draft.steps[0].name = "List <b>them</b>"
    answer = alice_client.post(place(run), sent(run, "save", draft))
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
    draft = opened(newest(run))
    before = newest(run).steps[0].actions
    page = alice_client.post(place(run), sent(run, "add:action:0", draft)).text
    number = len(before)
    assert f'<select name="s0-a{number}-tool"' in page
    new = {f"s0-a{number}-tool": "search_files", f"s0-a{number}-purpose": "Look for <dates>."}
    assert alice_client.post(place(run), sent(run, "save", draft, **new)).status_code == 302
    assert [(one.tool, one.purpose) for one in newest(run).steps[0].actions] == [
        *((one.tool, one.purpose) for one in before),
        ("search_files", "Look for <dates>."),
    ]
    assert newest(run).steps[0].actions[:number] == before


@pytest.mark.parametrize(
    ("tool", "purpose", "says"),
    [
        ("search_files", "", "Must not be empty."),
        ("rm", "Remove all.", "plans the tool “rm”, which does not exist"),
    ],
)
def test_an_action_that_cannot_be_says_why(alice_client: Client, tool: str, purpose: str, says: str) -> None:
    run = factories.awaiting_plan()
    draft = opened(newest(run))
    number = len(draft.steps[0].actions)
    changes = {f"s0-a{number}-tool": tool, f"s0-a{number}-purpose": purpose}
    page = alice_client.post(place(run), sent(run, "save", draft, **changes)).text
    assert says in page
    assert run.plans.count() == 1


def test_saved_by_a_script_it_leads_to_the_page_of_the_plan(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    draft = opened(newest(run))
    draft.steps[0].name = "Another name"
    answer = alice_client.post(place(run), sent(run, "save", draft), headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"], answer.content) == (200, f"/runs/{run.pk}/plan/", b"")


def test_a_button_gives_the_form_back_with_its_rows_changed(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    draft = opened(newest(run))
    draft.steps[0].description = "Typed, and <kept>."
    page = alice_client.post(place(run), sent(run, "add:criterion:0", draft)).text
    assert "Typed, and &lt;kept&gt;." in page
    assert 'name="s0-c2-text"' in page
    folded = alice_client.post(place(run), sent(run, "close:step:0", draft)).text
    assert 'name="s0-description"' not in folded
    assert "Typed, and &lt;kept&gt;." in folded, "in the one hidden field"
    fragment = alice_client.post(place(run), sent(run, "add:step", draft), headers={"HX-Request": "true"}).text
    assert fragment.lstrip().startswith('<form id="plan-editor"')
    assert run.plans.count() == 1


@pytest.mark.slow
def test_an_invalid_plan_says_why_at_the_field_and_keeps_what_was_typed(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    draft = opened(newest(run))
    draft.steps[0].name = "  "
    draft.steps[1].description = "Typed."
    answer = alice_client.post(place(run), sent(run, "save", draft))
    assert answer.status_code == 422
    assert "Not saved: 1 thing has to be changed first." in answer.text
    assert 'aria-describedby="id_s0-name_error"' in answer.text
    assert "Must not be empty." in answer.text
    assert "Typed." in answer.text
    draft = opened(newest(run))
    draft.steps[0].dependencies = ["notices"]
    draft.steps[2].criteria[0].kind, draft.steps[2].criteria[0].check = "matches", {"path": "a.md", "pattern": "("}
    circle = alice_client.post(place(run), sent(run, "save", draft)).text
    assert "The pattern “(” cannot be used" in circle
    draft.steps[2].criteria[0].kind = ""
    circle = alice_client.post(place(run), sent(run, "save", draft)).text
    assert "The steps depend on each other in a circle" in circle
    assert run.plans.count() == 1


def test_a_folded_step_that_is_wrong_is_opened(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    given = sent(run, "save")
    given["s1-closed"] = '{"key": "review", "origin": "review", "name": "", "description": "x"}'
    page = alice_client.post(place(run), given).text
    assert 'id="id_s1-name_error"' in page
    assert "Needs at least 1 item." in page


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_refused_edit_of_thousands_of_open_rows_shows_some_and_keeps_all(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    given, criterion = sent(run, "save"), {"text": "", "about": "output", "kind": ""}
    for step in range(60):
        given |= {f"s{step}-key": f"k{step}", f"s{step}-name": f"Typed {step}", f"s{step}-description": "x"}
        given |= {f"s{step}-risk": "low"}
        given |= {f"s{step}-c{number}-{name}": value for number in range(40) for name, value in criterion.items()}
        given.pop(f"s{step}-closed", None)
    page = alice_client.post(place(run), given).text
    assert "Not saved: 2,400 things have to be changed first." in page
    assert page.count("40 things in it have to be changed first.") == page.count('-closed" value="{')
    assert page.count('data-open="yes"') + page.count('data-open="no"') == 60
    assert len(page) < 2_000_000
    assert all(f"Typed {step}" in page for step in range(60))
    assert ('id="id_s0-c0-text_error"' in page, 'id="id_s59-c0-text_error"' in page) == (True, False)


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
    draft = opened(newest(run))
    draft.steps[0].criteria[0].check = check
    assert sentence in alice_client.post(place(run), sent(run, "try:criterion:0:0", draft)).text


def test_a_hostile_pattern_is_tried_in_bounds(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    draft = opened(newest(run))
    draft.steps[0].criteria[0].kind = "matches"
    draft.steps[0].criteria[0].check = {"path": "contracts/Service agreement.md", "pattern": "(a*)*" * 60 + "b"}
    assert "edit-preview" in alice_client.post(place(run), sent(run, "try:criterion:0:0", draft)).text


@pytest.mark.slow
def test_who_comes_second_keeps_what_was_typed_and_can_save_it_over_the_other(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    draft = opened(newest(run))
    draft.steps[0].name = "Mine"
    stale = sent(run, "save", draft)
    theirs = newest(run).model_copy(update={"goal": "Theirs."})
    gate = factories.open_gate(run, GateKind.PLAN)
    plan_edits.edit(gate.pk, factories.bob(), gate.digest, theirs)
    answer = alice_client.post(place(run), stale)
    assert answer.status_code == 409
    assert "bob has edited the plan since: decide on version 2, which took its place." in answer.text
    assert 'value="Mine"' in answer.text
    adopted = alice_client.post(place(run), {**stale, "do": "adopt"}).text
    later = factories.open_gate(run, GateKind.PLAN)
    assert f'name="digest" value="{later.digest}"' in adopted
    saved = alice_client.post(place(run), {**stale, "gate": str(later.pk), "digest": later.digest})
    assert saved.status_code == 302
    assert newest(run).steps[0].name == "Mine"


def test_a_plan_that_was_decided_on_is_not_edited(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    stale = sent(run, "save", opened(newest(run)))
    factories.decide(run, GateKind.PLAN, Verb.APPROVE)
    answer = alice_client.post(place(run), stale)
    assert answer.status_code == 409
    assert "Already decided: alice approved it at" in answer.text
    assert "there is none to edit" in alice_client.get(place(run), follow=True).text


def test_nobody_else_edits(charlie_client: Client) -> None:
    run = factories.awaiting_plan()
    assert charlie_client.get(place(run)).status_code == 404
    assert charlie_client.post(place(run), sent(run, "save")).status_code == 404


@pytest.mark.parametrize("changes", [{"gate": "0"}, {"gate": "x"}, {"gate": "9" * 30}])
def test_a_gate_of_nowhere_is_not_found(alice_client: Client, changes: dict[str, str]) -> None:
    run = factories.awaiting_plan()
    assert alice_client.post(place(run), {**sent(run, "save"), **changes}).status_code == 404


@pytest.mark.parametrize("count", [2, 40])
def test_the_editor_costs_the_same_for_few_steps_and_for_many(
    alice_client: Client, count: int, django_assert_num_queries: Any
) -> None:
    steps = [factories.plan_step(f"s{n}", f"Step {n}") for n in range(count)]
    run = factories.awaiting_plan(factories.plan(*steps), max_steps=60)
    with django_assert_num_queries(13):
        page = alice_client.get(place(run) + "?step=0")
    assert len(page.content) < 100_000


def test_what_a_criterion_is_about_is_changed_with_one_click(alice_client: Client) -> None:
    about = factories.criterion("Every party is named", about=About.SOURCES)
    step = factories.plan_step("review", "Review", acceptance_criteria=[about])
    run = factories.awaiting_plan(factories.plan(step))
    gate = factories.open_gate(run, GateKind.PLAN)
    clicked = {"gate": str(gate.pk), "digest": gate.digest, "step": "review", "number": "1"}
    assert "Make it about the result" in alice_client.get(f"/runs/{run.pk}/").text
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
