"""Owns the registration of the app with Django, and hangs up the bell that wakes workers."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from runs.lifecycle.advance import ring_with

        ring_with(_ring)


def _ring(work_id: int) -> None:
    from runs.engine.perform import enqueue  # imports the model client, which most commands never need

    enqueue(work_id)
