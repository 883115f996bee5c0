"""Words that a model must take into account: from a verifier, from a person, or about earlier events."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from pydantic import Field

from runs.contracts.base import Contract, StepId, Text


class AnsweredQuestion(NamedTuple):
    """A person's answer to a question of a model. `number`: its number among everything that people said in the run."""

    number: int
    question: str
    words: str


@dataclass(frozen=True)
class Feedback:
    """`label` says whose words they are, or what happened. `request` is the number of a person's
    request, otherwise 0.
    """

    label: str
    text: str
    from_person: bool = False
    request: int = 0

    @property
    def title(self) -> str:
        return f"request {self.request}: {self.label}" if self.request else self.label


class Comment(Contract):
    """What a person asks for with the rejection of a plan: `request` is its number in the run, from 1.

    It is about a step, about criterion number `criterion` (from 1) of that step or, without `step_id`, of the success
    criteria; about the whole plan without either. `place` says which, in words: empty for the whole plan.
    """

    text: Text
    request: Annotated[int, Field(ge=0, le=100_000)] = 0
    step_id: StepId | None = None
    criterion: Annotated[int, Field(ge=1, le=40)] | None = None
    place: Text = ""

    @property
    def words(self) -> str:
        """Returns the text with its place, as it is shown to the planner."""
        return f"{self.place}: {self.text}" if self.place else self.text
