"""`manage.py evaluate`: run a suite of tasks and compare the result with a baseline.

Exits 0 if nothing is worse, 1 if something is, 2 for wrong use, 3 if something was not measured.
"""

from argparse import ArgumentParser, ArgumentTypeError
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from runs.management.terminal import TerminalCommand

MAX_REPEAT, MAX_PARALLEL = 100, 16


class Command(TerminalCommand):
    help = "Run a suite of tasks in an installation of its own, judge the runs, and compare them with a baseline."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("suite", help="a folder of tasks, or a suite that ships with pevsite: reference")
        parser.add_argument(
            "--task", action="append", default=[], metavar="NAME", help="only this task; may be given again"
        )
        parser.add_argument("--baseline", type=Path, metavar="FILE", help="an earlier result, to compare with")
        parser.add_argument("--save", type=Path, metavar="FILE", help="write the result, as a baseline for later")
        parser.add_argument(
            "--repeat", type=_between(1, MAX_REPEAT), default=1, metavar="N", help="runs of each task (1)"
        )
        parser.add_argument(
            "--parallel", type=_between(1, MAX_PARALLEL), default=2, metavar="N", help="runs at the same time (2)"
        )
        parser.add_argument("--budget", type=_usd, metavar="USD", help="the most that all runs together may spend")
        parser.add_argument(
            "--replies",
            type=Path,
            metavar="FOLDER",
            help="replies of models: those that are there are used, and others are asked for and added",
        )
        parser.add_argument(
            "--only-replies", action="store_true", help="ask no model: what is not in --replies fails the run"
        )
        parser.add_argument(
            "--ignore-chance",
            action="store_true",
            help="a lower pass rate counts only if its interval is below that of the baseline",
        )
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
        parser.add_argument(
            "--data-dir", help="the installation for the runs (the folder “evaluation” in the data folder)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        from runs.management.evaluating import Evaluating  # the engine with all it needs; `--help` has to come at once

        Evaluating(self.stdout, self.stderr, options).run()


def _between(least: int, most: int) -> Any:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise ArgumentTypeError(f"a whole number from {least} to {most}")
        return int(text)

    return read


def _usd(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation as error:
        raise ArgumentTypeError("an amount such as 5 or 2.50") from error
    if not (amount.is_finite() and 0 < amount <= 100_000):
        raise ArgumentTypeError("an amount above 0, such as 5 or 2.50")
    return amount
