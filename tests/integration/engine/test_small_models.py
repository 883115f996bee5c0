"""A run whose roles a model of 1.5 billion parameters plays, on a server that makes it keep no format.

Its answers are nearly right, in the shapes that such a model gave: objects where a text is asked for, fields that no
one asked for, the tag of a delimiter in front of a path, prose. The run asks for short answers, reads them generously,
and ends as the evidence says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runs.engine import probes
from runs.enums import GateKind, Outcome, Role
from runs.llm.capabilities import Probed, use_probed
from runs.llm.model_servers import ModelServer
from runs.models import Attempt, ModelCall, Plan, Run, User
from runs.pev import prompts
from runs.pev.delimiters import listed_in
from runs.pev.policy import RoleModel
from tests.factories import Submit, answer, drain, open_gate
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_servers import LLAMA_CPP, served
from tests.fakes.team import block, told

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
SMALL = {role: RoleModel(model="qwen2.5-1.5b") for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)}
FILES = {
    "a.txt": b"Lease of Anna Weber.\nThe rent is CHF 2,400 per month.\n",
    "b.txt": b"The rent is CHF 2,100 per month.\n",
}
RENTS = "a.txt: [“The rent is CHF 2,400 per month”](a.txt)\n\nb.txt: [“The rent is CHF 2,100 per month”](b.txt)\n"
PLAN = {
    "goal": "Say which lease is cheaper.",
    "priority": 1,
    "steps": [
        {
            "step": 1,
            "name": {"title": "Read the leases"},
            "description": "Read {tag}/a.txt and {tag}/b.txt. Note both rents in rents.md.",
            "criteria": [
                {"text": "rents.md states the rent of a.txt", "check": "contains"},
                "The rent of Anna Weber is 2,400",
            ],
            "files": [{"path": "rents.md", "content": "The rents of both leases."}],
            "after": None,
        }
    ],
    "success_criteria": ["The answer names the cheaper lease"],
}
VERDICTS = {
    "rents.md states": {
        "passed": True,
        "quote": {"text": "The rent is CHF 2,400 per month", "line": 2},
        "source": {"path": "rents.md", "line": 1},
        "statement": "",
    },
    "Anna Weber": {
        "passed": True,
        "quote": "The rent is CHF 2,400 per month.",
        "source": "{tag}/a.txt",
        "statement": "The rent is CHF 2,400 per month",
    },
    "cheaper lease": {"passed": True, "quote": "b.txt is cheaper", "source": "@output", "statement": "", "why": None},
}


def tag_of(request: Request) -> str:
    found = re.search(r"<[a-z_]+-([0-9a-f]{16})", json.dumps(request.messages))
    assert found
    return found[1]


class Weak:
    """The model. `verdict`: what it says of a sentence instead; `planned`: what it answers first to the planner's."""

    def __init__(self, verdict: Callable[[str], dict[str, Any]] | None = None, planned: str = "") -> None:
        self._verdict = verdict
        self._planned = planned

    def __call__(self, request: Request) -> Answer:
        role = request.system.splitlines()[0].removeprefix("# Your role: ")
        return Say(text) if (text := getattr(self, f"_{role}")(request)) else self._tools(request)

    def _planner(self, request: Request) -> str:
        if self._planned and len(request.messages) == 1:
            return self._planned
        return json.dumps(PLAN).replace("{tag}", tag_of(request))

    def _executor(self, request: Request) -> str:
        if not request.tool_results or "rents.md" not in str(request.messages[-2]):
            return ""
        return json.dumps({"done": True, "result": {"text": "Both rents are noted."}, "files": ["rents.md"]})

    def _tools(self, request: Request) -> Answer:
        if not request.tool_results:
            files = listed_in(block(told(request), "files"))
            return UseTools(*(ToolUse("read_file", {"path": path}) for path in files))
        return UseTools(ToolUse("write_file", {"path": "rents.md", "content": RENTS}))

    def _verifier(self, request: Request) -> str:
        sentence = block(told(request), "sentence")
        right = next(verdict for part, verdict in VERDICTS.items() if part in sentence)
        said = self._verdict(sentence) if self._verdict else right
        return json.dumps(said, ensure_ascii=False).replace("{tag}", tag_of(request))

    def _synthesizer(self, request: Request) -> str:
        return (
            f"```json\n{json.dumps({'answer': 'b.txt is cheaper, at [“CHF 2,100 per month”](b.txt).', 'sure': 1})}\n```"
        )


