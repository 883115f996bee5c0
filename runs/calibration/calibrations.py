"""The rows of calibrations: starting, stopping, resuming, and what the process that judges the cases writes.

Each function is one conditional change of a row. A process works under a lease; whoever claims a calibration whose
lease has ended counts what the calls of the lost process had reserved as spent, because no one knows what they cost.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import uuid4

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Round
from django.utils import timezone

from runs.accounting.prices import price_of
from runs.enums import AuditKind, CalibrationStatus, FaultKind, Language, Role
from runs.errors import InvalidInput, LeaseLost, LimitReached
from runs.llm.model_servers import REHEARSAL, server_for
from runs.models import Calibration, CalibrationCase, LabelledCase, User, clock
from runs.pev.verification import questions
from runs.planted_faults.cases import Case, case_count, case_of
from runs.planted_faults.corrected_cases import CorrectedCase
from runs.planted_faults.stored_contracts import VerifierSettings
from runs.planted_faults.trial import RULES_VERSION
from runs.store import audit_trail, event_log
from runs.text.truncate import truncate

SEED = 1
"""Of the jobs, unless someone chooses another one. With one seed, verifiers are compared on the same jobs."""
DEFAULT_SIZE = 100
MAX_SIZE = 5_000
MAX_SEED = 10**9
MAX_MODEL_CHARS = 120
MAX_BUDGET = Decimal(10_000)
MAX_CORRECTIONS = 500
"""Labelled cases of people in one calibration, the newest."""
_MAX_WHY = 500


class Wanted(NamedTuple):
    """What someone wants to be measured. `address` is that of the verifier's server, empty for offline rules.
    `corrections`: the ids of labelled cases of people that are judged too.
    """

    asked: VerifierSettings
    address: str
    size: int = DEFAULT_SIZE
    kinds: Sequence[FaultKind] = tuple(FaultKind)
    languages: Sequence[Language] = tuple(Language)
    seed: int = SEED
    budget: Decimal | None = None
    corrections: Sequence[int] = ()

    @property
    def cases(self) -> int:
        return case_count(self.size) + len(self.corrections)

    def check(self) -> None:
        """Raises InvalidInput for what cannot be measured."""
        if not 1 <= self.size <= MAX_SIZE:
            raise InvalidInput(f"The size has to be from 1 to {MAX_SIZE:,}.")
        if not 0 <= self.seed <= MAX_SEED:
            raise InvalidInput(f"The seed has to be from 0 to {MAX_SEED:,}.")
        if len(self.asked.model) > MAX_MODEL_CHARS:
            raise InvalidInput(f"The name of a model has at most {MAX_MODEL_CHARS} characters.")
        if not self.kinds or not self.languages:
            raise InvalidInput("Choose at least one kind of fault and one language.")
        _check_budget(self.asked.model, self.budget)


def _check_budget(model: str, budget: Decimal | None) -> None:
    """Raises InvalidInput for a budget that cannot be kept."""
    if budget is None:
        return
    if not 0 < budget <= MAX_BUDGET:
        raise InvalidInput(f"The budget has to be more than 0 and at most {MAX_BUDGET:,} USD.")
    if price_of(model, 1, timezone.now().date()) is None:
        raise InvalidInput(f"“{model}” has no known price, so a budget cannot be kept. Leave the budget empty.")


def address_of(model: str) -> str:
    """The address of the server that answers as a verifier now; empty for offline rules."""
    return "" if model in REHEARSAL.values() else server_for(Role.VERIFIER, os.environ).address


def corrections() -> list[int]:
    """The ids of the labelled cases that a calibration can judge."""
    return list(LabelledCase.objects.order_by("-pk").values_list("pk", flat=True)[:MAX_CORRECTIONS])


def prompt_and_rules() -> str:
    """A fingerprint of the prompt of verifiers, the form of their answers, and the rules that verdicts are judged by.

    Processes of earlier versions compare it with that of the prompt alone, so they judge no case by earlier rules.
    """
    return hashlib.sha256(f"{questions.version()} {RULES_VERSION}".encode()).hexdigest()[:16]


def total_cases(calibration: Calibration) -> int:
    """How many cases it has. Labelled cases that were deleted before they were judged count as well."""
    return case_count(calibration.size) + len(calibration.corrections or ())


def start(wanted: Wanted, by: User | None = None) -> Calibration:
    """Store a calibration that a worker will carry out. Raises InvalidInput, also while another one is running."""
    wanted.check()
    with event_log.writing():
        _check_none_runs()
        calibration = Calibration.objects.create(
            model=wanted.asked.model,
            address=wanted.address,
            prompt=prompt_and_rules(),
            rules=RULES_VERSION,
            asked=wanted.asked,
            size=wanted.size,
            # In one order, so that the same choice makes the same cases.
            kinds=[kind for kind in FaultKind if kind in wanted.kinds],
            languages=[language for language in Language if language in wanted.languages],
            seed=wanted.seed,
            budget=wanted.budget,
            corrections=list(wanted.corrections) or None,
            by=by,
        )
        _note(calibration, "started")
    return calibration


def stop(calibration: Calibration, why: str = "") -> bool:
    """Stop a running calibration because a person wants it. False if it is not running."""
    with event_log.writing():
        if not _stop(_row(calibration).filter(status=CalibrationStatus.RUNNING), why):
            return False
        _note(calibration, "stopped")
    return True


def _stop(running: QuerySet[Calibration], why: str) -> bool:
    ended = {"status": CalibrationStatus.STOPPED, "why": truncate(why, _MAX_WHY), "ended_at": timezone.now()}
    return running.update(lease_until=None, **ended) == 1


def resume(calibration: Calibration, budget: Decimal | None) -> None:
    """Let a worker go on where a stopped calibration ended, with this budget in all.

    Raises InvalidInput if it is not stopped, if the budget is spent, if another one is running, or if the verifier's
    server or prompt or the rules have changed: the rest of the cases would measure something else.
    """
    _check_budget(calibration.model, budget)
    if budget is not None and budget <= calibration.spent_usd:
        raise InvalidInput(f"${calibration.spent_usd:,.2f} is spent already. The total budget has to be higher.")
    if problem := changed_since(calibration):
        raise InvalidInput(problem)
    with event_log.writing():
        _check_none_runs()
        begun = {"status": CalibrationStatus.RUNNING, "why": "", "ended_at": None, "budget": budget}
        if not _row(calibration).filter(status=CalibrationStatus.STOPPED).update(**begun):
            raise InvalidInput("This calibration is not stopped.")
        _note(calibration, "resumed")
    calibration.refresh_from_db()


def outdated_by(calibration: Calibration) -> str:
    """What has changed since it began, so that its figures are old, as a sentence; empty if they still hold."""
    if calibration.rules != RULES_VERSION:
        return "The rules that verdicts are judged by have changed since."
    if calibration.prompt != prompt_and_rules():
        return "The prompt of verifiers has changed since."
    return ""


def changed_since(calibration: Calibration) -> str:
    """Why its other cases would measure something else now, in words for people; empty if nothing has changed."""
    if changed := outdated_by(calibration):
        return f"{changed} Start a new calibration."
    if calibration.address != address_of(calibration.model):
        return "Another server answers as the verifier now. Start a new calibration."
    return ""


def change_budget(calibration: Calibration, budget: Decimal) -> None:
    """Let a running calibration spend this much in all. Raises InvalidInput, also if it is not running."""
    _check_budget(calibration.model, budget)
    with event_log.writing():
        if not _row(calibration).filter(status=CalibrationStatus.RUNNING).update(budget=budget):
            raise InvalidInput("This calibration is not running any more.")
        _note(calibration, "given another budget")


def _check_none_runs() -> None:
    if other := Calibration.objects.filter(status=CalibrationStatus.RUNNING).first():
        raise InvalidInput(f"A calibration of “{other.model}” is running. Wait until it has ended, or stop it.")


def _row(calibration: Calibration) -> QuerySet[Calibration]:
    return Calibration.objects.filter(pk=calibration.pk)


def _note(calibration: Calibration, what: str) -> None:
    audit_trail.record(AuditKind.OPERATED, subject=f"calibration {calibration.pk} of {calibration.model}", name=what)


def due() -> QuerySet[Calibration]:
    """Those that run and that no process is judging."""
    free = Q(lease_until=None) | Q(lease_until__lt=clock.now())
    return Calibration.objects.filter(free, status=CalibrationStatus.RUNNING)


class CalibrationLease:
    """The right of one process to judge the cases of a calibration, until it ends or another process claims it."""

    def __init__(self, calibration: Calibration, owner: str) -> None:
        self.calibration = calibration
        self._owner = owner

    @property
    def _mine(self) -> QuerySet[Calibration]:
        return _row(self.calibration).filter(lease_owner=self._owner, status=CalibrationStatus.RUNNING)

    def extend(self) -> bool:
        """False if the calibration was stopped, or claimed by another process."""
        with event_log.writing():
            return self._mine.update(lease_until=_lease_end()) == 1

    def cases_left(self) -> list[int]:
        """The numbers of the cases that were not judged yet."""
        judged = set(self.calibration.cases.values_list("number", flat=True))
        return [number for number in range(total_cases(self.calibration)) if number not in judged]

    def case(self, number: int) -> Case | CorrectedCase | None:
        """The case of this number. Those of people follow the generated ones; None if one was deleted since."""
        row = self.calibration
        at = number - case_count(row.size)
        if at < 0:
            return case_of(number, row.kinds, row.languages, row.seed)
        kept = LabelledCase.objects.filter(pk=(row.corrections or [])[at]).select_related("overruling").first()
        return CorrectedCase(number, kept.overruling.met, kept.content) if kept else None

    def reserve(self, usd: Decimal) -> bool:
        """Reserve the most that a call may cost. False if calls under way have to end first, to see what is left.

        Raises LimitReached if the budget does not allow it even if they cost nothing, and LeaseLost.
        """
        with event_log.writing():
            within = Q(budget=None) | Q(budget__gte=F("spent_usd") + F("reserved_usd") + usd)
            if self._mine.filter(within).update(reserved_usd=_rounded(F("reserved_usd") + usd)):
                return True
            row = self._mine.first()
        if row is None:
            raise LeaseLost("The calibration was stopped, or another process judges it.")
        if row.budget is not None and row.budget < row.spent_usd + usd:
            raise LimitReached("The budget does not allow another call.")
        return False

    def spend(self, usd: Decimal, reserved: Decimal) -> None:
        """Count what a call has cost instead of what was reserved for it."""
        # Also after a stop. A process that has claimed the row since has counted the reservation as spent.
        with event_log.writing():
            mine = _row(self.calibration).filter(lease_owner=self._owner)
            mine.update(spent_usd=_rounded(F("spent_usd") + usd), reserved_usd=_rounded(F("reserved_usd") - reserved))

    def keep(self, case: CalibrationCase) -> None:
        """Store the result of a case. If the case has one already, that one stays."""
        case.calibration = self.calibration
        with event_log.writing():
            CalibrationCase.objects.bulk_create([case], ignore_conflicts=True)

    def stop(self, why: str) -> None:
        """Stop because of this, unless another process judges the cases by now."""
        with event_log.writing():
            _stop(self._mine, why)

    def finish(self) -> None:
        with event_log.writing():
            ended = {"status": CalibrationStatus.FINISHED, "ended_at": timezone.now()}
            self._mine.update(lease_until=None, **ended)


def claim(calibration_id: int, process: str) -> CalibrationLease | None:
    """The lease for a process, named as in `process_registry.owner`; None if the calibration is not due.

    Stops the calibration, and returns None, if the verifier's server or prompt or the rules have changed.
    """
    owner = f"{process}/{uuid4().hex}"
    with event_log.writing():
        spent = F("spent_usd") + F("reserved_usd")
        mine = due().filter(pk=calibration_id)
        if not mine.update(lease_owner=owner, lease_until=_lease_end(), spent_usd=spent, reserved_usd=0):
            return None
    lease = CalibrationLease(Calibration.objects.get(pk=calibration_id), owner)
    if problem := changed_since(lease.calibration):
        lease.stop(problem)
        return None
    return lease


def _rounded(amount: CombinedExpression) -> Round:
    """SQLite adds in binary, which leaves remainders."""
    return Round(amount, 8)


def _lease_end() -> object:
    return clock.after(timedelta(seconds=settings.LEASE_SECONDS))
