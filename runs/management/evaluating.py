"""What `manage.py evaluate` does: load the suite, run it, compare, and say what is worse."""

import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, OutputWrapper

from pevsite.installation import PROGRAM, data_option
from runs.engine.process import Engine
from runs.engine.process_registry import SILENT_AFTER
from runs.errors import InvalidInput
from runs.evaluation.comparison import Change, Comparison, Means, compare, rate_in_words, summary
from runs.evaluation.results import FOLDER, StoredEvaluation, SuiteResult, check_can_save, read_result, save, store
from runs.evaluation.running import Evaluation, Limits, stop_unfinished
from runs.evaluation.suite import Suite, load_suite
from runs.llm.replies import RecordedReplies
from runs.models import Process, Run, clock
from runs.people.accounts import first_administrator
from runs.submission.policy_presets import current_service

WORSE, WRONG_USE, INCOMPLETE = 1, 2, 3
_KEY = "ANTHROPIC_API_KEY"


class Evaluating:
    """One evaluation from the command line. `options` are those of the command. Ends the process."""

    def __init__(self, stdout: OutputWrapper, stderr: OutputWrapper, options: dict[str, Any]) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self._options = options
        self._quiet = bool(options["json"])

    def run(self) -> NoReturn:
        """Raises CommandError with return code 2 if the suite or an option cannot be used."""
        options = self._options
        try:
            suite = _chosen(_loaded(options["suite"]), options["task"])
            baseline = read_result(options["baseline"]) if options["baseline"] else None
            if options["save"]:
                check_can_save(options["save"])
            replies = _replies(options["replies"], only=options["only_replies"])
            call_command("migrate", verbosity=0, interactive=False)
            _check_is_own()
        except InvalidInput as error:
            raise CommandError(str(error), returncode=WRONG_USE) from error
        owner = first_administrator()
        self._say(current_service().for_operators)
        if stopped := stop_unfinished(owner):
            self._say(f"Stopped {stopped} unfinished of an earlier evaluation.")
        engine = Engine(max(settings.WORKERS, options["parallel"]))
        engine.start()
        limits = Limits(options["repeat"], options["parallel"], options["budget"])
        code = INCOMPLETE
        try:
            result = Evaluation(suite, owner, limits, replies, self._say).run()
            code = self._report(result, baseline)
        except KeyboardInterrupt:
            self._say("\nLeft. The runs under way were stopped, and there is no result.")
        except Exception:  # status 1 would mean that something is worse, and threads of the engine would go on
            self.stderr.write(f"The evaluation ended early.\n{traceback.format_exc()}")
        finally:
            self._leave(engine, code)

    def _report(self, result: SuiteResult, baseline: SuiteResult | None) -> int:
        """Store the result, compare it, and return the exit status."""
        options = self._options
        if baseline and options["task"]:
            baseline = _only(baseline, options["task"])
        number = store(StoredEvaluation(result=result, baseline=baseline))
        if options["save"]:
            save(result, options["save"])
        comparison = compare(result, baseline)
        if options["json"]:
            self.stdout.write(result.model_dump_json(indent=1))
        for line in _table(comparison):
            self._say(line)
        self._say("")
        self._say(summary(comparison, has_baseline=baseline is not None))
        self._say(f"${result.spent_usd:,.2f} spent. {_about_replies(result.asked, result.replayed, result.missing)}")
        serve = f"{PROGRAM} serve{data_option(settings.DATA_DIR)}"
        self._say(f"With links to the runs on /evaluations/{number}/: {serve}")
        return _exit_status(comparison, ignore_chance=options["ignore_chance"])

    def _say(self, text: str) -> None:
        if not self._quiet:
            self.stdout.write(text)
            self.stdout.flush()

    def _leave(self, engine: Engine, code: int) -> NoReturn:
        try:
            engine.stop()
            self.stdout.flush()
            sys.stdout.flush()
        finally:
            os._exit(code)  # threads of the engine may still wait for a model


