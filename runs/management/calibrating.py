"""Carries out a calibration in a terminal: the estimate, the progress, and the result as a table or as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError, OutputWrapper

from runs.accounting.intervals import Share
from runs.calibration import calibrations
from runs.calibration.calibrations import DEFAULT_SIZE, SEED, Wanted
from runs.calibration.results import CalibrationResult, KindResult, SoundResult, agreements, as_json, result_of
from runs.calibration.verifiers import estimate_cost, settings_for
from runs.engine import probes
from runs.engine.calibrating import carry_out
from runs.engine.recording import clients
from runs.enums import CalibrationStatus, FaultKind, Language
from runs.errors import InvalidInput
from runs.models import Calibration
from runs.submission.policy_presets import current_service, default_policy
from runs.text.plural import pluralize

STOPPED, WRONG_USE = 3, 2
"""Exit statuses."""
_POLL_INTERVAL = 1.0
"""Seconds between two looks at a calibration that another process judges."""
_ONLY_NEW = ("verifier", "size", "kinds", "languages", "seed", "corrections", "estimate")
"""Options that say what a new calibration measures, or what it would cost."""
_REPORTS = 20
"""About so many lines tell of the progress."""


class Calibrating:
    """One call of the command."""

    def __init__(self, stdout: OutputWrapper, stderr: OutputWrapper, options: Mapping[str, Any]) -> None:
        self._stdout, self._stderr, self._options = stdout, stderr, options
        self._judged = 0

    def run(self) -> None:
        """Raises CommandError with the exit status."""
        call_command("migrate", verbosity=0, interactive=False)
        probes.load()
        try:
            calibration = self._resumed() if self._options["resume"] else self._started()
        except InvalidInput as error:
            raise CommandError(str(error), returncode=WRONG_USE) from error
        if calibration is None:
            return
        try:
            self._carry_out(calibration)
        except KeyboardInterrupt:
            calibrations.stop(calibration, "It was interrupted in the terminal.")
        finally:
            clients().close()
        calibration.refresh_from_db()
        result = result_of(calibration)
        if self._options["json"]:
            self._stdout.write(json.dumps(as_json(result), ensure_ascii=False, indent=2))
        else:
            self._stdout.write("\n".join(_lines(result)))
        if calibration.status != CalibrationStatus.FINISHED:
            more = "" if calibrations.changed_since(calibration) else " Go on with --resume."
            total = calibrations.total_cases(calibration)
            raise CommandError(
                f"Stopped after {result.judged} of {total} cases. {calibration.why}{more}",
                returncode=STOPPED,
            )

    def _started(self) -> Calibration | None:
        """The new calibration; None if only the estimate is wanted."""
        options = self._options
        asked, address = settings_for(default_policy(), options["verifier"])
        wanted = Wanted(
            asked,
            address,
            size=DEFAULT_SIZE if options["size"] is None else options["size"],
            kinds=options["kinds"] or list(FaultKind),
            languages=options["languages"] or list(Language),
            seed=SEED if options["seed"] is None else options["seed"],
            budget=options["budget"],
            corrections=calibrations.corrections() if options["corrections"] else (),
        )
        wanted.check()
        self._say(f"Verifier: {asked.model}{f' at {address}' if address else ''}")
        if not address:
            self._say(OFFLINE)
            self._say(current_service().for_operators)
        self._say(estimate_cost(wanted).sentence)
        return None if options["estimate"] else calibrations.start(wanted)

    def _resumed(self) -> Calibration:
        given = {name: self._options[name] for name in _ONLY_NEW}
        # A seed of 0 was chosen as well.
        if refused := [f"--{name}" for name, value in given.items() if value not in (None, "") and value is not False]:
            raise InvalidInput(f"--resume goes on with a calibration as it began. Leave out {', '.join(refused)}.")
        budget = self._options["budget"]
        due = calibrations.due().first()  # its process was killed
        if due is not None:
            if budget is not None:
                calibrations.change_budget(due, budget)
            return due
        stopped = Calibration.objects.filter(status=CalibrationStatus.STOPPED).first()
        if stopped is None:
            raise InvalidInput("No calibration has stopped, so there is nothing to go on with.")
        calibrations.resume(stopped, stopped.budget if budget is None else budget)
        return stopped

    def _carry_out(self, calibration: Calibration) -> None:
        """Until it has ended, in this process or in another one that was faster."""
        self._judged = calibration.cases.count()
        while True:
            carry_out(calibration.pk, lambda: self._report(calibration))
            calibration.refresh_from_db()
            if calibration.status != CalibrationStatus.RUNNING:
                return
            time.sleep(_POLL_INTERVAL)

    def _report(self, calibration: Calibration) -> None:
        self._judged += 1
        total = calibrations.total_cases(calibration)
        if self._judged % max(1, total // _REPORTS) == 0 or self._judged == total:
            self._say(f"{self._judged} of {total} cases")

    def _say(self, sentence: str) -> None:
        """On the other stream where JSON is printed."""
        stream = self._stderr if self._options["json"] else self._stdout
        stream.write(sentence, lambda text: text)
        stream.flush()


OFFLINE = (
    "No model is asked. The offline rules judge only the document review, so this measures what automatic checks find; "
    "everything else has no verdict."
)


_WIDTHS = (24, 24, 13, 8, 12)


def _lines(result: CalibrationResult) -> Iterable[str]:
    """The result as a table."""
    yield ""
    heads = ("caught", "without the rules", "let through", "marked", "no verdict")
    yield f"{'Planted fault':<22}" + "".join(f"{head:>{width}}" for head, width in zip(heads, _WIDTHS, strict=True))
    for one in (*result.kinds, result.faults):
        yield _row(one)
    yield ""
    yield from _sound_lines("Sound results", result.sound)
    if result.corrections:
        yield ""
        yield "From people's corrections"
        yield _row(result.corrections.rejected)
        yield from _sound_lines("Accepted by people,", result.corrections.accepted)
    if result.calibration_error is not None:
        yield (
            f"Stated confidence: expected calibration error {result.calibration_error:.2f} "
            f"over {pluralize(len(result.claims), 'verdict')}"
        )
        for bucket in result.buckets:
            yield f"  {bucket.label:>14}: right {bucket.held} of {bucket.count}, {bucket.reading}"
    for agreement in agreements(result):
        kappa = "" if agreement.kappa is None else f", kappa {agreement.kappa:.2f}"
        yield f"Agreement with {agreement.other.model}: {_share(agreement.same)}{kappa}"
    if result.cost_per_verdict is not None and result.ms_per_verdict is not None:
        yield f"Per verdict: ${result.cost_per_verdict:.5f}, {result.ms_per_verdict / 1_000:.1f} s"
    yield f"Spent: ${result.calibration.spent_usd:.4f}"


def _sound_lines(what: str, result: SoundResult) -> Iterable[str]:
    yield f"{what} refused: {_share(result.refused)}, without the rules {_share(result.alone)}"
    if result.no_verdict:
        yield f"{what} without a verdict: {result.no_verdict}"


def _row(one: KindResult) -> str:
    cells = (_share(one.caught), _share(one.alone), str(one.let_through.count), str(one.marked), str(one.no_verdict))
    return f"{one.words:<22}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))


def _share(share: Share) -> str:
    if share.value is None:
        return "–"
    return f"{share.value:.0%} ({share.low:.0%}–{share.high:.0%}) of {share.total}"
