"""The kinds of gates by name. A new kind is a member of `GateKind` and a module `<kind>_gate` in this package."""

from collections.abc import Mapping
from importlib import import_module

from runs.enums import GateKind
from runs.lifecycle.gates.gate_type import GateType
from runs.models import Gate

GATE_TYPES: Mapping[GateKind, GateType] = {kind: import_module(f"{__package__}.{kind}_gate").GATE for kind in GateKind}


def type_of(gate: Gate) -> GateType:
    return GATE_TYPES[GateKind(gate.kind)]
