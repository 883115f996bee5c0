"""Registers the app with Django, and the engine with what it is to be notified of."""

from django.apps import AppConfig

from runs.lifecycle.notify import notify_with


class RunsConfig(AppConfig):
    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        notify_with(_notified)


def _notified(work_id: int) -> None:
    from runs.engine.perform import enqueue  # imports the model client, which most commands never need

    enqueue(work_id)
