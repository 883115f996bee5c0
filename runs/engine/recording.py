"""The ports of pev over the journal: a recorded question is not asked, and a recorded call not made, again (D3)."""

import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache, partial

from django.conf import settings
from django.utils import timezone

from runs.accounting.prices import bound_of, cost_of
from runs.contracts.ports import (
    Ask,
    Changes,
    GuardedToolbox,
    Original,
    Reply,
    ReplyDraft,
    ToolResult,
    ToolSpec,
    ToolUse,
    Usage,
)
from runs.engine import original_pages, tool_approval
from runs.engine.claim import Lease, commit
from runs.engine.database import database
from runs.engine.live_text import LiveDraft
from runs.engine.web_page_texts import text_of_pdf
from runs.errors import ContractBroken, LeaseLost, LimitReached, ModelError, TimeUsedUp, ToolsUsedUp
from runs.lifecycle import run_limits
from runs.lifecycle.approval.fingerprint import digest_of
from runs.llm.capabilities import capability_of
from runs.llm.client import Clients
from runs.llm.replies import RecordedReplies
from runs.models import ToolCall, WorkItem
from runs.pev.conversation.originals import page_blocks
from runs.pev.policy import Capacities
from runs.pev.read_set import ReadTracker
from runs.pev.tools.registry import note_looks
from runs.rehearsal.model import MODELS, Rehearsal
from runs.store import event_log, journal
from runs.store.journal import CallPlace, JournalQuestion
from runs.store.trees import Overlay

POLL_INTERVAL = 0.1
"""Seconds between two checks whether a wait has to end."""


class Answering:
    """Answers questions: the rehearsal for its own models, the API for all others. Safe to share between threads.

    `delay` is the number of seconds before each reply of the rehearsal, so that people can follow it. `replies`:
    recorded ones, which are used and added to by an evaluation.
    """

    def __init__(self, delay: float = 0.0) -> None:
        self.replies: RecordedReplies | None = None
        self._delay = delay
        self._rehearsal = Rehearsal()
        self._clients = Clients()

    def ask(self, ask: Ask, keep_going: Callable[[], None] = lambda: None, draft: ReplyDraft | None = None) -> Reply:
        """The reply to one question. Raises ModelError.

        `keep_going` is called while the reply is awaited, and raises to break it off. `draft` gets the text as it is
        written.
        """
        if ask.model not in MODELS:
            if self.replies:
                return self.replies.answer(ask, lambda: self._clients.ask(ask, keep_going, draft))
            return self._clients.ask(ask, keep_going, draft)
        reply = self._rehearsal.ask(ask)
        began, written = time.monotonic(), _written(reply, draft, math.ceil(self._delay / POLL_INTERVAL))
        while (left := began + self._delay - time.monotonic()) > 0:
            next(written, None)
            keep_going()
            time.sleep(min(left, POLL_INTERVAL))
        for _ in written:  # pieces that are left because the thread woke up late
            pass
        keep_going()
        return reply

    def close(self) -> None:
        self._clients.close()


def _written(reply: Reply, draft: ReplyDraft | None, pieces: int) -> Iterator[None]:
    """Pass the reply to the draft in about `pieces` pieces, one for each item of the iterator."""
    if draft is None:
        return
    blocks = [
        (
            str(block["type"]),
            str(block.get("name", "")),
            str(block["text"]) if "text" in block else json.dumps(block.get("input"), ensure_ascii=False),
        )
        for block in reply.content
    ]
    size = math.ceil(sum(len(words) for _, _, words in blocks) / max(1, pieces))
    for kind, tool, words in blocks:
        draft.begin(kind, tool)
        for at in range(0, len(words), size):
            draft.add(words[at : at + size])
            yield


class Deadline:
    """The time that an attempt may take for model calls and tools, without waiting for a service.

    `used` seconds of the `limit` were used before, according to the journal: a resumed attempt gets no new time.
    """

    def __init__(self, limit: float, used: float) -> None:
        self._limit = limit
        self._used = used

    def add(self, began: float) -> None:
        """Count the time since `began`, a reading of the monotonic clock."""
        self._used += time.monotonic() - began

    def check(self, began: float | None = None) -> None:
        """Raises TimeUsedUp if the time is over, including the time since `began`."""
        running = time.monotonic() - began if began is not None else 0.0
        if self._used + running >= self._limit:
            raise TimeUsedUp(f"The attempt has used the {self._limit:.0f} seconds that it may take.")


