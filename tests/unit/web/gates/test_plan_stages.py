"""The stages of a long plan at its gate: the first and the last ones, with their first and last steps."""

from runs.web.gates.gate_view import PlanStage, stages_of


def test_a_stage_names_its_first_steps_and_its_last() -> None:
    steps = [(f"Step {number}", 0) for number in range(1, 41)] + [("Sum up", 1), ("Write", 2), ("Check", 2)]
    assert stages_of(steps) == [
        PlanStage(1, 37, ["Step 1", "Step 2"], "Step 40"),
        PlanStage(2, 0, ["Sum up"]),
        PlanStage(3, 0, ["Write"], "Check"),
    ]


def test_the_stages_between_the_first_and_the_last_are_counted() -> None:
    assert stages_of([(f"Step {number}", number) for number in range(40)]) == [
        PlanStage(1, 0, ["Step 0"]),
        PlanStage(2, 0, ["Step 1"]),
        PlanStage(3, 0, ["Step 2"]),
        PlanStage(0, 36),
        PlanStage(40, 0, ["Step 39"]),
    ]
