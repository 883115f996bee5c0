"""Judges canaries: copies of passed results with a planted fault.

A canary is judged by the verifier of the run under the rules of the run, and then discarded. Nothing but its row, its
event and its cost is left of it, and nothing that goes wrong with it concerns the run.
"""

from __future__ import annotations

import logging
from decimal import Decimal

from django.utils import timezone

from runs.accounting.prices import bound_of
from runs.calibration import canaries
from runs.calibration.canaries import CanaryTrial
from runs.contracts.ports import Ask
from runs.engine.database import AWAY, database
from runs.engine.recording import MAX_TOOL_TRIES, Answering, Deadline, RecordedModel, Recording, clients
from runs.enums import CaseOutcome
from runs.errors import ContractBroken, FromLaterVersion, LeaseLost, LimitReached, ModelError, NoVerdict, TimeUsedUp
from runs.evidence.results import Judgement
from runs.lifecycle import run_limits
from runs.models import WorkItem
from runs.pev import verifier
from runs.pev.verification.case import VerificationInput
from runs.planted_faults.canaries import PlantedResult, marks_of, plant
from runs.store import event_log
from runs.store.journal import CANARIES, CallPlace

log = logging.getLogger(__name__)
_VERDICTS = 2
"""How often it is asked for a usable verdict, as about the real result."""
_APART = 1_000
"""Ordinals of the journal for each of these."""


class _Asked:
    """The most that the questions about a canary may have cost so far, in USD."""

    usd = Decimal(0)


class _CanaryModel(RecordedModel):
    """The verifier, asked within what the limits of the run leave for canaries. Raises LimitReached.

    `asked` is shared by all conversations about a canary.
    """

    about_canary = True

    def __init__(self, clients: Answering, recording: Recording, first: int, deadline: Deadline, asked: _Asked) -> None:
        super().__init__(clients, recording, first, deadline)
        self._asked = asked

    def _limited(self, ask: Ask, place: CallPlace) -> Ask:
        policy = self._recording.item.run.policy
        if policy.budget is None and policy.time_limit is None:
            return ask
        now = timezone.now()
        bound = bound_of(ask, now.date())

        def reserve(work: WorkItem) -> str:
            event_log.locked(work.run_id)
            return run_limits.reserve_for_canary(work, bound, ask.max_tokens, self._asked.usd, now)

        if why := self._recording.commit(reserve):
            raise LimitReached(why)
        self._asked.usd += bound.of(ask.max_tokens) if bound else 0
        return ask


def try_canary(recording: Recording, case: VerificationInput, judgement: Judgement) -> CanaryTrial | None:
    """Judge a copy of a result with a planted fault, if one is due at its step. `judgement` is that of the result.

    Raises LeaseLost, and an error of a database that is away; everything else is an outcome.
    """
    item = recording.item
    attempt = item.attempt
    assert attempt is not None
    if not judgement.passed or judgement.stage != "model" or case.nothing_to_do:
        return None
    run, key = item.run, attempt.step.key
    if run.policy.canary_every is None or not database.call(lambda: canaries.is_due(run, key)):
        return None
    # The reply with the verdict on the result is held until the next question. If the process ended while a fault is
    # planted, the verdict would be lost and paid for again, and these losses would end at a gate.
    recording.save()
    if item.losses >= MAX_TOOL_TRIES:
        return CanaryTrial(None, None, f"{item.losses} times in a row the process that judged it ended.")
    planted = None
    try:
        copy = plant(case, canaries.random_for(run, key))
        if isinstance(copy, str):
            return CanaryTrial(None, None, copy)
        planted = copy
        return _judged(recording, planted, judgement)
    except NoVerdict as error:
        return CanaryTrial(planted, CaseOutcome.NO_VERDICT, str(error))
    except TimeUsedUp:
        return CanaryTrial(planted, None, f"Its review took more than {run_limits.CANARY_SECONDS} seconds.")
    except (LimitReached, ModelError, ContractBroken) as error:
        return CanaryTrial(planted, None, str(error))
    except (LeaseLost, FromLaterVersion, *AWAY):
        raise
    except Exception:
        log.exception("a canary failed", extra=recording.lease.about)
        return CanaryTrial(planted, None, "pevsite itself failed here. The log of the server says where.")


def _judged(recording: Recording, planted: PlantedResult, judgement: Judgement) -> CanaryTrial:
    deadline, asked = Deadline(run_limits.CANARY_SECONDS, 0), _Asked()
    firsts = (CANARIES + number * _APART for number in range(_VERDICTS))
    model, *again = (_CanaryModel(clients(), recording, first, deadline, asked) for first in firsts)
    case = planted.case
    found = verifier.judge(model, case, [(other, case.model) for other in again])
    if not found.passed:
        return CanaryTrial(planted, CaseOutcome.REFUSED)
    if marks := sorted(marks_of(found) - marks_of(judgement)):
        return CanaryTrial(planted, CaseOutcome.MARKED, "; ".join(marks))
    return CanaryTrial(planted, CaseOutcome.PASSED)
