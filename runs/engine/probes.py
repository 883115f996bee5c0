"""What tests of model servers have shown: stored in a table, and used by this process from memory."""

import time
from collections.abc import Mapping

from pevsite.installation import PROGRAM
from runs.llm.capabilities import Probed, known_capability, use_probed
from runs.llm.model_servers import REHEARSAL, ModelServer, configured_models, server_for
from runs.models import Probe

READ_INTERVAL = 30.0
"""Seconds until a working process reads again what the command `check_models` has found out."""
_next_read = 0.0


def remember(server: ModelServer, model: str, found: Probed) -> None:
    """Store this instead of an earlier result, and use it in this process."""
    Probe.objects.update_or_create(address=server.address, model=model, defaults={"found": found})
    load()


def load() -> None:
    """Read the stored results, and use them from now on."""
    global _next_read  # of the process, like the results
    use_probed({(probe.address, probe.model): probe.found for probe in Probe.objects.all()})
    _next_read = time.monotonic() + READ_INTERVAL


def hint(environ: Mapping[str, str]) -> str:
    """A sentence that names the models which were not tested yet although they should be; empty for none."""
    models = configured_models(environ)
    pairs = {(server_for(role, environ), model): None for role, model in models.items()}
    asked = set(Probe.objects.values_list("address", "model"))
    open_ = [
        f"“{model}” on {server.host}"
        for server, model in pairs
        if not (server.is_anthropic and known_capability(model))
        and model not in REHEARSAL.values()
        and (server.address, model) not in asked
    ]
    return f"No one has asked yet what is supported: {', '.join(open_)}. Do: {PROGRAM} check_models" if open_ else ""


def refresh() -> None:
    """Read the stored results, if READ_INTERVAL has passed."""
    if time.monotonic() >= _next_read:
        load()
