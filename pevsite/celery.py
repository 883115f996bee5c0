"""The Celery application of PEV_ENGINE=celery: Redis only carries notifications of work, the rows decide (D2)."""

import ssl

from celery import Celery
from django.conf import settings

app = Celery("pevsite", broker=settings.REDIS_URL, fixups=[], set_as_current=False)  # tasks close their connections
app.conf.update(
    task_default_queue="pevsite-work",
    accept_content=["json"],
    task_ignore_result=True,  # no result backend: the result of the work is in the rows
    task_acks_late=False,  # a lease brings lost work back in seconds, Redis would in an hour
    broker_transport_options={"health_check_interval": 10, "socket_connect_timeout": 5},
    broker_use_ssl={"ssl_cert_reqs": ssl.CERT_REQUIRED} if settings.REDIS_URL.startswith("rediss:") else None,
    broker_connection_retry_on_startup=True,  # without Redis, a worker can still take over work
    broker_connection_max_retries=None,
    worker_consumer="runs.engine.celery_worker:PatientConsumer",
    worker_prefetch_multiplier=1,
    worker_disable_prefetch=True,  # what waits can be taken by any worker that is free
    worker_enable_remote_control=False,  # nothing of ours asks; it would write to Redis all the time
    worker_hijack_root_logger=False,
)
