"""What tests of gates post, and where."""

from runs.enums import GateStatus
from runs.models import Gate, Run


def form(gate: Gate, verb: str, reason: str = "") -> dict[str, str]:
    return {"verb": verb, "digest": gate.digest, "reason": reason}


def address(gate: Gate) -> str:
    return f"/runs/{gate.run_id}/gates/{gate.pk}/"


def gate_of(run: Run) -> Gate:
    return run.gates.get(status=GateStatus.OPEN)
