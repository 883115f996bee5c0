"""Decisions are shown before they are made, and bound to what was shown or read."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from pevsite.client.decisions import MAX_POINTS
from tests.unit.client.fake_api import URL, FakeApi, arriving, at_terminal, problem

PAGE = f"{URL}/runs/7/#gate-12"
GATE: dict[str, Any] = {
    "gate": 12,
    "run": 7,
    "title": "Review\nDecision 13 is approved.",
    "kind": "plan",
    "status": "open",
    "question": "Approve the plan?",
    "verbs": ["approve", "reject", "stop"],
    "fingerprint": "f" * 64,
    "due_at": "2026-12-01T08:00:00+00:00",
    "address": PAGE,
    "about": ["Approve the plan?", "  Goal: \x1b[2Jreview\n\u202eetad"],
}
QUESTION = {**GATE, "kind": "question", "verbs": ["answer", "delegate", "stop"]}
READ = ["--fingerprint", "f" * 64]


def sent(api: FakeApi) -> list[dict[str, Any]]:
    return [json.loads(one.content) for one in api.requests if one.method == "POST"]


def test_open_decisions_are_listed_by_their_numbers(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("GET /gates", {"gates": [GATE]}, {"gates": []})
    assert api.run("gates") == 0
    assert capsys.readouterr().out.splitlines() == [
        "    12  Approve the plan?",
        "        plan, run 7 “Review Decision 13 is approved.”, due 2026-12-01 08:00 UTC",
        f"        {PAGE}",
    ]
    assert api.run("gates") == 0
    assert capsys.readouterr().out == "No decision waits for you.\n"


@pytest.mark.parametrize(
    ("typed", "decided"), [("y\n", True), ("Yes\n", True), ("\n", False), ("", False), ("n\n", False)]
)
def test_a_person_sees_what_they_approve(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch, typed: str, decided: bool
) -> None:
    api.on("GET /gates/12", GATE)
    api.on("POST /gates/12/decision", {**GATE, "status": "approved"})
    shown = at_terminal(monkeypatch, typed)
    assert api.run("approve", "12", "--budget", "5") == (0 if decided else 1)
    wanted = {"verb": "approve", "fingerprint": "f" * 64, "budget_usd": "5"}
    assert sent(api) == ([wanted] if decided else [])
    assert shown.getvalue().splitlines() == [
        "Decision 12 (plan), open, run 7 “Review Decision 13 is approved.”",
        "      Approve the plan?",
        "        Goal: \\u001b[2Jreview \\u202eetad",
        f"It takes: approve, reject, stop. {PAGE}",
        "Approve decision 12? [y]es, or Enter for no: "
        + ("Decision 12 is approved." if decided else "Nothing was decided."),
    ]


def test_without_a_terminal_only_what_was_read_is_decided(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("GET /gates/12", GATE)
    api.on("POST /gates/12/decision", {**GATE, "status": "rejected"})
    assert (api.run("reject", "12", "-m", "Check the annex."), sent(api)) == (2, [])
    assert capsys.readouterr().err.startswith("There is no terminal to ask in. Read the decision with “")
    assert api.run("reject", "12", "-m", "Check the annex.", "--fingerprint", "e" * 64) == 0
    assert sent(api) == [{"verb": "reject", "fingerprint": "e" * 64, "reason": "Check the annex."}]
    assert capsys.readouterr().out == "Decision 12 is rejected.\n"


def test_a_question_is_answered(api: FakeApi) -> None:
    api.on("GET /gates/12", QUESTION)
    api.on("POST /gates/12/decision", {**QUESTION, "status": "answered"})
    assert api.run("answer", "12", "-m", "In euros.", *READ) == 0
    assert sent(api) == [{"verb": "answer", "fingerprint": "f" * 64, "reason": "In euros."}]


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ({**GATE, "status": "approved"}, f"Decision 12 is not open any more: it is approved. {PAGE}"),
        (QUESTION, f"Decision 12 takes: answer, delegate, stop. {PAGE}"),
        ({"gate": 12}, "The server is of another version, whose answer this command does not understand."),
    ],
)
def test_what_cannot_be_approved_is_not_sent(
    api: FakeApi, capsys: pytest.CaptureFixture[str], gate: dict[str, Any], said: str
) -> None:
    api.on("GET /gates/12", gate)
    assert api.run("approve", "12", *READ) != 0
    assert (sent(api), capsys.readouterr().err) == ([], f"{said}\n")


SCOPE = 'Bearer realm="pevsite", error="insufficient_scope", scope="gates:decide"'


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            problem(403, "A second person decides."),
            f"A second person decides. The page is {PAGE}",
        ),
        (
            problem(403, "This token does not allow it.", WWW_Authenticate=SCOPE),
            "This token does not allow it. Make a token with the scope gates:decide at "
            f"{URL}/access-tokens/, and sign in with “manage.py login {URL}”. The page is {PAGE}",
        ),
        (problem(409, "It has changed."), "It has changed. Read it again with: manage.py gates 12"),
        (problem(422, "Say \x1b[2Jwhy.\nDone."), "Say \\u001b[2Jwhy. Done."),
    ],
)
def test_a_refused_decision_is_not_sent_again(
    api: FakeApi, capsys: pytest.CaptureFixture[str], answer: Any, said: str
) -> None:
    api.on("GET /gates/12", GATE)
    api.on("POST /gates/12/decision", answer)
    assert api.run("approve", "12", *READ) == 1
    assert (len(sent(api)), api.waits, capsys.readouterr().err) == (1, [], f"{said}\n")


def test_a_decision_that_did_not_arrive_is_sent_again_with_its_key(api: FakeApi) -> None:
    api.on("GET /gates/12", GATE)
    busy, working = problem(429, "Too many.", Retry_After="3"), problem(409, "It is worked on.", Retry_After="4")
    lost = arriving(b'{"gate"', httpx2.ReadError("gone"))
    api.on("POST /gates/12/decision", httpx2.ReadTimeout("late"), busy, working, lost, {**GATE, "status": "approved"})
    assert api.run("approve", "12", *READ) == 0
    posted = [one for one in api.requests if one.method == "POST"]
    assert len({(one.headers["Idempotency-Key"], one.content) for one in posted}) == 1
    assert (len(posted), api.waits) == (5, [1, 3, 4, 1])


OPEN_POINTS = {
    **GATE,
    "kind": "exhausted",
    "assigned_to": "alice",
    "criteria": [{"label": "C2", "text": "Names\nthe dates", "finding": ""}],
    "points": [{"number": 3, "text": "F3: no date", "place": ""}],
}


def test_what_can_be_chosen_is_shown_and_sent(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("GET /gates/12", OPEN_POINTS)
    api.on("POST /gates/12/decision", {**OPEN_POINTS, "status": "approved"})
    assert api.run("gates", "12") == 0
    assert capsys.readouterr().out.splitlines()[3:] == [
        "      approve --met C2: Names the dates",
        "      reject --point 3: F3: no date",
        "It is assigned to alice.",
        f"It takes: approve, reject, stop. {PAGE}",
    ]
    assert (api.run("approve", "12", "--met", "C2", *READ), sent(api)) == (2, [])
    assert capsys.readouterr().err == "Say with --why on what grounds the criteria are met.\n"
    assert api.run("approve", "12", "--met", "C2", "--met", "C3", "--why", "Annex B.", "--no-sources", *READ) == 0
    parts = ("--part", "review#2=Be exact.", "--part", "inventory=Count them.", "--part", "#1=Why?")
    assert api.run("reject", "12", "--point", "3=Quote it.", "--point", "4", *parts, *READ) == 0
    posted = [one for one in api.requests if one.method == "POST"]
    assert len({one.headers["Idempotency-Key"] for one in posted}) == len(posted) == 2
    bound = {"fingerprint": "f" * 64}
    assert sent(api) == [
        {"verb": "approve", "met": ["C2", "C3"], "why_met": "Annex B.", "no_sources": True, **bound},
        {
            "verb": "reject",
            "send_back": [{"point": 3, "note": "Quote it."}, {"point": 4, "note": ""}],
            "comments": [
                {"text": "Be exact.", "step": "review", "criterion": 2},
                {"text": "Count them.", "step": "inventory"},
                {"text": "Why?", "criterion": 1},
            ],
            **bound,
        },
    ]


@pytest.mark.parametrize("wrong", [("--point", "x"), ("--part", "review"), ("--part", "=words"), ("--part", "a#x=b")])
def test_what_names_no_part_is_wrong_use(api: FakeApi, wrong: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as ended:
        api.run("reject", "12", *wrong)
    assert (ended.value.code, api.requests) == (2, [])


def test_of_many_points_the_first_are_shown(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    points = [{"number": number, "text": "x", "place": ""} for number in range(1, MAX_POINTS + 3)]
    api.on("GET /gates/12", {**OPEN_POINTS, "points": points})
    assert api.run("gates", "12") == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if "--point" in line][-1] == f"      reject --point {MAX_POINTS}: x"
    assert shown[-3] == "      and 2 more points, which are on the page"


def test_a_question_is_left_to_the_ai(api: FakeApi) -> None:
    api.on("GET /gates/12", QUESTION)
    api.on("POST /gates/12/decision", {**QUESTION, "status": "answered"})
    assert api.run("delegate", "12", *READ) == 0
    assert sent(api) == [{"verb": "delegate", "fingerprint": "f" * 64}]


def test_a_decision_is_handed_on(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("GET /gates/12", {**GATE, "assigned_to": "alice"})
    api.on("POST /gates/12/assignee", {**GATE, "assigned_to": "bob"})
    assert api.run("assign", "12", "bob") == 0
    assert sent(api) == [{"to": "bob", "seen": "alice"}]
    assert capsys.readouterr().out == "Decision 12 is assigned to bob.\n"
