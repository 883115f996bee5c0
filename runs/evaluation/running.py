"""Runs a suite: ordinary runs of this installation, in parallel, within a budget, without a person at the gates."""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal

from django.db.models import Sum
from django.utils import timezone

from pevsite.installation import version
from runs.accounting.usage import worked_seconds
from runs.engine import recording
from runs.enums import Provider, RunStatus
from runs.errors import PevError
from runs.evaluation.expectations import Delivered
from runs.evaluation.results import JudgedRun, SuiteResult
from runs.evaluation.suite import Suite, SuiteTask
from runs.lifecycle import gate_decisions
from runs.llm.replies import NOT_RECORDED, REPLAYED, RecordedReplies
from runs.models import ModelCall, Run, User
from runs.pev import prompts
from runs.pev.imports.imported import imported
from runs.readmodel.run_view import reading_of
from runs.reports.json_report import report_of
from runs.store import trees
from runs.submission.intake import LazyFile, Upload
from runs.submission.policy_presets import current_service, preset_policy, with_texts
from runs.submission.run_templates import Chosen, called
from runs.submission.samples import allowing, named, uploads_of
from runs.submission.submit import Submission, submit
from runs.text.plural import pluralize

POLL_SECONDS = 0.1
MAX_REFUSALS = 3
"""How often the answer to a gate may be refused in a row before the run is stopped."""
_HOW = "evaluate"
_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Limits:
    """`repeat`: runs of each task. `parallel`: runs at the same time. `budget`: USD for all of them, None for none."""

    repeat: int = 1
    parallel: int = 2
    budget: Decimal | None = None


@dataclass
class _OpenRun:
    task: SuiteTask
    blank: JudgedRun
    run: Run
    refusals: int = 0


