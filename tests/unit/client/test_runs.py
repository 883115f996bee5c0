"""`watch` says what happens and what is asked, by the stream of events, and ends with the exit code of the outcome."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from pevsite.client import server
from tests.unit.client.fake_api import URL, FakeApi, arriving, at_terminal, problem

PAGE = f"{URL}/runs/7/"
END = b"event: end\ndata: {}\n\n"
BROKEN = httpx2.ReadError("gone")
LATE = httpx2.ReadTimeout("late")


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


def event(seq: int, sentence: str, kind: str = "note") -> bytes:
    return f"id: {seq}\ndata: {json.dumps({'seq': seq, 'kind': kind, 'sentence': sentence})}\n\n".encode()


def page(*sentences: str, first: int = 1, finished: bool = False) -> dict[str, Any]:
    """The answer of a server that knows no streams."""
    lines = [{"seq": number, "sentence": one} for number, one in enumerate(sentences, first)]
    return {"events": lines, "next": first - 1 + len(lines), "finished": finished}


ASKED = {"gate": 12, "kind": "plan", "question": "Approve\nthe plan?", "yours": True, "address": f"{PAGE}#run-gates"}
LATER = {**ASKED, "gate": 13, "yours": False}


def asked_since(api: FakeApi) -> list[tuple[str, str]]:
    """After which event each request for events asked, by its query and its header."""
    found = [one for one in api.requests if one.url.path.endswith("/events")]
    return [(one.url.params["since"], one.headers.get("Last-Event-ID", "")) for one in found]


def test_what_happens_is_said_once(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    waiting = status("waiting", decisions=[ASKED])
    api.on("GET /runs/7/status", status(), waiting, status(decisions=[LATER]), status("partial"))
    first, second = event(1, "Submitted."), event(2, "A plan \x1b[31mis\n   2  forged.", "gate_opened")
    api.on(
        "GET /runs/7/events",
        arriving(
            first + second[:20],
            second[20:],
            b": nothing new\n\n",
            event(3, "Approved.", "gate_decided"),
            event(4, "A call."),
            event(5, "Finished.") + END,
        ),
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
        "   4  A call.",
        "   5  Finished.",
        f"Run 7: partial. 2 of 3 steps are done. {PAGE}",
    ]
    (asked,) = (one for one in api.requests if one.url.path.endswith("/events"))
    assert (asked.headers["Accept"], asked.headers["Accept-Encoding"]) == ("text/event-stream", "identity")
    assert (len(api.requests), api.waits) == (5, [])  # the call and the heartbeat need no look at the status


def test_a_stream_that_breaks_off_goes_on_after_the_last_event(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET /runs/7/status", status(), status("succeeded"))
    api.on(
        "GET /runs/7/events",
        arriving(event(1, "One.") + event(2, "Two.") + event(3, "Three.")[:9], BROKEN),
        httpx2.ConnectError("refused"),
        problem(503, "Restarting.", Retry_After="20"),
        arriving(),
        arriving(event(3, "Three.") + END),
    )
    assert api.run("watch", "7") == 0
    shown = capsys.readouterr()
    assert [line.strip() for line in shown.out.splitlines()[:-1]] == ["1  One.", "2  Two.", "3  Three."]
    assert shown.err == f"{URL} is busy. Trying again in 20 seconds.\n"
    assert asked_since(api) == [("0", "0"), *[("2", "2")] * 4]
    assert api.waits == [1, 1, 20, 2]


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [arriving(LATE)],
        [LATE],
        [arriving(BROKEN), arriving(), arriving(BROKEN)],
    ],
)
def test_without_a_stream_it_asks_again_and_again(
    api: FakeApi, capsys: pytest.CaptureFixture[str], answers: list[Any]
) -> None:
    api.on("GET /runs/7/status", status(), status("succeeded"))
    without = [] if answers else [page("not read: it is no stream")]
    pages = page("One."), page(first=2), page("Two.", first=2, finished=True)
    api.on("GET /runs/7/events", *answers, *without, *pages)
    assert api.run("watch", "7") == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[:2] == ["   1  One.", "   2  Two."]
    assert shown.err == "No stream of events arrives from the server. Asking every 2 seconds instead.\n"
    assert (asked_since(api)[-3:], api.waits[-1]) == ([("0", ""), ("1", ""), ("1", "")], 2)


def test_a_server_that_stays_away_is_given_up(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("GET /runs/7/events", httpx2.ConnectError("refused"))
    assert api.run("watch", "7") == 1
    assert api.waits == [1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30, 30]
    assert capsys.readouterr().err.splitlines()[-1] == f"{URL} cannot be reached: refused. Check the address."


@pytest.mark.parametrize(("asked", "waits"), [("5", [5.0] * 48), ("0", [1.0] * 240)])
def test_a_server_that_says_when_to_come_again_is_waited_for_as_long(
    api: FakeApi, asked: str, waits: list[float]
) -> None:
    api.on("GET /runs/7/events", problem(503, "Restarting.", Retry_After=asked))
    assert (api.run("watch", "7"), api.waits) == (1, waits)


@pytest.mark.parametrize(
    ("status_code", "said"), [(401, "The page is"), (404, "There is no run 7 that you may see.\n")]
)
def test_a_token_or_rights_that_end_meanwhile(
    api: FakeApi, capsys: pytest.CaptureFixture[str], status_code: int, said: str
) -> None:
    api.on("GET /runs/7/status", status())
    refused = problem(status_code, "There is no run 7 that you may see.")
    api.on("GET /runs/7/events", arriving(event(1, "Submitted.")), refused)
    assert (api.run("watch", "7"), api.waits) == (1, [1])
    assert said in capsys.readouterr().err


def test_an_event_that_is_too_large(
    api: FakeApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where each of its lines is small."""
    monkeypatch.setattr(server, "MAX_EVENT_BYTES", 1_000)
    line = b"data: " + b"x" * 90 + b"\n"
    api.on("GET /runs/7/status", status())
    api.on("GET /runs/7/events", arriving(event(1, "One." + "x" * 800), *[line] * 20, b"\n" + END))
    assert api.run("watch", "7") == 1
    shown = capsys.readouterr()
    assert (shown.out[:9], shown.err) == ("   1  One", "The server sends an event that is too large.\n")


