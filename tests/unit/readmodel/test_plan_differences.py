"""Versions of a plan compared: what asks for less stands first, and each change beside the comment that led to it."""

from typing import Any

import pytest

from runs.contracts.feedback import Comment
from runs.enums import About, Complexity
from runs.pev.checks.json_schema import JsonSchema
from runs.pev.checks.min_bytes import MinBytes
from runs.pev.contracts import ContextItem, Criterion, PlanContract, PlanStep, RequestAnswer
from runs.readmodel.plan_differences import PlanComparison, PlanVersion, compare
from tests.hostile.bounds import within


def criterion(text: str, check: Any = None) -> Criterion:
    return Criterion(text=text, check=check, about=About.OUTPUT)


def step(key: str, **changes: Any) -> PlanStep:
    values: dict[str, Any] = {
        "step_id": key,
        "name": f"Name of {key}",
        "description": f"Do what {key} says.",
        "actions": [],
        "acceptance_criteria": [criterion(f"The work of {key} is done.")],
        "expected_outputs": [f"{key}.md"],
        "dependencies": [],
        "estimated_complexity": Complexity.LOW,
    }
    return PlanStep.model_validate({**values, **changes})


def version(number: int, *steps: PlanStep, **changes: Any) -> PlanVersion:
    values: dict[str, Any] = {
        "goal": "Review the contracts.",
        "context": [ContextItem(name="Folder", value="Three contracts.")],
        "success_criteria": [criterion("Every open point is named.")],
        "rollback_strategy": "Keep the files.",
    }
    plan = PlanContract.model_validate({**values, "steps": list(steps), **changes})
    return PlanVersion(number, plan.header, {one.step_id: one for one in plan.steps})


def kinds(found: PlanComparison) -> list[tuple[str, str, bool]]:
    return [(one.kind, one.key, one.less) for one in found.steps]


def test_what_asks_for_less_stands_first() -> None:
    strict = step("b", acceptance_criteria=[criterion("It is long.", MinBytes(kind="min_bytes", path="b.md", min=900))])
    loose = step("b", acceptance_criteria=[criterion("It is long.", MinBytes(kind="min_bytes", path="b.md", min=9))])
    found = compare(
        version(1, step("a"), strict, step("c"), step("d")),
        version(2, step("new"), step("d"), step("a", name="Another name"), loose),
    )
    assert kinds(found) == [
        ("removed", "c", True),
        ("changed", "b", True),
        ("changed", "a", False),
        ("added", "new", False),
        ("moved", "d", False),
    ]
    assert found.summary == "1 step removed, 2 changed, 1 added, 1 moved"
    checked = found.steps[1].criteria[0]
    assert (checked.kind, checked.number) == ("changed", 1)
    assert checked.relaxed.endswith("the new plan checks it less strictly, or otherwise.")
    assert [(text.what, [(piece.kind, piece.text) for piece in text.pieces]) for text in checked.changes] == [
        (
            "check",
            [
                ("same", "automatic check: b.md has at least"),
                ("removed", " 900"),
                ("added", " 9"),
                ("same", " bytes"),
            ],
        )
    ]


def test_a_criterion_that_was_worded_again_is_the_same_one() -> None:
    before = step("a", acceptance_criteria=[criterion("Each finding quotes its clause."), criterion("It is short.")])
    after = step(
        "a", acceptance_criteria=[criterion("It is short."), criterion("Each finding quotes its whole clause.")]
    )
    changed = compare(version(1, before), version(2, after)).steps[0].criteria
    assert [(one.kind, one.number, one.text) for one in changed] == [
        ("changed", 2, "Each finding quotes its whole clause.")
    ]
    other = step(
        "a", acceptance_criteria=[criterion("It is short."), criterion("Amounts are in EUR, without exception.")]
    )
    assert [(one.kind, one.number) for one in compare(version(1, before), version(2, other)).steps[0].criteria] == [
        ("removed", 1),
        ("added", 2),
    ]


def test_the_parts_of_the_plan_itself_have_before_and_after() -> None:
    context = [ContextItem(name="Folder", value="Four contracts."), ContextItem(name="Language", value="English")]
    found = compare(
        version(1, step("a")),
        version(2, step("a"), goal="Review the leases.", context=context, rollback_strategy="Throw the files away."),
    )
    assert [(one.what, one.before, one.after) for one in found.whole] == [
        ("goal", "Review the contracts.", "Review the leases."),
        ("note “Folder”", "Three contracts.", "Four contracts."),
        ("note “Language”", "", "English"),
        ("rollback", "Keep the files.", "Throw the files away."),
    ]
    assert not found.steps


def test_a_schema_that_changes_is_told_though_the_check_sounds_the_same() -> None:
    def shaped(schema: str) -> PlanStep:
        check = JsonSchema(kind="json_schema", path="a.json", schema_text=schema)
        return step("a", acceptance_criteria=[criterion("It has the agreed shape.", check)])

    found = compare(version(1, shaped('{"type": "object"}')), version(2, shaped('{"type": "array"}')))
    assert [text.what for text in found.steps[0].criteria[0].changes] == ["JSON Schema"]


def test_each_change_stands_beside_the_comment_that_led_to_it() -> None:
    on_step = Comment(text="Name the amounts.", request=1, step_id="a", place="On step 1 “Name of a”")
    answered = Comment(text="Write in English.", request=2)
    whole = Comment(text="Be quick.", request=3)
    answers = [RequestAnswer(request=2, step_id="b", how="It says so.")]
    found = compare(
        version(1, step("a"), step("b")),
        version(2, step("a", name="Amounts"), step("b", name="English"), answers=answers),
        comments=[on_step, answered, whole],
    )
    assert [one.comments for one in found.steps] == [(on_step,), (answered,)]
    assert found.comments == (whole,)


def test_versions_that_say_the_same_differ_in_nothing() -> None:
    found = compare(version(1, step("a")), version(2, step("a")))
    assert (found.only_noted, found.summary) == (True, "nothing differs")


def test_a_note_of_what_was_asked_for_changes_no_step_and_a_new_goal_is_more_than_a_note() -> None:
    noted = [ContextItem(name="Folder", value="Three contracts."), ContextItem(name="Request 1", value="Be strict.")]
    before = version(1, step("a"))
    changed = [version(2, step("a"), context=noted), version(2, step("a"), goal="Another."), version(2, step("b"))]
    assert [compare(before, after).only_noted for after in changed] == [True, False, False]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_plans_that_were_made_for_it_are_compared_within_limits() -> None:
    def hostile(word: str) -> PlanVersion:
        wanted = [criterion(f"{number} " + f"{word} x " * 400) for number in range(40)]
        return version(
            1, *(step(f"s{n}", description=f"{word} x " * 400, acceptance_criteria=wanted) for n in range(20))
        )

    within(1, 100, "runs.readmodel.plan_differences.compare", hostile("a"), hostile("b"))
