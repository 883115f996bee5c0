"""Evaluations that end early."""

from __future__ import annotations

import pytest

from runs.enums import RunStatus
from runs.evaluation.running import Evaluation, Limits
from runs.evaluation.suite import Suite, SuiteTask, read_task
from runs.models import Run, User

pytestmark = pytest.mark.django_db

TASK = b"request: Do the work\nexpect: {outcome: succeeded}"


class ScreenGone(Exception):
    """What was said could not be printed."""


def test_runs_under_way_are_stopped_if_the_evaluation_ends_early(alice: User) -> None:
    def say(_: str) -> None:
        raise ScreenGone

    suite = Suite("one", (SuiteTask("work", read_task(TASK), {}),))
    with pytest.raises(ScreenGone):
        Evaluation(suite, alice, Limits(), say=say).run()
    assert Run.objects.get().status == RunStatus.FINISHED
