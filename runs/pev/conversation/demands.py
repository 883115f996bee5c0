"""How an output is demanded in the end from a model that may use tools no more, and what is said when none came."""

from collections.abc import Sequence

from runs.enums import Role
from runs.errors import ContractBroken
from runs.pev.conversation.repetition import Calls

MAX_DEMANDS = 3
"""How often the output is asked for once tools are forbidden: some servers let models call them all the same."""
FORBIDDEN = "This call was not carried out: tools cannot be used any more."
_LAST_ROUND = "This is the last round."
_CIRCLES = "You keep making calls whose results you already have."


def demand(words: str, *, circling: bool) -> str:
    """What asks for the output, once tools are forbidden: since they lead nowhere any more, or in the last round.
    `words` say so, and what is to be answered.
    """
    return f"{_CIRCLES if circling else _LAST_ROUND} {words}"


def ended_without(output: str, role: Role, calls: Calls, rounds: int, errors: Sequence[str] = ()) -> ContractBroken:
    """The end of a conversation that was asked for its output, such as a report, in vain; to be raised."""
    why = "kept making the same calls" if calls.circling else f"used its {rounds} rounds"
    return ContractBroken(f"The {role} {why} without a {output}. {calls.summary}".strip(), tuple(errors))
