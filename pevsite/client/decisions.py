"""The open decisions as people see them, and what is decided about them, bound to what was read."""

from __future__ import annotations

from argparse import Namespace
from http.client import CONFLICT, FORBIDDEN
from typing import Any

from pevsite.client.server import Gate, Gates, Server, read
from pevsite.client.terminal import WRONG_USE, Failed, Screen
from pevsite.installation import PROGRAM
from runs.enums import GateStatus, Verb

MAX_POINTS = 40
"""Points of a result that are shown on a screen; JSON has all of them."""


def gates(server: Server, screen: Screen, options: Namespace) -> int:
    """List the open decisions, or show one."""
    if options.gate is not None:
        answer = server.get(f"/gates/{options.gate}")
        _show(screen, read(Gate, answer))
        screen.answer(answer)
        return 0
    answer = server.get("/gates")
    found = read(Gates, answer).gates
    for one in found:
        due = f", due {one.due_at:%Y-%m-%d %H:%M %Z}" if one.due_at else ""
        screen.say(f"{one.gate:>6}  {one.question}")
        screen.say(f"        {one.kind}, run {one.run} “{one.title}”{due}\n        {one.address}")
    if not found:
        screen.say("No decision waits for you.")
    screen.answer(answer)
    return 0


def approve(server: Server, screen: Screen, options: Namespace) -> int:
    if options.met and not options.why:
        raise Failed("Say with --why on what grounds the criteria are met.", exit_code=WRONG_USE)
    said = {
        "budget_usd": options.budget_usd,
        "time_limit_minutes": options.minutes,
        "met": options.met,
        "why_met": options.why if options.met else "",
        "no_sources": options.no_sources,
    }
    return _decide(server, screen, options, Verb.APPROVE, said)


def reject(server: Server, screen: Screen, options: Namespace) -> int:
    said = {"reason": options.message, "send_back": options.point, "comments": options.part}
    return _decide(server, screen, options, Verb.REJECT, said)


def answer(server: Server, screen: Screen, options: Namespace) -> int:
    return _decide(server, screen, options, Verb.ANSWER, {"reason": options.message})


def delegate(server: Server, screen: Screen, options: Namespace) -> int:
    return _decide(server, screen, options, Verb.DELEGATE, {"reason": options.message})


def assign(server: Server, screen: Screen, options: Namespace) -> int:
    """Make a decision another person's turn, as it was when it was read now."""
    gate = read(Gate, server.get(f"/gates/{options.gate}"))
    answer = server.post(f"/gates/{gate.gate}/assignee", json={"to": options.person, "seen": gate.assigned_to})
    screen.say(f"Decision {gate.gate} is assigned to {read(Gate, answer).assigned_to}.")
    screen.answer(answer)
    return 0


def _decide(server: Server, screen: Screen, options: Namespace, verb: Verb, said: dict[str, Any]) -> int:
    """Decide what the person has been shown now, or has read before if they give its fingerprint."""
    gate = read(Gate, server.get(f"/gates/{options.gate}"))
    number = gate.gate
    if gate.status != GateStatus.OPEN:
        raise Failed(f"Decision {number} is not open any more: it is {gate.status}. {gate.address}")
    if verb not in gate.verbs:
        raise Failed(f"Decision {number} takes: {', '.join(gate.verbs)}. {gate.address}", exit_code=WRONG_USE)
    if not options.fingerprint:
        if not screen.asks:
            raise Failed(
                f"There is no terminal to ask in. Read the decision with “{PROGRAM} gates {number} --json”, and give "
                "the fingerprint in it with --fingerprint.",
                exit_code=WRONG_USE,
            )
        _show(screen, gate)
        if not screen.confirms(f"{verb.capitalize()} decision {number}?"):
            screen.say("Nothing was decided.")
            return 1
    sent = {"verb": verb, "fingerprint": options.fingerprint or gate.fingerprint}
    sent |= {name: value for name, value in said.items() if value}
    try:
        decided = server.post(f"/gates/{number}/decision", json=sent)
    except Failed as error:
        again = {
            FORBIDDEN: f"The page is {gate.address}",
            CONFLICT: f"Read it again with: {PROGRAM} gates {number}",
        }.get(error.status)
        raise Failed(f"{error} {again}", status=error.status) if again else error from error
    screen.say(f"Decision {number} is {read(Gate, decided).status}.")
    screen.answer(decided)
    return 0


def _show(screen: Screen, gate: Gate) -> None:
    screen.say(f"Decision {gate.gate} ({gate.kind}), {gate.status}, run {gate.run} “{gate.title}”")
    for line in gate.about:
        screen.say(f"      {' '.join(line.splitlines())}")
    for one in gate.criteria:
        screen.say(f"      approve --met {one.label}: {one.text}")
    for point in gate.points[:MAX_POINTS]:
        screen.say(f"      reject --point {point.number}: {point.text}")
    if len(gate.points) > MAX_POINTS:
        screen.say(f"      and {len(gate.points) - MAX_POINTS} more points, which are on the page")
    if gate.assigned_to:
        screen.say(f"It is assigned to {gate.assigned_to}.")
    screen.say(f"It takes: {', '.join(gate.verbs)}. {gate.address}")
