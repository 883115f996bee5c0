"""Registers the app with Django, connects the engine to committed work items, and sets the key of the delimiters in
prompts.
"""

from django.apps import AppConfig
from django.db.models.signals import m2m_changed, post_migrate
from django.utils.crypto import salted_hmac

from runs.pev import delimiters


class RunsConfig(AppConfig):
    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Imported here, because models can be defined only now.
        from runs.lifecycle.effects import notify_with
        from runs.models import User
        from runs.operations.traces.trace_listener import send_spans
        from runs.people import outbox
        from runs.people.roles import make_groups
        from runs.store import event_log

        notify_with(_enqueue)
        post_migrate.connect(make_groups, sender=self, dispatch_uid="groups of the roles")
        m2m_changed.connect(outbox.announce_to_members, User.groups.through, dispatch_uid="new members of groups")
        # `dispatch_uid` connects it only once, even if `ready` is called again.
        event_log.committed.connect(send_spans, dispatch_uid="traces")
        delimiters.use_key(salted_hmac("pevsite.delimiters", "tags", algorithm="sha256").digest())


def _enqueue(work_id: int) -> None:
    from runs.engine.perform import enqueue  # imports the model client, which most commands never need

    enqueue(work_id)
