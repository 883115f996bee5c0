"""Programs that read over the REST API, and a thousand streams of events, on one of the processes that serve."""

from __future__ import annotations

import time

from django.db import connection

from tests.bench import api
from tests.bench.figures import Figure
from tests.services.cluster import Cluster


def measure(cluster: Cluster, *, short: bool) -> list[Figure]:
    with cluster.resting():  # or workers would carry out what is prepared
        programs = api.prepare(short=short)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        time.sleep(1 if short else 15)  # every process announces events that no one follows
        server = api.Server(next(iter(cluster.webs)), cluster.serving[0].pid)
        return api.figures_of(server, programs, short=short)
