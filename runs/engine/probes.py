"""What questions to servers have shown, between the table and the process: the only door to both."""

import time

from runs.llm.capabilities import Probed, use_probed
from runs.llm.servers import Server
from runs.models import Probe

READ_INTERVAL = 30.0
"""Seconds after which a process that works takes up what the command has found out meanwhile."""
_next_read = 0.0


def remember(server: Server, model: str, found: Probed) -> None:
    """Keep this in place of what was found before, and use it in this process."""
    Probe.objects.update_or_create(address=server.address, model=model, defaults={"found": found})
    load()


def load() -> None:
    """Use what is remembered from now on."""
    global _next_read  # of the process, as what is read
    use_probed({(probe.address, probe.model): probe.found for probe in Probe.objects.all()})
    _next_read = time.monotonic() + READ_INTERVAL


def refresh() -> None:
    """The same, when it has not been done for a while."""
    if time.monotonic() >= _next_read:
        load()
