"""Registers the app with Django: what the engine is notified of, and the key of the delimiters in prompts."""

from django.apps import AppConfig
from django.utils.crypto import salted_hmac

from runs.pev import delimiters


class RunsConfig(AppConfig):
    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # These import the tables, which can be defined only now.
        from runs.lifecycle.effects import notify_with
        from runs.operations.traces.trace_listener import send_spans
        from runs.store import event_log

        notify_with(_notified)
        event_log.committed.connect(send_spans, dispatch_uid="traces")  # once, however often this is called
        delimiters.use_key(salted_hmac("pevsite.delimiters", "tags", algorithm="sha256").digest())


def _notified(work_id: int) -> None:
    from runs.engine.perform import enqueue  # imports the model client, which most commands never need

    enqueue(work_id)
