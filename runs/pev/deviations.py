"""Compares what was done with what was planned (T4)."""

from collections.abc import Collection, Set

from runs.pev.contracts import PlanStep


def deviations(
    step: PlanStep,
    *,
    declared: Set[str],
    there: Collection[str],
    written: Collection[str],
    used: Set[str],
    withheld: Collection[str] = (),
) -> tuple[str, ...]:
    """Returns a sentence for each difference.

    * `declared`: the outputs of all steps of the plan.
    * `there`: the paths after the attempt.
    * `written`: the paths that it wrote.
    * `used`: the tools that it called successfully.
    * `withheld`: the tools whose limit the run had reached.
    """
    planned = dict.fromkeys(action.tool for action in step.actions)
    return (
        *(f"Expected output {path} is missing." for path in step.outputs if path not in there),
        *(f"Unplanned file: {path}." for path in undeclared(written, declared)),
        *(f"The plan named the tool {tool}; it was not used." for tool in planned if tool not in used),
        *(f"The run had used {tool} as often as it may, so that this step went on without." for tool in withheld),
    )


def undeclared(written: Collection[str], declared: Set[str]) -> list[str]:
    """Returns the paths that were written although no step of the plan declares them, sorted."""
    return sorted(set(written) - declared)
