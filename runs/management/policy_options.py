"""The options of `manage.py run` for the policy: one for each field that a person may set, under the field's name."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

POLICY_OPTIONS: Mapping[str, str] = {
    "plan_approval": "which plans wait for a person: always, first, never",
    "step_approval": "which steps wait for a person: none, high, medium_and_high, all",
    "step_moment": "when those steps wait: after (verification) or before (execution)",
    "model_review": "which steps a model looks at even where checks decide all: none, high, medium_and_high, all",
    "original_pages": "which pages models see as they look: never, layout (mostly pictures or tables), always",
    "attempts": "attempts per step",
    "replans": "new plans after steps that failed",
    "revisions": "plan revisions that may be asked for",
    "questions": "questions that models may ask a person",
    "commands": "on or off: steps and checks may run the commands of this installation",
    "web": "sites that steps may read, such as 'example.org gov.uk -ads.example.org', or '*' for all; empty for none",
    "web_pages": "pages of the web that models may read",
    "service_tools": "tools that the model's own service runs: web_search, web_fetch, code_execution; empty for none",
    "service_uses": "uses of each of them in one attempt",
    "service_uses_in_run": "uses of each of them in the whole run",
    "servers": "MCP servers whose tools steps may call, by name",
    "acting_calls": "calls that act outside which models may ask to be let go",
    "subagents": "agents to which steps may hand parts of their work, by name; empty for none",
    "exhausted": "when a step has used up its attempts and replans: ask, accept, fail",
    "parallel": "steps at the same time",
    "executor": "what plans and carries out attempts: messages, or agent-sdk where it is installed",
    "rounds": "steps the AI may take per attempt",
    "max_steps": "most steps of a plan",
    "min_confidence": "minimum confidence of the executor, 0 to 1",
    "min_verifier_confidence": "minimum confidence of the verifier, 0 to 1",
    "min_document_bytes": "smallest Markdown file, unless the plan itself says how long it is to be; 0 for any",
    "budget": "USD that the run may spend, or none; at the limit it asks",
    "time_limit": "seconds that the run may work, or none; at the limit it asks",
    "attempt_seconds": "seconds that one attempt may take",
    "reuse": "on or off: take over results of earlier runs where nothing has changed",
    "fallback_verifier": "the model that judges where the verifier gives no usable verdict; empty for none",
    "same_model_verifier": "on or off: a verifier may be the executor's model",
    "second_person": "on or off: somebody else than the one who submits has to approve",
    "sources_needed": "on or off: what is said about the world has to rest on sources",
    "planner_model": "the planner's model",
    "planner_effort": "low, medium or high",
    "executor_model": "the executor's model",
    "executor_effort": "low, medium or high",
    "verifier_model": "the verifier's model",
    "verifier_effort": "low, medium or high",
}


def option(name: str) -> str:
    """As it is written in a terminal."""
    return f"--{name.replace('_', '-')}"


def add_policy_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("policy", "What is not given is as this installation sets it (PEV_POLICY).")
    group.add_argument(
        "--preset",
        default="balanced",
        help="what the policy starts from: careful, balanced (as this installation sets it), hands-off",
    )
    for name, text in POLICY_OPTIONS.items():
        group.add_argument(option(name), dest=name, help=text)
    group.add_argument(
        "--no-sources",
        action="store_const",
        const="off",
        dest="sources_needed",
        help="for creative work; criteria of an imported plan that do not say what they are about are about the output",
    )


def given_texts(options: Mapping[str, Any]) -> dict[str, str]:
    """What was written in the terminal, by the name of the field."""
    return {name: options[name] for name in POLICY_OPTIONS if options[name] is not None}
