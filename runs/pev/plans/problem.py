"""What keeps a plan from being run, with its place in the plan."""

from typing import NamedTuple


class PlanProblem(NamedTuple):
    """What keeps a plan from being run. `step_id`: the step that it is about, nothing for the whole plan. `criterion`:
    the number of that step's criterion, or without a step of a success criterion; 0 for none. `field`: the field of
    either that it is about, where it is one. `where` names the place in words, unless `what` does.
    """

    what: str
    step_id: str = ""
    criterion: int = 0
    field: str = ""
    where: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what
