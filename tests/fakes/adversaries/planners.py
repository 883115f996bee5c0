"""Planners whose plans cannot be run, cannot be judged, or drop what was hard to meet."""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.team import Player, plan, step, told

SLOW_PATTERNS = (r"(?:a|b)*a(?:a|b){500}c", r"(a+)+$", r"(a|aa)+\d", r"(.*a){20}$")


def plans(given: dict[str, Any]) -> Player:
    return lambda request, right: Say(json.dumps(given))


def with_step(**values: Any) -> dict[str, Any]:
    """A plan of one step in which these values differ from a sound one."""
    return plan({**step("one"), **values})


def prose(request: Request, right: Answer) -> Answer:
    """Section 4: a friendly letter where a plan is wanted."""
    return Say("Certainly! First I would read the notes, then I would write something nice about them.")


def checked_by(*checks: dict[str, Any]) -> dict[str, Any]:
    return with_step(
        acceptance_criteria=[
            {"text": f"Check {n} holds", "about": "output", "check": c} for n, c in enumerate(checks, 1)
        ]
    )


def matching(pattern: str) -> dict[str, Any]:
    return {"kind": "matches", "path": "one.md", "pattern": pattern, "min": 1}


NO_CHECK = {"text": "It is good", "about": "output", "check": None}
UNSOUND: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a cycle": (plan(step("one", "two"), step("two", "one")), ("depend on each other in a circle: one → two → one",)),
    "a step after itself": (plan(step("one", "one")), ("depend on each other in a circle: one → one",)),
    "500 steps": (plan(*(step(f"s{n}") for n in range(500))), ("The plan has 500 steps; this run allows 40.",)),
    "two writers": (plan(step("one", outputs=("x.md",)), step("two", outputs=("x.md",))), ("both write “x.md”",)),
    "what is not there, paths that lead out": (
        plan(
            {**step("one", "zero"), "actions": [{"tool": "approve", "purpose": "x"}]},
            step("one", outputs=("../../etc/cron.d/x", "/runs/pev/prompts/verifier.md")),
        ),
        (
            "The step_id “one” is used twice.",
            "depends on “zero”, which is no step of this plan",
            "plans the tool “approve”, which does not exist",
            "“../../etc/cron.d/x” cannot be used as a path: it has the part “..”",
            "“/runs/pev/prompts/verifier.md” cannot be used as a path: it is absolute",
        ),
    ),
    "checks that cannot be done": (
        checked_by(
            {"kind": "file_exists", "path": "../../../etc/passwd"},
            matching(".*"),
            matching("("),
            matching("(a{9999}){9999}"),
        ),
        (
            "criterion “Check 1 holds”: “../../../etc/passwd” cannot be used as a path",
            "matches an empty file too, so it proves nothing",
            "The pattern “(” cannot be used",
            "its counted repeats come to more than 1,000",
        ),
    ),
    "no criteria": (
        {
            **plan(
                {**step("one"), "acceptance_criteria": []},
                {**step("two"), "acceptance_criteria": [{**NO_CHECK, "text": " "}]},
            ),
            "success_criteria": [],
            "approved": True,
        },
        (
            "`acceptance_criteria` of item 1 of `steps` needs at least 1 item",
            "`text` of item 1 of `acceptance_criteria` of item 2 of `steps` must not be empty",
            "`success_criteria` needs at least 1 item",
            "More mistakes of this kind: 1.",
        ),
    ),
    "sources decided by a look at the result": (
        with_step(
            acceptance_criteria=[
                {
                    "text": "The rent is right",
                    "about": "sources",
                    "check": {"kind": "contains", "path": "one.md", "text": "rent"},
                }
            ]
        ),
        ("criterion “The rent is right”: It is about the sources, but its check contains reads only the result",),
    ),
    "a bare step": (step("one"), ("You answered with one item of `steps`, not with the whole.",)),
    "criteria that do not say what they are about": (
        with_step(acceptance_criteria=[{"text": "It is good", "check": None}]),
        ("criterion “It is good”: say what it is about",),
    ),
    "no steps": (plan(), ("`steps` needs at least 1 item",)),
    "a check that is a command": (
        checked_by({"kind": "shell", "command": "rm -rf /"}),
        ("does not match any of the expected tags",),
    ),
}
"""What is wrong with a plan, the plan, and the words that must be told of it (section 4)."""


def slow_patterns(path: str = "notes.md") -> dict[str, Any]:
    """A plan whose patterns take seconds on a long line, or for ever where an engine backtracks."""
    checks = [{"kind": "matches", "path": path, "pattern": pattern, "min": 1} for pattern in SLOW_PATTERNS]
    return with_step(acceptance_criteria=[{"text": c["pattern"], "about": "output", "check": c} for c in checks])


def then(first: dict[str, Any], second: dict[str, Any]) -> Player:
    """One plan at first, another when it is asked for a new version."""

    def play(request: Request, right: Answer) -> Answer:
        again = any(part.kind == "previous_plan" for part in told(request))
        return Say(json.dumps(second if again else first))

    return play
