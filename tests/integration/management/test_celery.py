"""PEV_ENGINE=celery: workers in processes of their own, killed and replaced, and a broker that goes away."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.site import Site
from tests.databases import rows
from tests.fakes.anthropic_answers import Answer, Request
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step
from tests.installation import ROOT, Installation, environ
from tests.integration.engine.machine import KILLED
from tests.integration.engine.machine import environ as with_model
from tests.services.redis import Redis
from tests.waiting import wait_until

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.services]


class Cluster:
    """Workers on one data folder, one database and one Redis."""

    def __init__(self, data: Path, api: FakeAnthropic, redis: Redis) -> None:
        self.data = data
        engine = {"PEV_REDIS_URL": redis.url, "PEV_ENGINE": "celery", "PEV_MAX_LOSSES": "2"}
        self._environ = with_model(data, api) | engine
        self._workers: list[subprocess.Popen[str]] = []

    def worker(self) -> subprocess.Popen[str]:
        command = [sys.executable, "manage.py", "worker"]
        started = subprocess.Popen(command, cwd=ROOT, env=self._environ, stdout=subprocess.PIPE, text=True)
        self._workers.append(started)
        assert started.stdout is not None
        assert started.stdout.readline().startswith("pevsite worker")
        return started

    def submit(self) -> None:
        subprocess.run([*KILLED, "submit"], cwd=ROOT, env=self._environ, check=True)

    def rows(self, sql: str) -> list[object]:
        return rows(self.data, sql)

    def wait(self, sql: str, result: list[object], seconds: float = 120) -> None:
        wait_until(lambda: self.rows(sql) == result, seconds)

    def end(self) -> list[int]:
        """How the workers end that are asked to, and ended that were not."""
        for process in self._workers:
            process.send_signal(signal.SIGTERM)
        return [(process.communicate(timeout=60), process.returncode)[1] for process in self._workers]


@pytest.fixture
def cluster(tmp_path: Path, installation: Installation, api: FakeAnthropic, redis: Redis) -> Iterator[Cluster]:
    cluster = Cluster(installation.copy(tmp_path / "data"), api, redis)
    yield cluster
    cluster.end()


SUCCEEDED: list[object] = [("succeeded",)]
OUTCOME = "SELECT outcome FROM runs_run"


@pytest.mark.needs("PostgreSQL", "redis-server")
def test_a_run_goes_on_when_its_worker_is_killed_and_replaced(cluster: Cluster, api: FakeAnthropic) -> None:
    """Two steps are under way side by side, each with its file written and its report asked for."""
    killed = threading.Event()

    def report_after_the_kill(request: Request, right: Answer) -> Answer:
        if request.tool_results:
            killed.wait(120)
        return right

    team = Team(plan=plan(step("one"), step("two"), step("three", "one", "two")), executor=report_after_the_kill)
    api.script(team)
    first = cluster.worker()
    cluster.submit()
    wait_until(lambda: len(team.seen.get("executor", [])) == 4)
    first.send_signal(signal.SIGKILL)
    killed.set()
    cluster.worker()
    cluster.wait(OUTCOME, SUCCEEDED)
    assert cluster.end() == [-signal.SIGKILL, 0]
    assert cluster.rows("SELECT count(*) FROM runs_toolcall") == [(3,)]
    assert len(team.seen["executor"]) == 8, "two calls a step, and the two that were in flight once more"
    assert cluster.rows("SELECT number, status FROM runs_attempt") == [(1, "passed")] * 3
    assert cluster.rows("SELECT count(*) FROM runs_event WHERE kind = 'recovered'") == [(2,)]


@pytest.mark.needs("PostgreSQL", "redis-server")
def test_a_worker_that_is_asked_to_end_hands_over_at_once(cluster: Cluster, api: FakeAnthropic) -> None:
    """A lease that was given back is not taken over: nobody has to wait until it is over."""
    ended = threading.Event()

    def report_after_the_end(request: Request, right: Answer) -> Answer:
        if request.tool_results:
            ended.wait(120)
        return right

    team = Team(plan=plan(step("one")), executor=report_after_the_end)
    api.script(team)
    first = cluster.worker()
    cluster.submit()
    wait_until(lambda: len(team.seen.get("executor", [])) == 2)
    cluster.worker()
    first.send_signal(signal.SIGTERM)
    first.wait(60)
    wait_until(lambda: len(team.seen["executor"]) == 3)
    ended.set()
    cluster.wait(OUTCOME, SUCCEEDED)
    assert cluster.end() == [0, 0]
    assert cluster.rows("SELECT count(*) FROM runs_event WHERE kind = 'recovered'") == [(0,)]
    assert cluster.rows("SELECT count(*) FROM runs_toolcall") == [(1,)]


@pytest.mark.needs("PostgreSQL", "redis-server")
@pytest.mark.exhaustive
def test_work_that_ends_its_process_each_time_waits_for_a_person(cluster: Cluster, api: FakeAnthropic) -> None:
    """Whichever process it ended: the losses are counted in its row, as `tests/integration/engine/test_losses.py` has
    them without Celery.
    """
    asked, over = threading.Semaphore(0), threading.Event()

    def silent(request: Request, right: Answer) -> Answer:
        asked.release()
        over.wait(120)
        return right

    team = Team(plan=plan(step("one")), planner=silent)
    api.script(team)
    cluster.submit()
    for _ in range(2):
        worker = cluster.worker()
        assert asked.acquire(timeout=120)
        worker.send_signal(signal.SIGKILL)
    cluster.worker()
    sentence = "2 times in a row the process that worked on it ended without progress. Its log may say why."
    cluster.wait("SELECT kind, status, question FROM runs_gate", [("error", "open", sentence)])
    over.set()
    assert cluster.end() == [-signal.SIGKILL, -signal.SIGKILL, 0]
    assert len(team.seen["planner"]) == 2


@pytest.mark.needs("PostgreSQL", "redis-server")
def test_what_was_created_while_redis_is_away_is_done_when_it_is_back(
    cluster: Cluster, api: FakeAnthropic, redis: Redis
) -> None:
    api.script(Team(plan=plan(step("one"))))
    cluster.worker()
    redis.stop()
    cluster.submit()
    cluster.worker()  # also starts without it
    redis.start()
    cluster.wait(OUTCOME, SUCCEEDED)
    assert cluster.end() == [0, 0]


@pytest.mark.needs("PostgreSQL", "redis-server")
def test_a_process_that_serves_leaves_the_work_to_workers(cluster: Cluster, api: FakeAnthropic, redis: Redis) -> None:
    api.script(Team(plan=plan(step("one"))))  # the worker may get as far as asking before the test has looked
    site = Site(cluster.data, PEV_REDIS_URL=redis.url, PEV_ENGINE="celery", PEV_LEASE_SECONDS="2")
    try:
        site.start()
        cluster.submit()
        wait_until(lambda: cluster.rows("SELECT status, epoch FROM runs_workitem") == [("ready", 0)])
        cluster.worker()
        wait_until(lambda: cluster.rows("SELECT epoch FROM runs_workitem WHERE epoch > 0"))
    finally:
        site.kill()
    assert site.errors() == []


WRONG: dict[str, dict[str, str]] = {
    "PEV_ENGINE is “sellery”: it must be embedded or celery.": {"PEV_ENGINE": "sellery"},
    "PEV_ENGINE=celery works with PostgreSQL only": {"PEV_ENGINE": "celery"},
    "PEV_ENGINE=celery needs Redis": {
        "PEV_ENGINE": "celery",
        "PEV_DATABASE_URL": "postgres://pev@db.example/pev",
    },
}
COMMANDS = [["worker"], ["serve"], ["run", "Do it"], ["people", "list"], ["migrate"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        *((["worker"], sentence) for sentence in WRONG),
        *((command, "PEV_ENGINE is “sellery”: it must be embedded or celery.") for command in COMMANDS[1:]),
    ],
)
def test_a_half_configured_engine_is_one_sentence(tmp_path: Path, command: list[str], sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=environ(tmp_path, PEV_REDIS_URL="") | {"PEV_DATABASE_URL": ""} | WRONG[sentence],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert done.stderr.startswith(sentence)