class Writing(Weak):
    """One that writes each tool call as its text, as its server does not recognise them."""

    def _tools(self, request: Request) -> Answer:
        meant = super()._tools(request)
        assert isinstance(meant, UseTools)
        calls = [json.dumps({"name": use.name, "arguments": use.input}) for use in meant.tools]
        return Say("\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in calls))


@pytest.fixture
def play(api: FakeAnthropic, submitted: Submit, alice: User) -> Iterator[Callable[[Weak], Run]]:
    """A run that these answers are given in, until it ends or a gate after that of the plan opens."""
    shown = Probed(format=False, forced_tool=False, no_tools=False, tools=True, whole_form=False)
    probes.remember(ModelServer(api.url), "qwen2.5-1.5b", shown)
    api.dialect = LLAMA_CPP

    def begin(model: Weak) -> Run:
        api.script(served(LLAMA_CPP, model))
        run = submitted(
            "Which lease is cheaper?", files=FILES, models=SMALL, same_model_verifier=True, sources_needed=True
        )
        drain(run)
        answer(run, alice)
        drain(run)
        return run

    yield begin
    use_probed({})


@pytest.mark.parametrize("model", [Weak, Writing])
def test_it_ends_as_the_evidence_says(play: Callable[[Weak], Run], model: type[Weak]) -> None:
    run = play(model())
    assert (run.outcome, ModelCall.objects.filter(run=run).count()) == (Outcome.SUCCEEDED, 8)
    plan = Plan.objects.get(run=run)
    assert plan.reason.split(". ", 1)[1] == (
        "The mark of a list was removed in front of a path. "
        "Left out, since there is no such field: “priority”. Left out, since there is no such field: “step”. "
        "What is null was read as empty. "
        "An object was read as its text “rents.md”. "
        "An object was read as its text “rents.md states the rent of a.txt”. "
        "An object was read as its text “Read the leases”. "
        "Guessed from its words: criterion 1 is about how the result looks, not about the sources (step 1). "
        "A simple plan does not say how complex its steps are: medium. "
        "Guessed from its description: step 1 reads a.txt, b.txt."
    )
    [step] = plan.steps.all()
    assert step.spec.inputs == ["a.txt", "b.txt"]
    assert Attempt.objects.get().output is not None


def test_every_role_is_asked_in_its_short_form(play: Callable[[Weak], Run], api: FakeAnthropic) -> None:
    play(Weak())
    asked = {request.system for request in api.requests}
    assert {prompts.simple(role) for role in prompts.SIMPLE_ROLES} < asked
    verifier = [request for request in api.requests if request.system == prompts.simple(Role.VERIFIER)]
    assert max(len(json.dumps(request.body)) for request in verifier) < 4_000


def test_a_careless_one_proves_nothing(play: Callable[[Weak], Run]) -> None:
    """It quotes what is true and has nothing to do with the sentence."""
    run = play(Weak(lambda _: {"passed": True, "quote": "Lease of Anna Weber.", "source": "a.txt", "statement": ""}))
    assert run.outcome != Outcome.SUCCEEDED
    gate = open_gate(run)
    assert gate.kind in {GateKind.STEP, GateKind.EXHAUSTED}


def test_prose_in_place_of_a_plan_is_asked_about_again(play: Callable[[Weak], Run], api: FakeAnthropic) -> None:
    assert play(Weak(planned="Sure! First I read the leases, then I compare them.")).outcome == Outcome.SUCCEEDED
    planner = [request for request in api.requests if request.system == prompts.simple(Role.PLANNER)]
    assert len(planner) == 2
