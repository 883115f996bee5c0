"""`manage.py statemachine`: draws the state diagram from the tables of legal changes."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from runs.lifecycle.transitions import ATTEMPT, RUN, STEP
from runs.management.terminal import TerminalCommand

BEGIN, END = "<!-- state diagram: begin -->", "<!-- state diagram: end -->"
DRAWN: dict[str, Mapping[Any, set[Any]]] = {"run": RUN, "step": STEP, "attempt": ATTEMPT}


class Command(TerminalCommand):
    help = "Print the state diagrams, write them into a Markdown file (--write), or compare them with it (--check)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--write", type=Path, metavar="FILE")
        parser.add_argument("--check", type=Path, metavar="FILE")

    def handle(self, *args: Any, write: Path | None, check: Path | None, **options: Any) -> None:
        if write is None and check is None:
            self.stdout.write(drawing())
        if write is not None:
            write.write_text(with_drawing(write.read_text("utf-8")), "utf-8")
        if check is not None and check.read_text("utf-8") != with_drawing(check.read_text("utf-8")):
            raise CommandError(f"The state diagram in {check} is out of date: manage.py statemachine --write {check}")


def drawing() -> str:
    """A Mermaid flowchart of run, steps and attempts, with a line for each status and what it can become."""
    lines = ["```mermaid", "flowchart LR"]
    for name, table in DRAWN.items():
        label = {status: f"{name}_{status}[{status.replace('_', ' ')}]" for status in table}
        lines.append(f"    subgraph {name}")
        for status, targets in table.items():
            if targets:
                after = " & ".join(label[target] for target in table if target in targets)
                lines.append(f"        {label[status]} --> {after}")
        lines.append("    end")
    return "\n".join([*lines, "```"])


def with_drawing(text: str) -> str:
    """The text with the diagram between its two marks. Raises CommandError if a mark is missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise CommandError(f"The file has no lines “{BEGIN}” and “{END}”.")
    return f"{before}{BEGIN}\n{drawing()}\n{END}{after}"
