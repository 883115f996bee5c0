"""What the fake knows about each model: which parameters it takes, and `GET /v1/models/{id}`.

A model that is not in the table is taken for another vendor's: it accepts all that the types allow.
Limits and the release date are placeholders; no test should depend on them.
"""

from __future__ import annotations

from dataclasses import dataclass

from anthropic.types import ModelInfo

from tests.fakes.anthropic_answers import JsonObject

THINKING_TYPES = ("adaptive", "between_tools", "disabled", "enabled")
EFFORTS = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True)
class ModelCard:
    """What a model takes; anything else is a 400."""

    id: str
    line: str
    thinking: frozenset[str]
    efforts: frozenset[str]
    forced_tool_choice: bool
    lifecycle: str = "active"
    retires_at: str | None = None


_ALL = frozenset(EFFORTS)
_BUDGET = frozenset({"enabled", "disabled"})
_CARDS = (
    ModelCard("claude-opus-5-5", "opus", frozenset({"adaptive"}), _ALL, forced_tool_choice=False),
    ModelCard(
        "claude-sonnet-5-5",
        "sonnet",
        frozenset({"adaptive", "between_tools"}),
        _ALL,
        forced_tool_choice=False,
    ),
    ModelCard("claude-haiku-5-5", "haiku", frozenset({"adaptive", "disabled"}), _ALL, forced_tool_choice=True),
    ModelCard("claude-opus-4-6", "opus", _BUDGET | {"adaptive"}, _ALL - {"xhigh"}, forced_tool_choice=True),
    ModelCard("claude-haiku-4-5", "haiku", _BUDGET, frozenset(), forced_tool_choice=True),
    ModelCard(
        "claude-sonnet-4-5",
        "sonnet",
        _BUDGET,
        frozenset(),
        forced_tool_choice=True,
        lifecycle="deprecated",
        retires_at="2026-11-30T00:00:00Z",
    ),
)
MODELS = {card.id: card for card in _CARDS}


def _support(*, supported: bool) -> JsonObject:
    return {"supported": supported}


def _capabilities(card: ModelCard) -> JsonObject:
    yes = _support(supported=True)
    return {
        **dict.fromkeys(("batch", "citations", "code_execution", "image_input", "pdf_input"), yes),
        "structured_outputs": yes,
        "context_management": yes,
        "server_tools": {"supported": True, "code_execution": yes, "web_search": yes},
        "effort": _support(supported=bool(card.efforts))
        | {effort: _support(supported=effort in card.efforts) for effort in EFFORTS},
        "thinking": {
            "supported": True,
            "types": {kind: _support(supported=kind in card.thinking) for kind in THINKING_TYPES},
        },
    }


def model_info(card: ModelCard) -> JsonObject:
    """The answer of the models endpoint, checked against the package's type."""
    info: JsonObject = {
        "type": "model",
        "id": card.id,
        "line": card.line,
        "display_name": card.id.replace("-", " ").title(),
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": card.lifecycle,
        "deprecated_at": "2026-01-02T00:00:00Z" if card.lifecycle != "active" else None,
        "retires_at": card.retires_at,
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
        "capabilities": _capabilities(card),
    }
    ModelInfo.model_validate(info)
    return info
