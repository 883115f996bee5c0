"""What a new version of a plan changes, in one line."""

from runs.pev.contracts import ContextItem
from runs.readmodel.plan_differences import PlanVersion, compare, news_of
from tests.unit.readmodel.test_plan_differences import criterion, step, version


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