class Evaluation:
    """One evaluation of a suite. `say` gets a line of text for each run that begins or ends.

    The engine has to run meanwhile; `replies` are those that it uses, if any.
    """

    def __init__(
        self,
        suite: Suite,
        owner: User,
        limits: Limits,
        replies: RecordedReplies | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._suite = suite
        self._owner = owner
        self._limits = limits
        self._replies = replies
        self._say = say
        self._judged: list[JudgedRun] = []
        self._spent = Decimal(0)

    def run(self) -> SuiteResult:
        """Carry out every task with its repetitions, and judge the runs.

        One repetition of all tasks follows after the other, because recorded replies belong to a repetition. If this
        ends early, the unfinished runs are stopped.
        """
        recording.clients().replies = self._replies
        try:
            for repetition in range(1, self._limits.repeat + 1):
                if self._replies:
                    self._replies.repetition = repetition
                self._repeat(repetition)
        except BaseException:
            stop_unfinished(self._owner)
            raise
        finally:
            recording.clients().replies = None
        return self._result()

    def _repeat(self, repetition: int) -> None:
        waiting = deque(JudgedRun(task=task.name, repetition=repetition) for task in self._suite.tasks)
        tasks = {task.name: task for task in self._suite.tasks}
        under_way = list[_OpenRun]()
        while waiting or under_way:
            while waiting and len(under_way) < self._limits.parallel:
                blank = waiting[0]
                started = self._start(tasks[blank.task], blank, under_way, len(waiting))
                if started is None:  # runs under way may leave enough of the budget
                    break
                waiting.popleft()
                if isinstance(started, _OpenRun):
                    under_way.append(started)
                else:
                    self._note(started)
            for one in [one for one in under_way if self._is_finished(one)]:
                under_way.remove(one)
                self._note(self._judge(one))
            if under_way:
                time.sleep(POLL_SECONDS)

    def _start(
        self, task: SuiteTask, blank: JudgedRun, under_way: Sequence[_OpenRun], waiting: int
    ) -> _OpenRun | JudgedRun | None:
        """Begin a run. Returns what is to be noted instead if it cannot begin, and None if it has to wait for money."""
        if task.task.needs_model and current_service().provider is Provider.OFFLINE:
            why = "Left out: the task needs a model, and offline rules answer here."
            return blank.model_copy(update={"why_not": why, "left_out": True})
        try:
            submission = self._submission(task)
            if self._limits.budget is not None:
                left = self._left(under_way)
                to_come = waiting + (self._limits.repeat - blank.repetition) * len(self._suite.tasks)
                budget = submission.policy.budget or (left / to_come).quantize(_CENT, ROUND_DOWN)
                if not _CENT <= budget <= left:
                    if under_way:
                        return None
                    why = f"Not started: ${left:.2f} of the budget of ${self._limits.budget} is left for it."
                    return blank.model_copy(update={"why_not": why})
                submission = replace(submission, policy=submission.policy.changed(budget=budget))
            run = submit(self._owner, submission)
        except PevError as error:
            return blank.model_copy(update={"why_not": f"Not started: {error}"})
        except OSError as error:
            why = f"Not started: “{error.filename}” cannot be read: {error.strerror}."
            return blank.model_copy(update={"why_not": why})
        self._say(f"{task.name} ({blank.repetition}): run {run.pk} has begun.")
        return _OpenRun(task, blank, run)

    def _left(self, under_way: Sequence[_OpenRun]) -> Decimal:
        """What of the budget may still be spent, if the runs under way spend all of theirs."""
        assert self._limits.budget is not None
        return self._limits.budget - self._spent - sum(one.run.policy.budget or Decimal(0) for one in under_way)

    def _submission(self, suite_task: SuiteTask) -> Submission:
        """The task as a person would submit it with `manage.py run`. Nothing of earlier runs is reused."""
        task = suite_task.task
        sample = named(task.sample) if task.sample else None
        uploads = [Upload(path, LazyFile(file)) for path, file in suite_task.files.items()]
        if sample:
            uploads += uploads_of(sample)
        template = task.template or (sample.template if sample and not task.plan else "")
        chosen: Chosen | None = called(self._owner, template) if template else None
        if suite_task.plan:
            found = imported(suite_task.plan)
            chosen = Chosen(found.plan, found.reason(task.plan))
        texts = dict(task.policy)
        if chosen and not chosen.sources_needed:
            texts = {"sources_needed": "off"} | texts
        # Nothing was calibrated in an installation of its own, and canaries would change what a run costs: only a task
        # itself can ask for these.
        policy = preset_policy(task.preset).changed(min_catch_rate=None, canary_every=None)
        policy = with_texts(allowing(sample, policy) if sample else policy, texts, lambda name: f"“{name}” in policy")
        return Submission(
            task.request or (sample.request if sample else ""),
            uploads,
            policy.changed(reuse=False),
            uuid.uuid4(),
            no_files=not uploads,
            excluded=task.exclude,
            plan=chosen.plan if chosen else None,
            plan_from=chosen.reason if chosen else "",
            template=chosen.template if chosen else "",
        )

    def _is_finished(self, one: _OpenRun) -> bool:
        """Whether the run is finished. Answers its gate if it has one."""
        one.run.refresh_from_db(fields=["status"])
        if one.run.status == RunStatus.FINISHED:
            return True
        gate = one.run.gates.open().order_by("id").first()
        if gate is None:
            return False
        try:
            gate_decisions.decide(gate.pk, self._owner, gate_decisions.decision_without_person(gate, _HOW))
            one.refusals = 0
        except PevError as error:
            one.refusals += 1
            if one.refusals >= MAX_REFUSALS:
                self._stop(one, f"{_HOW}: its gate cannot be answered without a person. {error}")
        return False

    def _stop(self, one: _OpenRun, why: str) -> None:
        with suppress(PevError):  # it has finished meanwhile
            gate_decisions.cancel(one.run.pk, self._owner, why)

    def _judge(self, one: _OpenRun) -> JudgedRun:
        run = Run.objects.select_related("owner", "inputs", "head").get(pk=one.run.pk)
        delivered = delivered_by(run)
        report = delivered.report
        asked = ModelCall.objects.filter(run=run).exclude(request_id=REPLAYED)
        self._spent += asked.aggregate(usd=Sum("cost_usd"))["usd"] or Decimal(0)
        return one.blank.model_copy(
            update={
                "submission": run.submission,
                "outcome": report.outcome,
                "properties": tuple(one.task.task.expect.judge(delivered)),
                "cost_usd": Decimal(report.totals.cost_usd),
                "unpriced": report.totals.unpriced,
                "calls": report.totals.calls,
                "worked_ms": round(1_000 * worked_seconds(run, run.finished_at or timezone.now())),
            }
        )

    def _note(self, judged: JudgedRun) -> None:
        self._judged.append(judged)
        name = f"{judged.task} ({judged.repetition})"
        if judged.why_not:
            self._say(f"{name}: {judged.why_not}")
            return
        failing = [one for one in judged.properties if not one.held]
        held = len(judged.properties) - len(failing)
        self._say(f"{name}: {judged.outcome}, {held} of {pluralize(len(judged.properties), 'property', 'properties')}")
        for one in failing:
            self._say(f"    not held: {one.name}. Found: {one.found}")

    def _result(self) -> SuiteResult:
        calls = ModelCall.objects.filter(run__submission__in=[one.submission for one in self._judged if one.submission])
        replayed, missing = calls.filter(request_id=REPLAYED).count(), calls.filter(error_kind=NOT_RECORDED).count()
        return SuiteResult(
            suite=self._suite.name,
            at=timezone.now().replace(microsecond=0),
            pevsite=version(),
            prompts=prompts.version(),
            service=current_service().sentence,
            tasks={task.name: task.digest for task in self._suite.tasks},
            runs=tuple(sorted(self._judged, key=lambda one: (one.task, one.repetition))),
            spent_usd=self._spent,
            asked=calls.count() - replayed - missing,
            replayed=replayed,
            missing=missing,
        )


def delivered_by(run: Run) -> Delivered:
    """The report of a run and the texts of what it made, as properties are judged over them."""
    report = report_of(reading_of(run))
    texts = {file.path: trees.read_text(file.sha256) for file in report.files}
    return Delivered(report, {path: text for path, text in texts.items() if text is not None})


def stop_unfinished(owner: User) -> int:
    """Stop the runs of an evaluation that was interrupted, so that they spend nothing. Returns how many there were."""
    numbers = list(Run.objects.exclude(status=RunStatus.FINISHED).values_list("pk", flat=True))
    for number in numbers:
        with suppress(PevError):
            gate_decisions.cancel(number, owner, f"{_HOW}: the evaluation was interrupted")
    return len(numbers)