log = logging.getLogger(__name__)


@cache
def clients() -> Answering:
    """The clients that this process shares between its threads."""
    return Answering(settings.REHEARSAL_DELAY)


MAX_CUT_OFF = 2
"""Answers in a row that a low budget may cut off. Then a person is asked about the budget, or it would go on."""
MAX_TOOL_TRIES = 3
"""How often a tool call is carried out if its process ends each time before there is a result."""
_REFUSED = frozenset({"invalid_request_error", "request_too_large"})
"""Errors of a server that cannot read the pages in a question, or that were sent too many."""


class Recording:
    """The journal of one work item under its lease.

    A reply is held until something is committed: what follows from it (a report, a verdict, a plan), or at the latest
    before the next question is asked or the next tool is run (D3).
    """

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self._unsaved: Callable[[WorkItem, bool], None] | None = None
        self._draft: LiveDraft | None = None

    @property
    def item(self) -> WorkItem:
        """The work item as it was read last."""
        return self.lease.item

    @property
    def capabilities(self) -> Capacities:
        """What its models are shown. Decided when the item was claimed."""
        capabilities = self.item.capacities
        assert capabilities is not None
        return capabilities

    def commit[Value](
        self, write: Callable[[WorkItem], Value], *, calls_only: bool = False, is_entry: bool = False
    ) -> Value:
        """Call `write` and return its result, committed together with a reply that is held. Raises LeaseLost.

        Such a reply, or a `write` that `is_entry` of the journal, resets the count of losses: the work made progress.
        """
        unsaved, self._unsaved = self._unsaved, None
        draft, self._draft = self._draft, None
        got_on = self.item.losses > 0 and (is_entry or unsaved is not None)

        def both(work: WorkItem) -> Value:
            if unsaved:
                unsaved(work, True)
            if got_on:
                work.losses = 0
                work.save(update_fields=["losses"])
            return write(work)

        try:
            value = database.call(lambda: commit(self.lease, both, calls_only=calls_only))
        except LeaseLost:
            if unsaved:  # it was paid for, and counts for the cost whichever worker continues
                database.call(lambda: unsaved(self.item, False))
            raise
        finally:
            if draft:
                draft.end()
        if got_on:
            self.item.losses = 0
        return value

    def save(self) -> None:
        """Commit the held reply, if there is one."""
        if self._unsaved:
            self.commit(lambda _: None, calls_only=True)

    def hold(self, write: Callable[[WorkItem, bool], None], draft: LiveDraft) -> None:
        """Hold a reply until something is committed. `write` gets whether the lease is still valid then. Until then
        people see the draft of the reply.
        """
        self._unsaved, self._draft = write, draft


