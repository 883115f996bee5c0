"""D3: wherever kill -9 hits a worker, the run ends as if nothing had happened, and at most one reply is paid for twice.

Real processes on a real database; the boundaries are found by a run that nobody kills.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.databases import rows
from tests.fakes.anthropic_answers import Answer, Fail, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, looking, output_criterion, plan, report, step, told, verdict
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.machine import Nursery

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
KILLED = -9
FACTS = {
    "run": "SELECT r.status, outcome, answer, failure, final, t.digest FROM runs_run r"
    " JOIN runs_tree t ON t.id = head_id",
    "plan": "SELECT version, p.status, p.digest, key, s.status, failures, tries, last_action, fingerprint, unproved"
    " FROM runs_plan p JOIN runs_step s ON s.plan_id = p.id ORDER BY s.id",
    "attempts": "SELECT s.key, number, a.status, output, overlay, a.fingerprint, reuse_key, reads, t.digest"
    " FROM runs_attempt a JOIN runs_step s ON s.id = step_id LEFT JOIN runs_tree t ON t.id = tree_id ORDER BY a.id",
    "verdicts": "SELECT stage, passed, action, severity, feedback, notes, results, requests FROM runs_verdict"
    " ORDER BY id",
    "gates": "SELECT kind, status, digest, question, reason, request FROM runs_gate ORDER BY id",
    "tool calls": "SELECT generation, ordinal, name, arguments, result, is_error, writes FROM runs_toolcall"
    " ORDER BY id",
    "replies": "SELECT generation, ordinal, live, role, model, stop_reason, content, error FROM runs_modelcall"
    " ORDER BY id",
    "work": "SELECT kind, status, lease_until, reserved_usd, reserved_uses, withheld, generation, tries, error"
    " FROM runs_workitem ORDER BY id",
    "trees": "SELECT digest, file_count, total_size FROM runs_tree ORDER BY digest",
    "history": "SELECT kind FROM runs_event WHERE kind NOT IN ('recovered', 'session_resumed') ORDER BY seq",
}


def executor(request: Request, right: Answer) -> Answer:
    """Four rounds, each told from the conversation alone, so that a question asked again gets the same answer."""
    match sum(message["role"] == "assistant" for message in request.messages):
        case 0:
            draft = {"path": "one.md", "content": "A draft.\nNothing more.\n"}
            return UseTools(ToolUse("read_file", {"path": "notes.md"}), ToolUse("write_file", draft))
        case 1:
            return UseTools(ToolUse("edit_file", {"path": "one.md", "old": "A draft.", "new": "Found by one."}))
        case 2:
            return UseTools(ToolUse("write_file", {"path": "list.md", "content": "- one\n"}))
        case _:
            return Say(json.dumps(report("Found by one.")))


def verifier(request: Request, right: Answer) -> Answer:
    """Of the step: first a quote that stands nowhere; asked for evidence again, what the third tool call answered."""
    if any(part.kind == "subject" and part.text.startswith("The whole task") for part in told(request)):
        return right
    if len(request.messages) == 1:
        return Say(json.dumps(verdict(labels_of(request), "one.md", "this was never written there")))
    return Say(json.dumps(verdict(labels_of(request), "@tool-3", "one.md was changed in line 1")))


@pytest.fixture(scope="module")
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server
    assert server.violations == []


@pytest.fixture(autouse=True)
def team(api: FakeAnthropic) -> None:
    """Who answers, unless a test says otherwise."""
    api.script(Team(plan=plan(step("one", outputs=("one.md", "list.md"))), executor=executor, verifier=verifier))


@pytest.fixture(scope="module")
def nursery(
    tmp_path_factory: pytest.TempPathFactory, installation: Installation, api: FakeAnthropic
) -> Iterator[Nursery]:
    """Saved as `plan` and `budget`: a run is submitted, without and with a budget. Nobody has begun to work on it."""
    variables = {
        "PEV_MAX_LOSSES": "1000",  # one test kills for as long as it takes
        "PEV_CONTEXT_TOKENS_EXECUTOR": "14000",  # one fills it
        "PEV_COMMANDS": "tests: test -s one.md",
    }
    nursery = Nursery(tmp_path_factory.mktemp("nursery"), installation, api, variables)
    for errand, name in (("submit", "plan"), ("submit with a budget", "budget")):
        nursery.restore("new")
        assert nursery.send(Errand(errand)) == ([], 0)
        nursery.save(name)
    yield nursery
    nursery.close()


def blobs(data: Path) -> list[Path]:
    """A kill may leave a draft beside them, under a name that nothing asks for."""
    return sorted(path for path in data.glob("blobs/*/*") if len(path.name) == 62)


def without_ids(text: str) -> str:
    return re.sub(r"\b(toolu|msg|req)_fake_\d+", r"\1", text)


def facts(data: Path) -> dict[str, list[Any]]:
    """Everything of a run that time, ids and kills have no part in."""
    found = {name: json.loads(without_ids(json.dumps(rows(data, sql)))) for name, sql in FACTS.items()}
    return found | {"blobs": [path.parent.name + path.name for path in blobs(data)]}


def broken(data: Path) -> list[str]:
    """What must never be: events with gaps or twice, blobs that are not what their names say."""
    numbers = [seq for (seq,) in rows(data, "SELECT seq FROM runs_event ORDER BY seq")]
    found = [] if numbers == list(range(1, len(numbers) + 1)) else [f"the events are numbered {numbers}"]
    hashes = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in blobs(data)}
    return found + [f"{path} holds other bytes" for path, sha in hashes.items() if sha != path.parent.name + path.name]


def asked(api: FakeAnthropic) -> tuple[list[str], int]:
    """The different questions in order, without ids, and how many were asked although they had been before."""
    bodies = [json.dumps(request.body) for request in api.requests]
    return [without_ids(body) for body in dict.fromkeys(bodies)], len(bodies) - len(set(bodies))


@dataclass(frozen=True)
class Course:
    """How an errand goes that nobody disturbs: the boundaries it crosses, what comes of it, what is asked."""

    crossed: list[str]
    facts: dict[str, list[Any]]
    questions: list[str]


def undisturbed(nursery: Nursery, api: FakeAnthropic, name: str, start: str) -> Course:
    begin(nursery, api, start)
    crossed, status = nursery.send(Errand(name))
    questions, repeated = asked(api)
    assert (status, repeated, broken(nursery.data)) == (0, 0, [])
    return Course(crossed, facts(nursery.data), questions)


def begin(nursery: Nursery, api: FakeAnthropic, start: str) -> None:
    nursery.restore(start)
    api.requests.clear()


def killed_everywhere(nursery: Nursery, api: FakeAnthropic, kind: str, start: str = "") -> Course:
    """Carry out the work of one kind, killed once, at each boundary in turn: what comes of it never differs."""
    start = start or kind
    course = undisturbed(nursery, api, kind, start)
    for number, boundary in enumerate(course.crossed, 1):
        where = f"{kind}, boundary {number} of {len(course.crossed)}, {boundary}"
        begin(nursery, api, start)
        assert nursery.send(Errand(kind, kill_at=number)) == (course.crossed[:number], KILLED), where
        history = facts(nursery.data)["history"]
        assert history == course.facts["history"][: len(history)], where
        leased = rows(nursery.data, "SELECT count(*) FROM runs_workitem WHERE status = 'leased'")
        assert nursery.send(Errand(kind))[1] == 0, where
        assert facts(nursery.data) == course.facts, where
        assert broken(nursery.data) == [], where
        in_flight = int(boundary.startswith("before ") and "modelcall" in boundary)
        assert asked(api) == (course.questions, in_flight), where
        assert rows(nursery.data, "SELECT count(*) FROM runs_event WHERE kind = 'recovered'") == leased, where
    return course


@pytest.mark.slow
def test_killed_at_every_boundary(nursery: Nursery, api: FakeAnthropic) -> None:
    """Of planning, of an attempt (four rounds, four tools, evidence asked for again), and of finalising."""
    killed_everywhere(nursery, api, "plan")
    nursery.save("attempt")
    attempt = killed_everywhere(nursery, api, "attempt")
    nursery.save("finalise")
    end = killed_everywhere(nursery, api, "finalise")
    assert len(attempt.crossed) >= 20
    calls = [name for name in attempt.crossed if re.match("before .*(modelcall|toolcall)", name)]
    assert len(calls) == 4 + 4 + 2
    assert end.facts["run"][0][:3] == ["finished", "succeeded", "The result is done."]
    assert [row[:3] for row in end.facts["attempts"]] == [["one", 1, "passed"]]


def circling(request: Request, right: Answer) -> Answer:
    """Lists the files until it is stopped, once more although tools are forbidden, and reports then."""
    turns = sum(message["role"] == "assistant" for message in request.messages)
    if turns == 0:
        return UseTools(ToolUse("write_file", {"path": "one.md", "content": "one.md was changed in line 1\n"}))
    return UseTools(ToolUse("list_files", {})) if turns < 5 else Say(json.dumps(report("Found by one.")))


def killed_after_each_row(nursery: Nursery, api: FakeAnthropic, kind: str, start: str) -> Course:
    """Each worker adds one reply or one result, and dies of it: nothing is asked twice."""
    course = undisturbed(nursery, api, kind, start)
    begin(nursery, api, start)
    known = facts(nursery.data)
    dying = Errand(kind, kill_on="after .*(modelcall|toolcall)")
    for rows_of in ("replies", "tool calls"):
        for _ in course.facts[rows_of][len(known[rows_of]) :]:
            assert nursery.send(dying)[1] == KILLED
    assert nursery.send(dying)[1] == 0
    assert facts(nursery.data) == course.facts
    assert broken(nursery.data) == []
    assert asked(api) == (course.questions, 0)
    return course


@pytest.mark.slow
def test_killed_after_every_row_of_the_journal_in_turn(nursery: Nursery, api: FakeAnthropic) -> None:
    killed_after_each_row(nursery, api, "drain", start="budget")


@pytest.mark.slow
def test_an_attempt_that_goes_round_in_circles_takes_the_same_turns_again(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(Team(plan=plan(step("one")), executor=circling))
    course = killed_after_each_row(nursery, api, "drain", start="plan")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "passed"]]
    calls = [row[1:3] for row in course.facts["tool calls"]]
    assert calls == [[1, "write_file"], [2, "list_files"], [3, "list_files"], [4, "list_files"]]


def writing_at_length(request: Request, right: Answer) -> Answer:
    """Writes more than the window holds, in two turns; in the new conversation it reads some of that, and reports then.

    After the first turn the window is full by estimate, not by what the server has reported.
    """
    if not any(part.kind == "calls" for part in told(request)):
        return UseTools(ToolUse("write_file", {"path": "one.md", "content": "Found by one.\n" * 1_400}))
    if request.tool_results:
        return Say(json.dumps(report("Found by one.")))
    return UseTools(ToolUse("read_file", {"path": "one.md", "lines": 3}))


@pytest.mark.slow
def test_an_attempt_that_fills_its_window_goes_on_at_the_same_place(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(Team(plan=plan(step("one")), executor=writing_at_length))
    course = killed_after_each_row(nursery, api, "drain", start="plan")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "passed"]]
    assert [row[1:3] for row in course.facts["tool calls"]] == [[1, "write_file"], [2, "write_file"], [3, "read_file"]]
    asked_again = [text for text in course.questions if "was near the limit of 14,000 tokens" in text]
    assert len(asked_again) == 2


ASK = ToolUse("ask_person", {"question": "Which law applies?", "choices": ["German law"]})


def asking_first(request: Request, right: Answer) -> Answer:
    return right if request.tool_results else UseTools(ASK)


def asking_between(request: Request, right: Answer) -> Answer:
    """Writes, asks and goes on, in one turn; what it writes then depends on the answer."""
    match sum(message["role"] == "assistant" for message in request.messages):
        case 0:
            more = ToolUse("ask_person", {"question": "And whose address?"})
            return UseTools(ToolUse("write_file", {"path": "one.md", "content": "A draft.\n"}), ASK, more)
        case 1:
            law = "German" if "German law" in json.dumps(request.last_blocks) else "No"
            return UseTools(ToolUse("write_file", {"path": "one.md", "content": f"{law} law applies.\n"}))
        case _:
            return Say(json.dumps(report("Found by one.")))


@pytest.mark.slow
def test_a_question_to_a_person_is_asked_once_and_its_answer_is_not_lost(nursery: Nursery, api: FakeAnthropic) -> None:
    """Of a planner and of an executor that has written before: killed everywhere before, at and after the answer."""
    api.script(Team(plan=plan(step("one")), planner=asking_first, executor=asking_between))
    killed_everywhere(nursery, api, "plan")
    for number, kind in enumerate(("plan", "attempt")):
        nursery.save(f"asked {number}")
        killed_everywhere(nursery, api, "answer", f"asked {number}")
        nursery.save(f"answered {number}")
        killed_everywhere(nursery, api, kind, f"answered {number}")
        if kind == "plan":
            nursery.save("planned")
            killed_everywhere(nursery, api, "attempt", "planned")
    found = facts(nursery.data)
    assert [row[1:3] for row in found["attempts"]] == [[1, "passed"]]
    assert [row[2] for row in found["tool calls"]] == [
        "ask_person",
        "write_file",
        "ask_person",
        "ask_person",
        "write_file",
    ]
    assert [(row[0], row[1], row[5]) for row in found["gates"]] == [
        ("question", "answered", 1),
        ("question", "answered", 2),
    ]


@pytest.mark.needs("bubblewrap")
def test_what_a_command_printed_decides_also_after_a_crash(nursery: Nursery, api: FakeAnthropic) -> None:
    """Run by a model, as a check of a step, and as one of the whole task; each is in the journal once."""
    check = {"kind": "command", "command": "tests"}
    one = step("one") | {"tools": ["write_file", "run_command"]}
    one["acceptance_criteria"].append(output_criterion("The tests pass", check))
    whole = plan(one)
    whole["success_criteria"].append(output_criterion("The tests pass", check))
    run = ToolUse("run_command", {"command": "tests"})
    api.script(Team(plan=whole, executor=looking(one=[run])))
    killed_everywhere(nursery, api, "plan")
    nursery.save("tested attempt")
    killed_everywhere(nursery, api, "attempt", "tested attempt")
    nursery.save("tested end")
    end = killed_everywhere(nursery, api, "finalise", "tested end")
    assert end.facts["run"][0][:2] == ["finished", "succeeded"]
    calls = [(row[1], row[2], row[4]) for row in end.facts["tool calls"]]
    assert calls == [
        (1, "run_command", "tests (test -s one.md) ended with status 1.\n"),
        (2, "write_file", calls[1][2]),
        (30_000, "run_command", "tests (test -s one.md) ended with status 0.\n"),
        (30_000, "run_command", "tests (test -s one.md) ended with status 0.\n"),
    ]


def rewriting(request: Request, right: Answer) -> Answer:
    if request.tool_results:
        return Say(json.dumps(report("Found by one.")))
    asked_for = any(part.kind == "person" for part in told(request))
    text = "A draft.\nSeverity: high.\n" if asked_for else "A draft.\n"
    return UseTools(ToolUse("write_file", {"path": "one.md", "content": text}))


def slow_to_prove(request: Request, right: Answer) -> Answer:
    """Of what a person asked for: first a line that was there before; asked for evidence again, the new one."""
    if any(part.kind == "subject" and part.text.startswith("The whole task") for part in told(request)):
        return right
    quote = "A draft." if len(request.messages) == 1 else "Severity: high."
    return Say(json.dumps(verdict(labels_of(request), "one.md", quote)))


@pytest.mark.slow
def test_what_a_person_asked_for_is_judged_as_if_nothing_had_happened(nursery: Nursery, api: FakeAnthropic) -> None:
    wanted = plan(step("one", complexity="high"))
    api.script(Team(plan=wanted, executor=rewriting, verifier=slow_to_prove))
    nursery.restore("plan")
    assert [nursery.send(Errand(name))[1] for name in ("drain", "reject")] == [0, 0]
    nursery.save("rejected")
    course = killed_after_each_row(nursery, api, "drain", start="rejected")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "rejected"], ["one", 2, "passed"]]
    (answered,) = json.loads(course.facts["verdicts"][1][-1])
    assert (answered["status"], answered["evidence"][0]["quote"]) == ("met", "Severity: high.")
    assert [row[:2] + row[4:] for row in course.facts["gates"]] == [
        ["step", "rejected", "Name the severity", 1],
        ["step", "open", "", None],
    ]


def forbidden_at_first(request: Request, right: Answer) -> Answer:
    """Every question about the first version is refused, once a file has been read."""
    if any(part.kind == "goal" and "otherwise" in part.text for part in told(request)):
        return right
    if not request.tool_results:
        return UseTools(ToolUse("read_file", {"path": "notes.md"}))
    return Fail(403, "permission_error", "This is not allowed.")


@pytest.mark.slow
def test_changes_requested_at_an_error_are_planned_wherever_it_is_killed(nursery: Nursery, api: FakeAnthropic) -> None:
    """Between the answer of the person and the new plan too: the answer is there with all that follows, or not."""
    api.script(Team(plan=plan(step("one")), executor=forbidden_at_first))
    nursery.restore("plan")
    assert nursery.send(Errand("drain"))[1] == 0
    nursery.save("held")
    held = facts(nursery.data)
    crossed, _ = nursery.send(Errand("reject"))
    nursery.save("revised")
    revised = facts(nursery.data)
    assert [row[:2] for row in revised["work"]] == [["plan", "done"], ["attempt", "cancelled"], ["plan", "ready"]]
    for number, boundary in enumerate(crossed, 1):
        nursery.restore("held")
        assert nursery.send(Errand("reject", kill_at=number)) == (crossed[:number], KILLED)
        assert facts(nursery.data) == (held if boundary.startswith("before") else revised), boundary
    planned = killed_everywhere(nursery, api, "plan", start="revised")
    assert [row[0] for row in planned.facts["plan"]] == [1, 2]
    course = killed_after_each_row(nursery, api, "drain", start="revised")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "cancelled"], ["one", 1, "passed"]]
    assert course.facts["run"][0][:2] == ["finished", "succeeded"]
    assert [row[:2] + row[4:] for row in course.facts["gates"]] == [["error", "rejected", "Name the severity", 1]]
    [asked_again] = [text for text in course.questions if "Name the severity" in text and "Your role: planner" in text]
    assert "An error that held version 1 in step one" in asked_again


@pytest.mark.slow
def test_killed_at_any_moment_until_it_is_done(nursery: Nursery, api: FakeAnthropic) -> None:
    """The longer it takes, the later the next blow falls, so that a busy machine comes to an end too."""
    course = undisturbed(nursery, api, "drain", start="budget")
    begin(nursery, api, start="budget")
    chance = random.Random(3)
    kills = 0
    while nursery.send(Errand("drain", kill_after=chance.random() * (0.2 + 0.02 * kills)))[1] == KILLED:
        kills += 1
    assert kills > 0
    assert facts(nursery.data) == course.facts
    assert broken(nursery.data) == []
    questions, repeated = asked(api)
    assert questions == course.questions
    assert repeated <= kills
