"""Questions of models to the people of a run: what was answered before, and whether one more may be asked."""

from collections.abc import Sequence

from runs.contracts.ports import Answer
from runs.engine.database import database
from runs.engine.recording import Recording
from runs.enums import GateStatus
from runs.errors import AnswerAwaited, InvalidInput
from runs.lifecycle.gates.question_gate import DELEGATED, asked_in, question_digest
from runs.text.plural import pluralize


class RunPeople:
    """Implements `pev.ports.People` over the gates of the run whose work is done. Safe to ask again after a crash."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def ask(self, question: str, choices: Sequence[str]) -> Answer:
        return database.call(lambda: self._answer(question, choices))

    def _answer(self, question: str, choices: Sequence[str]) -> Answer:
        run = self._recording.item.run
        digest = question_digest(question)
        asked = asked_in(run)
        gate = asked.filter(digest=digest, status=GateStatus.ANSWERED).select_related("decided_by").first()
        if gate and gate.request and gate.decided_by:
            words = gate.reason.removeprefix(DELEGATED).strip()
            return Answer(gate.request, gate.decided_by.get_username(), words, gate.reason.startswith(DELEGATED))
        if asked.exclude(digest=digest).count() >= run.policy.questions:
            allowed = pluralize(run.policy.questions, "question")
            raise InvalidInput(
                f"The policy of this run allows {allowed} to people. Decide yourself, and say in your report what you "
                "decided and what a person should look at."
            )
        raise AnswerAwaited(question, choices)
