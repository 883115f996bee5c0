"""Asks a person in the terminal. Only the words that a question names decide; everything else is asked about again."""

import re
from collections.abc import Mapping, Sequence

from django.core.management.base import CommandError

from runs.enums import Verb
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.run_limits import given
from runs.models import Gate
from runs.text.normalisation import caseless
from runs.text.plural import ordinal
from runs.text.truncate import truncate
from runs.text.visible import visible_text

INDENT = "      "
_DECISIONS = {"a": "approve", "r": "reject", "s": "stop"}
_YES = {"y": "yes", "n": "no"}
_YES_OR_AGAIN = "[y]es, or [n]o to be asked again: "
_NUMBER = re.compile(
    r"(?:the\s)?(?:(?:no\.?|number|choice|option|answer)\s?)?[#(\[]?\s*(\d{1,9})(?:st|nd|rd|th)?\s*[.):\]!]?"
    r"(?:\s(?:one|choice|option|answer))?",
    re.IGNORECASE,
)
"""A number that may be the place of a choice: `2`, `#2`, `2nd`, `option 2`, `the 2nd one`."""
_MAX_SHOWN = 200


class NoTerminal(CommandError):
    """Nothing can be typed, so that no question can be asked."""

    def __init__(self) -> None:
        sentence = "There is no terminal to ask in. Decide in the browser, or use --approve-all."
        super().__init__(sentence, returncode=2)


def decision_on(gate: Gate) -> Decision:
    """What the person in the terminal decides about an open gate, which was shown before."""
    return _answer_to(gate) if Verb.ANSWER in type_of(gate).verbs else _verdict_on(gate)


def choose(question: str, answers: Mapping[str, str]) -> str:
    """The letter that was chosen, which may be typed as its word; asked again until it is one of these.

    `answers`: the words by their letters, such as `{"y": "yes"}`.
    """
    while True:
        if letter := _letter(typed := line(question), answers):
            return letter
        if typed:
            allowed = " or ".join(f"{letter} ({word})" for letter, word in answers.items())
            question = f"“{truncate(typed, _MAX_SHOWN)}” is no answer to this. Type {allowed}: "


def line(prompt: str) -> str:
    """What is typed, without spaces around it. Raises NoTerminal."""
    try:
        return input(visible_text(f"{INDENT}{prompt}")).strip()
    except EOFError as error:
        raise NoTerminal from error


def _verdict_on(gate: Gate) -> Decision:
    while True:
        typed = line(type_of(gate).terminal_prompt)
        letter = _letter(typed, _DECISIONS)
        if not letter and typed and _is_feedback(typed):
            return Decision(Verb.REJECT, gate.digest, typed, how="terminal")
        if letter == "a":
            answers = {one.name: line(f"{one.label} (now {one.now})? ") for one in type_of(gate).limits(gate)}
            raised = given(answers.get("budget", ""), answers.get("minutes", ""))
            return Decision(Verb.APPROVE, gate.digest, how="terminal", **raised)
        if letter == "s":
            return Decision(Verb.STOP, gate.digest, how="terminal")
        if letter == "r" and (reason := line("What should be different? ")):
            return Decision(Verb.REJECT, gate.digest, reason, how="terminal")


def _is_feedback(typed: str) -> bool:
    """Whether words that are no decision are meant as what should be different."""
    shown = truncate(typed, _MAX_SHOWN)
    return choose(f"This decides nothing. Reject with the feedback “{shown}”? {_YES_OR_AGAIN}", _YES) == "y"


def _answer_to(gate: Gate) -> Decision:
    """An empty line leaves it to the AI; a number takes one of the suggested answers, once that is confirmed."""
    choices = gate.choices
    while True:
        words = line(type_of(gate).terminal_prompt)
        if not words:
            return Decision(Verb.DELEGATE, gate.digest, how="terminal")
        answer = _chosen(words, choices)
        if answer is not None:
            return Decision(Verb.ANSWER, gate.digest, answer, how="terminal")


def _chosen(words: str, choices: Sequence[str]) -> str | None:
    """The answer that was meant, None where the question is asked again."""
    own = next((choice for choice in choices if caseless(choice) == caseless(words)), None)
    number = _NUMBER.fullmatch(words)
    if own is not None or number is None or not choices:
        return own or words
    place = int(number[1])
    if not 1 <= place <= len(choices):
        question = f"There is no {ordinal(place)} choice. “{words}” as your own answer? {_YES_OR_AGAIN}"
        return words if choose(question, _YES) == "y" else None
    choice = choices[place - 1]
    shown = truncate(choice, _MAX_SHOWN)
    question = f"{ordinal(place)} choice: “{shown}”? [y]es, [o]wn answer: “{words}”, or [n]o to be asked again: "
    return {"y": choice, "o": words}.get(choose(question, {"y": "yes", "o": "own answer", "n": "no"}))


def _letter(typed: str, answers: Mapping[str, str]) -> str:
    """The letter that was typed as itself or as its word; nothing for all else."""
    said = typed.strip().casefold()
    return next((letter for letter, word in answers.items() if said in {letter, word}), "")