class RecordedModel:
    """A model (`contracts.ports.Model`) whose replies are committed before the next question.

    `first` is the ordinal of its first question: execution and verification of an attempt have separate ranges. A
    question that would break a limit of the run is not asked: raises LimitReached, or ToolsUsedUp if it can be asked
    without these tools. `deadline` ends an attempt that takes too long.
    """

    about_canary = False
    """Whether it judges a copy of a result with a planted fault. Its replies are never shown while written."""

    def __init__(
        self, clients: Answering, recording: Recording, first: int = 1, deadline: Deadline | None = None
    ) -> None:
        self._clients = clients
        self._recording = recording
        self._next = first
        self._deadline = deadline
        self._cut_off = 0
        self._refuses_pages = False
        self.replayed = 0
        """The number of replies that were found in the journal."""
        self.diverged = False
        """Whether a question differed from the question that was asked before a crash."""

    def ask(self, ask: Ask) -> Reply:
        reply = self._reply(ask)
        self._next += 1
        self._cut_off = self._cut_off + 1 if reply.stop_reason == "max_tokens" else 0
        return reply

    def _reply(self, ask: Ask) -> Reply:
        """Return the recorded reply to this question, or ask it."""
        # The recorded question does not contain the length that the budget allows for the answer: a resumed attempt
        # may find more or less money left, and asks the same all the same.
        self._recording.save()
        work = self._recording.item
        place = CallPlace(work.generation, self._next)
        if before := [name for name in ask.uses if place.ordinal >= work.withheld.get(name, math.inf)]:
            raise ToolsUsedUp(before)
        question = JournalQuestion(
            ask.role,
            ask.model,
            digest_of({**vars(ask), "tools": [tool.parts for tool in ask.tools]}),
            canary=self.about_canary,
        )
        if work.epoch > 1:  # otherwise the journal of this item is empty
            reply = database.call(lambda: journal.recorded_reply(work, place.ordinal, question))
            if reply:
                self.replayed += 1
                return reply
            self.diverged |= database.call(lambda: journal.has_reply(work, place.ordinal))
        return self._ask(ask, place, question)

    def _ask(self, ask: Ask, place: CallPlace, question: JournalQuestion) -> Reply:
        self._keep_going()
        ask = self._limited(original_pages.named_only(ask, original_pages.taken_by(capability_of(ask))), place)
        began = time.monotonic()
        with LiveDraft(self._recording.item, ask.role, hidden=self.about_canary) as draft:

            def keep_going() -> None:
                self._keep_going(began)
                draft.tick()

            try:
                reply, shown = self._reply_to(ask, keep_going, draft)
            except (LeaseLost, ContractBroken, ModelError) as error:
                duration_ms, spent = _ms_since(began), Usage(**error.tokens)
                cost = cost_of(question.model, spent, timezone.now().date())
                work, failure = self._recording.item, error
                database.call(lambda: journal.write_failure(work, place, question, failure, spent, cost, duration_ms))
                self._recording.lease.current = False  # written without checking the lease, so the run has changed
                raise
            self._hold(place, replace(question, pages=shown), reply, _ms_since(began), draft)
        if self._deadline:
            self._deadline.add(began)
        return reply

    def _reply_to(self, ask: Ask, keep_going: Callable[[], None], draft: LiveDraft) -> tuple[Reply, tuple[str, ...]]:
        """The reply, and the titles of the pages that were shown.

        If a server refuses a question with pages, it is asked again without them, and never with pages again.
        """
        if self._refuses_pages:
            return self._clients.ask(original_pages.without_pages(ask), keep_going, draft), ()
        sent = original_pages.with_pages(ask, keep_going)
        try:
            return self._clients.ask(sent.ask, keep_going, draft), sent.pages
        except ModelError as error:
            if error.kind not in _REFUSED or not any(page_blocks(ask.messages)):
                raise
            log.warning("asked again without pages: %s", error, extra=self._recording.lease.about)
        reply = self._clients.ask(original_pages.without_pages(ask), keep_going, draft)
        self._refuses_pages = True
        return reply, ()

    def _keep_going(self, began: float | None = None) -> None:
        self._recording.lease.check()
        if self._deadline:
            self._deadline.check(began)

    def _limited(self, ask: Ask, place: CallPlace) -> Ask:
        """The question, its answer limited to what the budget allows. Raises LimitReached if that is too little.

        After MAX_CUT_OFF answers that were cut off, the next one needs its full length. Raises ToolsUsedUp.
        """
        policy = self._recording.item.run.policy
        if policy.budget is None and policy.time_limit is None and not ask.uses:
            return ask
        now = timezone.now()
        whole = self._cut_off >= MAX_CUT_OFF

        def reserve(work: WorkItem) -> run_limits.Allowance:
            event_log.locked(work.run_id)
            if ask.uses and (gone := run_limits.used_up(work, ask.uses, place.ordinal)):
                return run_limits.Allowance(0, used_up=gone)
            least = run_limits.min_answer(ask.role)
            return run_limits.allowance(work, bound_of(ask, now.date()), ask.max_tokens, now, least=least, whole=whole)

        allowed = self._recording.commit(reserve)
        if allowed.used_up:
            raise ToolsUsedUp(allowed.used_up)
        if allowed.sentence:
            raise LimitReached(allowed.sentence)
        return replace(ask, max_tokens=allowed.tokens)

    def _hold(
        self, place: CallPlace, question: JournalQuestion, reply: Reply, duration_ms: int, draft: LiveDraft
    ) -> None:
        cost = cost_of(reply.model or question.model, reply.usage, timezone.now().date(), priced_as=question.model)

        def write(work: WorkItem, live: bool) -> None:
            journal.write_reply(work, place, question, reply, cost, duration_ms, live_=live)
            if live and (work.tries or work.reserved_usd or work.reserved_uses):
                work.tries, work.reserved_usd, work.reserved_uses = 0, Decimal(0), {}
                work.save(update_fields=["tries", "reserved_usd", "reserved_uses"])

        self._recording.hold(write, draft)


