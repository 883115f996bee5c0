"""What the header, the title and the icon say of a run that is over or paused."""

from __future__ import annotations

import pytest

from runs.enums import Outcome, RunStatus
from runs.models import Run
from runs.readmodel.run_state import Progress
from runs.web.frame.run_frame import RunFrame


@pytest.mark.parametrize(
    ("outcome", "title", "icon", "sentence"),
    [
        (
            Outcome.SUCCEEDED,
            "Succeeded",
            "good",
            "Every step passed, and every success criterion has evidence that the server verified.",
        ),
        (
            Outcome.PARTIAL,
            "Partial",
            "warn",
            "The run finished with open points. Read them before the answer.",
        ),
        (Outcome.FAILED, "Failed", "bad", "The run ended without a usable result."),
        (Outcome.CANCELLED, "Stopped", "calm", "A person stopped the run. What had passed by then is kept."),
    ],
)
def test_a_finished_run_tells_its_outcome(outcome: Outcome, title: str, icon: str, sentence: str) -> None:
    frame = RunFrame(Run(status=RunStatus.FINISHED, outcome=outcome))
    vars(frame)["progress"] = Progress(total=3, done=3, overruled=0)
    assert (frame.title, frame.icon, frame.sentence, frame.moving) == (title, icon, sentence, False)


def test_the_progress_bar_has_a_colour_after_success_or_failure_alone() -> None:
    runs = [Run(status=RunStatus.FINISHED, outcome=outcome) for outcome in Outcome]
    runs.append(Run(status=RunStatus.EXECUTING))
    assert [RunFrame(run).outcome_tone for run in runs] == ["good", "", "bad", "", ""]


def test_a_finished_run_that_had_been_paused_tells_its_outcome() -> None:
    frame = RunFrame(Run(status=RunStatus.FINISHED, outcome=Outcome.FAILED, paused=True))
    assert (frame.badge, frame.icon) == ("failed", "bad")


def test_a_paused_run_says_that_it_is() -> None:
    frame = RunFrame(Run(status=RunStatus.EXECUTING, paused=True))
    assert (frame.title, frame.icon) == ("Paused", "calm")