def _loaded(name: str) -> Suite:
    """A suite that ships with pevsite, by its name, or the one in a folder."""
    shipped = package_files("runs").joinpath("suites", name)
    if Path(name).parts == (name,) and not Path(name).exists() and isinstance(shipped, Path) and shipped.is_dir():
        return load_suite(shipped)
    return load_suite(Path(name))


def _chosen(suite: Suite, names: list[str]) -> Suite:
    unknown = sorted(set(names) - {task.name for task in suite.tasks})
    if unknown:
        known = ", ".join(task.name for task in suite.tasks)
        raise InvalidInput(f"There is no task “{unknown[0]}” in this suite; there are: {known}.")
    return replace(suite, tasks=tuple(task for task in suite.tasks if task.name in names)) if names else suite


def _only(baseline: SuiteResult, names: list[str]) -> SuiteResult:
    """The part of a baseline about some tasks. The others are not missing from a result that was not asked for them."""
    runs = tuple(run for run in baseline.runs if run.task in names)
    tasks = {name: digest for name, digest in baseline.tasks.items() if name in names}
    return baseline.model_copy(update={"runs": runs, "tasks": tasks})


def _replies(folder: Path | None, *, only: bool) -> RecordedReplies | None:
    """Where only recorded replies answer, no key is needed: policies and questions are as with a model all the same."""
    if folder is None:
        if only:
            raise InvalidInput("--only-replies needs the folder of recorded replies: --replies FOLDER.")
        return None
    if only:
        if not folder.is_dir():
            raise InvalidInput(f"“{folder}” is not a folder with recorded replies.")
        if not os.environ.get(_KEY):  # a CI sets it to nothing if the secret is missing
            os.environ[_KEY] = "of no one"
    return RecordedReplies(folder, only_recorded=only)


def _check_is_own() -> None:
    """Raises InvalidInput for a data folder in which people or another process work: an evaluation stops what it finds
    unfinished.
    """
    results = settings.DATA_DIR / FOLDER
    if not results.is_dir() and Run.objects.exists():
        raise InvalidInput(
            f"“{settings.DATA_DIR}” has runs that are no evaluations. Name a folder of its own with --data-dir."
        )
    if other := Process.objects.filter(seen_at__gte=clock.after(-SILENT_AFTER)).first():
        raise InvalidInput(
            f"The process {other.owner} works in “{settings.DATA_DIR}”. End it, or name another folder with --data-dir."
            f" If it was killed, wait {SILENT_AFTER.total_seconds():.0f} seconds."
        )
    results.mkdir(mode=0o700, exist_ok=True)


def _table(comparison: Comparison) -> Iterator[str]:
    """What a person reads in the terminal: the means of each task, and its properties that fail or have changed."""
    for remark in comparison.remarks:
        yield ""
        yield remark
    for task in comparison.tasks:
        yield ""
        yield f"{task.name}: {_means(task.now)}{f' (before: {_means(task.before)})' if task.before else ''}"
        for remark in task.remarks:
            yield f"    {remark}"
        for row in task.properties:
            if row.change in {Change.SAME, Change.NEW} and row.now and row.now.count == row.now.total:
                continue
            before = f", before {rate_in_words(row.before)}" if row.before else ""
            yield f"    {row.change.sentence}: {row.name}: {rate_in_words(row.now)}{before}. Found: {row.found}"


def _means(means: Means | None) -> str:
    if means is None:
        return "not judged"
    cost = "unknown cost" if means.cost_usd is None else f"${means.cost_usd:,.4f}"
    return f"{cost}, {means.calls:,.1f} calls, {means.worked_ms / 1_000:,.1f} s"


def _about_replies(asked: int, replayed: int, missing: int) -> str:
    lacking = f" {missing} had no recorded reply and were not asked." if missing else ""
    return f"{asked} questions asked, {replayed} answered by recorded replies.{lacking}"


def _exit_status(comparison: Comparison, *, ignore_chance: bool) -> int:
    if comparison.is_worse(ignore_chance=ignore_chance):
        return WORSE
    return INCOMPLETE if comparison.is_incomplete else 0
