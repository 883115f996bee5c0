"""Programs that read over the REST API of all processes that serve, and a thousand streams of events of one."""

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
        servers = [api.Server(port, web.pid) for port, web in zip(cluster.webs, cluster.serving, strict=True)]
        return api.figures_of(servers, programs, short=short)
