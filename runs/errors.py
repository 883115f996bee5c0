"""One tree of exceptions. The text of each is a sentence for the person who caused it or has to act."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any


class PevError(Exception):
    """Base of everything that pevsite raises on purpose.

    `tokens`: what a model call had used when this error ended it, by the names of `Usage`; a lower bound.
    """

    tokens: Mapping[str, Any] = MappingProxyType({})


class InvalidInput(PevError):
    """What was sent cannot be used; nothing was changed."""


class FilesMissing(InvalidInput):
    """A request that seems to need files has none. The person may confirm that there are none."""


class UploadRefused(InvalidInput):
    """The files break a limit or cannot be stored."""


class PathRefused(InvalidInput):
    """A path that cannot exist in a tree."""


class PlanRefused(InvalidInput):
    """An imported plan cannot be used. `problems`: a sentence for each thing that is wrong with it."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class NotVisible(InvalidInput):
    """There is no such object, or this person may not see it: the sentence is the same."""


class LastSecondPerson(InvalidInput):
    """A change of people would leave runs without a second person. An administrator may confirm it."""


class NotAllowed(PevError):
    """This person may see the object but may not do this."""


class DecisionRefused(PevError):
    """A decision came too late, twice, or for something that has changed since the page was loaded."""


class MoveRefused(PevError):
    """A status was not what the caller believed; no row was changed."""


class Outdated(PevError):
    """The run has changed since it was read; nothing was written. Read it again and decide again."""


class FromLaterVersion(PevError):
    """A row has a value that a later version of pevsite has written and this one does not know.

    Nothing may be concluded from it. A process of the later version can go on with it.
    """


class LeaseLost(PevError):
    """Someone else owns the work now, or it was cancelled; what was done since is discarded."""


class ContractBroken(PevError):
    """A model did not deliver what was asked for, even after it was shown the errors."""

    def __init__(self, sentence: str, errors: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.errors = errors


class Unusable(ContractBroken):
    """None of its answers was usable. The errors are in words for models."""


class TimeUsedUp(ContractBroken):
    """An attempt has used the time that it may take."""


class NoVerdict(ContractBroken):
    """The verifier gave no usable verdict, which says nothing about the work itself (T12)."""

    kind = "no_verdict"


class PlanRepeated(ContractBroken):
    """The planner repeated a plan that had failed or was rejected, although the reason was in its prompt."""


class StoreAway(PevError):
    """The store of files does not answer. The same request may succeed later."""


class ApprovalAwaited(PevError):
    """A call that acts outside waits for a person. `digest` is what their decision is bound to; `again`: it may have
    been carried out before.
    """

    def __init__(self, name: str, arguments: Mapping[str, Any], digest: str, *, again: bool = False) -> None:
        super().__init__(f"{name} waits for a person")
        self.name, self.arguments, self.digest, self.again = name, arguments, digest, again


class AnswerAwaited(PevError):
    """A model has asked a person something: the work goes on when that is answered. `choices`: suggested answers;
    `why`: what the answer decides, as the model says.
    """

    def __init__(self, question: str, choices: Sequence[str], why: str = "") -> None:
        super().__init__(question)
        self.question, self.why = question, why
        self.choices = tuple(choices)


class LimitReached(PevError):
    """The next call would break a limit of the run; a person is asked before it is made."""


class ToolsUsedUp(PevError):
    """The run may not use these tools of the model's service any more. Ask the question again without them."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__(f"Used up in this run: {', '.join(sorted(names))}.")
        self.names = frozenset(names)


class ModelError(PevError):
    """The model's service did not give an answer.

    `retriable`: whether the same call may succeed later. `retry_after`: seconds the service asked for,
    or None. `kind`: the service's own name of the error (`rate_limit_error`, `overloaded_error`, ...).
    """

    def __init__(self, sentence: str, *, kind: str, retriable: bool, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.retriable = retriable
        self.retry_after = retry_after
