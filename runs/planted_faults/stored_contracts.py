"""What the tables of calibrations store: how a verifier is asked, and what is kept of an overruled verdict.

The tables import this module, so it imports no tools and no clients.
"""

from runs.contracts.base import Contract
from runs.enums import About

MIN_BYTES = 100
"""The least length of a document in runs, unless a person changes it."""


class VerifierSettings(Contract):
    """How a verifier is asked, and what the policy demands of its verdicts."""

    model: str = "a verifier"
    effort: str = "low"
    min_confidence: float = 0.0
    min_document_bytes: int = MIN_BYTES
    simple: bool = False


AS_USUAL = VerifierSettings()
"""What runs ask for unless a person changes it."""


class KeptText(Contract):
    """The text of a file, as a verifier reads it."""

    name: str
    text: str


class KeptCall(Contract):
    """The result of a tool call, with what decides what it proves (see `evidence.sources.ToolText`)."""

    result: str
    sent: str
    observed: list[tuple[int, int]]
    is_outside: bool
    is_printed: bool


class JudgedContent(Contract):
    """A criterion and everything that is needed to judge it again: the result, and the sources that it rests on.

    `output`: the findings of the executor. `made`: the files of the result, by their names as sources. Neither the task
    nor the step is kept.
    """

    criterion: str
    about: About
    output: str
    made: list[KeptText] = []
    given: list[KeptText] = []
    calls: list[KeptCall] = []

    @property
    def characters(self) -> int:
        files = sum(len(one.text) for one in (*self.made, *self.given))
        return len(self.output) + files + sum(len(one.result) + len(one.sent) for one in self.calls)