class RecordedTools:
    """A toolbox whose results are committed before they are used. Recorded writes are put back into the overlay.

    `calls` are the calls so far, in order: `@tool-1` is the first. What they look at is noted in `looks`. `first` is
    the ordinal of the first call: calls of models and of checks have separate ranges.
    """

    def __init__(
        self,
        inner: GuardedToolbox,
        overlay: Overlay,
        recording: Recording,
        deadline: Deadline | None = None,
        looks: ReadTracker | None = None,
        first: int = 1,
    ) -> None:
        self._first = first
        self.calls: list[ToolCall] = []
        self._looks = looks or ReadTracker()
        self._inner = inner
        self._overlay = overlay
        self._recording = recording
        self._deadline = deadline

    def specs(self) -> list[ToolSpec]:
        return list(self._inner.specs())

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        return self._inner.originals(use, result)

    def run(self, use: ToolUse) -> ToolResult:
        self._recording.save()
        work = self._recording.item
        place = CallPlace(work.generation, self._first + len(self.calls))
        call = None
        if work.epoch > 1:
            call = database.call(lambda: journal.recorded_result(work, place.ordinal, use))
        if call is None:
            call = self._run(use, place)
        else:
            self._overlay.put_back(call.writes)
        self.calls.append(call)
        result = ToolResult(call.result, call.is_error, call.shown)
        note_looks(self._looks, call.name, call.arguments, result)
        return result

    def read_pdf(self, address: str, data: bytes) -> str:
        """Read a PDF that a reply contains. The reply is committed first, because OCR may take minutes."""
        self._recording.save()
        self._recording.lease.check()
        if self._deadline:
            self._deadline.check()
        began = time.monotonic()
        try:
            return text_of_pdf(address, data)
        finally:
            if self._deadline:
                self._deadline.add(began)

    def serve(self, use: ToolUse, result: ToolResult) -> ToolResult:
        """Record a call that the service made within a reply. Its first line gets the day."""
        head, end, rest = result.text.partition("\n")
        dated = replace(result, text=f"{head} ({timezone.now():%Y-%m-%d}){end}{rest}")
        return self._record(use, dated, lambda call: call.result.startswith(head) and call.result.endswith(end + rest))

    def note(self, use: ToolUse, result: ToolResult) -> ToolResult:
        """Record the result of a subagent. Its time is recorded with the calls that it consists of."""
        return self._record(use, result, lambda call: call.result == result.text)

    def _record(self, use: ToolUse, result: ToolResult, is_this: Callable[[ToolCall], bool]) -> ToolResult:
        work = self._recording.item
        place = CallPlace(work.generation, self._first + len(self.calls))
        call = database.call(lambda: journal.recorded_result(work, place.ordinal, use)) if work.epoch > 1 else None
        if call is None or not is_this(call):
            # Nothing is recorded, or the result of an earlier turn that does not count: this reply rests on another.
            call = self._recording.commit(
                lambda work: journal.write_result(work, place, use, result, {}, 0), calls_only=True, is_entry=True
            )
        self.calls.append(call)
        return ToolResult(call.result, call.is_error, call.shown)

    def _run(self, use: ToolUse, place: CallPlace) -> ToolCall:
        self._recording.lease.check()
        if self._deadline:
            self._deadline.check()
        before = dict(self._overlay.changes)
        began = time.monotonic()
        losses = self._recording.item.losses
        acting = self._inner.acting(use)
        commit = partial(self._recording.commit, calls_only=True)
        result = tool_approval.cleared(self._recording.item, place, use, acting, commit) if acting else None
        if result is None:
            if losses < MAX_TOOL_TRIES:
                result = self._inner.run(use)
            else:
                sentence = (
                    f"This call was not carried out again: {losses} times in a row the process that worked on it "
                    "ended before there was a result. Do it in another way, or leave it out and say so."
                )
                result = ToolResult(sentence, is_error=True)
        new: Changes = {p: entry for p, entry in self._overlay.changes.items() if before.get(p) != entry}
        took = _ms_since(began)
        if self._deadline:
            self._deadline.add(began)
        return self._recording.commit(
            lambda work: journal.write_result(work, place, use, result, new, took), calls_only=True, is_entry=True
        )


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1_000)
