"""Versions of a plan compared: what asks for less stands first, and each change beside the comment that led to it."""

from typing import Any

import pytest

from runs.contracts.feedback import Comment
from runs.enums import About, Complexity
from runs.pev.checks.json_schema import JsonSchema
from runs.pev.checks.min_bytes import MinBytes
from runs.pev.contracts import ContextItem, Criterion, PlanContract, PlanStep, RequestAnswer
from runs.readmodel.plan_differences import AuthoredVersion, PlanComparison, PlanVersion, compare, lost_edits, news_of
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


# ---- What a new version of a plan changes, in one line ---------------------------------------------------------------


def news(before: PlanVersion, after: PlanVersion) -> list[tuple[str, bool]]:
    return [(one.words, one.less) for one in news_of(compare(before, after))]


def test_steps_that_are_gone_or_gutted_are_named_first() -> None:
    judged = [criterion("It is long."), criterion("It is sourced."), criterion("Amounts are in EUR.")]
    full, gutted = step("b", acceptance_criteria=judged), step("b", acceptance_criteria=judged[2:])
    assert news(version(1, step("a"), full, step("c")), version(2, gutted, step("a"), step("new"))) == [
        ("1 step removed: Name of c", True),
        ("1 changed: Name of b (2 criteria removed)", True),
        ("1 added: Name of new", False),
        ("1 moved: Name of a", False),
    ]


def test_a_sentence_that_is_new_stands_in_its_words() -> None:
    before = step("a", description="Find the points that need attention, and where they stand.")
    after = step("a", description=f"{before.description} Rank every point by severity.", inputs=["x.md"])
    assert news(version(1, before), version(2, after)) == [
        ("1 step changed: Name of a (description + “Rank every point by severity.”, reads)", False)
    ]


def test_that_nothing_changed_is_said() -> None:
    noted = version(2, step("a"), context=[ContextItem(name="Feedback", value="request 1")])
    assert news(version(1, step("a")), noted) == [("No step or criterion changed", False)]


def test_success_criteria_and_the_goal_are_news_too() -> None:
    after = version(2, step("a"), success_criteria=[criterion("It rains.")], goal="Review the leases.")
    assert news(version(1, step("a")), after) == [
        ("1 success criterion removed, 1 success criterion added", True),
        ("goal changed", False),
    ]


def test_only_some_of_many_steps_are_named() -> None:
    steps = [step(f"s{number}") for number in range(5)]
    assert news(version(1, *steps), version(2, steps[0], step("n"))) == [
        ("4 steps removed: Name of s1, Name of s2, Name of s3 and 1 more", True),
        ("1 added: Name of n", False),
    ]


# ---- What people wrote into a plan by hand and a later version has no more -------------------------------------------


RANK = "Rank every point by severity."
PLANNED = step("a", description="Find the points. Say where they stand.")
EDITED = step("a", description=f"Find the points. {RANK} Say where they stand.")


def lost(*versions: AuthoredVersion) -> list[tuple[str, int, str]]:
    return [(one.by, one.version, ", ".join(one.parts)) for one in lost_edits(versions)]


def test_a_sentence_written_by_hand_is_missed_in_the_next_plan() -> None:
    first, second = AuthoredVersion(version(1, PLANNED), ""), AuthoredVersion(version(2, EDITED), "alice", agreed=True)
    assert lost(first, second) == []
    assert lost(first, second, AuthoredVersion(version(3, PLANNED), "")) == [("alice", 2, f"“{RANK}”")]
    moved = step("b", description="rank every point  by severity")
    assert lost(first, second, AuthoredVersion(version(3, PLANNED, moved), "")) == []


def test_an_edit_of_somebody_else_does_not_hide_what_was_lost_before() -> None:
    versions = [
        AuthoredVersion(version(1, PLANNED), ""),
        AuthoredVersion(version(2, EDITED), "alice"),
        AuthoredVersion(version(3, PLANNED), ""),
        AuthoredVersion(version(4, PLANNED, step("b")), "bob"),
    ]
    assert lost(*versions) == [("alice", 2, f"“{RANK}”")]


def test_what_a_person_took_out_again_or_approved_to_be_without_is_not_missed() -> None:
    first, second = AuthoredVersion(version(1, PLANNED), ""), AuthoredVersion(version(2, EDITED), "alice")
    assert (
        lost(first, second, AuthoredVersion(version(3, PLANNED), "bob"), AuthoredVersion(version(4, PLANNED), "")) == []
    )
    agreed = AuthoredVersion(version(3, PLANNED), "", agreed=True)
    assert lost(first, second, agreed, AuthoredVersion(version(4, PLANNED), "")) == []


def test_checks_files_order_and_steps_are_edits_too_and_a_new_name_is_one() -> None:
    check = MinBytes(kind="min_bytes", path="b.md", min=900)
    first = version(1, PLANNED, step("b"), step("c"))
    changes = {"name": "Sum", "dependencies": ["a"], "inputs": ["x.md"], "estimated_complexity": Complexity.HIGH}
    strict = step("b", acceptance_criteria=[criterion("The work of b is done.", check)], **changes)
    second = version(2, PLANNED, strict)
    (found,) = lost_edits(
        [
            AuthoredVersion(first, ""),
            AuthoredVersion(second, "alice"),
            AuthoredVersion(version(3, *first.steps.values()), ""),
        ]
    )
    assert (found.parts, found.more) == (
        ["“Sum”", "“The work of b is done.” by a check: b.md has at least 900 bytes", "“Sum” is a high-risk step"],
        3,
    )
    renamed = version(2, PLANNED, step("b", name="Sum"), step("c"))
    assert lost(AuthoredVersion(first, ""), AuthoredVersion(renamed, "alice"), AuthoredVersion(first, "")) == [
        ("alice", 2, "“Sum”")
    ]
    fewer = version(2, PLANNED, step("b"))
    assert lost(AuthoredVersion(first, ""), AuthoredVersion(fewer, "alice"), AuthoredVersion(first, "")) == [
        ("alice", 2, "without step “Name of c”")
    ]
