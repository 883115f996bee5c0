"""Words that a model has to take into account: of a verifier, of a person, or of what happened before."""

from dataclasses import dataclass
from typing import NamedTuple


class Answered(NamedTuple):
    """What a person said to a question of a model, as the `number`th thing that people said in the run."""

    number: int
    question: str
    words: str


@dataclass(frozen=True)
class Feedback:
    """`label` says whose words they are or what happened. `request` numbers those of a person; 0 for others."""

    label: str
    text: str
    from_person: bool = False
    request: int = 0

    @property
    def title(self) -> str:
        return f"request {self.request}: {self.label}" if self.request else self.label
