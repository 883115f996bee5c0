"""The scenes: what is done to an installation that is at work, and the line that says how it was."""

from __future__ import annotations

import argparse
import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Max

from runs.enums import EventKind, RunStatus
from runs.models import Event, Run, Step
from tests.chaos.checks import Blow, counted, faults
from tests.chaos.people import Person
from tests.chaos.service import Service
from tests.services.cluster import Cluster
from tests.services.processes import Process
from tests.services.s3 import S3

BETWEEN = 0.8
"""Seconds between two kills, on average: a process needs two to be there again, so that several are often away."""
AWAY = 30.0
"""Seconds that Redis, the database or the models are away."""
STUCK = 120.0
"""Seconds without a new event after which runs are taken to have stopped for ever."""


class Field:
    """An installation and who is at work on it. `tend` is its supervisor: what has died is started again."""

    def __init__(self, cluster: Cluster, service: Service, bucket: S3 | None, options: argparse.Namespace) -> None:
        self.service = service
        self.kills_wanted: int = options.kills
        self.chance = random.Random(options.seed)
        self.blows: list[Blow] = []
        self.kills = 0
        self._cluster = cluster
        self._bucket = bucket
        self._threads: int = options.threads
        self._due: dict[Process, float] = {}

    def tend(self) -> None:
        now = time.monotonic()
        for process in self._cluster.serving + self._cluster.working:
            if not process.is_alive and now >= self._due.setdefault(process, now + self.chance.random()):
                process.launch()
                del self._due[process]

    def strike(self) -> None:
        """Kill one of the parts, workers most often."""
        cluster = self._cluster
        match self.chance.choices(("worker", "web", "redis", "database"), (6, 2, 1, 1 if cluster.postgres else 0))[0]:
            case "redis":
                with self._without_redis():
                    time.sleep(self.chance.random())
            case "database":
                with self._without_database():
                    time.sleep(self.chance.random())
            case kind:
                group = cluster.working if kind == "worker" else cluster.serving
                alive = [process for process in group if process.is_alive]
                if not alive:
                    return
                now = time.monotonic()
                self.chance.choice(alive).kill()
                self.blows.append(Blow(now, now, self._threads if kind == "worker" else 0))
        self.kills += 1

    @contextmanager
    def _without_redis(self) -> Iterator[None]:
        self._cluster.redis.stop()
        yield
        self._cluster.redis.start()

    @contextmanager
    def _without_database(self) -> Iterator[None]:
        """What workers were told meanwhile may be lost with the transaction that could not be committed."""
        postgres, began = self._cluster.postgres, time.monotonic()
        assert postgres is not None
        (postgres.kill if self.chance.random() < 0.5 else postgres.quit)()
        yield
        postgres.start()
        self.blows.append(Blow(began, time.monotonic(), self._threads * len(self._cluster.working)))

    def for_a_while(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.tend()
            time.sleep(0.05)

    def kill_all_the_time(self) -> None:
        self.for_a_while(5)
        while self.kills < self.kills_wanted:
            self.for_a_while(self.chance.expovariate(1 / BETWEEN))
            self.strike()

    def leave_without_redis(self) -> None:
        self.for_a_while(5)
        with self._without_redis():
            self.for_a_while(AWAY)

    def leave_without_database(self) -> None:
        self.for_a_while(5)
        with self._without_database():
            self.for_a_while(AWAY)

    def trouble_the_models(self) -> None:
        self.for_a_while(5)
        with self.service.in_trouble(0.4):
            self.for_a_while(60)

    def leave_without_models(self) -> None:
        self.for_a_while(5)
        began = time.monotonic()
        with self.service.away():
            self.blows.append(Blow(began, time.monotonic(), self._threads * len(self._cluster.working)))
            self.for_a_while(AWAY)

    def fill_the_disk(self) -> None:
        """Of the data folder, which is on a small file system of its own. PostgreSQL has another. On SQLite, a worker
        may find no room for an answer, and the item is taken over when its lease has ended.
        """
        self.for_a_while(5)
        filler, began, recovered = Path(settings.DATA_DIR) / "filler", time.monotonic(), _recovered()
        try:
            with suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(100_000))
            self.for_a_while(15)
        finally:
            filler.unlink()
        if not self._cluster.postgres:
            ended = time.monotonic()
            self.for_a_while(5 * settings.LEASE_SECONDS)  # until all have been taken over
            self.blows.append(Blow(began, ended, _recovered() - recovered))

    def trouble_the_files(self) -> None:
        """Each tenth request to the bucket fails, and then for a while each."""
        assert self._bucket is not None
        self.for_a_while(5)
        for each, seconds in ((10, 60), (1, 15), (10, 15)):
            self._bucket.fail_every = each
            self.for_a_while(seconds)
        self._bucket.fail_every = 0
        print(f"  {self._bucket.refused} of {self._bucket.asked} requests to the bucket failed", flush=True)


SCENES: dict[str, Callable[[Field], None]] = {
    "kills": Field.kill_all_the_time,
    "redis": Field.leave_without_redis,
    "database": Field.leave_without_database,
    "model": Field.trouble_the_models,
    "model-away": Field.leave_without_models,
    "disk": Field.fill_the_disk,
    "files": Field.trouble_the_files,
}


def play(cluster: Cluster, service: Service, bucket: S3 | None, engine: str, options: argparse.Namespace) -> int:
    """Play the scenes one after the other on the same installation; 1 if something did not hold."""
    logging.getLogger().setLevel(logging.ERROR)
    for name in ("runs", "psycopg.pool"):  # what they would warn of is what is done here
        logging.getLogger(name).setLevel(logging.ERROR)
    field, handed_in, failed = Field(cluster, service, bucket, options), set(), False
    for name in options.scenes:
        began, kills, ended = time.monotonic(), field.kills, _ended()
        person = Person([*cluster.webs], options.runs, options.seed)
        person.start()
        SCENES[name](field)
        person.no_more()
        stuck = _until_all_have_ended(field)
        person.leave()
        handed_in.update(person.handed_in)
        told = f"{engine}, {name}: {field.kills - kills} kills, {_ended() - ended} runs, {_steps()} steps in all,"
        seconds = time.monotonic() - began
        left, written = counted(service.served)
        print(
            f"{told} {_recovered()} takeovers in all, {seconds:.0f} s; {left} answers left, {written} in the journal; "
            f"pages {dict(person.answers)}, {person.unreached} not reached, {person.refused} refused",
            flush=True,
        )
        problems = [*stuck, *faults(handed_in, service.served, field.blows), *service.violations]
        for problem in problems[:30]:
            print(f"  BROKEN: {problem}", flush=True)
        failed |= bool(problems)
    return int(failed)


def _ended() -> int:
    return Run.objects.filter(status=RunStatus.FINISHED).count()


def _steps() -> int:
    return Step.objects.filter(plan__run__status=RunStatus.FINISHED).count()


def _recovered() -> int:
    return Event.objects.filter(kind=EventKind.RECOVERED).count()


def _until_all_have_ended(field: Field) -> list[str]:
    newest, since = 0, time.monotonic()
    while time.monotonic() - since < STUCK:
        field.for_a_while(0.5)
        try:
            if not Run.objects.exclude(status=RunStatus.FINISHED).exists():
                return []
            now = Event.objects.aggregate(newest=Max("pk"))["newest"] or 0
        except DatabaseError:
            connection.close()
            continue
        if now != newest:
            newest, since = now, time.monotonic()
    runs = Run.objects.exclude(status=RunStatus.FINISHED).values_list("pk", "status")
    return [f"run {pk} has stopped for ever: {status}" for pk, status in runs]
