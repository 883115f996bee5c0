"""Owns the ports of pev over the journal: what is recorded is not asked or done a second time (D3)."""

import time
from datetime import timedelta
from decimal import Decimal
from functools import cache

from django.conf import settings
from django.db import connection
from django.utils import timezone

from runs import journal
from runs.accounting.prices import cost_of, max_cost_of
from runs.engine.answering import Answering
from runs.engine.deadline import Deadline
from runs.engine.work import Lease, fenced
from runs.errors import ContractBroken, LeaseLost, LimitReached, ModelError, PevError, Postponed
from runs.journal import Place, Question
from runs.lifecycle import limits
from runs.lifecycle.advance import locked
from runs.lifecycle.fingerprint import digest_of
from runs.models import WorkItem
from runs.pev.ports import Ask, Changes, Reply, Toolbox, ToolResult, ToolSpec, ToolUse, Usage
from runs.trees import Overlay


@cache
def clients() -> Answering:
    """Who answers in this process: safe across threads."""
    return Answering(settings.OFFLINE_PACE)


MAX_TRIES = 8
MAX_WAIT = 3_600.0
"""Seconds that a service may ask to be left alone. No thread waits for it: the work item's due time does."""


class RecordedModel:
    """A model (`pev.ports.Model`) whose replies are committed before they are used.

    `first` is the ordinal of its first question: execution and verification of an attempt count apart. A question
    that would break a limit of the run is not asked: LimitReached. `watch` ends an attempt that takes too long.
    """

    def __init__(
        self, clients: Answering, lease: Lease, work: WorkItem, first: int = 1, watch: Deadline | None = None
    ) -> None:
        self._clients = clients
        self._lease = lease
        self._work = work
        self._next = first
        self._watch = watch

    def ask(self, ask: Ask) -> Reply:
        place = Place(self._work.generation, self._next)
        self._next += 1
        question = Question(ask.role, ask.model, digest_of({**vars(ask), "tools": [vars(tool) for tool in ask.tools]}))
        reply = journal.recorded_reply(self._work, place.ordinal, question)
        return reply or self._ask(ask, place, question)

    def _ask(self, ask: Ask, place: Place, question: Question) -> Reply:
        self._keep_going()
        self._reserve(ask)
        release_connection()
        began = time.monotonic()
        try:
            reply = self._clients.ask(ask, lambda: self._keep_going(began))
        except (LeaseLost, ContractBroken) as error:
            self._failed(place, question, error, _since(began))
            raise
        except ModelError as error:
            self._failed(place, question, error, _since(began))
            raise self._postponed(error) from error
        self._keep(place, question, reply, _since(began))
        if self._watch:
            self._watch.add(began)
        return reply

    def _keep_going(self, began: float | None = None) -> None:
        self._lease.check()
        if self._watch:
            self._watch.check(began)

    def _reserve(self, ask: Ask) -> None:
        policy = self._work.run.policy
        if policy.budget is None and policy.time_limit is None:
            return
        now = timezone.now()
        with fenced(self._lease) as work:
            work.run = locked(work.run_id)
            sentence = limits.reached(work, max_cost_of(ask, now.date()), now)
        if sentence:
            raise LimitReached(sentence)

    def _keep(self, place: Place, question: Question, reply: Reply, duration_ms: int) -> None:
        cost = cost_of(reply.model or question.model, reply.usage, timezone.now().date(), priced_as=question.model)
        try:
            with fenced(self._lease) as work:
                journal.write_reply(work, place, question, reply, cost, duration_ms, live_=True)
                if work.tries or work.reserved_usd:
                    work.tries, work.reserved_usd = 0, Decimal(0)
                    work.save(update_fields=["tries", "reserved_usd"])
        except LeaseLost:
            journal.write_reply(self._work, place, question, reply, cost, duration_ms, live_=False)
            raise

    def _failed(self, place: Place, question: Question, error: PevError, duration_ms: int) -> None:
        spent = Usage(**error.tokens)
        cost = cost_of(question.model, spent, timezone.now().date())
        journal.write_failure(self._work, place, question, str(error), spent, cost, duration_ms)

    def _postponed(self, error: ModelError) -> Exception:
        """Postponed while tries are left, else the error itself, for a person to look at."""
        tries = self._work.tries + 1
        if not error.retriable or tries >= MAX_TRIES:
            return error
        wait = min(2.0 ** (tries - 1), 60.0)
        if error.retry_after is not None:
            wait = max(wait, min(error.retry_after, MAX_WAIT))
        return Postponed(str(error), timezone.now() + timedelta(seconds=wait))


class RecordedTools:
    """A toolbox whose results are committed before they are used; recorded writes are put back into the overlay."""

    def __init__(self, inner: Toolbox, overlay: Overlay, lease: Lease, work: WorkItem, watch: Deadline) -> None:
        self._inner = inner
        self._overlay = overlay
        self._lease = lease
        self._work = work
        self._watch = watch
        self._next = 1

    def specs(self) -> list[ToolSpec]:
        return list(self._inner.specs())

    def run(self, use: ToolUse) -> ToolResult:
        place = Place(self._work.generation, self._next)
        self._next += 1
        recorded = journal.recorded_result(self._work, place.ordinal, use)
        if recorded:
            result, writes = recorded
            self._overlay.changes.update(writes)
            return result
        self._lease.check()
        self._watch.check()
        before = dict(self._overlay.changes)
        began = time.monotonic()
        result = self._inner.run(use)
        new: Changes = {p: entry for p, entry in self._overlay.changes.items() if before.get(p) != entry}
        with fenced(self._lease) as work:
            journal.write_result(work, place, use, result, new, _since(began))
        self._watch.add(began)
        return result


def release_connection() -> None:
    """Give the connection back before a long wait: a hundred waiting threads must not hold a hundred of them."""
    if not connection.in_atomic_block:
        connection.close()


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1_000)
