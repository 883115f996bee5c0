"""The form of the plan editor: what is not touched comes back as it was, and what its buttons do to the rows."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from runs.errors import InvalidInput
from runs.pev.checks.registry import KINDS
from runs.pev.contracts import Criterion, PlanContract, PlanStep
from runs.web.plan_editor.plan_draft import CriterionDraft, PlanDraft, StepDraft
from runs.web.plan_editor.plan_edit_forms import MAX_CHANGED, MAX_SHOWN, apply, criterion_at, fold_beyond, read
from runs.web.plan_editor.plan_edit_page import contract_in
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


def posted(draft: PlanDraft) -> QueryDict:
    """What a browser sends of this draft, with the fields of all of its open steps."""
    sent = QueryDict(mutable=True)
    sent.update({"p-goal": draft.goal, "p-rollback": draft.rollback})
    for n, item in enumerate(draft.context):
        sent.update({f"x{n}-name": item.name, f"x{n}-value": item.value})
    for n, step in enumerate(draft.steps):
        sent[f"s{n}-key"] = step.key
        if not step.open:
            sent[f"s{n}-closed"] = ""
            continue
        sent.update(
            {f"s{n}-{name}": getattr(step, name) for name in ("origin", "name", "description", "risk", "inputs")}
        )
        sent.setlist(f"s{n}-dependencies", list(step.dependencies))
        for k, action in enumerate(step.actions):
            sent.update({f"s{n}-a{k}-tool": action.tool, f"s{n}-a{k}-purpose": action.purpose})
        for k, output in enumerate(step.outputs):
            sent[f"s{n}-o{k}-path"] = output.path
            if output.cited:
                sent[f"s{n}-o{k}-cited"] = "on"
        _criteria(sent, f"s{n}", step.criteria)
    _criteria(sent, "f", draft.criteria)
    for name in list(sent):  # as browsers do
        sent.setlist(name, [value.replace("\n", "\r\n") for value in sent.getlist(name)])
    return sent


def _criteria(sent: QueryDict, prefix: str, criteria: Any) -> None:
    for n, one in enumerate(criteria):
        sent.update(
            {f"{prefix}-c{n}-text": one.text, f"{prefix}-c{n}-about": one.about, f"{prefix}-c{n}-kind": one.kind}
        )
        sent.update({f"{prefix}-c{n}-check-{name}": value for name, value in one.check.items()})


def with_criteria(*criteria: dict[str, Any]) -> PlanStep:
    return PlanStep.model_validate({**inventory_step().model_dump(), "acceptance_criteria": criteria})


def opened(plan: PlanContract) -> PlanDraft:
    draft = PlanDraft.of(1, plan)
    for step in draft.steps:
        step.open = True
    return draft


def test_every_kind_of_check_has_an_example() -> None:
    assert {check["kind"] for check in CHECKS} == set(KINDS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check["kind"])
def test_every_check_comes_back_as_it_was(check: dict[str, Any]) -> None:
    criterion = Criterion.model_validate({"text": "It holds.", "about": "output", "check": check})
    plan = made_plan(with_criteria(criterion.model_dump()), review_step(), notices_step())
    draft = read(posted(opened(plan)), 1, plan)
    assert draft == PlanDraft.of(1, plan)
    draft.steps[0].name = "Changed, so that it is read from its fields"
    found = contract_in(draft, plan)
    assert isinstance(found, PlanContract)
    assert found.steps[0].acceptance_criteria == [criterion]


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
    for draft in (opened(plan), PlanDraft.of(1, plan)):
        assert contract_in(read(posted(draft), 1, plan), plan) == plan


def keys(draft: PlanDraft) -> list[str]:
    return [step.key for step in draft.steps]


@pytest.mark.parametrize(
    ("do", "expected", "focus"),
    [
        ("add:step", ["inventory", "review", "notices", "step-1"], "s3"),
        ("copy:step:0", ["inventory", "step-1", "review", "notices"], "s1"),
        ("remove:step:0", ["review", "notices"], "s0"),
        ("down:step:0", ["review", "inventory", "notices"], "s1"),
        ("up:step:0", ["inventory", "review", "notices"], "s0"),
        ("up:step:99", ["inventory", "review", "notices"], "s0"),
        ("explode:step:0", ["inventory", "review", "notices"], "s0"),
        ("remove:step:-1", ["inventory", "review", "notices"], "s0"),
        ("remove:nothing:0", ["inventory", "review", "notices"], ""),
        ("", ["inventory", "review", "notices"], ""),
        ("remove:criterion", ["inventory", "review", "notices"], ""),
        (":::::", ["inventory", "review", "notices"], ""),
    ],
)
def test_what_the_buttons_do_to_steps(do: str, expected: list[str], focus: str) -> None:
    draft = PlanDraft.of(1, made_plan())
    assert (apply(draft, do), keys(draft)) == (focus, expected)


def test_nothing_comes_after_a_step_that_is_gone() -> None:
    draft = PlanDraft.of(1, made_plan())
    assert draft.steps[1].dependencies == ["inventory"]
    apply(draft, "remove:step:0")
    assert draft.steps[0].dependencies == []


def test_what_the_buttons_do_to_criteria_and_files() -> None:
    draft = PlanDraft.of(1, made_plan())
    texts = [one.text for one in draft.steps[1].criteria]
    assert apply(draft, "up:criterion:1:2") == "s1-c1"
    assert [one.text for one in draft.steps[1].criteria] == [texts[0], texts[2], texts[1]]
    assert apply(draft, "remove:criterion:1:0") == "s1-c0"
    assert apply(draft, "add:criterion:f") == f"f-c{len(draft.criteria) - 1}"
    assert apply(draft, "add:action:2") == f"s2-a{len(draft.steps[2].actions) - 1}"
    assert apply(draft, "remove:action:2:0") == "s2-a0"
    assert apply(draft, "add:output:2") == f"s2-o{len(draft.steps[2].outputs) - 1}"
    assert apply(draft, "add:context") == f"x{len(draft.context) - 1}"
    found = criterion_at(draft, "try:criterion:1:0")
    assert found == ("s1-c0", draft.steps[1].criteria[0])
    assert criterion_at(draft, "try:criterion:1:99") is None


def test_a_step_that_is_folded_keeps_what_was_typed_into_it() -> None:
    plan = made_plan()
    sent = posted(PlanDraft.of(1, plan))
    changed = StepDraft.of(plan.steps[1])
    changed.name = "Typed"
    sent["s1-closed"] = '{"key": "review", "origin": "review", "name": "Typed"}'
    assert [step.name for step in read(sent, 1, plan).steps] == [plan.steps[0].name, "Typed", plan.steps[2].name]
    rows = ", ".join(["{}"] * (MAX_CHANGED // 2 + 1))
    for broken in ("{", "[]", '{"key": 7}', "{" * 9_000, '{"key": "review", "name": "\\\\\\u0000"}'):
        sent["s1-closed"] = broken
        with pytest.raises(InvalidInput):
            read(sent, 1, plan)
    sent["s1-closed"] = '{"key": "review", "name": "\\\\u0000", "open": true}'
    assert [(step.name, step.open) for step in read(sent, 1, plan).steps][1] == ("\\u0000", False)
    sent["s0-closed"] = sent["s1-closed"] = f'{{"key": "new", "actions": [{rows}]}}'
    with pytest.raises(InvalidInput, match="Export the plan, change the file"):
        read(sent, 1, plan)


def test_steps_for_which_there_is_no_room_are_folded_and_keep_what_was_typed() -> None:
    draft = PlanDraft.of(1, made_plan())
    draft.steps = [
        StepDraft(f"k{n}", name=f"Typed {n}", criteria=[CriterionDraft()] * 40, open=True) for n in range(40)
    ]
    typed = [step.name for step in draft.steps]
    fold_beyond(draft, "s39-c2")
    still = [number for number, step in enumerate(draft.steps) if step.open]
    assert still == [*range(MAX_SHOWN // 134 - 1), 39], "the one that was pressed at, and as many of the first as fit"
    assert [step.name for step in draft.steps] == typed
    fold_beyond(draft, "")
    assert [number for number, step in enumerate(draft.steps) if step.open] == still


def test_no_more_rows_are_read_than_a_contract_can_refuse() -> None:
    plan, sent = made_plan(), posted(opened(made_plan()))
    for number in range(70):
        sent[f"s0-c{number}-text"] = "x"
    draft = read(sent, 1, plan)
    assert len(draft.steps[0].criteria) == 60
    assert apply(draft, "add:criterion:0") == "s0-c0"
    assert len(draft.steps[0].criteria) == 60
    assert contract_in(draft, plan) == {"s0-criteria": ["Has more than 40 items."]}


def test_what_is_wrong_is_said_at_its_field() -> None:
    plan = made_plan()
    draft = opened(plan)
    draft.goal = " "
    draft.steps[0].name = ""
    draft.steps[1].criteria = []
    draft.steps[2].criteria[0].kind = "min_bytes"
    draft.steps[2].criteria[0].check = {"min": "ten"}
    draft.criteria[0].text = "x" * 5_000
    assert contract_in(draft, plan) == {
        "p-goal": ["Must not be empty."],
        "s0-name": ["Must not be empty."],
        "s1-criteria": ["Needs at least 1 item."],
        "s2-c0-check-path": ["Has to be filled in."],
        "s2-c0-check-min": ["Has to be a whole number."],
        "f-c0-text": ["Has more than 4000 characters."],
    }
