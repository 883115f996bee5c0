"""`watch`: the events of a run as they happen, and the decisions that it waits for, until it is over."""

from __future__ import annotations

from argparse import Namespace

from pevsite.client import answers
from pevsite.client.answers import Events, OpenDecision, Status
from pevsite.client.screen import Screen, one_line
from pevsite.client.server import Server
from pevsite.installation import PROGRAM
from runs.enums import Outcome

POLL_SECONDS = 1.0
"""Between two questions for what is new; the API takes many more of them in a minute."""


def watch(server: Server, screen: Screen, options: Namespace) -> int:
    return follow(server, screen, options.run)


def follow(server: Server, screen: Screen, run: int) -> int:
    """Say what happens until the run is finished. Returns the exit code for its outcome."""
    said: set[int] = set()
    seen = 0
    with screen.progress() as progress:
        while True:
            page = answers.read(Events, server.get(f"/runs/{run}/events", since=seen))
            for event in page.events:
                screen.say(f"{event.seq:>4}  {one_line(event.sentence)}")
            seen = page.next
            answer = server.get(f"/runs/{run}/status")
            status = answers.read(Status, answer)
            words = f"Run {run}: {status.state}, ${status.cost_usd:,.2f}"
            progress.show(words, status.steps_done, status.steps)
            if page.finished:
                break
            for one in status.decisions or ():
                if one.gate not in said:
                    said.add(one.gate)
                    _say_decision(screen, one)
            server.wait(POLL_SECONDS)
    screen.say(f"Run {run}: {status.state}. {one_line(status.sentence)} {status.address}")
    screen.answer(answer)
    return Outcome(status.state).exit_code if status.state in list(Outcome) else 1


def _say_decision(screen: Screen, one: OpenDecision) -> None:
    """Say what is asked, and where it is answered."""
    who = "You decide" if one.yours else "Another person decides"
    screen.say(f"      {who}: {one_line(one.question)}")
    screen.say(f"      {one.address} or: {PROGRAM} gates {one.gate}")
