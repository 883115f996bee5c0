"""Gates in the terminal: a person is shown the same as on the page, and answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.core.management.base import CommandError

from runs.enums import Verb
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.run_limits import parse_limits
from runs.lifecycle.supplied_files import asks_for_files, missing_at
from runs.models import Gate
from runs.text.normalisation import caseless
from runs.text.paths import base_name
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
    """There is no terminal, so that no question can be asked."""

    def __init__(self) -> None:
        sentence = "There is no terminal to ask in. Decide in the browser, or use --approve-all."
        super().__init__(sentence, returncode=2)


@dataclass(frozen=True)
class MissingFiles:
    """A file or folder that is given instead of a decision. `name_as`: the missing path that the file takes."""

    path: Path
    name_as: str = ""


def decision_on(gate: Gate) -> Decision | MissingFiles:
    """Ask the person in the terminal to decide about an open gate that was shown before, or for missing files."""
    return _answer_to(gate) if Verb.ANSWER in type_of(gate).verbs else _verdict_on(gate)


def choose(question: str, answers: Mapping[str, str]) -> str:
    """Ask until one of the letters, or its word, is typed. Returns the letter.

    `answers`: the words by their letters, such as `{"y": "yes"}`.
    """
    while True:
        if letter := _letter(typed := line(question), answers):
            return letter
        if typed:
            allowed = " or ".join(f"{letter} ({word})" for letter, word in answers.items())
            question = f"“{truncate(typed, _MAX_SHOWN)}” is not an answer to this. Type {allowed}: "


def line(prompt: str) -> str:
    """Read a line and strip it. Raises NoTerminal."""
    try:
        return input(visible_text(f"{INDENT}{prompt}")).strip()
    except EOFError as error:
        raise NoTerminal from error


def _missing_files(gate: Gate) -> MissingFiles | None:
    """The files that the person names; None for an empty line."""
    if not (typed := line("Path of the missing file, or of a folder: ")):
        return None
    path, missing = Path(typed).expanduser(), missing_at(gate)
    if len(missing) != 1 or base_name(path.name) == base_name(missing[0]) or not path.is_file():
        return MissingFiles(path)
    answer = choose(f"Take it as {missing[0]}? [y]es, or [n]o to keep its name: ", _YES)
    return MissingFiles(path, missing[0] if answer == "y" else "")


def _verdict_on(gate: Gate) -> Decision | MissingFiles:
    words = type_of(gate).wording_of(gate)
    prompt, letters = type_of(gate).terminal_prompt_of(gate), _DECISIONS
    if asks_for_files(gate):
        prompt, letters = prompt.replace("[s]top", "[g]ive a missing file, [s]top"), _DECISIONS | {"g": "give"}
    buttons = {"a": words.approve.casefold(), "r": words.reject.casefold()}
    while True:
        typed = line(prompt)
        letter = _letter(typed, letters) or _letter(typed.replace("'", "’"), buttons)
        if not letter and typed:  # perhaps a request for changes, or the reason of a refusal
            shown = truncate(typed, _MAX_SHOWN)
            meant = "Reject with the feedback" if words.needs_reason else f"“{words.reject}” with the words"
            if choose(f"This decides nothing. {meant} “{shown}”? {_YES_OR_AGAIN}", _YES) == "y":
                return Decision(Verb.REJECT, gate.digest, typed, how="terminal")
        if letter == "a":
            answers = {one.name: line(f"{one.label} (now {one.now})? ") for one in type_of(gate).limits(gate)}
            raised = parse_limits(answers.get("budget", ""), answers.get("minutes", ""))
            return Decision(Verb.APPROVE, gate.digest, how="terminal", **raised)
        if letter == "g" and (given := _missing_files(gate)):
            return given
        if letter == "s":
            return Decision(Verb.STOP, gate.digest, how="terminal")
        if letter == "r" and not words.needs_reason:
            reason = line(f"{words.reason}, or Enter for none: ")
            return Decision(Verb.REJECT, gate.digest, reason, how="terminal")
        if letter == "r" and (reason := line("What should be different? ")):
            return Decision(Verb.REJECT, gate.digest, reason, how="terminal")


def _answer_to(gate: Gate) -> Decision:
    """Ask for an answer. An empty line leaves it to the AI; a number chooses a suggested answer, if confirmed."""
    choices = gate.choices
    while True:
        words = line(type_of(gate).terminal_prompt_of(gate))
        if not words:
            return Decision(Verb.DELEGATE, gate.digest, how="terminal")
        answer = _choice(words, choices)
        if answer is not None:
            return Decision(Verb.ANSWER, gate.digest, answer, how="terminal")


def _choice(words: str, choices: Sequence[str]) -> str | None:
    """The intended answer, or None if the question has to be asked again."""
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
    """The typed letter, or the letter of the typed word; empty for anything else."""
    said = typed.strip().casefold()
    return next((letter for letter, word in answers.items() if said in {letter, word}), "")