@pytest.mark.parametrize("sent", [b"data: {}\n\n", b"data: [1\n\n", b'data: {"seq": "x", "sentence": 1}\n\n'])
def test_events_that_are_not_understood(api: FakeApi, capsys: pytest.CaptureFixture[str], sent: bytes) -> None:
    api.on("GET /runs/7/events", arriving(sent))
    assert api.run("watch", "7") == 1
    said = "The server is of another version, whose events this command does not understand.\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("state", "code"), [("succeeded", 0), ("partial", 3), ("failed", 1), ("cancelled", 1), ("later", 1)]
)
def test_the_exit_code_is_that_of_the_outcome(
    api: FakeApi, capsys: pytest.CaptureFixture[str], state: str, code: int
) -> None:
    api.on("GET /runs/7/status", status(state))
    api.on("GET /runs/7/events", arriving(event(1, "Finished. \u202e\u2028") + END))
    assert api.run("watch", "7", "--json") == code
    assert [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]] == [
        {"seq": 1, "kind": "note", "sentence": "Finished. \u202e\u2028"},
        status(state),
    ]


def test_it_can_leave_when_something_is_asked(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("GET /runs/7/status", status(), status("waiting", decisions=[ASKED]))
    api.on("GET /runs/7/events", arriving(event(1, "Submitted."), event(2, "Asked.", "gate_opened"), BROKEN))
    assert api.run("watch", "7", "--until-asked") == 4
    assert capsys.readouterr().out.splitlines()[2] == "      You decide: Approve the plan?"
    blind = FakeApi()
    blind.on("GET /runs/7/status", status(decisions=None))
    blind.on("GET /runs/7/events", arriving(event(1, "Submitted.")))
    assert blind.run("watch", "7", "--until-asked") == 1
    assert capsys.readouterr().err.endswith("Make one with gates:read.\n")


def test_ctrl_c_leaves_the_run_alone(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt() -> httpx2.Response:
        raise KeyboardInterrupt

    api.on("GET /runs/7/events", interrupt)
    assert api.run("watch", "7") == 130
    assert capsys.readouterr().err == "\nInterrupted. A run that was submitted goes on at the server.\n"


def test_a_terminal_shows_progress_and_no_markup_of_texts(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    api.on("GET /runs/7/status", status(), status("succeeded"))
    api.on("GET /runs/7/events", arriving(event(1, "[bold]Submitted[/bold] \x1b]0;title\x07"), END))
    monkeypatch.setenv("TERM", "xterm")
    shown = at_terminal(monkeypatch, "")
    assert api.run("watch", "7") == 0
    assert "   1  [bold]Submitted[/bold] \\u001b]0;title\\u0007" in shown.getvalue()
    assert "Run 7: executing, $0.25" in shown.getvalue()
    assert "\x1b]0" not in shown.getvalue()


@pytest.mark.parametrize(
    ("command", "sent"),
    [
        (["stop", "7", "-m", "Wrong files."], {"reason": "Wrong files."}),
        (["pause", "7"], {}),
        (["resume", "7"], {}),
    ],
)
def test_a_person_steps_in(
    api: FakeApi, capsys: pytest.CaptureFixture[str], command: list[str], sent: dict[str, str]
) -> None:
    api.on(f"POST /runs/7/{command[0]}", BROKEN, status("paused"))
    assert api.run(*command) == 0
    assert [json.loads(one.content) for one in api.requests] == [sent, sent]
    assert len({one.headers["Idempotency-Key"] for one in api.requests}) == 1
    assert capsys.readouterr().out == f"Run 7: paused. 2 of 3 steps are done. {PAGE}\n"
