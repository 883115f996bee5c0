"""Processes that work send notices that are due; processes that only serve, or carry out one run, send none."""

from __future__ import annotations

import pytest

from runs.engine.sweeper import Sweeper
from runs.models import Delivery, Notice
from tests import factories
from tests.fakes.smtp_server import SmtpServer
from tests.integration.notices.receiver import asked, states, with_mail
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.services,
]


def test_the_sweeper_of_a_process_that_works_sends_what_is_due(smtp: SmtpServer) -> None:
    with_mail(factories.alice())
    run = asked()
    sweeper = Sweeper(lambda ids: None)
    try:
        sweeper.poll()
        wait_until(lambda: states() == [("sent", 1)])
    finally:
        sweeper.stop()
    assert smtp.subjects == [f"Needs your decision: {run.title}"]


@pytest.mark.parametrize("only_run", [None, 1])
def test_other_processes_send_nothing(smtp: SmtpServer, only_run: int | None) -> None:
    with_mail(factories.alice())
    asked()
    sweeper = Sweeper(None if only_run is None else lambda ids: None, only_run)
    sweeper.poll()
    sweeper.stop()
    assert (Notice.objects.filter(planned_at=None).count(), Delivery.objects.count()) == (1, 0)
