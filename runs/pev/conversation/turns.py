"""One turn of a model that uses tools: its calls are carried out, and all are answered in one message. At the end the
model is asked for its output without tools.
"""

from collections.abc import Sequence
from dataclasses import replace

from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask, JournaledToolbox, Model, Reply, Toolbox
from runs.enums import Role
from runs.errors import ContractBroken
from runs.pev.conversation.asking import assistant
from runs.pev.conversation.originals import Originals
from runs.pev.conversation.repetition import CallHistory
from runs.pev.conversation.served import ServiceCalls

MAX_CALLS = 50
"""Tool calls of one turn that are carried out: ten thousand would keep a worker busy for minutes."""
MAX_TURNS = 20
"""Turns of a model that may use tools before it answers and has no number of rounds in the policy."""
TOO_MANY = f"This call was not carried out: in one turn there may be at most {MAX_CALLS}. Make it again."


def carried_out(ask: Ask, reply: Reply, tools: Toolbox, calls: CallHistory, originals: Originals | None = None) -> Ask:
    """The conversation with this reply and the results of its calls. With `originals` pages are shown as they look."""
    turn = [(use, tools.run(use)) for use in reply.tool_uses[:MAX_CALLS]]
    answers = [*calls.answers(turn), *[(TOO_MANY, True)] * len(reply.tool_uses[MAX_CALLS:])]
    read = [page for use, result in turn for page in tools.originals(use, result)] if originals else []
    return answered(ask, reply, answers, originals.blocks(read) if originals else ())


def taken_down(ask: Ask, reply: Reply, tools: JournaledToolbox, calls: CallHistory, served: ServiceCalls) -> None:
    """Number the calls that the service made within this reply before anything else that the reply asks for."""
    for use, result in served.calls(ask, reply):
        calls.note(use, tools.serve(use, result))


def answered(ask: Ask, reply: Reply, answers: Sequence[tuple[str, bool]], pages: Sequence[JsonObject] = ()) -> Ask:
    """The conversation with this reply and these results, each a text and whether it is an error."""
    results: list[JsonObject] = [
        {"type": "tool_result", "tool_use_id": use.id, "content": text, "is_error": is_error}
        for use, (text, is_error) in zip(reply.tool_uses, answers, strict=True)
    ]
    return replace(ask, messages=(*ask.messages, assistant(reply), {"role": "user", "content": [*results, *pages]}))


def after_tools(model: Model, ask: Ask, tools: Toolbox) -> tuple[Ask, Reply]:
    """The first reply that calls no tool, and the question that it answers. After MAX_TURNS tools are forbidden."""
    calls = CallHistory()
    for _ in range(MAX_TURNS):
        reply = model.ask(ask)
        if reply.stop_reason != "tool_use" or not reply.tool_uses:
            return ask, reply
        ask = carried_out(ask, reply, tools, calls)
    ask = replace(ask, last_round=True)
    return ask, model.ask(ask)


MAX_DEMANDS = 3
"""How often the output is demanded once tools are forbidden, because some servers let models call them even then."""
FORBIDDEN = "This call was not carried out: tools cannot be used any more."
_LAST_ROUND = "This is the last round."
_CIRCLES = "You keep making calls whose results you already have."


def demand(words: str, *, circling: bool) -> str:
    """The demand for the output once tools are forbidden: in the last round, or when calls go in circles. `words` give
    the reason and what to answer.
    """
    return f"{_CIRCLES if circling else _LAST_ROUND} {words}"


def ended_without(
    output: str, role: Role, calls: CallHistory, rounds: int, errors: Sequence[str] = ()
) -> ContractBroken:
    """The error, to be raised, for a conversation that gave no output when it was demanded."""
    why = "kept making the same calls" if calls.circling else f"used its {rounds} rounds"
    return ContractBroken(f"The {role} {why} without a {output}. {calls.summary}".strip(), tuple(errors))
