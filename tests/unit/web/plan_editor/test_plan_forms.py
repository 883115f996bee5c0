"""The forms of the plan editor: what is not touched comes back as it was, and what the buttons do to the rows."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from runs.errors import InvalidInput
from runs.pev.checks.registry import KINDS
from runs.pev.contracts import Criterion, PlanContract, PlanStep
from runs.web.plan_editor.part_forms import FormOptions
from runs.web.plan_editor.plan_edit_page import plan_in
from runs.web.plan_editor.plan_forms import CriterionForm, PlanForm
from runs.web.plan_editor.posted_plan import MAX_ROWS, MAX_SHOWN, fold_beyond, open_step, press, read, row_at, untouched
from tests.factories.parts import inventory_step, notices_step, review_step
from tests.factories.parts import plan as made_plan

CHECKS: list[dict[str, Any]] = [
    {"kind": "file_exists", "path": "a.md"},
    {"kind": "min_bytes", "path": "a.md", "min": 7},
    {"kind": "contains", "path": "a.md", "text": "two words"},
    {"kind": "matches", "path": "a.md", "pattern": " ^x", "min": 3},
    {"kind": "matches", "path": "reviewed/a.docx", "pattern": "^F1", "comments": True},
    {"kind": "word_count", "path": "a.md", "min": 0, "max": 9},
    {"kind": "json_valid", "path": "a.json"},
    {"kind": "json_schema", "path": "a.json", "schema_text": '{\n "type": "object"}'},
    {"kind": "csv_columns", "path": "a.csv", "columns": ["one", "two, three"]},
    {"kind": "no_placeholders", "path": "a.md"},
    {"kind": "citations", "path": "a.md", "min": 0},
    {"kind": "quotes_occur", "path": "a.csv", "column": "q", "source_column": "s"},
    {"kind": "covers", "path": "a.md", "items": ["one", "two"], "files": "*.md"},
    {"kind": "absent", "path": "*.md", "terms": ["draft"]},
    {"kind": "diagrams", "path": "a.md", "min": 2},
    {"kind": "command", "command": "tests"},
    {
        "kind": "count",
        "path": "a.md",
        "figure": "(\\d+) rows",
        "terms": [{"path": "a.csv", "of": "rows"}, {"path": "b.csv", "of": "sum", "column": "n", "minus": True}],
    },
]


NO_OPTIONS = FormOptions()


def begun(plan: PlanContract, *, is_open: bool = True) -> PlanForm:
    """The form of a plan, with the fields of all steps or of none."""
    form = PlanForm(untouched(plan, NO_OPTIONS), original=plan, options=NO_OPTIONS)
    for step in form.steps.steps if is_open else ():
        open_step(step)
    return PlanForm(form.data, original=plan, options=NO_OPTIONS)


def sent(form: PlanForm) -> QueryDict:
    """What a browser sends of the form."""
    data = form.data.copy()
    for name, values in data.lists():
        data.setlist(name, [str(value).replace("\n", "\r\n") for value in values])
    return data


def changed(form: PlanForm, **fields: str) -> PlanForm:
    """The form after something was typed into it."""
    data = sent(form)
    for name, value in fields.items():
        data[name] = value
    return read(data, form.original, NO_OPTIONS)


def with_criteria(*criteria: dict[str, Any]) -> PlanStep:
    return PlanStep.model_validate({**inventory_step().model_dump(), "acceptance_criteria": criteria})


def test_every_kind_of_check_has_an_example() -> None:
    assert {check["kind"] for check in CHECKS} == set(KINDS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check["kind"])
def test_every_check_comes_back_as_it_was(check: dict[str, Any]) -> None:
    criterion = Criterion.model_validate({"text": "It holds.", "about": "output", "check": check})
    plan = made_plan(with_criteria(criterion.model_dump()), review_step(), notices_step())
    assert changed(begun(plan)).contract_value() is plan
    row = row_at(changed(begun(plan)), "steps-0-acceptance_criteria-0")
    assert isinstance(row, CriterionForm)
    assert row.check
    row.original = row.check.original = None
    assert Criterion.model_validate(row.contract_value()) == criterion, "read from its fields"


_WORDS = st.text(st.sampled_from("ab \n\r\t.é<\"'&"), min_size=1, max_size=20).filter(str.strip)


@given(_WORDS, _WORDS, st.lists(_WORDS, max_size=3), st.sampled_from([None, "sources", "output"]))
def test_what_was_not_touched_is_the_very_same(name: str, text: str, inputs: list[str], about: Any) -> None:
    step = PlanStep.model_validate(
        {
            **review_step().model_dump(),
            "name": name,
            "description": text,
            "inputs": inputs,
            "acceptance_criteria": [{"text": text, "about": about}],
        }
    )
    whole = {**dict(made_plan(inventory_step(), step)), "goal": text, "rollback_strategy": name}
    plan = PlanContract.model_validate(whole)
    for is_open in (True, False):
        assert changed(begun(plan, is_open=is_open)).contract_value() is plan
    assert plan_in(changed(begun(plan), goal="Another.")) == plan.model_copy(update={"goal": "Another."})


def keys(form: PlanForm) -> list[str]:
    return [step.key for step in form.steps.steps if not step.is_removed]


@pytest.mark.parametrize(
    ("do", "expected", "focus"),
    [
        ("add:steps", ["inventory", "review", "notices", "step-1"], "steps-3"),
        ("copy:steps-0", ["inventory", "step-1", "review", "notices"], "steps-3"),
        ("remove:steps-0", ["review", "notices"], "steps-0"),
        ("down:steps-0", ["review", "inventory", "notices"], "steps-0"),
        ("up:steps-0", ["inventory", "review", "notices"], "steps-0"),
        ("up:steps-99", ["inventory", "review", "notices"], ""),
        ("explode:steps-0", ["inventory", "review", "notices"], "steps-0"),
        ("remove:steps--1", ["inventory", "review", "notices"], ""),
        ("remove:nothing-0", ["inventory", "review", "notices"], ""),
        ("", ["inventory", "review", "notices"], ""),
        ("remove:steps-0-acceptance_criteria-", ["inventory", "review", "notices"], ""),
        ("add:steps-0", ["inventory", "review", "notices"], "steps-0"),
        (":::::", ["inventory", "review", "notices"], ""),
    ],
)
def test_what_the_buttons_do_to_steps(do: str, expected: list[str], focus: str) -> None:
    form, focused = press(begun(made_plan(), is_open=False), do)
    assert (keys(form), focused) == (expected, focus)


def test_a_removed_step_is_no_longer_waited_for_until_it_is_restored() -> None:
    plan = made_plan()
    assert plan.steps[1].dependencies == ["inventory"]
    for is_open in (True, False):
        form, _ = press(begun(plan, is_open=is_open), "remove:steps-0")
        found = PlanContract.model_validate(changed(form).contract_value())
        assert [step.dependencies for step in found.steps] == [[], ["review"]]
        assert form.steps.stages == {"review": 1, "notices": 2}
        restored, _ = press(changed(form), "restore:steps-0")
        assert changed(restored).contract_value() is plan


def test_a_new_step_comes_after_the_last_one() -> None:
    form, _ = press(begun(made_plan(), is_open=False), "add:steps")
    form, _ = press(form, "remove:steps-3")
    form, _ = press(form, "add:steps")
    added = form.steps.steps[-1]
    assert (added.key, added.depends_on, added.stage) == ("step-2", ["notices"], 4)
    assert not form.steps.steps[3].can_be_restored, "nothing was typed into it"


def test_what_the_buttons_do_to_criteria_and_files() -> None:
    form = begun(made_plan())
    criteria = form.steps.steps[1].formsets["acceptance_criteria"]
    texts = [row["text"].value() for row in criteria.kept]
    form, focus = press(form, "up:steps-1-acceptance_criteria-2")
    assert focus == "steps-1-acceptance_criteria-2"
    form, _ = press(form, "copy:steps-1-acceptance_criteria-0")
    form, _ = press(form, "remove:steps-1-acceptance_criteria-1")
    criteria = form.steps.steps[1].formsets["acceptance_criteria"]
    assert [row["text"].value() for row in criteria.kept] == [texts[0], texts[0], texts[2]]
    for name in ("success_criteria", "steps-2-actions", "steps-2-expected_outputs", "context"):
        count = len(next(one for one in form.every_formset() if one.prefix == name).forms)
        form, focus = press(form, f"add:{name}")
        assert focus == f"{name}-{count}"
    assert isinstance(row_at(form, "steps-1-acceptance_criteria-0"), CriterionForm)
    assert row_at(form, "steps-1-acceptance_criteria-99") is None
    assert plan_in(changed(form, **{f"success_criteria-{len(form.original.success_criteria)}-text": "New."}))


def test_blank_actions_files_and_facts_are_left_out() -> None:
    form, _ = press(begun(made_plan()), "add:steps-0-actions")
    for name in ("steps-0-expected_outputs", "context"):
        form, _ = press(form, f"add:{name}")
    assert changed(form).contract_value() is form.original


def test_another_kind_of_check_takes_over_what_both_kinds_have() -> None:
    plan = made_plan(with_criteria({"text": "It holds.", "about": "output", "check": CHECKS[3]}))
    first = "steps-0-acceptance_criteria-0"
    form = changed(begun(plan), **{f"{first}-kind": "count", f"{first}-check-path": "typed.md"})
    row = row_at(form, first)
    assert isinstance(row, CriterionForm)
    assert row.check
    assert dict(row.check.sent()) == {
        f"{first}-check-path": "typed.md",
        f"{first}-check-figure": "",
        f"{first}-check-terms-TOTAL_FORMS": "1",
        f"{first}-check-terms-INITIAL_FORMS": "0",
        f"{first}-check-terms-0-of": "rows",
        f"{first}-check-terms-0-path": "",
        f"{first}-check-terms-0-pattern": "",
        f"{first}-check-terms-0-column": "",
    }


def test_a_step_that_is_folded_keeps_what_was_typed_into_it() -> None:
    plan = made_plan()
    form, _ = press(changed(begun(plan), **{"steps-1-name": "Typed"}), "close:steps-1")
    data = untouched(plan, NO_OPTIONS)
    data["steps-1-folded"] = form.steps.steps[1].folded
    folded = read(data, plan, NO_OPTIONS)
    assert [step.title for step in folded.steps.steps] == [plan.steps[0].name, "Typed", plan.steps[2].name]
    assert [step.is_open for step in folded.steps.steps] == [False] * 3
    assert plan_in(folded) == plan_in(form)
    for broken in ("{", "a=1&a=2", "step_id=review", "colour=red", "x=1&" * 30_000):
        data["steps-1-folded"] = broken
        with pytest.raises(InvalidInput):
            read(data, plan, NO_OPTIONS)
    data["steps-0-folded"] = data["steps-1-folded"] = f"actions-TOTAL_FORMS={MAX_ROWS // 2 + 1}"
    with pytest.raises(InvalidInput, match="Export the plan, change the file"):
        read(data, plan, NO_OPTIONS)


def test_steps_for_which_there_is_no_room_are_folded_and_keep_what_was_typed() -> None:
    steps = [review_step().model_copy(update={"step_id": f"k{n}", "name": f"Step {n}"}) for n in range(40)]
    form = begun(made_plan(*steps))
    for number in range(40):
        form.data[f"steps-{number}-name"] = f"Typed {number}"
    form = PlanForm(form.data, original=form.original, options=NO_OPTIONS)
    last = form.steps.steps[-1].prefix
    size = sum(1 for _ in form.steps.steps[-2].names())
    form = fold_beyond(form, f"{last}-actions-0")
    still = [step.is_open for step in form.steps.steps]
    assert abs(sum(still) - MAX_SHOWN // (size + 8)) <= 1
    assert still == [True] * (sum(still) - 1) + [False] * (len(still) - sum(still)) + [True], "and the one with focus"
    assert [step.title for step in form.steps.steps] == [f"Typed {number}" for number in range(40)]


def test_a_list_that_is_full_takes_no_more_rows() -> None:
    form = changed(begun(made_plan()), **{"steps-0-acceptance_criteria-TOTAL_FORMS": "100"})
    with pytest.raises(InvalidInput, match="more than 100 rows"):
        press(form, "add:steps-0-acceptance_criteria")
    assert (["steps", 0, "acceptance_criteria"], "Has more than 40 items.") in [
        (list(place), sentence) for place, sentence in plan_in(form)
    ]


def test_what_is_wrong_is_said_at_its_field() -> None:
    form = begun(made_plan())
    for number in range(len(form.original.steps[1].acceptance_criteria)):
        form, _ = press(form, f"remove:steps-1-acceptance_criteria-{number}")
    criterion = "steps-2-acceptance_criteria-0"
    form = changed(form, **{f"{criterion}-kind": "min_bytes", "goal": " "})
    typed = {"steps-0-name": "", f"{criterion}-shown_kind": "min_bytes", f"{criterion}-check-path": ""}
    form = changed(form, **typed, **{f"{criterion}-check-min": "ten", "success_criteria-0-text": "x" * 5_000})
    problems = plan_in(form)
    assert isinstance(problems, list)
    for place, sentence in problems:
        form.refuse(place, sentence)
    row = row_at(form, criterion)
    assert isinstance(row, CriterionForm)
    assert row.check
    assert (form.refused, form.steps.steps[2].refused) == (6, 2)
    assert form.errors == {"goal": ["Must not be empty."]}
    assert form.steps.steps[0].errors == {"name": ["Must not be empty."]}
    assert form.steps.steps[1].formsets["acceptance_criteria"].problems == ["Needs at least 1 item."]
    assert row.check.errors == {"path": ["Has to be filled in."], "min": ["Has to be a whole number."]}
    assert form.formsets["success_criteria"].forms[0].errors == {"text": ["Has more than 4000 characters."]}
