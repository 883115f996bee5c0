"""`watch` says what happens and what is asked, and ends with the exit code of the outcome."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.client.fake_api import URL, FakeApi, at_terminal

PAGE = f"{URL}/runs/7/"


def status(state: str = "executing", **changes: Any) -> dict[str, Any]:
    return {
        "run": 7,
        "title": "Review",
        "state": state,
        "sentence": "2 of 3 steps are done.",
        "steps_done": 2,
        "steps": 3,
        "cost_usd": 0.25,
        "decisions": [],
        "address": PAGE,
    } | changes


def events(*sentences: str, first: int = 1, finished: bool = False) -> dict[str, Any]:
    lines = [{"seq": number, "sentence": one} for number, one in enumerate(sentences, first)]
    return {"events": lines, "next": first - 1 + len(lines), "finished": finished}


ASKED = {"gate": 12, "kind": "plan", "question": "Approve\nthe plan?", "yours": True, "address": f"{PAGE}#run-gates"}
LATER = {**ASKED, "gate": 13, "yours": False}


def test_what_happens_is_said_once(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    waiting = status("waiting", decisions=[ASKED])
    api.on("GET /runs/7/status", waiting, waiting, status(decisions=[LATER]), status("partial"))
    api.on(
        "GET /runs/7/events",
        events("Submitted.", "A plan \x1b[31mis\n   2  forged."),
        events(first=3),
        events("Approved.", first=3),
        events("Finished.", first=4, finished=True),
    )
    assert api.run("watch", "7") == 3
    assert capsys.readouterr().out.splitlines() == [
        "   1  Submitted.",
        "   2  A plan \\u001b[31mis 2 forged.",
        "      You decide: Approve the plan?",
        f"      {PAGE}#run-gates or: manage.py gates 12",
        "   3  Approved.",
        "      Another person decides: Approve the plan?",
        f"      {PAGE}#run-gates or: manage.py gates 13",
        "   4  Finished.",
        f"Run 7: partial. 2 of 3 steps are done. {PAGE}",
    ]
    asked = [int(one.url.params["since"]) for one in api.requests if one.url.path.endswith("events")]
    assert (asked, api.waits) == ([0, 2, 2, 3], [1, 1, 1])


@pytest.mark.parametrize(
    ("state", "code"), [("succeeded", 0), ("partial", 3), ("failed", 1), ("cancelled", 1), ("later", 1)]
)
def test_the_exit_code_is_that_of_the_outcome(
    api: FakeApi, capsys: pytest.CaptureFixture[str], state: str, code: int
) -> None:
    api.on("GET /runs/7/status", status(state))
    api.on("GET /runs/7/events", events("Finished.", finished=True))
    assert api.run("watch", "7", "--json") == code
    assert json.loads(capsys.readouterr().out) == status(state)


def test_a_terminal_shows_progress_and_no_markup_of_texts(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    api.on("GET /runs/7/status", status(), status("succeeded"))
    api.on("GET /runs/7/events", events("[bold]Submitted[/bold] \x1b]0;title\x07"), events(first=2, finished=True))
    monkeypatch.setenv("TERM", "xterm")
    shown = at_terminal(monkeypatch, "")
    assert api.run("watch", "7") == 0
    assert "   1  [bold]Submitted[/bold] \\u001b]0;title\\u0007" in shown.getvalue()
    assert "Run 7: executing, $0.25" in shown.getvalue()
    assert "\x1b]0" not in shown.getvalue()
