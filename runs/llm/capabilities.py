"""What is known of each model: which optional parameters it takes. Unknown models get none.

Source: the Messages API's documentation and its Python package, read on 2026-11-21.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Capability:
    """`format`: structured output; `effort`, `caching`, `adaptive` thinking, `no_tools`: tool_choice none."""

    format: bool = False
    effort: bool = False
    caching: bool = False
    adaptive: bool = False
    no_tools: bool = False


_FULL = Capability(format=True, effort=True, caching=True, adaptive=True, no_tools=True)
_KNOWN = {
    "claude-opus-5-5": _FULL,
    "claude-sonnet-5-5": _FULL,
    "claude-haiku-5-5": _FULL,
    "claude-opus-4-6": _FULL,
    "claude-haiku-4-5": Capability(format=True, caching=True, no_tools=True),
}


def capability(model: str) -> Capability:
    """What may be sent to this model. A dated id such as `claude-haiku-5-5-20261001` counts as its family."""
    if model in _KNOWN:
        return _KNOWN[model]
    return next((known for name, known in _KNOWN.items() if model.startswith(f"{name}-")), Capability())
