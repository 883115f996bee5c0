"""Evaluations that end early."""

from __future__ import annotations

from typing import Any

import pytest

from pevsite.setting_values import policy_values
from runs.enums import RunStatus
from runs.evaluation.running import Evaluation, Limits
from runs.evaluation.suite import Suite, SuiteTask, read_task
from runs.models import Run, User

pytestmark = pytest.mark.django_db

TASK = b"request: Do the work\nexpect: {outcome: succeeded}"


class ScreenGone(Exception):
    """What was said could not be printed."""


def test_what_only_a_calibrated_installation_can_meet_is_not_asked_of_an_evaluation(alice: User, settings: Any) -> None:
    settings.POLICY = policy_values("min_catch_rate=0.9, canary_every=2, attempts=2")

    def say(_: str) -> None:
        raise ScreenGone

    suite = Suite("one", (SuiteTask("work", read_task(TASK), {}),))
    with pytest.raises(ScreenGone):
        Evaluation(suite, alice, Limits(), say=say).run()
    policy = Run.objects.get().policy
    assert (policy.min_catch_rate, policy.canary_every, policy.attempts) == (None, None, 2)


def test_runs_under_way_are_stopped_if_the_evaluation_ends_early(alice: User) -> None:
    def say(_: str) -> None:
        raise ScreenGone

    suite = Suite("one", (SuiteTask("work", read_task(TASK), {}),))
    with pytest.raises(ScreenGone):
        Evaluation(suite, alice, Limits(), say=say).run()
    assert Run.objects.get().status == RunStatus.FINISHED
