"""Judges the cases of calibrations: in the background of a process with workers, or in a command."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_UP, Decimal

from django.conf import settings
from django.db import connection
from django.tasks import task
from django.utils import timezone

from runs.accounting.prices import bound_of, cost_of
from runs.calibration import calibrations
from runs.calibration.calibrations import CalibrationLease
from runs.contracts.ports import Ask, Reply, Usage
from runs.engine.database import AWAY, database
from runs.engine.process_registry import owner
from runs.engine.recording import clients
from runs.errors import LeaseLost, LimitReached, ModelError
from runs.models import CalibrationCase
from runs.planted_faults.case_verdicts import judge_case
from runs.planted_faults.corrected_cases import CorrectedCase

log = logging.getLogger(__name__)
PARALLEL = 4
"""Cases that are judged at the same time."""
MAX_TRIES = 6
"""How often one question is asked while the service is away or busy. Then the calibration stops, to be resumed."""
MAX_WAIT = 60.0
"""The most seconds between two tries."""
_RESERVE_INTERVAL = 0.2
"""Seconds between two tries to reserve, while calls of other cases have reserved what is left of the budget."""
_STORED = Decimal("0.00000001")
"""The digits of an amount in the database."""
_WATCH_INTERVAL = 1.0
"""Seconds until the threads know that a calibration was stopped."""


class MeteredModel:
    """A model (`contracts.ports.Model`) for one case, whose calls keep within the budget of the calibration.

    Asks again after an error that may pass, and waits while calls of other cases have reserved what is left. Raises
    LimitReached, also if `is_ending` while it waits, LeaseLost, ModelError.
    """

    def __init__(self, lease: CalibrationLease, check: Callable[[], None], is_ending: Callable[[], bool]) -> None:
        self._lease = lease
        self._check = check
        self._is_ending = is_ending
        self.calls = 0
        self.cost: Decimal | None = Decimal(0)
        """In USD, of the calls that had an answer; None if one had no known price."""
        self.seconds = 0.0
        """Of the calls, without the waits between two tries."""

    def ask(self, ask: Ask) -> Reply:
        for number in range(1, MAX_TRIES + 1):
            try:
                return self._ask(ask)
            except ModelError as error:
                if not error.retriable or number == MAX_TRIES:
                    raise
                self._wait(max(2.0 ** (number - 1), error.retry_after or 0.0))
        raise AssertionError("the last try returns or raises")

    def _ask(self, ask: Ask) -> Reply:
        self._check()
        today = timezone.now().date()
        bound = bound_of(ask, today)
        most = bound.of(ask.max_tokens).quantize(_STORED, ROUND_UP) if bound else Decimal(0)
        while not database.call(lambda: self._lease.reserve(most)):
            # If the database was away when another call ended, what that call had reserved stays reserved.
            if self._is_ending():
                raise LimitReached("The calibration is ending.")
            self._wait(_RESERVE_INTERVAL)
        began, spent = time.monotonic(), Decimal(0)
        try:
            reply = clients().ask(ask, self._check)
            cost = _stored(cost_of(reply.model or ask.model, reply.usage, today, priced_as=ask.model))
            spent = cost or spent
        except (ModelError, LeaseLost) as error:
            spent = _stored(cost_of(ask.model, Usage(**error.tokens), today)) or spent
            raise
        finally:
            database.call(lambda: self._lease.spend(spent, most))
        self.calls += 1
        self.seconds += time.monotonic() - began
        self.cost = None if self.cost is None or cost is None else self.cost + cost
        return reply

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + min(seconds, MAX_WAIT)
        while (left := until - time.monotonic()) > 0:
            self._check()
            time.sleep(min(left, 0.2))


def _stored(cost: Decimal | None) -> Decimal | None:
    """Rounded as the database does, so that the sum of the cases is what was spent."""
    return None if cost is None else cost.quantize(_STORED)


class _Judges:
    """Threads that judge cases until none is left or one of them cannot go on."""

    def __init__(self, lease: CalibrationLease, check: Callable[[], None], report: Callable[[], object]) -> None:
        self._lease, self._check, self._report = lease, check, report
        self._cases: Iterator[int] = iter(())
        self._lock = threading.Lock()
        self._problem: Exception | None = None

    def judge(self, cases: Sequence[int], parallel: int) -> None:
        """Judge the cases of these numbers. Raises what one of the threads could not go on with. The others end the
        case that they are at.
        """
        self._cases = iter(cases)
        others = [threading.Thread(target=self._work_apart, name="calibration") for _ in range(parallel - 1)]
        for other in others:
            other.start()
        self._work()
        for other in others:
            other.join()
        if self._problem:
            raise self._problem

    def _work_apart(self) -> None:
        try:
            self._work()
        finally:
            connection.close()

    def _next(self) -> int | None:
        with self._lock:
            return None if self._problem else next(self._cases, None)

    def _work(self) -> None:
        try:
            while (number := self._next()) is not None:
                self._judge(number)
                self._report()
        except Exception as problem:
            with self._lock:
                self._problem = self._problem or problem

    def _judge(self, number: int) -> None:
        # Read only now: its owner may have taken a case back since the calibration began.
        case = database.call(lambda: self._lease.case(number))
        if case is None:
            return
        model = MeteredModel(self._lease, self._check, lambda: self._problem is not None)
        verdict = judge_case(case, model, self._lease.calibration.asked)
        row = CalibrationCase(
            number=case.number,
            kind=case.kind or "",
            met_by_person=case.met if isinstance(case, CorrectedCase) else None,
            language=case.language or "",
            with_rules=verdict.with_rules,
            without_rules=verdict.without_rules,
            claimed=verdict.claimed,
            confidence=verdict.confidence,
            verdicts=verdict.verdicts,
            calls=model.calls,
            cost_usd=model.cost,
            duration_ms=round(model.seconds * 1_000),
        )
        database.call(lambda: self._lease.keep(row))


def carry_out(calibration_id: int, report: Callable[[], object] = lambda: None, parallel: int = PARALLEL) -> None:
    """Judge the cases that are left. `report` is called after each. Returns at once if another process does so.

    Whatever goes wrong stops the calibration with a sentence for people, so that it can be resumed.
    """
    lease = database.call(lambda: calibrations.claim(calibration_id, owner()))
    if lease is None:
        return
    row = lease.calibration
    try:
        with _extending(lease) as check:
            _Judges(lease, check, report).judge(database.call(lease.cases_left), parallel)
    except LeaseLost:
        log.info("calibration %s was stopped, or is judged by another process", row.pk)
    except (LimitReached, ModelError) as error:
        why = str(error)
        database.call(lambda: lease.stop(why))
        log.warning("calibration %s stopped: %s", row.pk, error)
    except AWAY:
        log.exception("the database was away; the calibration goes on when its lease is over")
    except Exception:
        log.exception("calibration %s failed", row.pk)
        why = "pevsite itself failed here. The log of the server says where."
        database.call(lambda: lease.stop(why))
    else:
        database.call(lease.finish)


@contextmanager
def _extending(lease: CalibrationLease) -> Iterator[Callable[[], None]]:
    """Extend the lease in a thread while the block runs. Yields a function that raises LeaseLost once that fails."""
    ended, lost = threading.Event(), threading.Event()

    def extend() -> None:
        while not ended.wait(min(_WATCH_INTERVAL, settings.LEASE_SECONDS / 3)):
            try:
                if not database.call(lease.extend):
                    lost.set()
            except AWAY:
                log.warning("the lease of a calibration could not be extended; it is tried again")
        connection.close()

    def check() -> None:
        if lost.is_set():
            raise LeaseLost("The calibration was stopped, or another process judges it.")

    keeper = threading.Thread(target=extend, name="calibration lease", daemon=True)
    keeper.start()
    try:
        yield check
    finally:
        ended.set()
        lost.set()  # for threads that still judge a case, after an interruption
        keeper.join()


_judging = threading.Lock()
"""Held while this process judges cases in the background."""


@task
def judge_due() -> None:
    """Carry out the calibration that is due. Returns at once if this process is doing so."""
    if not _judging.acquire(blocking=False):
        return
    try:
        due = database.call(lambda: calibrations.due().values_list("pk", flat=True).first())
        if due is not None:
            carry_out(due)
    finally:
        _judging.release()


def refresh() -> None:
    """Notify workers if a calibration runs that no process is judging."""
    if not _judging.locked() and calibrations.due().exists():
        judge_due.enqueue()
