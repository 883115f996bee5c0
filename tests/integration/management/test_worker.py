"""Processes that serve and processes that work, on one database and one Redis."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
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
from tests.integration.web.site.visitor import Follower, Visitor
from tests.services.redis import Redis

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.services]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["worker"], ["serve", "--no-engine", "--port", "0"]])
def test_sqlite_without_redis_has_one_process(tmp_path: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environ(tmp_path, PEV_DATABASE_URL=""),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("CommandError: Several processes need Redis: set PEV_REDIS_URL, the same for all")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_an_address_of_redis_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "serve", "--port", "0"],
        cwd=ROOT,
        env=environ(tmp_path, PEV_DATABASE_URL="", PEV_REDIS_URL="redis://:secret@127.0.0.1:port/0"),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    [line] = done.stderr.splitlines()
    assert line == "CommandError: PEV_REDIS_URL cannot be read: write redis://:password@host:6379/0."


@pytest.mark.slow
@pytest.mark.needs("redis-server")
@pytest.mark.parametrize("redis_dies", [True, False], ids=["while Redis is away", "with Redis"])
def test_a_run_is_followed_through_one_process_while_workers_die_in_others(
    tmp_path: Path, installation: Installation, api: FakeAnthropic, redis: Redis, redis_dies: bool
) -> None:
    """Without Redis browsers are told what the sweeper of their own process finds."""
    asked, killed = threading.Event(), threading.Event()

    def report_after_the_kill(request: Request, right: Answer) -> Answer:
        if request.tool_results:
            asked.set()
            killed.wait(120)
        return right

    api.script(Team(plan=plan(step("one"), step("two", "one")), executor=report_after_the_kill))
    data = installation.copy(tmp_path / "data")
    variables = with_model(data, api) | {"PEV_REDIS_URL": redis.url}
    subprocess.run([*KILLED, "submit"], cwd=ROOT, env=variables, check=True)
    sites = [Site(data, PEV_REDIS_URL=redis.url) for _ in "ab"]
    workers = [worker(variables)]
    try:
        for site in sites:  # one after the other: a new link ends the one before
            visitor = Visitor(site.port)
            visitor.sign_in(site.start("--no-engine"))
        follower = Follower(visitor, 1)
        assert asked.wait(120)
        if redis_dies:
            redis.stop()
        workers[0].send_signal(signal.SIGKILL)
        killed.set()
        workers += [worker(variables), worker(variables)]
        told = 0
        while rows(data, "SELECT status FROM runs_run") != [("finished",)] or told < newest(data):
            told = follower.told().get("seq", 0)
        follower.close()
    finally:
        for process in workers:
            process.send_signal(signal.SIGTERM)
        for site in sites:
            site.kill()
    assert [(process.communicate()[0], process.returncode)[1] for process in workers] == [-signal.SIGKILL, 0, 0]
    assert rows(data, "SELECT outcome FROM runs_run") == [("succeeded",)]
    assert rows(data, "SELECT count(*) FROM runs_toolcall") == [(2,)]
    assert rows(data, "SELECT count(*) FROM runs_event WHERE kind = 'recovered'") == [(1,)]
    errors = [line for site in sites for line in site.errors()]
    assert [line for line in errors if " channels_redis." not in line] == []


def newest(data: Path) -> int:
    [[number]] = rows(data, "SELECT max(seq) FROM runs_event")
    return int(number)


def worker(variables: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "manage.py", "worker"]
    started = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline().startswith("pevsite worker")
    return started
