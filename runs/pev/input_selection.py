"""The given files that the steps of a plan deal with."""

from collections.abc import Iterable

from runs.errors import InvalidInput
from runs.pev.contracts import PlanStep
from runs.text.path_patterns import selected


def meant_by(steps: Iterable[PlanStep], paths: Iterable[str]) -> list[str]:
    """The given files that a plan gives its steps to deal with. A step that names none is given all, and so is every
    step of a plan whose patterns are too wild to be followed.
    """
    named = [step.inputs for step in steps]
    if not all(named):
        return list(paths)
    listed = list(paths)
    try:
        return selected((pattern for patterns in named for pattern in patterns), listed)
    except InvalidInput:
        return listed
