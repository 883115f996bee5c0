"""`watch`, `stop`, `pause` and `resume`: what happens in a run, and how a person steps in."""

from __future__ import annotations

from argparse import Namespace
from http.client import FORBIDDEN

from pevsite.client.server import OpenDecision, Server, Status, read
from pevsite.client.terminal import ASKED, Failed, Screen, one_line
from pevsite.installation import PROGRAM
from runs.enums import Outcome, TokenScope

_ABOUT_DECISIONS = "gate_"
"""How the kinds of events begin that are about decisions."""


def watch(server: Server, screen: Screen, options: Namespace) -> int:
    return follow(server, screen, options.run, until_asked=options.until_asked)


def follow(server: Server, screen: Screen, run: int, *, until_asked: bool = False) -> int:
    """Say what happens and what is asked, until the run is over, or until a decision is open. Returns the exit code.

    As JSON, each event has a line, and the status of the run the last one.
    """
    said: set[int] = set()
    answer = None
    with screen.progress() as progress:
        for page in server.events(run):
            for event in page.events:
                screen.say(f"{event.seq:>4}  {one_line(event.sentence)}")
                screen.answer_line(event.model_dump(mode="json"))
            is_about_decisions = any(event.kind.startswith(_ABOUT_DECISIONS) for event in page.events)
            # It is asked for only where it is needed: a token may make so many requests in a minute.
            if not (answer is None or page.finished or progress.is_shown or is_about_decisions):
                continue
            answer = server.get(f"/runs/{run}/status")
            status = read(Status, answer)
            progress.show(f"Run {run}: {status.state}, ${status.cost_usd:,.2f}", status.steps_done, status.steps)
            if page.finished:
                break
            for one in status.decisions or ():
                if one.gate not in said:
                    said.add(one.gate)
                    _say_decision(screen, one)
            if until_asked and status.decisions is None:
                raise Failed(
                    f"The access token does not say whether decisions are open. Make one with {TokenScope.GATES_READ}.",
                    status=FORBIDDEN,
                )
            if until_asked and status.decisions:
                screen.answer_line(answer)
                return ASKED
        else:
            raise AssertionError("the events of a run end with the run")
    screen.say(f"Run {run}: {status.state}. {status.sentence} {status.address}")
    screen.answer_line(answer)
    return Outcome(status.state).exit_code if status.state in list(Outcome) else 1


def _say_decision(screen: Screen, one: OpenDecision) -> None:
    """Say what is asked, and where it is answered."""
    who = "You decide" if one.yours else "Another person decides"
    screen.say(f"      {who}: {one.question}")
    screen.say(f"      {one.address} or: {PROGRAM} gates {one.gate}")


def stop(server: Server, screen: Screen, options: Namespace) -> int:
    """Stop a run for good."""
    return _change(server, screen, options.run, "stop", reason=options.message)


def pause(server: Server, screen: Screen, options: Namespace) -> int:
    """Start no new attempt until the run is resumed."""
    return _change(server, screen, options.run, "pause")


def resume(server: Server, screen: Screen, options: Namespace) -> int:
    """Let a paused run go on."""
    return _change(server, screen, options.run, "resume")


def _change(server: Server, screen: Screen, run: int, verb: str, **sent: str) -> int:
    answer = server.post(f"/runs/{run}/{verb}", json=sent)
    status = read(Status, answer)
    screen.say(f"Run {run}: {status.state}. {status.sentence} {status.address}")
    screen.answer(answer)
    return 0
