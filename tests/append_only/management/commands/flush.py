"""Django's `flush`, with which tests with `transaction=True` end. It takes the triggers away for the moment."""

from typing import Any

from django.core.management.commands.flush import Command as Flush
from django.db import connections

from runs.store import audit_triggers


class Command(Flush):
    def handle(self, **options: Any) -> None:
        connection = connections[options["database"]]
        audit_triggers.drop(connection)
        try:
            super().handle(**options)
        finally:
            audit_triggers.make(connection)
