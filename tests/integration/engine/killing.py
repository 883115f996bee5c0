"""What a run leaves behind when its workers are killed, compared with the same run that no one disturbs."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.databases import rows, write
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import labels_of, report, told, verdict
from tests.integration.engine.killed import Errand
from tests.integration.engine.machine import Nursery

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
    # The digest of a call has the id of its attempt, and on PostgreSQL a transaction that is rolled back uses up ids.
    "gates": "SELECT kind, status, CASE WHEN kind = 'tool' THEN '' ELSE digest END, question, reason, request"
    " FROM runs_gate ORDER BY id",
    "tool calls": "SELECT generation, ordinal, name, arguments, result, is_error, writes FROM runs_toolcall"
    " ORDER BY id",
    "replies": "SELECT generation, ordinal, live, role, model, stop_reason, content, error FROM runs_modelcall"
    " ORDER BY id",
    "work": "SELECT kind, status, lease_until, reserved_usd, reserved_uses, withheld, generation, tries, error"
    " FROM runs_workitem ORDER BY id",
    "canaries": "SELECT step_key, model, fault, place, was, planted, outcome, why FROM runs_canary ORDER BY id",
    "trees": "SELECT digest, file_count, total_size FROM runs_tree ORDER BY digest",
    "history": "SELECT kind FROM runs_event WHERE kind NOT IN ('recovered', 'session_resumed') ORDER BY seq",
}

OF_THE_ATTEMPT = ("attempts", "verdicts", "tool calls", "replies")


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
    """An errand that is not disturbed: the boundaries it crosses, the facts it leaves, the questions it asks."""

    crossed: list[str]
    facts: dict[str, list[Any]]
    questions: list[str]


def undisturbed(nursery: Nursery, api: FakeAnthropic, name: str, start: str, answers: int = 0) -> Course:
    begin(nursery, api, start)
    crossed, status = nursery.send(Errand(name, answers=answers))
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


def killed_after_each_row(
    nursery: Nursery, api: FakeAnthropic, kind: str, start: str, meanwhile: str = "", answers: int = 0
) -> tuple[Course, int]:
    """Each worker commits one reply or one result and is killed; returns what comes of it, and the number of kills.

    Nothing is asked twice. `meanwhile`: SQL that is executed after the first kill and changes only what comes after
    the attempt. `answers`: how many gates are answered on the way.
    """
    course = undisturbed(nursery, api, kind, start, answers)
    begin(nursery, api, start)
    errand = Errand(kind, answers=answers, kill_on="after .*(modelcall|toolcall)")
    kills = 0
    while (status := nursery.send(errand)[1]) == KILLED:
        kills += 1
        assert kills < 50
        if meanwhile and kills == 1:
            write(nursery.data, meanwhile)
    assert (status, kills > 0) == (0, True)
    compared = OF_THE_ATTEMPT if meanwhile else tuple(course.facts)
    ended = facts(nursery.data)
    assert {part: ended[part] for part in compared} == {part: course.facts[part] for part in compared}
    assert broken(nursery.data) == []
    assert asked(api) == (course.questions, 0)
    return course, kills


def in_four_rounds(request: Request, right: Answer) -> Answer:
    """Takes four rounds. Each follows from the conversation alone, so that the same question gets the same answer."""
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


def proves_when_asked_again(request: Request, right: Answer) -> Answer:
    """A verifier of steps: first it quotes what is nowhere; asked for evidence again, what the third call answered."""
    if of_whole_task(request):
        return right
    if len(request.messages) == 1:
        return Say(json.dumps(verdict(labels_of(request), "one.md", "this was never written there")))
    return Say(json.dumps(verdict(labels_of(request), "@tool-3", "one.md was changed in line 1")))


def of_whole_task(request: Request) -> bool:
    return any(part.kind == "subject" and part.text.startswith("The whole task") for part in told(request))
