"""What commands print, ask, and end with. Texts of runs are data: none moves a cursor or imitates lines of ours."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

WRONG_USE = 2
"""The exit code of a command that was called wrongly, as of shells and argparse."""
ASKED = 4
"""The exit code of `watch --until-asked` when a decision is open."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as in shells."""


class Failed(Exception):
    """A command cannot do what it was asked for. The text is a sentence for the person who started it.

    `status` is that of the answer of the server, or 0.
    """

    def __init__(self, sentence: str, *, status: int = 0, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.status = status
        self.exit_code = exit_code


def one_line(text: str) -> str:
    """The text without line breaks, which could begin a line like ours."""
    return " ".join(text.split())


class Screen:
    """Standard output and error of a command. With `as_json`, standard output has JSON only.

    It has no colours, and nothing is asked, unless all streams are terminals.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self._as_json = as_json
        self._console: Console | None = None
        self.asks = not as_json and all(one.isatty() for one in (sys.stdin, sys.stdout, sys.stderr))

    def say(self, text: str) -> None:
        if self._as_json:
            return
        if self._console:
            from rich.text import Text  # only where there is progress to show: it takes a while to import

            self._console.print(Text(_printable(text)), soft_wrap=True)
        else:
            print(_printable(text), flush=True)

    def answer(self, value: Any) -> None:
        """Print the JSON object of the command."""
        if self._as_json:
            print(_printable(json.dumps(value, ensure_ascii=False, indent=2)), flush=True)

    def answer_line(self, value: Any) -> None:
        """Print one of several JSON objects of the command, on a line of its own."""
        if self._as_json:
            print(_printable(json.dumps(value, ensure_ascii=False)), flush=True)

    def copy(self, content: IO[bytes]) -> None:
        """Print text of a run, as it is where no terminal would obey it."""
        if sys.stdout.isatty():
            self.say(content.read().decode(errors="replace"))
        else:
            shutil.copyfileobj(content, sys.stdout.buffer)

    def problem(self, sentence: str) -> None:
        """Print to standard error, also with `as_json`."""
        if self._console:
            self.say(sentence)  # the terminal has both; the progress would be drawn over the other one
        else:
            print(_printable(sentence), file=sys.stderr, flush=True)

    def confirms(self, question: str) -> bool:
        """Whether the person says yes. Anything else, and the end of the input, is no."""
        print(f"{_printable(question)} [y]es, or Enter for no: ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().casefold() in {"y", "yes"}

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Shows on a terminal how far something is, below the lines that are said meanwhile."""
        if not self.asks:
            yield Progress()
            return
        # Only where there is progress to show: it takes a while to import.
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        with Bar(*columns, transient=True) as bar:
            self._console = bar.console
            task = bar.add_task("", total=None)

            def move(words: str, done: int, total: int) -> None:
                bar.update(task, description=_printable(words), completed=done, total=total or None, refresh=True)

            try:
                yield Progress(move)
            finally:
                self._console = None


class Progress:
    """How far something is. Without a terminal it shows nothing."""

    def __init__(self, move: Callable[[str, int, int], None] | None = None) -> None:
        self._move = move

    @property
    def is_shown(self) -> bool:
        return self._move is not None

    def show(self, words: str, done: int, total: int) -> None:
        if self._move:
            self._move(one_line(words), done, total)


def _printable(text: str) -> str:
    """The text with all that a terminal would obey, or not show, written out."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from runs.text.visible import printable  # its tables of Unicode take as long as the rest of a command

    return printable(text)
