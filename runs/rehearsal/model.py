"""A model without AI: it reviews contracts by rules, so that the whole loop can be rehearsed without a key."""

from typing import assert_never

from runs.contracts.base import Contract, JsonObject
from runs.contracts.ports import Ask, Reply
from runs.enums import Role
from runs.llm.model_servers import REHEARSAL
from runs.rehearsal import executor, planner, synthesizer, verifier
from runs.rehearsal.conversation import Conversation, Use, read
from runs.rehearsal.documents import Limits

MODELS = frozenset(REHEARSAL.values())


class Rehearsal:
    """Answers each role by rules; the same question gives the same bytes. Safe to share between threads.

    Raises ModelError, not to be tried again, for every job but the document review.
    """

    limits = Limits()

    def ask(self, ask: Ask) -> Reply:
        conversation = read(ask)
        answer = _answer(ask.role, conversation, self.limits)
        if isinstance(answer, Contract):
            return Reply(({"type": "text", "text": answer.model_dump_json()},), "end_turn", ask.model)
        blocks: list[JsonObject] = [
            # the turn is part of the id: ids differ within a conversation
            {"type": "tool_use", "id": f"rehearsal_{conversation.turns}_{number}", "name": name, "input": given}
            for number, (name, given) in enumerate(answer, 1)
        ]
        return Reply(tuple(blocks), "tool_use", ask.model)


def _answer(role: Role, conversation: Conversation, limits: Limits) -> Contract | list[Use]:
    match role:
        case Role.PLANNER:
            return planner.plan(conversation)
        case Role.EXECUTOR:
            return executor.act(conversation, limits)
        case Role.VERIFIER:
            return verifier.verdict(conversation)
        case Role.SYNTHESIZER:
            return synthesizer.answer(conversation)
        case _:
            assert_never(role)
